//! What the writers of logs ask of a link.

use super::Link;
use super::shaping::Server;
#[cfg(feature = "relay")]
use super::{Flow, Record};

impl Link {
    /// Takes the packets from the log, in the order of their offers, up to the first one whose fate is open: what runs
    /// without an end would fill the memory otherwise.
    #[cfg(feature = "relay")]
    pub(crate) fn take_settled(&mut self, take: &mut dyn FnMut(Flow, Record)) {
        if let Some(log) = &mut self.ledger.log {
            log.take_settled(take);
        }
    }

    /// Whether the shaper has a trace's opportunities.
    pub(crate) fn follows_trace(&self) -> bool {
        matches!(self.server, Server::Opportunities(_))
    }
}
