//! What BBRv1 does about losses: packet conservation for a round, then the window it had.

use crate::units::{Bytes, Timestamp};

/// Which rule an episode follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Restore,
    FairShare,
}

/// Loss recovery (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// Nothing was lost lately.
    Open,
    /// Something was lost that left after the previous episode began.
    Active {
        /// When it began, or was prolonged: an acknowledgement of what left later ends it.
        began: Timestamp,
        /// Until this round the window only follows what is delivered.
        conserve_until_round: u64,
        /// The window before the episode, saved on its first loss only.
        prior_window: Bytes,
        rule: Rule,
    },
}

impl Recovery {
    /// Whether a packet that left at `sent` belongs to the episode under way.
    pub(super) fn covers(&self, sent: Timestamp) -> bool {
        matches!(self, Self::Active { began, .. } if sent <= *began)
    }

    /// The rule of the episode under way.
    pub(super) fn rule(&self) -> Option<Rule> {
        match self {
            Self::Open => None,
            Self::Active { rule, .. } => Some(*rule),
        }
    }

    /// Lets the episode under way, if there is one, last until a round trip passes without loss. Returns whether there is one.
    ///
    /// TCP stays in recovery until what it has sent again has arrived, and conserves packets for the first of these round
    /// trips only. A transport that sends nothing again under the same number has no such end: if each round trip's losses
    /// began an episode of their own, a path that always loses some would conserve always, and the flight could only shrink.
    pub(super) fn prolong(&mut self, now: Timestamp) -> bool {
        match self {
            Self::Open => false,
            Self::Active { began, .. } => {
                *began = now;
                true
            }
        }
    }

    /// Whether the window may only follow what is delivered.
    pub(super) fn conserves(&self, round: u64) -> bool {
        matches!(self, Self::Active { conserve_until_round, .. } if round < *conserve_until_round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_covers_what_left_before_it_and_conserves_for_its_rounds() {
        let at = Timestamp::from_nanos;
        let recovery = Recovery::Active {
            began: at(100),
            conserve_until_round: 7,
            prior_window: Bytes(50_000),
            rule: Rule::Restore,
        };
        assert!(recovery.covers(at(99)) && recovery.covers(at(100)));
        assert!(!recovery.covers(at(101)));
        assert!(recovery.conserves(6));
        assert!(!recovery.conserves(7));
        assert!(!Recovery::Open.covers(at(0)) && !Recovery::Open.conserves(0));
    }

    #[test]
    fn further_losses_prolong_an_episode_but_not_its_conservation() {
        let at = Timestamp::from_nanos;
        let mut recovery = Recovery::Active {
            began: at(100),
            conserve_until_round: 7,
            prior_window: Bytes(50_000),
            rule: Rule::Restore,
        };
        assert!(recovery.prolong(at(130)));
        assert!(recovery.covers(at(130)) && !recovery.covers(at(131)));
        assert!(!recovery.conserves(7));
        assert!(!Recovery::Open.prolong(at(130)));
    }
}
