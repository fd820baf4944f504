//! The delivery-rate sample.

use thiserror::Error;

use super::seconds;
use crate::float::{as_f64, larger};
use crate::sample::{CapacitySample, MAX_RATE};

/// The rate at which some packets were delivered, and the rate at which they were sent.
///
/// draft-ietf-ccwg-bbr, "Delivery Rate Samples": the delivered bytes over the longer of the time it took to send them and
/// the time it took to acknowledge them. Acknowledgements that come compressed shorten their own interval but not the
/// sender's, so that the rate never exceeds the one at which the packets were sent.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DeliveryRate {
    /// The delivered bytes over the longer interval, bytes/s. Finite.
    pub rate: f64,
    /// The same bytes over the sending interval, bytes/s. At least `rate`; infinity if they were sent at one instant.
    pub sent_rate: f64,
}

impl DeliveryRate {
    /// The rates of `delivered` bytes that took `send_elapsed` ns to send and `ack_elapsed` ns to be acknowledged.
    ///
    /// # Errors
    ///
    /// If neither interval has a length, or the rate is no link's.
    pub fn new(
        delivered: u64,
        send_elapsed: u64,
        ack_elapsed: u64,
    ) -> Result<Self, DeliveryRateError> {
        let (sending, acknowledging) = (seconds(send_elapsed), seconds(ack_elapsed));
        let longer = larger(sending, acknowledging);
        if longer <= 0.0 {
            return Err(DeliveryRateError::NoTime);
        }
        let delivered = as_f64(delivered);
        let rate = delivered / longer;
        if rate > MAX_RATE {
            return Err(DeliveryRateError::Rate(rate));
        }
        Ok(Self {
            rate,
            sent_rate: if send_elapsed == 0 {
                f64::INFINITY
            } else {
                delivered / sending
            },
        })
    }

    /// The pair as a sample: censored if sending took no less time than acknowledging.
    ///
    /// This is the naive rule, `C < S`, which [the module](super) explains and [`CapacityInterval`](super::CapacityInterval)
    /// replaces.
    #[must_use]
    pub const fn sample(&self) -> CapacitySample {
        CapacitySample::new(self.rate, self.sent_rate)
    }
}

/// Why there is no delivery rate.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum DeliveryRateError {
    /// Both intervals are of zero length.
    #[error("sending and acknowledging took no time")]
    NoTime,
    /// The rate is above [`MAX_RATE`].
    #[error("a delivery rate of {0} bytes/s is above {MAX_RATE:e}")]
    Rate(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_interval_counts() {
        let compressed = DeliveryRate::new(1_000_000, 2_000_000_000, 500_000_000).unwrap();
        assert_eq!(
            (compressed.rate, compressed.sent_rate),
            (500_000.0, 500_000.0)
        );
        assert!(compressed.sample().is_censored());
        let queued = DeliveryRate::new(1_000_000, 500_000_000, 2_000_000_000).unwrap();
        assert_eq!((queued.rate, queued.sent_rate), (500_000.0, 2_000_000.0));
        assert!(!queued.sample().is_censored());
    }

    #[test]
    fn a_burst_is_never_censored() {
        let burst = DeliveryRate::new(1_000_000, 0, 1_000_000_000).unwrap();
        assert_eq!((burst.rate, burst.sent_rate), (1e6, f64::INFINITY));
    }

    #[test]
    fn intervals_without_a_rate_are_refused() {
        assert_eq!(DeliveryRate::new(1, 0, 0), Err(DeliveryRateError::NoTime));
        assert!(matches!(
            DeliveryRate::new(u64::MAX, 1, 1),
            Err(DeliveryRateError::Rate(_))
        ));
    }
}
