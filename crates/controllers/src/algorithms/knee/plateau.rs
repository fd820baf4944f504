//! A delay that stays though the flight falls.

/// Rounds in a row whose least round-trip times agree, each with that of the round before: a path may become longer slowly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plateau {
    pub(super) least: f64,
    rounds: u32,
    /// What was in flight in the first of them, and in the last, in bytes.
    flight_before: f64,
    flight: f64,
}

impl Plateau {
    pub(super) const NONE: Self = Self {
        least: 0.0,
        rounds: 0,
        flight_before: 0.0,
        flight: 0.0,
    };

    pub(super) fn on_round(&mut self, least: f64, flight: f64, tolerance: f64) {
        if (least - self.least).abs() > tolerance {
            *self = Self {
                least,
                rounds: 0,
                flight_before: flight,
                flight,
            };
        }
        self.least = least;
        self.rounds = self.rounds.saturating_add(1);
        self.flight = flight;
    }

    /// Whether the delay has stayed while less than this share of the flight was left. A queue would have become shorter.
    pub(super) fn is_no_queue(&self, left: f64) -> bool {
        self.rounds > PLATEAU_ROUNDS && self.flight < left * self.flight_before
    }

    /// The same with a smaller part of the flight, and for longer. A flight varies by what is acknowledged at once.
    pub(super) fn may_be_no_queue(&self, batch: f64) -> bool {
        let fell = self.flight_before - self.flight - batch;
        f64::from(self.rounds) * fell > LOOK_AFTER * self.flight_before
    }
}

/// In rounds. Eight find a longer path later, and help flows in company little: docs/KNEE.md.
const PLATEAU_ROUNDS: u32 = 4;

/// In rounds of a plateau, times the share by which the flight fell in them: half of it in four rounds, a tenth in twenty. On a path that is longer by
/// a part of p the flight falls by little more than that, to what equal packets keep.
const LOOK_AFTER: f64 = 2.0;
