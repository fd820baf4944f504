//! The statistics of a relay.

use crate::link::{Count, Statistics};
use crate::time::Nanos;

/// The statistics of a relay so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// The time since its start.
    pub elapsed: Nanos,
    /// The clients it knows now.
    pub clients: usize,
    /// The clients it has known, those forgotten included.
    pub clients_seen: u64,
    /// Clients that were forgotten to make room for others: they had not shown that they receive what is sent to them.
    pub displaced: u64,
    /// Packets dropped because their client was not admitted: there were too many, or no socket for it, or its address
    /// was the server's or the relay's own.
    pub refused: u64,
    /// Packets dropped because they came from elsewhere to where only the server should send.
    pub foreign: u64,
    /// Packets that the operating system dropped because the relay did not read them in time, as far as that is known
    /// (on Linux), and those that were left in a socket when it was closed. What was dropped before a client's socket that
    /// was empty when the client made room for another is not known.
    pub unread: Option<u64>,
    /// Datagrams that are not in the capture, because it was slow to be written or has failed.
    pub uncaptured: u64,
    /// The link from the clients to the server.
    pub up: PathSnapshot,
    /// The link from the server to the clients.
    pub down: PathSnapshot,
}

/// The statistics of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathSnapshot {
    /// The link's statistics.
    pub statistics: Statistics,
    /// The link's queue.
    pub queued: Count,
    /// Packets dropped before the link, because those on their way take all the memory allowed.
    pub overflow: u64,
    /// Packets dropped behind the link, because the operating system did not take them.
    pub unsent: u64,
    /// Packets dropped behind the link, because their client was forgotten.
    pub forgotten: u64,
    /// Packets that are not in the log, because it was slow to be written, took all the memory allowed, or has failed.
    pub unlogged: u64,
    /// By how much packets were sent later than due: when the call that sent them returned, less when the link had them
    /// arrive. The time before the relay has read them is not in it.
    pub lateness: Lateness,
    /// How long packets had waited in the operating system's receive buffer before the relay read them. Of no packets where
    /// the system does not say: only Linux does.
    pub waited: Lateness,
}

impl PathSnapshot {
    /// Packets that the relay has read. Together with [`duplicated`](Statistics::duplicated) these were
    /// [sent](Self::sent), dropped by the link, `overflow`, `unsent` or `forgotten`, or are still
    /// [on their way](Self::on_the_way).
    pub fn received(&self) -> u64 {
        self.statistics
            .offered
            .packets
            .saturating_add(self.overflow)
    }

    /// Packets that the operating system has taken.
    pub fn sent(&self) -> u64 {
        let delivered = self.statistics.delivered.packets;
        delivered.saturating_sub(self.unsent.saturating_add(self.forgotten))
    }

    /// Packets that are on the link.
    pub fn on_the_way(&self) -> u64 {
        let statistics = &self.statistics;
        let came = statistics.offered.packets + statistics.duplicated.packets;
        came.saturating_sub(statistics.delivered.packets + statistics.all_dropped().packets)
    }
}

/// Times of packets. Quantiles have three digits, and at most 10 s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The packets measured.
    pub packets: u64,
    /// The median.
    pub p50: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
    /// The latest.
    pub max: Nanos,
}
