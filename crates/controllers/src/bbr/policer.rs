//! Detects a token-bucket policer.

use crate::event::AckEvent;
use crate::units::{Bandwidth, Bytes, Gain, Timestamp};

/// The explicit model of a policer that the BBR paper mentions (section "Token-bucket policers") and Linux 4.9 published
/// as long-term bandwidth sampling (net/ipv4/tcp_bbr.c).
///
/// While the bucket is empty, everything above its fill rate is dropped, and each probe is lost. Two intervals in a row
/// of heavy loss at the same rate count as a policer. The flow then sends at this rate without probing, and checks
/// again after some rounds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policer {
    state: State,
    lost: Bytes,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Unsuspected,
    /// Packets are being lost: what was delivered and lost since the interval began, and the last interval's rate.
    Sampling {
        interval: Interval,
        previous: Option<Bandwidth>,
    },
    Policed {
        rate: Bandwidth,
        until_round: u64,
    },
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    began: Timestamp,
    round: u64,
    delivered: Bytes,
    lost: Bytes,
}

impl Policer {
    /// The policed rate, once it is known.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        match self.state {
            State::Policed { rate, .. } => Some(rate),
            State::Unsuspected | State::Sampling { .. } => None,
        }
    }

    /// Handles an acknowledgement.
    pub(super) fn on_ack(&mut self, ack: &AckEvent) {
        self.lost += ack.lost;
        let app_limited = ack.rate.is_some_and(|sample| sample.app_limited);
        self.state = match self.state {
            State::Policed { until_round, .. } if ack.round >= until_round => State::Unsuspected,
            State::Policed { .. } => return,
            State::Unsuspected if ack.lost > Bytes::ZERO && !app_limited => State::Sampling {
                interval: self.interval_from(ack),
                previous: None,
            },
            State::Unsuspected => return,
            State::Sampling { .. } if app_limited => State::Unsuspected,
            State::Sampling { interval, previous } => self.judge(ack, interval, previous),
        };
    }

    fn judge(&self, ack: &AckEvent, interval: Interval, previous: Option<Bandwidth>) -> State {
        let unchanged = State::Sampling { interval, previous };
        let rounds = ack.round.saturating_sub(interval.round);
        if rounds < MIN_ROUNDS {
            return unchanged;
        }
        if rounds > MAX_ROUNDS {
            return State::Unsuspected;
        }
        let (lost, delivered) = (
            self.lost - interval.lost,
            ack.delivered - interval.delivered,
        );
        // An interval ends with a loss: the bucket is then empty at its end as at its beginning.
        if ack.lost == Bytes::ZERO || lost < LOSS_THRESHOLD * delivered {
            return unchanged;
        }
        let elapsed = ack.now.saturating_since(interval.began);
        let Some(rate) = Bandwidth::from_delivery(delivered, elapsed) else {
            return unchanged;
        };
        match previous {
            Some(previous) if alike(previous, rate) => State::Policed {
                rate: Gain::new(1, 2) * previous.saturating_add(rate),
                until_round: ack.round.saturating_add(POLICED_ROUNDS),
            },
            _ => State::Sampling {
                interval: self.interval_from(ack),
                previous: Some(rate),
            },
        }
    }

    fn interval_from(&self, ack: &AckEvent) -> Interval {
        Interval {
            began: ack.now,
            round: ack.round,
            delivered: ack.delivered,
            lost: self.lost,
        }
    }
}

fn alike(first: Bandwidth, second: Bandwidth) -> bool {
    let difference = first.max(second).saturating_sub(first.min(second));
    difference <= ALIKE * first || difference <= ALIKE_MIN
}

/// Rounds that an interval takes at least and at most (tcp_bbr.c, bbr_lt_intvl_min_rtts).
const MIN_ROUNDS: u64 = 4;
const MAX_ROUNDS: u64 = 16;

/// Lost to delivered, from which on the loss counts as heavy (tcp_bbr.c, bbr_lt_loss_thresh: 50/256).
const LOSS_THRESHOLD: Gain = Gain::new(50, 256);

/// Rates that differ by less count as equal: an eighth, or 4 kb/s (tcp_bbr.c, bbr_lt_bw_ratio and bbr_lt_bw_diff).
const ALIKE: Gain = Gain::new(1, 8);
const ALIKE_MIN: Bandwidth = Bandwidth::from_bytes_per_second(500);

/// Rounds after which the policer is checked again (tcp_bbr.c, bbr_lt_bw_max_rtts).
const POLICED_ROUNDS: u64 = 48;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// A flow of which a share of the bytes is lost; one acknowledgement a round of 40 ms.
    struct Fixture {
        policer: Policer,
        round: u64,
        delivered: Bytes,
    }

    impl Fixture {
        fn new() -> Self {
            Self {
                policer: Policer::default(),
                round: 0,
                delivered: Bytes::ZERO,
            }
        }

        fn rounds(&mut self, rounds: u64, delivered: u64, lost: u64, app_limited: bool) {
            for _ in 0..rounds {
                self.round += 1;
                self.delivered += Bytes(delivered);
                let rtt = Duration::from_millis(40);
                let now = Timestamp::from_nanos(self.round * 40_000_000);
                let mut ack = crate::driver::ack(now, rtt, Bytes(delivered), self.round);
                ack.delivered = self.delivered;
                ack.lost = Bytes(lost);
                if let Some(rate) = &mut ack.rate {
                    rate.app_limited = app_limited;
                }
                self.policer.on_ack(&ack);
            }
        }
    }

    #[test]
    fn heavy_loss_at_one_rate_is_a_policer_until_the_next_check() {
        let mut flow = Fixture::new();
        flow.rounds(20, 50_000, 0, false);
        assert_eq!(flow.policer.rate(), None);
        flow.rounds(9, 50_000, 15_000, false);
        // 50 kB per 40 ms.
        assert_eq!(
            flow.policer.rate(),
            Some(Bandwidth::from_bytes_per_second(1_250_000))
        );
        flow.rounds(47, 60_000, 0, false);
        assert!(flow.policer.rate().is_some());
        flow.rounds(1, 60_000, 0, false);
        assert_eq!(flow.policer.rate(), None);
    }

    #[test]
    fn light_loss_changing_rates_and_idle_applications_are_none() {
        let mut light = Fixture::new();
        light.rounds(100, 50_000, 2500, false);
        assert_eq!(light.policer.rate(), None);

        let mut changing = Fixture::new();
        for rate in [50_000, 30_000, 60_000, 20_000, 45_000] {
            changing.rounds(4, rate, rate, false);
        }
        assert_eq!(changing.policer.rate(), None);

        let mut idle = Fixture::new();
        idle.rounds(100, 50_000, 15_000, true);
        assert_eq!(idle.policer.rate(), None);
    }
}
