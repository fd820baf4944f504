//! Detects a longer path before min RTT expires.

use core::time::Duration;

use super::horizon;
use crate::event::AckEvent;
use crate::units::{Bytes, Gain, Timestamp, saturating_nanos as nanos};

/// Detects RTTs that stay above the RTT of a full window.
///
/// BBR's min RTT is valid for 10 s. If the RTT of the path becomes ten times as long, the window carries a
/// fifth of the link until then, and the maximum filter loses the link's rate. ProbeRTT can detect the change earlier:
/// this flow's queue shrinks with its flight, the path's RTT does not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LongerPath {
    since: Option<Since>,
    /// The next check begins no earlier.
    not_before: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    at: Timestamp,
    round: u64,
    /// The minimum RTT since then in nanoseconds, without the first rounds: they may have met a queue of the old path.
    min: u64,
}

/// A check: the minimum RTT before it, and in it, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathCheck {
    before: u64,
    found: u64,
}

impl LongerPath {
    /// Whether ProbeRTT can halve the flight. On a slow link the minimum window makes a queue, which lengthens the RTT. The
    /// flight decides and not the estimated bandwidth-delay product, which shrinks when the path becomes longer.
    pub(crate) fn can_be_told(ack: &AckEvent, min_window: Bytes) -> bool {
        ack.prior_in_flight >= min_window * 2
    }

    /// Handles an acknowledgement with this RTT. With a window of `gain` bandwidth-delay products the RTT is at most `gain` times
    /// min RTT. Both are in nanoseconds.
    pub(crate) fn on_ack(&mut self, ack: &AckEvent, rtt: u64, gain: Gain, min_rtt: u64) {
        if rtt <= horizon(gain.scale(min_rtt)) {
            self.since = None;
            return;
        }
        let since = self.since.get_or_insert(Since {
            at: ack.now,
            round: ack.round,
            min: u64::MAX,
        });
        if ack.round >= since.round.saturating_add(SETTLING_ROUNDS) {
            since.min = since.min.min(rtt);
        }
    }

    /// The check to make in a ProbeRTT that begins now and reduces the flight to `target`, if the RTT has been long enough.
    ///
    /// The comparison needs two different flights: at an equal flight this flow's queue is as long as before.
    pub(crate) fn begin_check(&self, ack: &AckEvent, target: Bytes) -> Option<PathCheck> {
        let smaller = ack.prior_in_flight >= SMALLER * target;
        self.check(ack).filter(|_| smaller)
    }

    fn check(&self, ack: &AckEvent) -> Option<PathCheck> {
        self.since
            .filter(|since| {
                ack.now.nanos_since(since.at) > nanos(PATIENCE)
                    && ack.round >= since.round.saturating_add(PATIENCE_ROUNDS)
            })
            .map(|since| PathCheck {
                before: since.min,
                found: u64::MAX,
            })
    }

    /// Whether to enter ProbeRTT for the check.
    pub(crate) fn is_due(&self, ack: &AckEvent) -> bool {
        ack.now >= self.not_before && self.check(ack).is_some()
    }

    /// A check has ended.
    pub(crate) fn checked(&mut self, now: Timestamp) {
        self.since = None;
        self.not_before = now + INTERVAL;
    }

    /// Discards the measurements.
    pub(crate) fn reset(&mut self) {
        self.since = None;
    }
}

impl PathCheck {
    /// Handles an RTT sample of ProbeRTT, in nanoseconds.
    pub(crate) fn on_rtt(&mut self, rtt: u64) {
        self.found = self.found.min(rtt);
    }

    /// The path's RTT in nanoseconds, if the smaller flight did not change it.
    pub(crate) fn path(&self) -> Option<u64> {
        let (before, found) = (self.before, self.found);
        let alike = found <= ALIKE.scale(before) && before <= ALIKE.scale(found);
        alike.then_some(found)
    }
}

/// Ten CoDel intervals (RFC 8289, section 4.3): a transient queue drains within them.
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of rounds, if they take longer: Drain takes at most three (draft-ietf-ccwg-bbr, section "Drain").
const PATIENCE_ROUNDS: u64 = 4;

/// The round in which the path changes, and the next one, whose packets were sent before the window was measured on the
/// new path.
const SETTLING_ROUNDS: u64 = 2;

/// The ProbeRTTInterval of BBRv2 and of earlier versions of the draft.
const INTERVAL: Duration = Duration::from_secs(5);

/// With a flight larger by this factor, this flow's queue makes the RTT longer by more than the tolerance.
const SMALLER: Gain = Gain::new(3, 2);

/// RTTs within an eighth of each other count as equal.
const ALIKE: Gain = Gain::new(9, 8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{self, MTU};

    const GAIN: Gain = Gain::new(2, 1);
    const MIN_RTT: u64 = 20 * MILLI;
    const MILLI: u64 = 1_000_000;
    const START: Timestamp = Timestamp::from_nanos(1_000_000_000);

    fn ack(millis: u64, round: u64, rtt_millis: u64) -> AckEvent {
        driver::ack(
            START + Duration::from_millis(millis),
            Duration::from_millis(rtt_millis),
            Bytes(2400),
            round,
        )
    }

    fn feed(longer: &mut LongerPath, ack: &AckEvent) {
        longer.on_ack(ack, ack.rtt_nanos(), GAIN, MIN_RTT);
    }

    #[test]
    fn it_takes_a_second_and_four_rounds_of_long_round_trips() {
        let mut longer = LongerPath::default();
        feed(&mut longer, &ack(0, 0, 42));
        assert!(!longer.is_due(&ack(1000, 9, 42)));
        assert!(!longer.is_due(&ack(1001, 3, 42)));
        assert!(longer.is_due(&ack(1001, 4, 42)));
        // A window of two BDP explains this RTT.
        feed(&mut longer, &ack(1001, 4, 41));
        assert!(!longer.is_due(&ack(2000, 9, 42)));
    }

    /// Trap: on a link of fewer than eight packets the minimum window makes the RTT long. If the link then becomes
    /// slower, ProbeRTT measures its queue and uses it as the path's RTT.
    #[test]
    fn round_trips_of_the_smallest_window_say_nothing_of_the_path() {
        let told = |packets| {
            let ack = AckEvent {
                prior_in_flight: MTU * packets,
                ..ack(0, 0, 42)
            };
            LongerPath::can_be_told(&ack, MTU * 4)
        };
        assert_eq!([7, 8].map(told), [false, true]);
    }

    /// Trap: the queue of the old path, just before the change, counts as the minimum of the new path.
    #[test]
    fn the_first_rounds_may_have_met_a_queue() {
        let mut longer = LongerPath::default();
        for (round, rtt) in [(0, 45), (1, 200), (2, 201), (6, 202)] {
            feed(&mut longer, &ack(200 * round, round, rtt));
        }
        let mut check = longer.check(&ack(1200, 6, 202)).expect("it is due");
        check.on_rtt(200 * MILLI);
        assert_eq!(check.path(), Some(200 * MILLI));
    }

    #[test]
    fn checks_are_five_seconds_apart() {
        let mut longer = LongerPath::default();
        longer.checked(START);
        feed(&mut longer, &ack(0, 0, 90));
        assert!(!longer.is_due(&ack(4999, 20, 90)));
        assert!(longer.is_due(&ack(5000, 20, 90)));
    }

    /// Trap: a queue that is shorter in ProbeRTT, but not empty, counts as the path's RTT.
    #[test]
    fn an_rtt_that_follows_the_flight_is_not_the_path() {
        let path = |before, found| {
            let mut check = PathCheck {
                before: before * MILLI,
                found: u64::MAX,
            };
            check.on_rtt(found * MILLI);
            check.on_rtt((found + 5) * MILLI);
            check.path()
        };
        assert_eq!(path(200, 200), Some(200 * MILLI));
        assert_eq!(path(200, 180), Some(180 * MILLI));
        assert_eq!(path(200, 170), None);
        assert_eq!(path(42, 100), None);
    }
}
