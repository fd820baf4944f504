//! The round-trip time without queues, and when to look at it again.

use core::time::Duration;

use crate::units::Timestamp;

/// The smallest round-trip time of the last window (BBR paper, section "Characterizing the bottleneck").
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MinRtt {
    best: Option<(Duration, Timestamp)>,
}

impl MinRtt {
    /// The estimate, once there is one.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.best.map(|(rtt, _)| rtt)
    }

    /// Takes a sample that is no worse than the best one.
    pub(crate) fn update(&mut self, now: Timestamp, rtt: Duration) {
        if self.best.is_none_or(|(best, _)| rtt <= best) {
            self.replace(now, rtt);
        }
    }

    /// Takes a sample whatever the best one was: how the estimate rises when the path gets longer.
    pub(crate) fn replace(&mut self, now: Timestamp, rtt: Duration) {
        self.best = Some((rtt.max(SHORTEST), now));
    }

    /// Whether nothing as small has been seen for longer than `window`.
    pub(crate) fn expired(&self, now: Timestamp, window: Duration) -> bool {
        self.best
            .is_some_and(|(_, seen)| now.saturating_since(seen) > window)
    }
}

/// The smallest round-trip time believed: a zero from a coarse clock would make every product of it vanish.
const SHORTEST: Duration = Duration::from_micros(1);

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
        assert_eq!(min_rtt.get(), Some(SHORTEST));
    }
}
