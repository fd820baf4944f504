//! A maximum corrected for the queue that it makes.

use thiserror::Error;

/// Lowers a windowed maximum by what it takes to drain the queue, as BBRx does.
///
/// A maximum overestimates, a sender that follows it builds a queue, and the queue shows in the round-trip time: a
/// bottleneck of rate `B` that delays by `rtt - min_rtt` holds `B (rtt - min_rtt)` bytes. Sent at
///
/// ```text
/// B (1 - gain (rtt - min_rtt) / rtt)
/// ```
///
/// that queue loses the share `gain` of itself in one round trip. With a gain of 1 the result is
/// `B min_rtt / rtt`, which is Vegas's expected rate for a window of one bandwidth-delay product.
///
/// BBR-S, section II, describes BBRx as BBR whose maximum is corrected by a term in the difference between the current
/// and the minimal round-trip time, with parameters that may be learned. The form above is the linear one that drains;
/// its one parameter is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueCorrection {
    gain: f64,
}

impl QueueCorrection {
    /// A correction that drains the share `gain` of the queue per round trip. 0..=1.
    ///
    /// # Errors
    ///
    /// If the gain is out of range.
    pub fn new(gain: f64) -> Result<Self, QueueCorrectionError> {
        if (0.0..=1.0).contains(&gain) {
            Ok(Self { gain })
        } else {
            Err(QueueCorrectionError(gain))
        }
    }

    /// The corrected rate, in `max_rate`'s unit, from round-trip times in ns.
    ///
    /// Never above `max_rate`, and never below `max_rate min_rtt / rtt`. Without a queue, or without a round-trip time,
    /// the rate stays as it is.
    #[must_use]
    pub fn apply(&self, max_rate: f64, rtt: u64, min_rtt: u64) -> f64 {
        let queueing = rtt.saturating_sub(min_rtt) as f64;
        max_rate * (1.0 - self.gain * queueing / rtt.max(1) as f64)
    }
}

/// The gain is not a share.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("a gain of {0} is not in 0..=1")]
pub struct QueueCorrectionError(
    /// The gain.
    pub f64,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_lowers_the_rate() {
        let half = QueueCorrection::new(0.5).unwrap();
        assert_eq!(half.apply(1000.0, 50, 50), 1000.0);
        assert_eq!(half.apply(1000.0, 100, 50), 750.0);
        assert_eq!(
            QueueCorrection::new(1.0).unwrap().apply(1000.0, 200, 50),
            250.0
        );
    }

    #[test]
    fn odd_times_change_nothing() {
        let full = QueueCorrection::new(1.0).unwrap();
        assert_eq!(full.apply(1000.0, 0, 0), 1000.0);
        assert_eq!(full.apply(1000.0, 40, 50), 1000.0);
    }

    #[test]
    fn a_gain_is_a_share() {
        for gain in [-0.1, 1.1, f64::NAN] {
            assert!(QueueCorrection::new(gain).is_err());
        }
    }

    #[test]
    fn the_queue_drains_by_the_gain_per_round_trip() {
        // 1 MB/s, 50 ms: a fluid queue behind a sender that follows the corrected maximum.
        let (capacity, min_rtt) = (1e6, 50_000_000u64);
        let correction = QueueCorrection::new(0.5).unwrap();
        let mut queue = 50_000.0;
        for _ in 0..10 {
            let rtt = min_rtt + (queue / capacity * 1e9) as u64;
            queue += (correction.apply(capacity, rtt, min_rtt) - capacity) * rtt as f64 * 1e-9;
        }
        assert!((queue / 50_000.0 - 0.5f64.powi(10)).abs() < 1e-4, "{queue}");
    }
}
