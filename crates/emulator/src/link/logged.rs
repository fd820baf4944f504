//! The interface for writers of logs.

use super::Link;
use super::shaping::Server;
#[cfg(feature = "relay")]
use super::{Flow, Record};

impl Link {
    /// Takes the packets from the log, in the order of their arrival, up to the first one without an outcome: an
    /// endless run would fill the memory otherwise.
    #[cfg(feature = "relay")]
    pub(crate) fn take_settled(&mut self, take: &mut dyn FnMut(Flow, Record)) {
        if let Some(log) = &mut self.stats.log {
            log.take_settled(take);
        }
    }

    /// Whether new packets are left out of the log because memory is short.
    #[cfg(feature = "relay")]
    pub(crate) fn leave_out_of_log(&mut self, full: bool) {
        if let Some(log) = &mut self.stats.log {
            log.set_full(full);
        }
    }

    /// How many packets were left out of the log.
    #[cfg(feature = "relay")]
    pub(crate) fn left_out_of_log(&self) -> u64 {
        self.stats
            .log
            .as_ref()
            .map_or(0, super::PacketLog::left_out)
    }

    /// What stands for an opportunity to send in a log.
    pub(crate) fn opportunities(&self) -> LoggedOpportunities {
        match self.server {
            Server::Opportunities(_) => LoggedOpportunities::OneByOne,
            Server::Unlimited(_) => LoggedOpportunities::None,
            _ => LoggedOpportunities::EachMillisecond,
        }
    }

    /// The bytes of the opportunities at time 0.
    pub(crate) fn capacity_at_start(&self) -> u64 {
        self.server.capacity_at_start()
    }
}

/// What stands for an opportunity to send in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoggedOpportunities {
    /// Each of a trace's.
    OneByOne,
    /// The bytes that a rate sends in each millisecond.
    EachMillisecond,
    /// None: without a limit there is no capacity.
    None,
}
