//! The samples for the filters.

use thiserror::Error;

/// One measurement of a path's capacity: what it delivered, and what it was given to deliver.
///
/// The filters work in any unit as long as both rates are in the same one; the rest of this crate uses bytes/s.
/// The model (BBR-S, eqs. (9) and (10)) is `rate = min(sent_rate, capacity + noise)`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CapacitySample {
    /// The measured capacity `C`. 0..=[`MAX_RATE`].
    pub rate: f64,
    /// The rate `S` at which the same packets were sent. At least 0; infinity if the measurement is known to be
    /// real whatever was sent, as when a queue stood at the bottleneck throughout.
    pub sent_rate: f64,
}

impl CapacitySample {
    /// A measurement `rate` of packets sent at `sent_rate`.
    #[must_use]
    pub const fn new(rate: f64, sent_rate: f64) -> Self {
        Self { rate, sent_rate }
    }

    /// A measurement that is known not to be limited by the sender.
    #[must_use]
    pub const fn uncensored(rate: f64) -> Self {
        Self {
            rate,
            sent_rate: f64::INFINITY,
        }
    }

    /// A measurement of nothing at all: the path delivered nothing while data was in flight.
    ///
    /// No acknowledgement arrives in an outage, so that a controller has to make these from a timer.
    #[must_use]
    pub const fn outage() -> Self {
        Self::uncensored(0.0)
    }

    /// Whether the path delivered all that was sent, so that only a lower bound is known (BBR-S, eq. (17)).
    #[must_use]
    pub fn is_censored(&self) -> bool {
        self.rate >= self.sent_rate
    }

    /// Checks that a filter can use the sample.
    ///
    /// # Errors
    ///
    /// Says which rate is not one.
    pub fn validate(&self) -> Result<(), SampleError> {
        if !(0.0..=MAX_RATE).contains(&self.rate) {
            return Err(SampleError::Rate(self.rate));
        }
        if !(0.0..=f64::INFINITY).contains(&self.sent_rate) {
            return Err(SampleError::SentRate(self.sent_rate));
        }
        Ok(())
    }
}

/// Why a filter has refused a sample. The filter is as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The measured rate is NaN, negative, or above [`MAX_RATE`].
    #[error("a measured rate of {0} is not in 0..={MAX_RATE:e}")]
    Rate(f64),
    /// The sending rate is NaN or negative.
    #[error("a sending rate of {0} is not in 0..=infinity")]
    SentRate(f64),
}

/// The highest rate that the filters take, bytes/s: a thousand times any link's, and its square and the square's
/// sums stay far from overflow.
pub const MAX_RATE: f64 = 1e15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rates_are_samples() {
        assert!(CapacitySample::new(0.0, 0.0).validate().is_ok());
        assert!(CapacitySample::uncensored(MAX_RATE).validate().is_ok());
        for rate in [f64::NAN, f64::INFINITY, -1.0, 1e16] {
            assert!(matches!(
                CapacitySample::new(rate, 1.0).validate(),
                Err(SampleError::Rate(_))
            ));
        }
        for sent_rate in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert!(matches!(
                CapacitySample::new(1.0, sent_rate).validate(),
                Err(SampleError::SentRate(_))
            ));
        }
    }

    #[test]
    fn a_sample_at_its_limit_is_censored() {
        assert!(CapacitySample::new(2.0, 2.0).is_censored());
        assert!(!CapacitySample::new(1.9, 2.0).is_censored());
        assert!(!CapacitySample::uncensored(MAX_RATE).is_censored());
        assert!(!CapacitySample::outage().is_censored());
    }
}
