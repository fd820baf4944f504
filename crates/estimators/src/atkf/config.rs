//! The parameters of the adaptive Tobit Kalman filter.

use core::ops::RangeInclusive;

use thiserror::Error;

use super::{Adaptation, LowerBounds};
use crate::sample::MAX_RATE;
use crate::tobit::TobitVariant;

/// The parameters of an [`Atkf`](super::Atkf).
///
/// Rates are in bytes/s, or in whatever unit the samples are in; all else is dimensionless.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct AtkfConfig {
    /// How one measurement updates the belief.
    pub variant: TobitVariant,
    /// How the noises are estimated.
    pub adaptation: Adaptation,
    /// The effect of censored samples on the belief. Default [`LowerBounds::Bounded`].
    pub lower_bounds: LowerBounds,
    /// `N`: over how many samples the innovations' moments are averaged (BBR-S, eq. (41)). 1..=65536. Default 16.
    ///
    /// Longer is smoother, and slower to notice that the noise has changed.
    pub window: usize,
    /// `gamma`: the fading factor of the noise estimates (BBR-S, eq. (40)). 0 <= gamma < 1. Default 0.98.
    ///
    /// The estimates remember about `1/(1-gamma)` samples.
    pub fading: f64,
    /// `t0`: how many samples the initial noises count for, so that the first few do not outweigh them. Default 20.
    ///
    /// BBR-S, eq. (40) has none: its first sample replaces the initial values.
    pub fading_offset: u32,
    /// `r_min`: the least deviation of the measurements, as a fraction of the mean. 1e-6..=1000. Default 0.02.
    pub min_measurement_noise: f64,
    /// `r_max`: the greatest deviation of the measurements, as a fraction of the mean. `r_min`..=1000. Default 0.5.
    pub max_measurement_noise: f64,
    /// `q_min`: the least process noise, as a fraction of the measurement noise's variance. 1e-12..=1e6. Default 0.001.
    ///
    /// It keeps the gain from vanishing: at 0.001 the gain never settles below 0.03.
    pub min_process_noise: f64,
    /// `q_max`: the greatest process noise, as a fraction of the measurement noise's variance. `q_min`..=1e6. Default 1.
    pub max_process_noise: f64,
    /// `x_min`: the least mean, in the samples' unit. 0.001..=[`MAX_RATE`]. Default 50 kB/s.
    pub floor: f64,
    /// At how many deviations an innovation is clipped before it enters the noise estimates. 1e-3..=1e6. Default 3.
    pub clip: f64,
    /// The initial deviation of the measurements, `sqrt(R)`, as a fraction of the initial mean. 1e-6..=1000. Default 0.1.
    ///
    /// 0.1 suits a wired path and 0.5 a cellular one; the estimate forgets it within `1/(1-gamma)` samples.
    pub initial_measurement_noise: f64,
    /// The initial process noise, as a fraction of the initial measurement noise's variance. 0..=1e6. Default 0.04.
    pub initial_process_noise: f64,
    /// The initial variance of the mean, as a fraction of the initial measurement noise's variance. 0..=1e6. Default 1.
    pub initial_variance: f64,
}

impl AtkfConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    ///
    /// Names the first one that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        in_range("window", self.window as f64, 1.0..=MAX_WINDOW)?;
        in_range("fading", self.fading, 0.0..=1.0 - f64::EPSILON)?;
        let deviations = MIN_DEVIATION..=MAX_DEVIATION;
        in_range(
            "min_measurement_noise",
            self.min_measurement_noise,
            deviations.clone(),
        )?;
        in_range(
            "max_measurement_noise",
            self.max_measurement_noise,
            self.min_measurement_noise..=MAX_DEVIATION,
        )?;
        in_range(
            "min_process_noise",
            self.min_process_noise,
            MIN_RATIO..=MAX_RATIO,
        )?;
        in_range(
            "max_process_noise",
            self.max_process_noise,
            self.min_process_noise..=MAX_RATIO,
        )?;
        in_range("floor", self.floor, MIN_FLOOR..=MAX_RATE)?;
        in_range("clip", self.clip, MIN_CLIP..=MAX_RATIO)?;
        in_range(
            "initial_measurement_noise",
            self.initial_measurement_noise,
            deviations,
        )?;
        in_range(
            "initial_process_noise",
            self.initial_process_noise,
            0.0..=MAX_RATIO,
        )?;
        in_range("initial_variance", self.initial_variance, 0.0..=MAX_RATIO)?;
        if let Adaptation::Fixed { q_over_r } = self.adaptation {
            in_range("q_over_r", q_over_r, MIN_RATIO..=MAX_RATIO)?;
        }
        Ok(())
    }
}

impl Default for AtkfConfig {
    fn default() -> Self {
        Self {
            variant: TobitVariant::default(),
            adaptation: Adaptation::default(),
            lower_bounds: LowerBounds::default(),
            window: WINDOW,
            fading: FADING,
            fading_offset: FADING_OFFSET,
            min_measurement_noise: MIN_MEASUREMENT_NOISE,
            max_measurement_noise: MAX_MEASUREMENT_NOISE,
            min_process_noise: MIN_PROCESS_NOISE,
            max_process_noise: MAX_PROCESS_NOISE,
            floor: FLOOR,
            clip: CLIP,
            initial_measurement_noise: INITIAL_MEASUREMENT_NOISE,
            initial_process_noise: INITIAL_PROCESS_NOISE,
            initial_variance: INITIAL_VARIANCE,
        }
    }
}

/// A parameter that is out of its range.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{parameter} is {value}, not in {range:?}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The parameter's field or argument.
    pub parameter: &'static str,
    /// Its value.
    pub value: f64,
    /// The allowed range.
    pub range: RangeInclusive<f64>,
}

/// Checks one parameter. NaN is in no range.
pub(crate) fn in_range(
    parameter: &'static str,
    value: f64,
    range: RangeInclusive<f64>,
) -> Result<(), ConfigError> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(ConfigError {
            parameter,
            value,
            range,
        })
    }
}

/// Samples. BBR-S, eq. (41), leaves it open; 16 is about two gain cycles of BBR.
const WINDOW: usize = 16;
/// Per sample. BBR-S, eq. (40), leaves it open; 0.98 remembers 50 samples.
const FADING: f64 = 0.98;
/// Samples. Not in BBR-S: with 20 the first sample moves the estimates by 1/17 of the way.
const FADING_OFFSET: u32 = 20;
/// Fraction of the mean: about the resolution of a rate measured over one round trip.
const MIN_MEASUREMENT_NOISE: f64 = 0.02;
/// Fraction of the mean: a deviation beyond it would make three deviations cover all rates from zero.
const MAX_MEASUREMENT_NOISE: f64 = 0.5;
/// Fraction of the measurement noise; the gain settles at the root of it, 0.03.
const MIN_PROCESS_NOISE: f64 = 1e-3;
/// Fraction of the measurement noise; the gain settles at 0.62.
const MAX_PROCESS_NOISE: f64 = 1.0;
/// Bytes/s. BBR-S, section III.C: the minimum to which an outage resets.
const FLOOR: f64 = 50_000.0;
/// Deviations; the same as the distance at which SKIP calls a sample an outlier (BBR-S, eq. (47)).
const CLIP: f64 = 3.0;
/// Fraction of the initial mean.
const INITIAL_MEASUREMENT_NOISE: f64 = 0.1;
/// Fraction of the initial measurement noise; the gain starts near 0.2.
const INITIAL_PROCESS_NOISE: f64 = 0.04;
/// Fraction of the initial measurement noise: the initial rate is worth one sample.
const INITIAL_VARIANCE: f64 = 1.0;

/// Samples; a limit to what a mistake can allocate.
const MAX_WINDOW: f64 = 65_536.0;
/// Fraction of the mean; the square is far above the rounding error of the mean's square.
const MIN_DEVIATION: f64 = 1e-6;
/// Fraction of the mean.
const MAX_DEVIATION: f64 = 1e3;
/// Ratio of variances.
const MIN_RATIO: f64 = 1e-12;
/// Ratio of variances, or deviations.
pub(crate) const MAX_RATIO: f64 = 1e6;
/// In the samples' unit; nothing made of its square underflows.
const MIN_FLOOR: f64 = 1e-3;
/// Deviations.
const MIN_CLIP: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_default_is_valid() {
        AtkfConfig::default().validate().unwrap();
    }

    #[test]
    fn an_error_names_the_parameter_its_value_and_its_range() {
        let error = AtkfConfig {
            fading: 1.0,
            ..AtkfConfig::default()
        }
        .validate()
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "fading is 1, not in 0.0..=0.9999999999999998"
        );
    }

    #[test]
    fn every_parameter_is_checked() {
        let good = AtkfConfig::default();
        let bad = [
            AtkfConfig { window: 0, ..good },
            AtkfConfig {
                fading: -0.1,
                ..good
            },
            AtkfConfig {
                min_measurement_noise: 0.0,
                ..good
            },
            AtkfConfig {
                max_measurement_noise: 0.01,
                ..good
            },
            AtkfConfig {
                min_process_noise: f64::NAN,
                ..good
            },
            AtkfConfig {
                max_process_noise: 0.0,
                ..good
            },
            AtkfConfig { floor: 0.0, ..good },
            AtkfConfig { clip: 0.0, ..good },
            AtkfConfig {
                initial_measurement_noise: f64::INFINITY,
                ..good
            },
            AtkfConfig {
                initial_process_noise: -1.0,
                ..good
            },
            AtkfConfig {
                initial_variance: -1.0,
                ..good
            },
            AtkfConfig {
                adaptation: Adaptation::Fixed { q_over_r: 0.0 },
                ..good
            },
        ];
        for config in bad {
            assert!(config.validate().is_err(), "{config:?}");
        }
    }
}
