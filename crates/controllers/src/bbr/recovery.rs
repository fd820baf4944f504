//! BBRv1's loss recovery: packet conservation for a round, then the window from before the loss.

use crate::units::{Bytes, Timestamp};

/// The response of the window in recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Restore,
    FairShare,
}

/// Loss recovery (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// No recovery.
    Open,
    /// A packet was lost that was sent after the previous recovery began.
    Active {
        /// When recovery began or was prolonged: an acknowledgement of a packet sent later ends it.
        began: Timestamp,
        /// Packet conservation lasts until this round.
        conserve_until_round: u64,
        /// The window before recovery, saved at its first loss only.
        prior_window: Bytes,
        rule: Rule,
    },
}

impl Recovery {
    /// Whether a packet sent at `sent` belongs to the current recovery.
    pub(super) fn covers(&self, sent: Timestamp) -> bool {
        matches!(self, Self::Active { began, .. } if sent <= *began)
    }

    /// The rule of the current recovery.
    pub(super) fn rule(&self) -> Option<Rule> {
        match self {
            Self::Open => None,
            Self::Active { rule, .. } => Some(*rule),
        }
    }

    /// Prolongs the current recovery until a round without loss. Returns whether there is one.
    ///
    /// TCP stays in recovery until its retransmissions have arrived, and conserves packets only in the first of these
    /// rounds. A transport that never retransmits under the same packet number has no such end. If each round with
    /// losses started a new recovery, a path with persistent loss would always be in packet conservation, and the
    /// flight could only shrink.
    pub(super) fn prolong(&mut self, now: Timestamp) -> bool {
        match self {
            Self::Open => false,
            Self::Active { began, .. } => {
                *began = now;
                true
            }
        }
    }

    /// Whether packet conservation applies.
    pub(super) fn conserves(&self, round: u64) -> bool {
        matches!(self, Self::Active { conserve_until_round, .. } if round < *conserve_until_round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_covers_earlier_packets_and_conserves_for_its_rounds() {
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
