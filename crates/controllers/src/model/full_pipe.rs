//! Detects that the pipe is full: a higher rate no longer delivers more (`full_bw_reached` of the draft).

use crate::units::{Bandwidth, Gain};

/// Detects the end of growth (BBR paper, section "Startup"; draft-ietf-ccwg-bbr, section "Exiting Acceleration Based on
/// Bandwidth Plateau").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FullPipe {
    baseline: Bandwidth,
    plateau_rounds: u8,
}

impl FullPipe {
    /// A detector that starts from this rate.
    pub(crate) fn from_baseline(baseline: Bandwidth) -> Self {
        Self {
            baseline,
            plateau_rounds: 0,
        }
    }

    /// Handles the rate of a round. The caller skips application-limited rounds.
    pub(crate) fn observe(&mut self, rate: Bandwidth) {
        if rate >= GROWTH * self.baseline {
            *self = Self::from_baseline(rate);
        } else {
            self.plateau_rounds = self.plateau_rounds.saturating_add(1);
        }
    }

    /// Whether the rate has stopped growing.
    pub(crate) fn is_full(&self) -> bool {
        self.plateau_rounds >= PLATEAU_ROUNDS
    }
}

/// Growth per round below which the pipe counts as full (BBR paper, section "Startup"; draft-ietf-ccwg-bbr, section
/// "Exiting Acceleration Based on Bandwidth Plateau").
const GROWTH: Gain = Gain::new(5, 4);

/// Rounds in a row without such growth (the same sections).
const PLATEAU_ROUNDS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rate: u64) -> Bandwidth {
        Bandwidth::from_bytes_per_second(rate)
    }

    #[test]
    fn three_rounds_under_a_quarter_more_are_a_plateau() {
        let mut search = FullPipe::default();
        search.observe(rate(1000));
        for bandwidth in [1249, 1200, 1249] {
            assert!(!search.is_full());
            search.observe(rate(bandwidth));
        }
        assert!(search.is_full());
    }

    #[test]
    fn growth_begins_the_count_again() {
        let mut search = FullPipe::from_baseline(rate(1000));
        search.observe(rate(1000));
        search.observe(rate(1000));
        search.observe(rate(1250));
        search.observe(rate(1250));
        search.observe(rate(1250));
        assert!(!search.is_full());
        search.observe(rate(1250));
        assert!(search.is_full());
    }
}
