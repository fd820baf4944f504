//! Detects an RTT that stays above its minimum.

use core::time::Duration;

use crate::event::AckEvent;
use crate::model::HOST_DELAY;
use crate::units::{Bandwidth, Gain, Timestamp};

/// Detects an RTT that stays above min RTT while the window is sized from min RTT.
///
/// A window of about one BDP drains its own queue many times a second. An RTT that stays above the minimum for seconds
/// has one of two causes. Either other flows keep a queue; a new flow would include this queue in its min RTT and add
/// its own. All flows must then drain at the same time. Or the path has become longer; a window sized from the old min
/// RTT then delivers less, and shrinks again. ProbeRTT helps in both cases.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StandingQueue {
    since: Option<Since>,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    at: Timestamp,
    round: u64,
    bandwidth: Bandwidth,
    rounds: Rounds,
}

/// Whether the path's RTT has changed, or a queue explains the longer RTT.
///
/// The bandwidth falls in both cases: on a longer path the window is too small, and beside a new flow the share is
/// smaller. With a queue, the RTT varies between rounds. Without one, most rounds have nearly equal minimum RTTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathRttChange {
    /// The RTT varies between rounds.
    No,
    /// Most rounds have nearly equal minimum RTTs.
    Maybe,
    /// Most rounds have nearly equal minimum RTTs, and less than a quarter of the bandwidth is left.
    Yes,
}

/// The minimum RTTs of rounds, without those of the first second, in which a long queue may still drain.
#[derive(Debug, Clone, Copy)]
struct Rounds {
    /// The current round and its minimum RTT.
    current: u64,
    round_min_rtt: Duration,
    /// The minimum over all complete rounds, their number, and how many are close to the minimum.
    min_rtt: Duration,
    complete: u32,
    near: u32,
}

impl Rounds {
    fn new(ack: &AckEvent) -> Self {
        Self {
            current: ack.round,
            round_min_rtt: ack.rtt,
            min_rtt: Duration::MAX,
            complete: 0,
            near: 0,
        }
    }

    fn on_ack(&mut self, ack: &AckEvent, after_settling: bool) {
        if ack.round == self.current {
            self.round_min_rtt = self.round_min_rtt.min(ack.rtt);
            return;
        }
        if after_settling {
            self.complete = self.complete.saturating_add(1);
            if NEAR * self.round_min_rtt < self.min_rtt {
                self.near = 1;
            } else if self.round_min_rtt <= NEAR * self.min_rtt {
                self.near = self.near.saturating_add(1);
            }
            self.min_rtt = self.min_rtt.min(self.round_min_rtt);
        }
        self.current = ack.round;
        self.round_min_rtt = ack.rtt;
    }

    /// Whether most rounds are close to the minimum.
    fn are_steady(&self) -> bool {
        self.near > self.complete / 2
    }
}

impl StandingQueue {
    /// Handles an acknowledgement, given the estimates of bandwidth and min RTT.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent, bandwidth: Bandwidth, min_rtt: Duration) {
        if ack.rtt <= (TOLERANCE * min_rtt).saturating_add(HOST_DELAY) {
            // The common case: the queue drains from time to time.
            self.since = None;
            return;
        }
        let since = self.since.get_or_insert(Since {
            at: ack.now,
            round: ack.round,
            bandwidth,
            rounds: Rounds::new(ack),
        });
        let after_settling = ack.now.saturating_since(since.at) > SETTLING;
        since.rounds.on_ack(ack, after_settling);
    }

    /// Whether the queue has stood long enough to enter ProbeRTT.
    #[inline]
    pub(super) fn is_due(&self, ack: &AckEvent) -> bool {
        self.since.is_some_and(|since| {
            ack.now.saturating_since(since.at) > PATIENCE
                && ack.round >= since.round.saturating_add(PATIENCE_ROUNDS)
        })
    }

    /// Whether the path has become longer.
    pub(super) fn path_rtt_change(&self, bandwidth: Bandwidth) -> PathRttChange {
        match self.since {
            Some(since) if !since.rounds.are_steady() => PathRttChange::No,
            Some(since) if Gain::new(4, 1) * bandwidth < since.bandwidth => PathRttChange::Yes,
            Some(_) => PathRttChange::Maybe,
            None => PathRttChange::No,
        }
    }

    /// The minimum RTT of all rounds after the first second; the maximum duration if there is none.
    pub(super) fn min_round_rtt(&self) -> Duration {
        self.since
            .map_or(Duration::MAX, |since| since.rounds.min_rtt)
    }

    /// Begins anew.
    pub(super) fn reset(&mut self) {
        self.since = None;
    }
}

/// RTTs within an eighth of each other count as equal.
const TOLERANCE: Gain = Gain::new(9, 8);

/// How long a queue may stand. Competing flows all run ProbeRTT. Each probe refreshes the others' min RTT, so the
/// probes synchronise.
const PATIENCE: Duration = Duration::from_millis(2500);

/// The number of rounds that a queue may stand, if they take longer: the window drains in far fewer.
const PATIENCE_ROUNDS: u64 = 8;

/// The minimum RTTs of rounds without a queue are within this factor.
const NEAR: Gain = Gain::new(33, 32);

/// How long the RTT of a path that has become longer may vary.
const SETTLING: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver;
    use crate::units::Bytes;

    const MIN_RTT: Duration = Duration::from_millis(40);
    const FULL: Bandwidth = Bandwidth::from_bytes_per_second(1_000_000);

    fn ack(seconds: f64, round: u64, rtt_millis: u64) -> AckEvent {
        let now = Timestamp::from_origin(Duration::from_secs_f64(seconds));
        driver::ack(now, Duration::from_millis(rtt_millis), Bytes(2400), round)
    }

    #[test]
    fn it_takes_seconds_and_rounds_without_a_short_round_trip() {
        let mut queue = StandingQueue::default();
        queue.on_ack(&ack(0.0, 0, 60), FULL, MIN_RTT);
        assert!(!queue.is_due(&ack(2.4, 50, 60)));
        assert!(!queue.is_due(&ack(2.6, 7, 60)));
        assert!(queue.is_due(&ack(2.6, 8, 60)));
        // It begins at the first of them, and ends with the first short one.
        queue.on_ack(&ack(2.0, 40, 70), FULL, MIN_RTT);
        assert!(queue.is_due(&ack(2.6, 50, 70)));
        queue.on_ack(&ack(2.6, 51, 45), FULL, MIN_RTT);
        assert!(!queue.is_due(&ack(9.0, 99, 60)));
    }

    /// A queue of which these are the rounds' shortest round trips, in milliseconds, four a second.
    fn standing(rounds: impl IntoIterator<Item = u64>) -> StandingQueue {
        let mut queue = StandingQueue::default();
        for (round, rtt) in (0..).zip(rounds) {
            let seconds = round as f64 / 4.0;
            // The receiver's delay of an acknowledgement says nothing of the path.
            queue.on_ack(&ack(seconds, round, rtt + 25), FULL, MIN_RTT);
            queue.on_ack(&ack(seconds, round, rtt), FULL, MIN_RTT);
        }
        queue
    }

    const NOTHING: Bandwidth = Bandwidth::ZERO;

    #[test]
    fn the_rest_of_the_bandwidth_counts_from_its_beginning() {
        let mut queue = standing([120; 13]);
        queue.on_ack(&ack(4.0, 13, 120), NOTHING, MIN_RTT);
        let quarter = Bandwidth::from_bytes_per_second(250_000);
        assert_eq!(queue.path_rtt_change(quarter), PathRttChange::Maybe);
        let less = Bandwidth::from_bytes_per_second(249_999);
        assert_eq!(queue.path_rtt_change(less), PathRttChange::Yes);
        queue.reset();
        assert_eq!(queue.path_rtt_change(NOTHING), PathRttChange::No);
    }

    /// Trap: beside a newcomer that takes the link for itself, the bandwidth falls as on a longer path.
    #[test]
    fn a_queue_that_varies_is_no_longer_path() {
        let newcomer = [
            150, 140, 130, 120, 120, 126, 124, 118, 122, 135, 137, 153, 151,
        ];
        assert_eq!(
            standing(newcomer).path_rtt_change(NOTHING),
            PathRttChange::No
        );
        // What drains in the first second is the old path's queue; and wireless links have pauses.
        let longer = [
            300, 250, 200, 150, 150, 121, 120, 122, 180, 120, 260, 120, 121,
        ];
        assert_eq!(
            standing(longer).path_rtt_change(NOTHING),
            PathRttChange::Yes
        );
        // Too soon to say.
        assert_eq!(
            standing([120; 4]).path_rtt_change(NOTHING),
            PathRttChange::No
        );
    }
}
