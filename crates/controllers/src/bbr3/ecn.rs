//! What share of its packets the path marks (ECN), and the answer in proportion to it.
//!
//! The draft wants an answer to marks and leaves open which one (draft-ietf-ccwg-bbr, section "ECN"). This is the one of
//! Google's alpha release of BBRv2 for Linux (`tcp_bbr2.c`), for round trips of any length: DCTCP's mean share (RFC 8257,
//! section 3.3), by a third of which the flight comes down once a round, and a limit of a half for what a probe may have
//! marked.

use super::Bbr3;
use super::state::State;
use crate::event::{AckEvent, CongestionEvent};
use crate::filter::BandwidthFilter;
use crate::units::{Bytes, Timestamp};

/// The share of acknowledgements that bring new marks. A transport tells of one mark for each acknowledgement at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// The mean share over the last rounds (`ecn_alpha`).
    mean: f64,
    /// Acknowledgements in the round under way.
    acks: u64,
    /// Those of them that brought marks.
    marked: u64,
    /// The largest flight that a marked packet of this round was part of, of those that left after the last answer: what left
    /// before it is answered (as with RFC 3168's CWR, section 6.1.2).
    flight: Bytes,
    answered: Timestamp,
    /// Whether the application limited the sender when the last marked packet left.
    app_limited: bool,
    /// Rounds of Startup in a row of which at least half was marked (`startup_ecn_rounds`).
    heavy_rounds: u8,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            // The first mark is answered as if all were marked: nothing is known of the path yet (RFC 8257, section 4.2).
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

    /// A round is over. Returns what of it was marked, if anything was that is not answered yet.
    fn end_round(&mut self) -> Option<MarkedRound> {
        let acks = core::mem::take(&mut self.acks);
        let marked = core::mem::take(&mut self.marked).min(acks);
        let flight = core::mem::take(&mut self.flight);
        if acks == 0 {
            return None;
        }
        let share = marked as f64 / acks as f64;
        self.mean += GAIN * (share - self.mean);
        let heavy = share >= HEAVY;
        self.heavy_rounds = if heavy {
            self.heavy_rounds.saturating_add(1)
        } else {
            0
        };
        (flight > Bytes::ZERO).then_some(MarkedRound { heavy, flight })
    }

    /// What a round with marks leaves of its flight.
    fn keep(&self, flight: Bytes) -> Bytes {
        // The product is no more than the flight, and not negative.
        Bytes((flight.0 as f64 * (1.0 - self.mean * FACTOR)) as u64)
    }
}

/// A round with marks to answer.
#[derive(Debug, Clone, Copy)]
struct MarkedRound {
    /// Whether at least half of it was marked.
    heavy: bool,
    flight: Bytes,
}

impl<F: BandwidthFilter> Bbr3<F> {
    /// Marks are counted here, and answered when the round is over.
    pub(super) fn on_mark(&mut self, event: &CongestionEvent) {
        if self.config.respond_to_marks {
            self.marks.note(event);
        }
    }

    /// Once a round: while probing, marks on half of it are a flight too high; otherwise the short-term bound comes down by
    /// a part of the mean share. Two heavy rounds end Startup: one can be a burst of others.
    pub(super) fn adapt_to_marks(&mut self, ack: &AckEvent) {
        let over = self.round.started();
        let ended = over.then(|| self.marks.end_round()).flatten();
        self.marks.acks = self.marks.acks.saturating_add(ack.acks.max(1));
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

/// A round of which so much is marked had too much in flight (`bbr_ecn_thresh`).
const HEAVY: f64 = 0.5;

/// Rounds like that which end Startup (`bbr_full_ecn_cnt`).
const STARTUP_ROUNDS: u8 = 2;

#[cfg(test)]
mod tests {
    use super::super::fixture::congestion;
    use super::*;
    use crate::driver::MTU;
    use crate::event::{CongestionSignal, FlightSample};

    fn round(marks: &mut Marks, acks: u64, marked: u64) -> Option<MarkedRound> {
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
    fn what_left_before_the_last_answer_is_answered() {
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
            // A transport may tell of more marks than there were acknowledgements in the round.
            assert!(round(&mut marks, 50, 60).expect("marked").heavy);
        }
        assert_eq!(marks.heavy_rounds, 200);
        let kept = marks.keep(Bytes(3000)).0;
        assert!((2000..=2001).contains(&kept), "{kept}");
        assert!(round(&mut marks, 0, 3).is_none(), "no acknowledgement");
    }
}
