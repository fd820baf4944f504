//! The bound that ECN marks put on the flight.

use crate::event::AckEvent;
use crate::units::{Bytes, Gain};

/// A bound on the flight, from the share of acknowledgements that report marks: DCTCP's rule (RFC 8257, section 3.3),
/// which BBRv2 also uses (draft-cardwell-iccrg-bbr-congestion-control-02, `ecn_alpha`).
///
/// Each round with a mark reduces the bound by half of the smoothed share. Each round without a mark raises it by a
/// sixteenth. A bound above the model's window is dropped. A single mark takes nearly nothing. If every packet is
/// marked, the flight halves within eight round trips.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// The share of acknowledgements with marks, smoothed over rounds.
    alpha: f64,
    bound: Option<Bytes>,
    /// Counts of the current round.
    acks: u64,
    marked: u64,
    flight: Bytes,
    /// Rounds in a row in which most acknowledgements reported marks.
    heavy_rounds: u8,
}

impl Marks {
    /// The last acknowledgement reported a mark.
    pub(super) fn on_mark(&mut self) {
        self.marked = self.marked.saturating_add(1);
    }

    /// Handles an acknowledgement. `target` is the window without marks, `filling` whether the pipe is still being
    /// filled.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, target: Bytes, min: Bytes, filling: bool) {
        if ack.round_start {
            self.end_round(target, min, filling);
        }
        self.acks = self.acks.saturating_add(1);
        if !ack.app_limited {
            self.flight = self.flight.max(ack.prior_in_flight);
        }
    }

    fn end_round(&mut self, target: Bytes, min: Bytes, filling: bool) {
        let share = self.marked.min(self.acks) as f64 / self.acks.max(1) as f64;
        self.alpha += ALPHA_GAIN * (share - self.alpha);
        self.heavy_rounds = if share >= HEAVY {
            self.heavy_rounds.saturating_add(1)
        } else {
            0
        };
        let flight = core::mem::take(&mut self.flight);
        let flight = (flight > Bytes::ZERO).then_some(flight);
        self.bound = if self.marked > 0 {
            // An application-limited flight says nothing about the path.
            let marked = match (self.bound, flight) {
                (Some(bound), Some(flight)) => Some(bound.min(flight)),
                (bound, flight) => bound.or(flight),
            };
            let permille = ((1.0 - 0.5 * self.alpha) * 1000.0) as u32;
            marked.map(|bytes| (Gain::new(permille, 1000) * bytes).max(min))
        } else if filling {
            // In Startup a single mark does not bound the flight.
            None
        } else {
            let raised = self.bound.map(|bound| REGROWTH * bound);
            raised.filter(|&raised| raised < target)
        };
        (self.acks, self.marked) = (0, 0);
    }

    /// The bound, if there is one.
    pub(super) fn bound(&self) -> Option<Bytes> {
        self.bound
    }

    /// Whether marks show that the pipe is full (BBRv2: two rounds of more than half).
    pub(super) fn pipe_is_full(&self) -> bool {
        self.heavy_rounds >= HEAVY_ROUNDS
    }
}

/// The weight of a round's share (RFC 8257, section 3.3: g = 1/16).
const ALPHA_GAIN: f64 = 1.0 / 16.0;

/// The growth of the bound in a round without marks: half of a cut at a share of a quarter. The flight then stays near
/// the marking threshold, and triples within twenty rounds.
const REGROWTH: Gain = Gain::new(17, 16);

/// Marked acknowledgements from which on a round is one of a full pipe, and such rounds in a row (BBRv2's `ecn_thresh` and
/// `full_ecn_cnt`).
const HEAVY: f64 = 0.5;
const HEAVY_ROUNDS: u8 = 2;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::driver;
    use crate::units::Timestamp;

    const TARGET: Bytes = Bytes(125_000);
    const MIN: Bytes = Bytes(4800);

    /// A round of ten acknowledgements, of which so many report marks.
    fn round(marks: &mut Marks, marked: usize, flight: u64, filling: bool) {
        for index in 0..10 {
            let mut ack = driver::ack(
                Timestamp::from_nanos(1),
                Duration::from_millis(40),
                Bytes(2400),
                1,
            );
            ack.round_start = index == 0;
            ack.prior_in_flight = Bytes(flight);
            ack.app_limited = false;
            marks.on_ack(&ack, TARGET, MIN, filling);
            if index < marked {
                marks.on_mark();
            }
        }
    }

    fn rounds(marks: &mut Marks, count: usize, marked: usize) {
        for _ in 0..count {
            let flight = marks.bound().map_or(100_000, |bound| bound.0);
            round(marks, marked, flight, false);
        }
    }

    #[test]
    fn a_single_mark_takes_little_for_a_short_time() {
        let mut marks = Marks::default();
        rounds(&mut marks, 1, 1);
        rounds(&mut marks, 1, 0);
        let bound = marks.bound().expect("a mark bounds the flight");
        assert!(bound >= Bytes(99_000), "{bound}");
        rounds(&mut marks, 6, 0);
        assert_eq!(marks.bound(), None);
        assert!(!marks.pipe_is_full());
    }

    #[test]
    fn marks_without_end_halve_the_flight_within_nine_rounds_and_leave_the_least() {
        let mut marks = Marks::default();
        rounds(&mut marks, 9, 10);
        assert!(marks.bound() <= Some(Bytes(50_000)), "{marks:?}");
        assert!(marks.pipe_is_full());
        rounds(&mut marks, 100, 10);
        assert_eq!(marks.bound(), Some(MIN));
        // Once they end, it grows by a sixteenth a round.
        rounds(&mut marks, 55, 0);
        assert_eq!(marks.bound(), None);
    }

    #[test]
    fn a_clean_round_of_startup_lifts_the_bound() {
        let mut marks = Marks::default();
        for marked in [5, 0, 0] {
            round(&mut marks, marked, 50_000, true);
        }
        assert_eq!(marks.bound(), None);
    }
}
