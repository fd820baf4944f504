//! Whether the round-trip time stays away from its minimum.

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bandwidth, Gain, Timestamp};

/// A watch for round trips that do not come near the minimum any more, while the window hangs on the minimum.
///
/// A window of about one BDP drains its own queue many times a second. If no packet has come back near the minimum for
/// seconds, there are two reasons. Others keep a queue: then all must make way together for once, or every newcomer takes
/// the queue of the others for a part of the path, and adds its own. Or the path has become longer: then the window shrinks,
/// is delivered more slowly because it is smaller, and shrinks again. ProbeRTT helps in both cases.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StandingQueue {
    since: Option<Since>,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    at: Timestamp,
    round: u64,
    bandwidth: Bandwidth,
}

impl StandingQueue {
    /// Takes an acknowledgement, the estimate of the bandwidth and of the minimum RTT.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent, bandwidth: Bandwidth, min_rtt: Duration) {
        if ack.rtt <= TOLERANCE * min_rtt {
            // The common case: the queue drains now and then.
            self.since = None;
        } else if self.since.is_none() {
            self.since = Some(Since {
                at: ack.now,
                round: ack.round,
                bandwidth,
            });
        }
    }

    /// Whether it has stood for so long that ProbeRTT should look what is behind it.
    #[inline]
    pub(super) fn is_due(&self, ack: &AckEvent) -> bool {
        self.since.is_some_and(|since| {
            ack.now.saturating_since(since.at) > PATIENCE
                && ack.round >= since.round.saturating_add(PATIENCE_ROUNDS)
        })
    }

    /// Whether a quarter of the bandwidth is left, as when the path becomes much longer.
    pub(super) fn has_collapsed(&self, bandwidth: Bandwidth) -> bool {
        self.since
            .is_some_and(|since| Gain::new(4, 1) * bandwidth < since.bandwidth)
    }

    /// Begins anew.
    pub(super) fn reset(&mut self) {
        self.since = None;
    }
}

/// RTTs within an eighth of each other count as the same.
const TOLERANCE: Gain = Gain::new(9, 8);

/// For so long a queue may stand. Flows that compete look at the same time if all of them look often: each one's look makes
/// the others' minimum RTTs newer, and they expire together.
const PATIENCE: Duration = Duration::from_secs(3);

/// And for so many rounds, where these take longer: the window drains in far fewer.
const PATIENCE_ROUNDS: u64 = 8;

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
        assert!(!queue.is_due(&ack(2.9, 50, 60)));
        assert!(!queue.is_due(&ack(3.1, 7, 60)));
        assert!(queue.is_due(&ack(3.1, 8, 60)));
        // It begins at the first of them, and ends with the first short one.
        queue.on_ack(&ack(2.0, 40, 70), FULL, MIN_RTT);
        assert!(queue.is_due(&ack(3.1, 50, 70)));
        queue.on_ack(&ack(3.1, 51, 45), FULL, MIN_RTT);
        assert!(!queue.is_due(&ack(9.0, 99, 60)));
    }

    #[test]
    fn what_is_left_of_the_bandwidth_counts_from_its_beginning() {
        let mut queue = StandingQueue::default();
        assert!(!queue.has_collapsed(Bandwidth::ZERO));
        queue.on_ack(&ack(0.0, 0, 60), FULL, MIN_RTT);
        queue.on_ack(&ack(1.0, 9, 60), Bandwidth::ZERO, MIN_RTT);
        assert!(!queue.has_collapsed(Bandwidth::from_bytes_per_second(250_000)));
        assert!(queue.has_collapsed(Bandwidth::from_bytes_per_second(249_999)));
        queue.reset();
        assert!(!queue.has_collapsed(Bandwidth::ZERO));
    }
}
