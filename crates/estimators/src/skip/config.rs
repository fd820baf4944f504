//! The parameters of SKIP.

use crate::atkf::{Adaptation, AtkfConfig, ConfigError, LowerBounds, MAX_RATIO, in_range};
use crate::sample::MAX_RATE;
use crate::tobit::TobitVariant;

/// The parameters of a [`Skip`](super::Skip).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct SkipConfig {
    /// The filter's parameters.
    pub filter: AtkfConfig,
    /// `t_thr`: the number of samples in a row after which a drop, a step or an outage counts as lasting. At least 1.
    /// Default 3.
    ///
    /// BBR-S, section III.C: fewer would follow fast fading, more would react late.
    pub threshold: u32,
    /// How many deviations from the mean make a sample an outlier (BBR-S, eqs. (47) and (49)). 0.1..=1000. Default 3.
    pub outlier_deviations: f64,
    /// `C_min`: the mean after an outage, bytes/s. 0..=[`MAX_RATE`], raised to the filter's floor. Default 50 kB/s.
    pub outage_rate: f64,
    /// From how many deviations above the mean a fully delivered sending rate widens the belief. `None`, or 0.1..=1000.
    ///
    /// A path that delivers a rate the belief excludes has changed: the variance grows by `((S - x)/2)^2`, so that the
    /// next samples count. With repeated probes, a capacity that has risen four-fold is found about ten samples earlier.
    /// Cost: a burst through an idle buffer makes the estimate jumpy for some samples.
    pub inflate: Option<f64>,
    /// Whether samples that are dropped still feed the noise estimates, with the second moment at the outlier bound.
    ///
    /// Otherwise the filter never learns that what it takes for drops is its own underestimate of the noise. Cost: after
    /// a real drop the measurement noise is overestimated for about `N` samples.
    pub feed_drop: bool,
    /// Whether a reset also raises the variance to that of its new mean, `R/t_thr`.
    ///
    /// The mean of `t_thr` samples is no better than this. Cost: the estimate is noisier just after a reset.
    pub psi_reset: bool,
    /// Whether [`Skip::wants_probe`](super::Skip::wants_probe) asks for another probe while all that is sent is delivered.
    ///
    /// One sample per round trip at 1.25 times the mean never exceeds the outlier bound, so that step mode hardly fires;
    /// repeating the probe more than halves the time to find a capacity that has doubled. Cost: up to a quarter of a
    /// bandwidth-delay product of queue, once, when the probe has found the new capacity.
    pub repeat_probe: bool,
}

impl SkipConfig {
    /// SKIP as BBR-S describes it, with its errata corrected: all options off.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            filter: AtkfConfig::default(),
            threshold: THRESHOLD,
            outlier_deviations: OUTLIER_DEVIATIONS,
            outage_rate: OUTAGE_RATE,
            inflate: None,
            feed_drop: false,
            psi_reset: false,
            repeat_probe: false,
        }
    }

    /// SKIP as published, to show what the errata do: the update is [Allik's](TobitVariant::Allik), the noises are
    /// learned [as published](Adaptation::AsPublished), from the first sample on and without clipping, and
    /// [every lower bound](LowerBounds::AsPublished) updates the filter.
    ///
    /// What cannot run as printed is corrected here too: the signs of eqs. (14) and of line 28 of Algorithm 1, and the
    /// stray factor of eq. (43).
    #[must_use]
    pub fn published() -> Self {
        Self {
            filter: AtkfConfig {
                variant: TobitVariant::Allik,
                adaptation: Adaptation::AsPublished,
                lower_bounds: LowerBounds::AsPublished,
                fading_offset: 0,
                clip: MAX_RATIO,
                ..AtkfConfig::default()
            },
            ..Self::paper()
        }
    }

    /// SKIP with all options on: what to use.
    #[must_use]
    pub fn tuned() -> Self {
        Self {
            inflate: Some(INFLATE_DEVIATIONS),
            feed_drop: true,
            psi_reset: true,
            repeat_probe: true,
            ..Self::paper()
        }
    }

    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    ///
    /// Names the first one that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.filter.validate()?;
        in_range(
            "threshold",
            f64::from(self.threshold),
            1.0..=f64::from(u32::MAX),
        )?;
        in_range(
            "outlier_deviations",
            self.outlier_deviations,
            MIN_DEVIATIONS..=MAX_DEVIATIONS,
        )?;
        in_range("outage_rate", self.outage_rate, 0.0..=MAX_RATE)?;
        if let Some(deviations) = self.inflate {
            in_range("inflate", deviations, MIN_DEVIATIONS..=MAX_DEVIATIONS)?;
        }
        Ok(())
    }
}

impl Default for SkipConfig {
    fn default() -> Self {
        Self::tuned()
    }
}

/// Samples. BBR-S, section III.C.
const THRESHOLD: u32 = 3;
/// Deviations. BBR-S, eqs. (47) and (49).
const OUTLIER_DEVIATIONS: f64 = 3.0;
/// Bytes/s. BBR-S, section III.C.
const OUTAGE_RATE: f64 = 50_000.0;
/// Deviations: a probe of 1.25 times the mean exceeds them only if the noise is below a tenth of the mean.
const INFLATE_DEVIATIONS: f64 = 2.5;
/// Deviations.
const MIN_DEVIATIONS: f64 = 0.1;
/// Deviations.
const MAX_DEVIATIONS: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_are_valid() {
        SkipConfig::paper().validate().unwrap();
        SkipConfig::published().validate().unwrap();
        SkipConfig::tuned().validate().unwrap();
        assert_eq!(SkipConfig::default(), SkipConfig::tuned());
    }

    #[test]
    fn every_parameter_is_checked() {
        let good = SkipConfig::tuned();
        let bad = [
            SkipConfig {
                filter: AtkfConfig {
                    window: 0,
                    ..good.filter
                },
                ..good
            },
            SkipConfig {
                threshold: 0,
                ..good
            },
            SkipConfig {
                outlier_deviations: f64::NAN,
                ..good
            },
            SkipConfig {
                outage_rate: -1.0,
                ..good
            },
            SkipConfig {
                inflate: Some(0.0),
                ..good
            },
        ];
        for config in bad {
            assert!(config.validate().is_err(), "{config:?}");
        }
    }
}
