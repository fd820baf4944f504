//! The round-trip time without queues, and when to look at it again.

use core::time::Duration;

use crate::units::{Timestamp, saturating_nanos};

/// The smallest round-trip time of the last window (BBR paper, section "Characterizing the bottleneck").
///
/// In nanoseconds: it is compared several times for each acknowledgement, and a `Duration` has two parts to compare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MinRtt {
    nanos: u64,
    seen: Timestamp,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self {
            nanos: UNKNOWN,
            seen: Timestamp::ZERO,
        }
    }
}

impl MinRtt {
    /// The estimate, once there is one.
    #[inline]
    pub(crate) fn get(&self) -> Option<Duration> {
        (self.nanos != UNKNOWN).then(|| Duration::from_nanos(self.nanos))
    }

    /// The same in nanoseconds; longer than any until there is one.
    #[inline]
    pub(crate) fn nanos(&self) -> u64 {
        self.nanos
    }

    /// Takes a sample that is no worse than the best one.
    #[inline]
    pub(crate) fn update(&mut self, now: Timestamp, rtt: Duration) {
        self.update_nanos(now, saturating_nanos(rtt));
    }

    /// The same with the sample in nanoseconds.
    #[inline]
    pub(crate) fn update_nanos(&mut self, now: Timestamp, rtt: u64) {
        if rtt <= self.nanos {
            self.set(now, rtt);
        }
    }

    /// Takes a sample whatever the best one was: how the estimate rises when the path gets longer.
    #[inline]
    pub(crate) fn replace(&mut self, now: Timestamp, rtt: Duration) {
        self.set(now, saturating_nanos(rtt));
    }

    #[inline]
    fn set(&mut self, now: Timestamp, nanos: u64) {
        self.nanos = nanos.max(MIN);
        self.seen = now;
    }

    /// Whether nothing as small has been seen for longer than `window`.
    #[inline]
    pub(crate) fn expired(&self, now: Timestamp, window: Duration) -> bool {
        self.nanos != UNKNOWN && now.nanos_since(self.seen) > saturating_nanos(window)
    }
}

const UNKNOWN: u64 = u64::MAX;

/// The smallest round-trip time believed, in nanoseconds: a zero from a coarse clock would make every product of it
/// vanish.
const MIN: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    fn rtt(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Trap: a minimum RTT that was never set is not one that has expired.
    #[test]
    fn nothing_known_never_expires() {
        assert!(!MinRtt::default().expired(at(3_600_000), WINDOW));
    }

    #[test]
    fn samples_only_lower_it() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), rtt(50));
        min_rtt.update(at(1), rtt(40));
        min_rtt.update(at(2), rtt(60));
        assert_eq!(min_rtt.get(), Some(rtt(40)));
    }

    /// Trap: the minimum RTT must be able to rise.
    #[test]
    fn a_replacement_may_raise_it() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), rtt(40));
        min_rtt.replace(at(1), rtt(90));
        assert_eq!(min_rtt.get(), Some(rtt(90)));
    }

    #[test]
    fn it_expires_unless_it_is_seen_again() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), rtt(40));
        assert!(!min_rtt.expired(at(10_000), WINDOW));
        assert!(min_rtt.expired(at(10_001), WINDOW));
        min_rtt.update(at(9_000), rtt(40));
        assert!(!min_rtt.expired(at(19_000), WINDOW));
        // Time that runs backwards does not make it old.
        assert!(!min_rtt.expired(at(0), WINDOW));
    }

    /// Trap: a minimum RTT of zero, from a clock that stood still, makes every window zero and stays for ever.
    #[test]
    fn zero_is_not_believed() {
        let mut min_rtt = MinRtt::default();
        min_rtt.update(at(0), Duration::ZERO);
        assert_eq!(min_rtt.get(), Some(Duration::from_nanos(MIN)));
    }
}
