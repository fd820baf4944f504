//! The response to ECN marks, from the share of marked packets.
//!
//! The draft requires a response to marks but does not define one (draft-ietf-ccwg-bbr, section "ECN"). This is the
//! response of Google's alpha release of BBRv2 for Linux (`tcp_bbr2.c`), for any RTT: DCTCP's mean share (RFC 8257,
//! section 3.3). The flight falls once a round by a third of it. A probe with marks on half of a round ends.

use super::Bbr3;
use super::state::State;
use crate::event::{AckEvent, CongestionEvent};
use crate::filter::BandwidthFilter;
use crate::units::{Bytes, Timestamp};

/// The share of acknowledgements with new marks. A transport reports at most one mark per acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// The mean share over the last rounds (`ecn_alpha`).
    mean: f64,
    /// Acknowledgements in the current round.
    acks: u32,
    /// Those of them with marks.
    marked: u32,
    /// The largest flight of a marked packet of this round that was sent after the last response (as with RFC 3168's
    /// CWR, section 6.1.2).
    flight: Bytes,
    answered: Timestamp,
    /// Whether the application limited the sender when the last marked packet was sent.
    app_limited: bool,
    /// Rounds of Startup in a row of which at least half was marked (`startup_ecn_rounds`).
    heavy_rounds: u8,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            // The response to the first mark assumes that all packets were marked: nothing is known about the path yet
            // (RFC 8257, section 4.2).
            mean: 1.0,
            acks: 0,
            marked: 0,
            flight: Bytes::ZERO,
            answered: Timestamp::ZERO,
            app_limited: false,
            heavy_rounds: 0,
        }
    }
}

impl Marks {
    fn note(&mut self, event: &CongestionEvent) {
        self.marked = self.marked.saturating_add(1);
        if event.newest_sent < self.answered {
            return;
        }
        let flight = event
            .flight
            .map_or(event.in_flight, |flight| flight.in_flight);
        self.flight = self.flight.max(flight);
        self.app_limited = event.flight.is_some_and(|flight| flight.app_limited);
    }

    /// Ends a round. Returns its marks, if any are new since the last response.
    fn end_round(&mut self) -> Option<MarkedRound> {
        let acks = core::mem::take(&mut self.acks);
        let marked = core::mem::take(&mut self.marked).min(acks);
        let flight = core::mem::take(&mut self.flight);
        if acks == 0 {
            return None;
        }
        let share = f64::from(marked) / f64::from(acks);
        self.mean += GAIN * (share - self.mean);
        let heavy = share >= HEAVY;
        self.heavy_rounds = if heavy {
            self.heavy_rounds.saturating_add(1)
        } else {
            0
        };
        (flight > Bytes::ZERO).then_some(MarkedRound { heavy, flight })
    }

    /// The flight after a round with marks.
    fn keep(&self, flight: Bytes) -> Bytes {
        // The product is between zero and the flight.
        Bytes((flight.0 as f64 * (1.0 - self.mean * FACTOR)) as u64)
    }
}

/// A round with new marks.
#[derive(Debug, Clone, Copy)]
struct MarkedRound {
    /// Whether at least half of it was marked.
    heavy: bool,
    flight: Bytes,
}

impl<F: BandwidthFilter> Bbr3<F> {
    /// Counts a mark. The response follows at the end of the round.
    pub(super) fn on_mark(&mut self, event: &CongestionEvent) {
        if self.config.respond_to_marks {
            self.marks.note(event);
            self.spread.forget();
        }
    }

    /// Runs once a round. In a probe, marks on half of the round mean that the flight is too high. Otherwise the
    /// short-term bound falls by a part of the mean share. Two heavily marked rounds end Startup, because one could be
    /// a burst of other traffic.
    pub(super) fn adapt_to_marks(&mut self, ack: &AckEvent) {
        let over = self.round.started();
        let ended = over.then(|| self.marks.end_round()).flatten();
        self.marks.acks = self.marks.acks.saturating_add(1);
        let Some(round) = ended else { return };
        if matches!(self.state, State::Startup(_)) {
            if self.marks.heavy_rounds >= STARTUP_ROUNDS {
                self.leave_startup_congested();
            }
        } else if self.cycle.sampling {
            if round.heavy {
                self.marks.answered = ack.now;
                self.note_flight_too_high(ack.now, round.flight, self.marks.app_limited);
            }
        } else if !self.state.is_probing() {
            let flight = self
                .bounds
                .inflight_shortterm
                .min(self.window)
                .min(round.flight);
            self.bounds.inflight_shortterm = self.marks.keep(flight);
            self.marks.answered = ack.now;
        }
    }
}

/// The weight of a round in the mean (`bbr_ecn_alpha_gain`; RFC 8257, section 4.2).
const GAIN: f64 = 1.0 / 16.0;

/// The part of the mean by which the flight comes down (`bbr_ecn_factor`).
const FACTOR: f64 = 1.0 / 3.0;

/// In a round with at least this share of marks the flight was too high (`bbr_ecn_thresh`).
const HEAVY: f64 = 0.5;

/// The number of such rounds that ends Startup (`bbr_full_ecn_cnt`).
const STARTUP_ROUNDS: u8 = 2;

#[cfg(test)]
mod tests {
    use super::super::fixture::congestion;
    use super::*;
    use crate::driver::MTU;
    use crate::event::{CongestionSignal, FlightSample};

    fn round(marks: &mut Marks, acks: u32, marked: u32) -> Option<MarkedRound> {
        let flight = Some(FlightSample {
            in_flight: MTU * 50,
            lost: Bytes::ZERO,
            app_limited: false,
        });
        marks.acks = acks;
        for _ in 0..marked {
            marks.note(&congestion(40, 10, CongestionSignal::EcnMark, flight));
        }
        marks.end_round()
    }

    #[test]
    fn earlier_packets_belong_to_the_last_response() {
        let mut marks = Marks {
            answered: crate::driver::at(11),
            ..Marks::default()
        };
        assert!(round(&mut marks, 50, 50).is_none());
        assert!(marks.mean > 0.9, "but it counts");
        marks.answered = crate::driver::at(10);
        assert!(round(&mut marks, 50, 50).is_some());
    }

    #[test]
    fn a_stray_mark_weighs_little_once_the_path_is_known() {
        let mut marks = Marks::default();
        assert_eq!(marks.keep(Bytes(3000)), Bytes(2000), "nothing is known");
        for _ in 0..64 {
            assert!(round(&mut marks, 50, 0).is_none());
        }
        let stray = round(&mut marks, 50, 1).expect("it was marked");
        assert!(!stray.heavy);
        assert!(marks.keep(stray.flight) > MTU * 49);
    }

    #[test]
    fn half_of_a_round_is_heavy_and_all_of_many_takes_a_third() {
        let mut marks = Marks::default();
        assert!(round(&mut marks, 50, 25).expect("marked").heavy);
        assert!(!round(&mut marks, 50, 24).expect("marked").heavy);
        assert_eq!(marks.heavy_rounds, 0);
        for _ in 0..200 {
            // A transport may report more marks than acknowledgements in a round.
            assert!(round(&mut marks, 50, 60).expect("marked").heavy);
        }
        assert_eq!(marks.heavy_rounds, 200);
        let kept = marks.keep(Bytes(3000)).0;
        assert!((2000..=2001).contains(&kept), "{kept}");
        assert!(round(&mut marks, 0, 3).is_none(), "no acknowledgement");
    }
}
