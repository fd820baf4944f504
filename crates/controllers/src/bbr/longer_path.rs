//! Whether the path has become longer, or only has a queue.

use core::time::Duration;

use crate::event::AckEvent;
use crate::model::MinRtt;
use crate::units::{Bandwidth, Gain};

/// A watch for paths that become longer while the window hangs on the minimum RTT.
///
/// A window of about one BDP answers a longer path as it answers a queue: it shrinks, is delivered more slowly
/// because it is smaller, and shrinks again, until the next ProbeRTT. But a queue would have drained meanwhile. So when
/// the estimate has halved and for many rounds no packet came back near the minimum, the smallest RTT of those rounds is
/// taken for the minimum on trial. The window then grows; if it was a queue after all, the RTT grows with it or
/// falls below, and the trial is over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LongerPath {
    watch: Option<Watch>,
    trial: Option<Trial>,
}

#[derive(Debug, Clone, Copy)]
struct Watch {
    since_round: u64,
    bandwidth: Bandwidth,
    smallest_rtt: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Trial {
    known: MinRtt,
    assumed: Duration,
    until_round: u64,
    /// The smallest of this round: the receiver delays single packets, but not all of a round.
    smallest_rtt: Duration,
    /// The estimate before it fell.
    bandwidth: Bandwidth,
}

impl LongerPath {
    /// Takes one acknowledgement, and begins or ends a trial of another minimum RTT.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, bandwidth: Bandwidth, min_rtt: &mut MinRtt) {
        if let Some(trial) = &mut self.trial {
            let drained = TOLERANCE * ack.rtt < trial.assumed;
            let grown = ack.round_start && trial.smallest_rtt > TOLERANCE * trial.assumed;
            trial.smallest_rtt = if ack.round_start {
                ack.rtt
            } else {
                trial.smallest_rtt.min(ack.rtt)
            };
            let trial = *trial;
            if drained || grown {
                *min_rtt = trial.known;
            }
            if grown {
                // Perhaps the guess was too small: it came from before the path was longer. Once more.
                self.trial = None;
                self.watch = Some(Watch {
                    since_round: ack.round,
                    bandwidth: trial.bandwidth,
                    smallest_rtt: ack.rtt,
                });
            } else if drained || ack.round >= trial.until_round {
                *self = Self::default();
            }
            return;
        }
        let Some(known) = min_rtt.get() else { return };
        // The common case: the queue drains now and then.
        if ack.rtt <= TOLERANCE * known {
            self.watch = None;
            return;
        }
        let watch = self.watch.get_or_insert(Watch {
            since_round: ack.round,
            bandwidth,
            smallest_rtt: ack.rtt,
        });
        watch.smallest_rtt = watch.smallest_rtt.min(ack.rtt);
        if ack.round >= watch.since_round.saturating_add(SUSPICIOUS_ROUNDS)
            && Gain::new(2, 1) * bandwidth < watch.bandwidth
        {
            self.trial = Some(Trial {
                known: *min_rtt,
                assumed: watch.smallest_rtt,
                until_round: ack.round.saturating_add(TRIAL_ROUNDS),
                smallest_rtt: ack.rtt,
                bandwidth: watch.bandwidth,
            });
            min_rtt.replace(ack.now, watch.smallest_rtt);
        }
    }

    /// Forgets what was seen: it was not the path's doing.
    pub(super) fn reset(&mut self, min_rtt: &mut MinRtt) {
        if let Some(trial) = self.trial {
            *min_rtt = trial.known;
        }
        *self = Self::default();
    }
}

/// RTTs within a quarter of each other count as the same.
const TOLERANCE: Gain = Gain::new(5, 4);

/// Rounds without an RTT near the minimum after which a halved estimate is not explained by a queue: a window of two
/// BDP drains in far fewer.
const SUSPICIOUS_ROUNDS: u64 = 8;

/// Rounds for which the window may grow on trial: long enough for it to double.
const TRIAL_ROUNDS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Timestamp};

    const FULL: u64 = 1_000_000;

    fn rtt(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A watch on a path of 40 ms.
    struct Fixture {
        longer_path: LongerPath,
        min_rtt: MinRtt,
        round: u64,
    }

    impl Fixture {
        fn new() -> Self {
            let mut min_rtt = MinRtt::default();
            min_rtt.update(Timestamp::ZERO, rtt(40));
            Self {
                longer_path: LongerPath::default(),
                min_rtt,
                round: 0,
            }
        }

        /// A round begins with this acknowledgement. Returns the minimum RTT after it.
        fn round(&mut self, millis: u64, bandwidth: u64) -> Option<Duration> {
            self.round += 1;
            self.acknowledge(millis, bandwidth, true)
        }

        /// Another acknowledgement of the same round.
        fn ack(&mut self, millis: u64, bandwidth: u64) {
            self.acknowledge(millis, bandwidth, false);
        }

        fn acknowledge(
            &mut self,
            millis: u64,
            bandwidth: u64,
            round_start: bool,
        ) -> Option<Duration> {
            let now = Timestamp::from_origin(rtt(100) * self.round as u32);
            let ack = AckEvent {
                now,
                acked: Bytes(2400),
                acked_packets: 2,
                lost: Bytes::ZERO,
                newest_sent: now - rtt(millis),
                rtt: rtt(millis),
                rate: None,
                prior_in_flight: Bytes(12_000),
                in_flight: Bytes(9600),
                delivered: Bytes(2400),
                round: self.round,
                round_start,
                app_limited: false,
            };
            let bandwidth = Bandwidth::from_bytes_per_second(bandwidth);
            self.longer_path.on_ack(&ack, bandwidth, &mut self.min_rtt);
            self.min_rtt.get()
        }

        /// The path doubles and the estimate falls with it, until a trial begins.
        fn suspect(&mut self) {
            for round in 0..SUSPICIOUS_ROUNDS {
                assert_eq!(
                    self.round(80, FULL - round * FULL / 12),
                    Some(rtt(40)),
                    "too early"
                );
            }
            assert_eq!(self.round(80, FULL / 2 - 1), Some(rtt(80)));
        }
    }

    #[test]
    fn a_doubled_path_is_found() {
        let mut path = Fixture::new();
        path.suspect();
        for _ in 0..3 * TRIAL_ROUNDS {
            assert_eq!(path.round(82, FULL), Some(rtt(80)));
        }
    }

    #[test]
    fn a_queue_that_keeps_the_bandwidth_is_not_suspected() {
        let mut path = Fixture::new();
        for _ in 0..100 {
            assert_eq!(path.round(120, FULL), Some(rtt(40)));
        }
        // Nor one behind which a good part of it was lost.
        for _ in 0..100 {
            assert_eq!(path.round(120, FULL / 2), Some(rtt(40)));
        }
    }

    #[test]
    fn a_queue_that_drains_now_and_then_is_not_suspected() {
        let mut path = Fixture::new();
        for round in 0..100 {
            let millis = if round % (SUSPICIOUS_ROUNDS - 1) == 0 {
                48
            } else {
                120
            };
            let bandwidth = FULL >> (round / 10).min(10);
            assert_eq!(path.round(millis, bandwidth), Some(rtt(40)));
        }
    }

    #[test]
    fn a_queue_that_grows_with_the_window_ends_the_trial() {
        let mut path = Fixture::new();
        path.suspect();
        assert_eq!(path.round(90, FULL), Some(rtt(80)));
        assert_eq!(path.round(101, FULL), Some(rtt(80)));
        assert_eq!(path.round(110, FULL), Some(rtt(40)));
    }

    /// Trap: a receiver delays single acknowledgements: one slow round trip does not make a queue.
    #[test]
    fn one_slow_round_trip_does_not_end_the_trial() {
        let mut path = Fixture::new();
        path.suspect();
        path.ack(80, FULL);
        path.ack(105, FULL);
        for _ in 0..3 * TRIAL_ROUNDS {
            assert_eq!(path.round(82, FULL), Some(rtt(80)));
        }
    }

    /// Trap: the smallest RTT of the watch may be one of the old path, with a queue. The trial of it fails, but must
    /// not be the last: the estimate has already fallen and will not halve again.
    #[test]
    fn a_guess_that_was_too_small_is_followed_by_another() {
        let mut path = Fixture::new();
        // Queued on the old path, and from then on three times as long.
        path.round(60, FULL);
        for _ in 1..SUSPICIOUS_ROUNDS {
            path.round(120, FULL / 3);
        }
        assert_eq!(path.round(120, FULL / 3), Some(rtt(60)));
        for _ in 0..SUSPICIOUS_ROUNDS + TRIAL_ROUNDS {
            path.round(120, FULL / 4);
        }
        assert_eq!(path.min_rtt.get(), Some(rtt(120)));
    }

    #[test]
    fn a_queue_that_drains_in_the_trial_ends_it() {
        let mut path = Fixture::new();
        path.suspect();
        assert_eq!(path.round(63, FULL), Some(rtt(40)));
    }

    #[test]
    fn what_happens_outside_of_steady_state_is_forgotten() {
        let mut path = Fixture::new();
        path.suspect();
        path.longer_path.reset(&mut path.min_rtt);
        assert_eq!(path.min_rtt.get(), Some(rtt(40)));
        // The watch begins again: the old bandwidth no longer counts.
        for _ in 0..2 * SUSPICIOUS_ROUNDS {
            assert_eq!(path.round(80, FULL / 3), Some(rtt(40)));
        }
    }
}
