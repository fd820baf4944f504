//! A delay that rises and falls, more slowly than a round trip and without a queue of the flow's own.

#[cfg(test)]
mod tests;

use super::arithmetic::larger;
use super::link::MAX_ACK_DELAY;

/// Whether the path's delay swings: others fill the way back and leave it again, for example.
///
/// No round tells such a delay from the queue of a link whose rate varies. A smaller flight does: half of it leaves half of its own queue, or less. So where
/// the delay comes back to the minimum by itself, the flow *looks*: it drains for a round trip. If most of the delay beyond the minimum stays in looks, it is
/// the path's.
///
/// In company the delay does not come back between drains: a queue of others is no swing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swings {
    /// Since the last look, or since counting began anew: the rounds, and the sum of their mean delays beyond the minimum, in seconds.
    rounds: u32,
    excess: f64,
    /// How often the delay has come back to the minimum since then.
    returns: u32,
    /// Whether it has been far above the minimum since it last came back, or since a drain.
    away: bool,
    due: bool,
    /// After so many rounds a look is due.
    look_after: u32,
    /// What share of the delay beyond the minimum stays in looks, and that delay in seconds: averages.
    stays: f64,
    path_excess: f64,
}

impl Swings {
    pub(super) const NONE: Self = Self {
        rounds: 0,
        excess: 0.0,
        returns: 0,
        away: false,
        due: false,
        look_after: LOOK_AFTER,
        stays: 0.0,
        path_excess: 0.0,
    };

    /// Takes the least and the mean delay of a round outside of drains.
    pub(super) fn on_round(&mut self, least: f64, mean: f64, min: f64, shows_minimum: bool) {
        // A swing may begin after a quiet minute, and end.
        if self.rounds >= FORGOTTEN_AFTER.max(self.look_after) {
            if self.path_excess().is_some() {
                *self = Self::NONE;
            }
            self.count_anew();
        }
        self.rounds += 1;
        self.excess += mean - min;
        if shows_minimum {
            self.returns += u32::from(self.away);
            self.away = false;
        } else if least - min > away(min) {
            self.away = true;
        }
        self.due = self.rounds >= self.look_after
            && self.returns >= RETURNS
            && self.mean_excess() > away(min);
    }

    /// Whether to look.
    pub(super) fn look_is_due(&self) -> bool {
        self.due
    }

    /// A drain has ended. What comes back because of it does not come back by itself.
    pub(super) fn on_drained(&mut self) {
        self.away = false;
    }

    /// Takes the mean delay beyond the minimum in a look.
    pub(super) fn on_look(&mut self, excess: f64) {
        let before = self.mean_excess();
        // What is longer in the look is chance.
        let stayed = excess.min(before).max(0.0);
        let share = if before > 0.0 { stayed / before } else { 0.0 };
        if self.path_excess == 0.0 {
            self.path_excess = stayed;
        }
        self.path_excess += (stayed - self.path_excess) / LOOKS;
        self.stays += (share - self.stays) / LOOKS;
        // A link whose rate varies would be looked at again and again.
        self.look_after = if share > STAYS {
            LOOK_AFTER.max(self.look_after / 2)
        } else {
            self.look_after.saturating_mul(2)
        };
        self.count_anew();
    }

    fn count_anew(&mut self) {
        (self.rounds, self.excess, self.returns) = (0, 0.0, 0);
        (self.away, self.due) = (false, false);
    }

    fn mean_excess(&self) -> f64 {
        self.excess / f64::from(self.rounds.max(1))
    }

    /// How far the delay is above the minimum on a path that swings: the mean and its spread, in seconds.
    pub(super) fn path_excess(&self) -> Option<f64> {
        (self.stays > STAYS).then_some(SPREAD * self.path_excess)
    }
}

/// A delay that is longer by so much is away from the minimum, in seconds: what hosts add is no swing.
fn away(min: f64) -> f64 {
    larger(AWAY * min, MAX_ACK_DELAY)
}

/// Of the minimum. What half and twice of this and of the others make: docs/results/knee-swings.md.
const AWAY: f64 = 0.5;

/// So often the delay has to come back before a look.
const RETURNS: u32 = 2;

/// In rounds.
const LOOK_AFTER: u32 = 8;

/// In rounds, if no look was due. In company others' drains show the minimum now and then.
const FORGOTTEN_AFTER: u32 = 64;

/// Averages are over so many looks: one look sees one phase of a swing.
const LOOKS: f64 = 5.0;

/// Half a flight leaves half of its own queue at most.
const STAYS: f64 = 0.5;

/// A delay that rises and falls evenly has a half of its mean as a deviation.
const SPREAD: f64 = 1.5;
