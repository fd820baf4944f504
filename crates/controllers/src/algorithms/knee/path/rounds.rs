//! What the round-trip times of a round were, and a delay that stays though the flight falls.

use crate::algorithms::knee::arithmetic::{larger, smaller};

/// A round under way. In seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    sum: f64,
    pub(super) samples: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Round {
    pub(super) const NONE: Self = Self {
        sum: 0.0,
        samples: 0.0,
        min: f64::INFINITY,
        max: 0.0,
    };

    pub(super) fn add(&mut self, rtt: f64) {
        self.sum += rtt;
        self.samples += 1.0;
        self.min = smaller(self.min, rtt);
        self.max = larger(self.max, rtt);
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.samples > 0.0).then(|| self.sum / self.samples)
    }
}

/// The round before. In seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LastRound {
    pub(super) min: f64,
    pub(super) mean: f64,
    pub(super) max: f64,
    /// What its first acknowledgement took from the flight, in bytes.
    pub(super) batch: f64,
}

/// Who waited for more than a quarter of the least round-trip time. A bound of 0.85 of the flight empties shorter buffers by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::algorithms::knee) enum Queue {
    /// Nobody, as far as the newest packet shows.
    None,
    /// The newest packet.
    Found,
    /// Every packet of the last round.
    Stands,
}

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
