//! Packet-timed round trips that restart with a state.

use crate::event::AckEvent;
use crate::units::Bytes;

/// Counts packet-timed round trips (draft-ietf-ccwg-bbr, section "BBR.round_count").
///
/// Every phase starts its own round, so that "one round later" means feedback to packets of this phase. The rounds of
/// [`AckEvent::round`] do not restart; they are used only if there is no rate sample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    /// The round ends once a packet is acknowledged that was sent when this was delivered.
    end: Bytes,
    count: u64,
    started: bool,
}

impl Round {
    /// Handles an acknowledgement. Returns whether a round begins with it.
    pub(super) fn on_ack(&mut self, ack: &AckEvent) -> bool {
        self.started = ack
            .rate
            .as_ref()
            .map_or(ack.round_start, |sample| sample.prior_delivered >= self.end);
        if self.started {
            self.restart(ack.delivered);
            self.count = self.count.saturating_add(1);
        }
        self.started
    }

    /// Restarts the round without counting it.
    pub(super) fn restart(&mut self, delivered: Bytes) {
        self.end = delivered;
    }

    /// Rounds so far.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the last acknowledgement began a round.
    pub(super) const fn started(&self) -> bool {
        self.started
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ack, sample};
    use super::*;

    /// Trap: the very first packet left when nothing had been delivered, and its round is one.
    #[test]
    fn the_first_acknowledgement_begins_a_round() {
        let mut round = Round::default();
        assert!(round.on_ack(&ack(40, sample(0))));
        assert_eq!(round.count(), 1);
    }

    #[test]
    fn a_restart_asks_for_packets_sent_after_it() {
        let mut round = Round::default();
        round.restart(Bytes(5000));
        assert!(!round.on_ack(&ack(40, sample(4999))));
        assert!(!round.started());
        assert!(round.on_ack(&ack(41, sample(5000))));
        assert!(round.started());
    }
}
