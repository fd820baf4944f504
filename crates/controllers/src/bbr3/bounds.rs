//! The bounds that losses set: long-term ones from probes, short-term ones since the last probe.

use crate::event::AckEvent;
use crate::units::{Bandwidth, Bytes, Gain};

/// Upper bounds on flight and rate (draft-ietf-ccwg-bbr, section "Data Volume Network Path Model Parameters").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// `inflight_longterm`: the maximum flight that did not lose too much.
    pub(super) inflight_longterm: Bytes,
    /// `inflight_shortterm`: the bound from losses since the last probe.
    pub(super) inflight_shortterm: Bytes,
    /// `bw_shortterm`: the same for the bandwidth.
    pub(super) bw_shortterm: Bandwidth,
}

impl Bounds {
    pub(super) const NONE: Self = Self {
        inflight_longterm: UNBOUNDED,
        inflight_shortterm: UNBOUNDED,
        bw_shortterm: UNBOUNDED_RATE,
    };

    /// A new probe starts without short-term bounds.
    pub(super) fn forget_short_term(&mut self) {
        self.inflight_shortterm = UNBOUNDED;
        self.bw_shortterm = UNBOUNDED_RATE;
    }

    /// Reduces the short-term bounds after a round with losses towards the delivered values, by at most the factor
    /// `keep` (section "When not Probing for Bandwidth").
    pub(super) fn cut(&mut self, keep: Gain, latest: &Latest, bandwidth: Bandwidth, window: Bytes) {
        if self.bw_shortterm == UNBOUNDED_RATE {
            self.bw_shortterm = bandwidth;
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = window;
        }
        self.bw_shortterm = latest.bw_latest.max(keep * self.bw_shortterm);
        self.inflight_shortterm = latest.inflight_latest.max(keep * self.inflight_shortterm);
    }

    /// A flight without too much loss raises the long-term bound, if there is one.
    pub(super) fn raise_inflight_longterm(&mut self, flight: Bytes) {
        self.inflight_longterm = self.inflight_longterm.max(flight);
    }

    /// Whether there is a long-term bound.
    pub(super) fn has_inflight_longterm(&self) -> bool {
        self.inflight_longterm != UNBOUNDED
    }

    /// The long-term bound less the head-room, which is at least one packet.
    pub(super) fn with_headroom(&self, share: Gain, mtu: Bytes) -> Bytes {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        self.inflight_longterm - (share * self.inflight_longterm).max(mtu)
    }

    /// Restores the bounds after a spurious loss.
    pub(super) fn restore(&mut self, saved: &Self) {
        self.inflight_longterm = self.inflight_longterm.max(saved.inflight_longterm);
        self.inflight_shortterm = self.inflight_shortterm.max(saved.inflight_shortterm);
        self.bw_shortterm = self.bw_shortterm.max(saved.bw_shortterm);
    }
}

/// The delivery of the latest round, and whether it had losses (section "State for Responding to Congestion").
///
/// These rounds begin with a loss, so that each response waits for the feedback to the previous one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Latest {
    /// `bw_latest`.
    pub(super) bw_latest: Bandwidth,
    /// `inflight_latest`.
    pub(super) inflight_latest: Bytes,
    round_end: Bytes,
    /// Whether the current acknowledgement ends the round.
    pub(super) round_over: bool,
    /// `is_loss_in_round`.
    pub(super) congested: bool,
    /// Ranges of packets lost in the round. A transport reports losses in aggregate: each event counts as one range.
    pub(super) lost_ranges: u32,
}

impl Latest {
    /// Updates at the start of an acknowledgement.
    pub(super) fn begin(&mut self, ack: &AckEvent) {
        self.round_over = false;
        let Some(sample) = &ack.rate else { return };
        // Two calls of `max` in a row become vector instructions, which are three times as many.
        if sample.delivery_rate > self.bw_latest {
            self.bw_latest = sample.delivery_rate;
        }
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            self.round_over = true;
        }
    }

    /// Updates at the end of an acknowledgement.
    pub(super) fn end(&mut self, ack: &AckEvent) {
        if self.round_over
            && let Some(sample) = &ack.rate
        {
            self.bw_latest = sample.delivery_rate;
            self.inflight_latest = sample.delivered;
            self.lost_ranges = 0;
        }
    }

    /// Packets were lost or marked, when `delivered` was delivered.
    pub(super) fn note_congestion(&mut self, delivered: Bytes) {
        if !self.congested {
            self.round_end = delivered;
            self.lost_ranges = 0;
        }
        self.congested = true;
    }

    /// `ResetCongestionSignals`: a new cycle begins.
    pub(super) fn reset(&mut self) {
        self.congested = false;
        self.bw_latest = Bandwidth::ZERO;
        self.inflight_latest = Bytes::ZERO;
    }
}

/// No bound at all.
pub(super) const UNBOUNDED: Bytes = Bytes(u64::MAX);
const UNBOUNDED_RATE: Bandwidth = Bandwidth::from_bytes_per_second(u64::MAX);

#[cfg(test)]
mod tests {
    use super::super::fixture::{ack, sample};
    use super::*;

    const KEEP: Gain = Gain::new(7, 10);

    fn rate(rate: u64) -> Bandwidth {
        Bandwidth::from_bytes_per_second(rate)
    }

    #[test]
    fn a_cut_keeps_the_delivery_and_seven_tenths() {
        let mut bounds = Bounds::NONE;
        let mut latest = Latest {
            bw_latest: rate(800),
            inflight_latest: Bytes(50),
            ..Latest::default()
        };
        bounds.cut(KEEP, &latest, rate(1000), Bytes(100));
        assert_eq!(
            (bounds.bw_shortterm, bounds.inflight_shortterm),
            (rate(800), Bytes(70))
        );
        latest.bw_latest = rate(100);
        bounds.cut(KEEP, &latest, rate(1000), Bytes(100));
        assert_eq!(
            (bounds.bw_shortterm, bounds.inflight_shortterm),
            (rate(560), Bytes(50))
        );
        bounds.forget_short_term();
        assert_eq!(bounds, Bounds::NONE);
    }

    #[test]
    fn headroom_leaves_a_share_and_one_packet_at_least() {
        let share = Gain::percent(15);
        assert_eq!(Bounds::NONE.with_headroom(share, Bytes(10)), UNBOUNDED);
        let mut bounds = Bounds {
            inflight_longterm: Bytes(1000),
            ..Bounds::NONE
        };
        assert_eq!(bounds.with_headroom(share, Bytes(10)), Bytes(850));
        assert_eq!(bounds.with_headroom(share, Bytes(200)), Bytes(800));
        bounds.inflight_longterm = Bytes(5);
        assert_eq!(bounds.with_headroom(share, Bytes(10)), Bytes::ZERO);
    }

    #[test]
    fn restoring_never_lowers_a_bound() {
        let mut bounds = Bounds {
            inflight_longterm: Bytes(7),
            inflight_shortterm: Bytes(3),
            bw_shortterm: rate(9),
        };
        bounds.restore(&Bounds {
            inflight_longterm: Bytes(5),
            inflight_shortterm: Bytes(4),
            bw_shortterm: rate(8),
        });
        assert_eq!(
            bounds,
            Bounds {
                inflight_longterm: Bytes(7),
                inflight_shortterm: Bytes(4),
                bw_shortterm: rate(9)
            }
        );
    }

    #[test]
    fn a_loss_begins_a_round_that_packets_sent_later_end() {
        let mut latest = Latest::default();
        latest.note_congestion(Bytes(9000));
        latest.note_congestion(Bytes(9500));
        latest.begin(&ack(40, sample(8999)));
        assert!(!latest.round_over);
        latest.begin(&ack(41, sample(9000)));
        assert!(latest.round_over && latest.congested);
    }
}
