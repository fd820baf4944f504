//! The minimum RTT and its age.

use core::time::Duration;

use crate::units::{Timestamp, saturating_nanos};

/// The minimum RTT of the last window (BBR paper, section "Characterizing the bottleneck").
///
/// RTTs are in nanoseconds: they are compared several times per acknowledgement, and a `Duration` has two parts to compare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MinRtt {
    nanos: u64,
    /// When a sample last confirmed it; the end of time before the first, so that nothing expires.
    seen: Timestamp,
    window: u64,
}

/// A minimum that does not expire.
impl Default for MinRtt {
    fn default() -> Self {
        Self::over(Duration::MAX)
    }
}

impl MinRtt {
    /// A minimum that [expires](Self::expired) after `window`.
    pub(crate) fn over(window: Duration) -> Self {
        Self {
            nanos: UNKNOWN,
            seen: Timestamp::MAX,
            window: saturating_nanos(window),
        }
    }

    /// The estimate, once there is one.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.known_nanos().map(Duration::from_nanos)
    }

    /// The same in nanoseconds.
    pub(crate) fn known_nanos(&self) -> Option<u64> {
        (self.nanos != UNKNOWN).then_some(self.nanos)
    }

    /// The estimate in nanoseconds; the maximum before the first sample.
    pub(crate) fn nanos(&self) -> u64 {
        self.nanos
    }

    /// Handles a sample: one that is not above the minimum replaces it.
    pub(crate) fn update(&mut self, now: Timestamp, rtt: u64) {
        if rtt <= self.nanos {
            self.replace(now, rtt);
        }
    }

    /// Replaces the minimum, which may rise: the path has changed.
    pub(crate) fn replace(&mut self, now: Timestamp, rtt: u64) {
        self.nanos = rtt.max(MIN);
        self.seen = now;
    }

    /// Takes over another minimum and its age.
    pub(crate) fn take_over(&mut self, other: &Self) {
        (self.nanos, self.seen) = (other.nanos, other.seen);
    }

    /// One that knows nothing yet, and expires as this one does.
    pub(crate) fn forgotten(&self) -> Self {
        Self {
            window: self.window,
            ..Self::default()
        }
    }

    /// Whether no sample has confirmed the minimum for longer than the window.
    pub(crate) fn expired(&self, now: Timestamp) -> bool {
        now.nanos_since(self.seen) > self.window
    }
}

const UNKNOWN: u64 = u64::MAX;

/// The lower bound of the estimate in nanoseconds: with zero, from a coarse clock, every product of it would be zero.
const MIN: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    fn rtt(millis: u64) -> u64 {
        millis * 1_000_000
    }

    /// Trap: a minimum RTT that was never set is not one that has expired.
    #[test]
    fn nothing_known_never_expires() {
        assert!(!MinRtt::over(WINDOW).expired(at(3_600_000)));
    }

    #[test]
    fn samples_only_lower_it() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), rtt(50));
        min_rtt.update(at(1), rtt(40));
        min_rtt.update(at(2), rtt(60));
        assert_eq!(min_rtt.known_nanos(), Some(rtt(40)));
    }

    /// Trap: the minimum RTT must be able to rise.
    #[test]
    fn a_replacement_may_raise_it() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), rtt(40));
        min_rtt.replace(at(1), rtt(90));
        assert_eq!(min_rtt.known_nanos(), Some(rtt(90)));
    }

    #[test]
    fn it_expires_unless_it_is_seen_again() {
        let mut min_rtt = MinRtt::over(WINDOW);
        min_rtt.update(at(0), rtt(40));
        assert!(!min_rtt.expired(at(10_000)));
        assert!(min_rtt.expired(at(10_001)));
        min_rtt.update(at(9_000), rtt(40));
        assert!(!min_rtt.expired(at(19_000)));
        // Time that runs backwards does not age it.
        assert!(!min_rtt.expired(at(0)));
        // One that was taken over is as old as it was, and expires by its own window.
        let mut shorter = MinRtt::over(WINDOW / 2);
        shorter.take_over(&min_rtt);
        assert!(!shorter.expired(at(14_000)));
        assert!(shorter.expired(at(14_001)));
    }

    /// Trap: a minimum RTT of zero, from a clock that stood still, makes every window zero and never rises.
    #[test]
    fn zero_is_not_believed() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), 0);
        assert_eq!(min_rtt.get(), Some(Duration::from_nanos(MIN)));
    }
}
