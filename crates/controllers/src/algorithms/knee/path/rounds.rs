//! What the round-trip times of a round were.

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
