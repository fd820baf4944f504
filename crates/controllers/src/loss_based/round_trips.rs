//! RTT statistics of a connection: the base RTT, the minimum of each round, and the smoothed RTT.

use core::time::Duration;

use crate::event::AckEvent;
use crate::model::MinRtt;
use crate::units::{Bytes, Timestamp, saturating_nanos as nanos};

/// RTTs by round.
///
/// A round counts with its minimum RTT: this is the queue that every packet met, without the sender's bursts and
/// without delayed acknowledgements.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RoundTrips {
    base: MinRtt,
    smoothed_nanos: u64,
    current: CurrentRound,
    last: Option<Round>,
}

/// A complete round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Round {
    /// Its minimum RTT.
    pub(crate) min_rtt: Duration,
    /// The bytes acknowledged in it.
    pub(crate) acked: Bytes,
}

#[derive(Debug, Clone, Copy, Default)]
struct CurrentRound {
    /// In nanoseconds; undefined before the first sample.
    min_rtt: u64,
    samples: u32,
    acked: Bytes,
}

impl RoundTrips {
    /// RTTs whose base expires after `window`.
    pub(crate) fn with_base_window(window: Duration) -> Self {
        Self {
            base: MinRtt::over(window),
            ..Self::default()
        }
    }

    /// Handles an acknowledgement. Returns the round that ended, if one did.
    pub(crate) fn on_ack(&mut self, ack: &AckEvent) -> Option<Round> {
        let ended = if ack.round_start {
            self.begin_round()
        } else {
            None
        };
        let rtt = ack.rtt_nanos();
        self.base.update(ack.now, rtt);
        if self.current.samples == 0 || rtt < self.current.min_rtt {
            self.current.min_rtt = rtt;
        }
        self.current.samples = self.current.samples.saturating_add(1);
        self.current.acked += ack.acked;
        ended
    }

    /// Updates the smoothed RTT, which not every controller needs.
    pub(crate) fn smooth(&mut self, ack: &AckEvent) {
        let sample = ack.rtt_nanos();
        self.smoothed_nanos = if self.smoothed_nanos == 0 {
            sample
        } else {
            self.smoothed_nanos - self.smoothed_nanos / SMOOTHING + sample / SMOOTHING
        };
    }

    /// The base RTT: the minimum without queues. It stays when it has [expired](Self::base_has_expired), because a sender that
    /// keeps a queue would include this queue in a new base RTT.
    pub(crate) fn base(&self) -> Option<Duration> {
        self.base.get()
    }

    /// Whether no sample has confirmed the base RTT for longer than [its window](Self::with_base_window).
    pub(crate) fn base_has_expired(&self, now: Timestamp) -> bool {
        self.base.expired(now)
    }

    /// Replaces the base RTT: the path has changed.
    pub(crate) fn replace_base(&mut self, now: Timestamp, base: Duration) {
        self.base.replace(now, nanos(base));
    }

    /// The minimum RTT of the current round, and the number of samples.
    pub(crate) fn current(&self) -> Option<(Duration, u32)> {
        let CurrentRound {
            min_rtt, samples, ..
        } = self.current;
        (samples > 0).then(|| (Duration::from_nanos(min_rtt), samples))
    }

    /// The previous round.
    pub(crate) fn last(&self) -> Option<Round> {
        self.last
    }

    /// The smoothed round-trip time in seconds (RFC 9002, section 5.3); zero before the first sample.
    pub(crate) fn smoothed_seconds(&self) -> f64 {
        self.smoothed_nanos as f64 * 1e-9
    }

    /// The part of `window` that waited in the bottleneck's queue throughout a round: (window / base RTT - window /
    /// RTT) x base RTT (Vegas, section III-B, whence Compound TCP has it; eBCC, equations 3 to 5).
    ///
    /// An RTT that exceeds the base RTT by at most `host_delay` shows no queue: see [`HOST_DELAY`](super::HOST_DELAY).
    pub(crate) fn backlog(&self, window: Bytes, rtt: Duration, host_delay: Duration) -> Bytes {
        let base = self.base().unwrap_or(rtt);
        let [base, rtt, host_delay] = [base, rtt, host_delay].map(nanos);
        window.share(Bytes(rtt) - Bytes(base) - Bytes(host_delay), Bytes(rtt))
    }

    /// The path was idle or lost everything: it may have changed.
    pub(crate) fn forget_path(&mut self) {
        *self = Self {
            base: self.base.forgotten(),
            ..Self::default()
        };
    }

    fn begin_round(&mut self) -> Option<Round> {
        let current = core::mem::take(&mut self.current);
        let ended = (current.samples > 0).then_some(Round {
            min_rtt: Duration::from_nanos(current.min_rtt),
            acked: current.acked,
        });
        self.last = ended.or(self.last);
        ended
    }
}

/// The weight of a sample in the smoothed RTT is 1 / 8 (RFC 9002, section 5.3).
const SMOOTHING: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss_based::testing::ack;

    fn sample(now_millis: u64, rtt_millis: u64, round_start: bool) -> AckEvent {
        AckEvent {
            round_start,
            ..ack(1000 + now_millis).with_rtt(Duration::from_millis(rtt_millis))
        }
    }

    #[test]
    fn a_round_counts_with_its_least_round_trip_time() {
        let mut trips = RoundTrips::default();
        assert_eq!(trips.on_ack(&sample(40, 40, true)), None);
        trips.on_ack(&sample(50, 60, false));
        assert_eq!(trips.current(), Some((Duration::from_millis(40), 2)));
        let round = trips.on_ack(&sample(100, 70, true)).expect("a round");
        assert_eq!(round.min_rtt, Duration::from_millis(40));
        assert_eq!(round.acked, ack(0).acked * 2);
        assert_eq!(trips.last(), Some(round));
        assert_eq!(trips.current(), Some((Duration::from_millis(70), 1)));
        assert_eq!(trips.base(), Some(Duration::from_millis(40)));
    }

    #[test]
    fn the_backlog_is_the_excess_over_the_base_rtt() {
        let mut trips = RoundTrips::default();
        trips.on_ack(&sample(40, 40, true));
        // 100 packets in 50 ms where 40 would do: a fifth of them waited.
        let window = Bytes(120_000);
        assert_eq!(
            trips.backlog(window, Duration::from_millis(50), Duration::ZERO),
            Bytes(24_000)
        );
        assert_eq!(
            trips.backlog(window, Duration::from_millis(40), Duration::ZERO),
            Bytes::ZERO
        );
        // A clock that stood still.
        assert_eq!(
            trips.backlog(window, Duration::ZERO, Duration::ZERO),
            Bytes::ZERO
        );
    }

    #[test]
    fn smoothing_is_that_of_rfc_9002() {
        let mut trips = RoundTrips::default();
        trips.smooth(&sample(40, 80, true));
        assert!((trips.smoothed_seconds() - 0.080).abs() < 1e-9);
        trips.smooth(&sample(50, 40, false));
        assert!((trips.smoothed_seconds() - 0.075).abs() < 1e-9);
    }

    /// Trap: the base RTT must be able to rise when the path has changed.
    #[test]
    fn a_forgotten_path_can_be_longer() {
        let mut trips = RoundTrips::default();
        trips.on_ack(&sample(40, 40, true));
        trips.forget_path();
        assert_eq!((trips.base(), trips.last()), (None, None));
        trips.on_ack(&sample(240, 90, true));
        assert_eq!(trips.base(), Some(Duration::from_millis(90)));
    }
}
