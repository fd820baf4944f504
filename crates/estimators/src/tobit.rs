//! One step of a Tobit Kalman filter: the Kalman filter for measurements that saturate.

use thiserror::Error;

use crate::float::{larger, smaller};
use crate::normal::{self, Limit};
use crate::sample::CapacitySample;

/// How a measurement that may be censored updates the belief about the capacity.
///
/// The prior is normal with mean `x` and variance `P`; the measurement `C = min(S, capacity + v)`, `Var v = R`, is
/// censored if `C >= S`. With `s^2 = P + R`, `eta = (S - x)/s`, and the functions of [`normal`](crate::normal):
///
/// | Variant | `eta` | gain `K` | innovation | posterior variance |
/// |---|---|---|---|---|
/// | [`Allik`](Self::Allik) | `(S-x)/sqrt(R)` | `pP / (p^2 P + R (1-eth))` | `C - E[C]` | `P - K p P` |
/// | [`ExactBayes`](Self::ExactBayes), `C < S` | - | `P/s^2` | `C - x` | `(1-K) P` |
/// | [`ExactBayes`](Self::ExactBayes), `C >= S` | `(S-x)/s` | `P/s^2` | `-s lambda(-eta)` | `P (1 - K eth(-eta))` |
///
/// A sender closes the loop: it sends at a multiple of the estimate, which decides what is censored. In that loop,
/// with `Q = 1`, `R = 25` and a capacity near 100, root mean square error and bias are 2.33 and 0.00 for
/// `ExactBayes`, 2.48 and -0.44 for `Allik`; a plain Kalman filter or a moving average
/// follows its own censored samples down to nothing.
///
/// # Errata
///
/// BBR-S, eqs. (14) to (25), as printed:
///
/// - eq. (14) subtracts `sigma lambda(eta)` where, with eq. (12)'s negative `lambda`, it has to be added:
///   `E[C] = (1-p) S + p (x + sigma lambda(eta))`. As printed the filter collapses to its floor.
/// - eq. (15) is a variance, so that its factor is `sigma^2`; it is moreover the variance of the *truncated*
///   variable, while that of the censored one is `sigma^2 (p (1-eth) + p (1-p) (eta-lambda)^2)`.
/// - eq. (11) normalises by the measurement's deviation alone, as if the prior mean were the capacity. That is what
///   biases `Allik`.
/// - eq. (20) weights the measurement variance with `p`, which is neither Allik's filter nor the exact one.
/// - eq. (25) has a stray opening factor: the posterior variance is `P - K p P`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum TobitVariant {
    /// The literature's Tobit Kalman filter (B. Allik et al., IEEE Trans. Control Systems Technology 24(1), 2016),
    /// which BBR-S adopts in its eqs. (11) to (25), with the errata corrected. Biased low in a sender's loop.
    Allik,
    /// The exact posterior mean and variance, whether the measurement was censored or not.
    #[default]
    ExactBayes,
}

/// The belief after a measurement, with the innovation and the gain.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TobitUpdate {
    /// The posterior mean. In the sample's unit.
    pub mean: f64,
    /// The posterior variance, at least 0. In the unit's square.
    pub variance: f64,
    /// The difference between the measurement and its expectation. In the sample's unit.
    pub innovation: f64,
    /// The share of the innovation that changed the mean. Dimensionless, at least 0.
    pub gain: f64,
}

/// Why a step was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum TobitError {
    /// The prior mean is not finite or too large.
    #[error("a prior mean of {0} is not within +-{MAX_MAGNITUDE:e}")]
    Mean(f64),
    /// The prior variance is negative, not finite or too large.
    #[error("a prior variance of {0} is not in 0..={MAX_VARIANCE:e}")]
    Variance(f64),
    /// The measurement noise is not positive, not finite, too small or too large.
    #[error("a measurement noise of {0} is not in {MIN_NOISE:e}..={MAX_VARIANCE:e}")]
    Noise(f64),
    /// The measurement is not finite or too large.
    #[error("a measurement of {0} is not within +-{MAX_MAGNITUDE:e}")]
    Rate(f64),
    /// The limit is NaN, or below every measurement.
    #[error("a limit of {0} is not above -{MAX_MAGNITUDE:e}")]
    SentRate(f64),
}

impl TobitVariant {
    /// Updates a belief with one measurement.
    ///
    /// `mean` and `variance` are those of the capacity before the measurement, the process noise already added;
    /// `noise` is the variance of the measurement. Unlike in the filters, the rates may here be negative. An infinite
    /// sending rate makes this the plain Kalman step.
    ///
    /// # Errors
    ///
    /// Says which argument is out of the range in which every result is finite.
    pub fn step(
        self,
        mean: f64,
        variance: f64,
        noise: f64,
        sample: CapacitySample,
    ) -> Result<TobitUpdate, TobitError> {
        let magnitudes = -MAX_MAGNITUDE..=MAX_MAGNITUDE;
        if !magnitudes.contains(&mean) {
            return Err(TobitError::Mean(mean));
        }
        if !(0.0..=MAX_VARIANCE).contains(&variance) {
            return Err(TobitError::Variance(variance));
        }
        if !(MIN_NOISE..=MAX_VARIANCE).contains(&noise) {
            return Err(TobitError::Noise(noise));
        }
        if !magnitudes.contains(&sample.rate) {
            return Err(TobitError::Rate(sample.rate));
        }
        if !(-MAX_MAGNITUDE..=f64::INFINITY).contains(&sample.sent_rate) {
            return Err(TobitError::SentRate(sample.sent_rate));
        }
        Ok(self.step_in_range(mean, variance, noise, sample).0)
    }

    /// As `step`, for arguments that are in range.
    #[inline]
    pub(crate) fn step_in_range(
        self,
        mean: f64,
        variance: f64,
        noise: f64,
        sample: CapacitySample,
    ) -> (TobitUpdate, Evaluated) {
        match self {
            Self::Allik => linear_step(mean, variance, noise, sample),
            Self::ExactBayes => exact_step(mean, variance, noise, sample),
        }
    }
}

/// What a step has evaluated of the normal distribution. It costs more than the rest of the step, and the noise estimates ask for
/// the same.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evaluated {
    /// Nothing at all.
    Nothing,
    /// At the limit in deviations of the measurement noise.
    Limit(Limit),
    /// `lambda(-eta)` of a censored sample.
    TruncatedMean(f64),
}

/// A linear update, `mean + gain (C - E[C])`.
fn linear_step(
    mean: f64,
    variance: f64,
    noise: f64,
    sample: CapacitySample,
) -> (TobitUpdate, Evaluated) {
    let deviation = libm::sqrt(noise);
    let eta = (sample.sent_rate - mean) / deviation;
    let limit = Limit::at(eta);
    let uncensored = limit.cumulative;
    if uncensored < CERTAINLY_CENSORED {
        let update = TobitUpdate {
            mean,
            variance,
            innovation: 0.0,
            gain: 0.0,
        };
        return (update, Evaluated::Limit(limit));
    }
    // From whichever of the mean and the limit is nearer to the expectation, so that nothing cancels.
    let expected = if eta > 0.0 {
        mean + deviation * normal::censored_mean(eta)
    } else {
        sample.sent_rate - deviation * limit.shortfall()
    };
    let innovation = smaller(sample.rate, sample.sent_rate) - expected;
    let covariance = uncensored * variance;
    let innovation_variance = uncensored * uncensored * variance + noise * limit.truncated_variance;
    let gain = covariance / innovation_variance;
    let update = TobitUpdate {
        mean: mean + gain * innovation,
        variance: larger(variance - gain * covariance, 0.0),
        innovation,
        gain,
    };
    (update, Evaluated::Limit(limit))
}

/// The exact posterior moments of a normal prior.
fn exact_step(
    mean: f64,
    variance: f64,
    noise: f64,
    sample: CapacitySample,
) -> (TobitUpdate, Evaluated) {
    let total = variance + noise;
    let gain = variance / total;
    if !sample.is_censored() {
        let innovation = sample.rate - mean;
        let update = TobitUpdate {
            mean: mean + gain * innovation,
            variance: (1.0 - gain) * variance,
            innovation,
            gain,
        };
        return (update, Evaluated::Nothing);
    }
    let deviation = libm::sqrt(total);
    let eta = (sample.sent_rate - mean) / deviation;
    let truncated = normal::truncated(-eta);
    let innovation = -deviation * truncated.mean;
    // 1 - K eth = (1 - K) + K (1 - eth): a sum of two positive terms.
    let kept = (1.0 - gain) + gain * truncated.variance;
    let update = TobitUpdate {
        mean: mean + gain * innovation,
        variance: kept * variance,
        innovation,
        gain,
    };
    (update, Evaluated::TruncatedMean(truncated.mean))
}

/// Below this probability of an uncensored measurement the linear variant only predicts: its gain would be a
/// quotient of rounding errors. Dimensionless.
const CERTAINLY_CENSORED: f64 = 1e-12;

/// The largest mean or measurement, in the sample's unit: its square is the largest variance.
const MAX_MAGNITUDE: f64 = 1e100;

/// The largest variance, in the unit's square: nothing made of it overflows.
const MAX_VARIANCE: f64 = 1e200;

/// The smallest measurement noise, in the unit's square: nothing divided by its root overflows.
const MIN_NOISE: f64 = 1e-200;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [TobitVariant; 2] = [TobitVariant::Allik, TobitVariant::ExactBayes];

    #[test]
    fn without_a_limit_every_variant_is_the_kalman_step() {
        for variant in ALL {
            let update = variant
                .step(100.0, 25.0, 75.0, CapacitySample::uncensored(108.0))
                .unwrap();
            assert_eq!((update.gain, update.innovation), (0.25, 8.0), "{variant:?}");
            assert_eq!(
                (update.mean, update.variance),
                (102.0, 18.75),
                "{variant:?}"
            );
        }
    }

    #[test]
    fn a_limit_far_below_the_mean_teaches_nothing() {
        for variant in ALL {
            let update = variant
                .step(100.0, 1.0, 1.0, CapacitySample::new(50.0, 50.0))
                .unwrap();
            assert!(
                (update.mean - 100.0).abs() < 1e-9 && (update.variance - 1.0).abs() < 1e-9,
                "{variant:?}"
            );
        }
    }

    #[test]
    fn a_limit_above_the_mean_that_was_reached_raises_it() {
        for variant in ALL {
            let update = variant
                .step(100.0, 25.0, 25.0, CapacitySample::new(110.0, 110.0))
                .unwrap();
            assert!(
                update.mean > 101.0 && update.variance < 25.0,
                "{variant:?}: {update:?}"
            );
        }
    }

    #[test]
    fn arguments_out_of_range_are_named() {
        let step = |mean, variance, noise, rate, sent| {
            TobitVariant::ExactBayes
                .step(mean, variance, noise, CapacitySample::new(rate, sent))
                .unwrap_err()
        };
        assert!(matches!(
            step(f64::NAN, 1.0, 1.0, 1.0, 2.0),
            TobitError::Mean(_)
        ));
        assert!(matches!(
            step(1.0, -1.0, 1.0, 1.0, 2.0),
            TobitError::Variance(_)
        ));
        assert!(matches!(
            step(1.0, 1.0, 0.0, 1.0, 2.0),
            TobitError::Noise(_)
        ));
        assert!(matches!(
            step(1.0, 1.0, 1.0, f64::INFINITY, 2.0),
            TobitError::Rate(_)
        ));
        assert!(matches!(
            step(1.0, 1.0, 1.0, 1.0, f64::NAN),
            TobitError::SentRate(_)
        ));
    }

    proptest! {
        #[test]
        fn no_arguments_yield_anything_but_a_belief(
            mean: f64, variance: f64, noise: f64, rate: f64, sent_rate: f64, at_limit: bool,
        ) {
            let sample = CapacitySample::new(rate, if at_limit { rate } else { sent_rate });
            for variant in ALL {
                if let Ok(update) = variant.step(mean, variance.abs(), noise.abs(), sample) {
                    prop_assert!(update.mean.is_finite() && update.innovation.is_finite(), "{update:?}");
                    prop_assert!(update.variance.is_finite() && update.variance >= 0.0, "{update:?}");
                    prop_assert!(update.gain.is_finite() && update.gain >= 0.0, "{update:?}");
                }
            }
        }
    }
}
