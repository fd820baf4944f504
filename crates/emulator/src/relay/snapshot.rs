//! What a relay has done.

use crate::link::{Count, Statistics};
use crate::time::Nanos;

/// What a relay has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// The time since its start.
    pub elapsed: Nanos,
    /// The clients it knows now.
    pub clients: usize,
    /// The clients it has known, those forgotten included.
    pub clients_seen: u64,
    /// Packets dropped because their client was not admitted: there were too many, or no socket for it.
    pub refused: u64,
    /// Packets dropped because they came from elsewhere to where only the server should send.
    pub foreign: u64,
    /// Packets that the operating system dropped because the relay did not read them in time, as far as that is known
    /// (on Linux, of the sockets in use now).
    pub unread: Option<u64>,
    /// The link from the clients to the server.
    pub up: PathSnapshot,
    /// The link from the server to the clients.
    pub down: PathSnapshot,
}

/// What has become of the packets of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathSnapshot {
    /// What the link has done.
    pub statistics: Statistics,
    /// What waits in the link's queue.
    pub queued: Count,
    /// Packets dropped before the link, because those on their way take all the memory allowed.
    pub overflow: u64,
    /// Packets dropped behind the link, because the operating system did not take them.
    pub unsent: u64,
    /// Packets dropped behind the link, because their client was forgotten.
    pub forgotten: u64,
    /// Packets that are not in the log, because it was slow to be written.
    pub unlogged: u64,
    /// How precisely packets were sent.
    pub lateness: Lateness,
}

/// By how much packets were sent later than due: when the call that sent them returned, less when the link had them
/// arrive. Quantiles have three digits, and at most 10 s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The packets measured.
    pub packets: u64,
    /// The median.
    pub p50: Nanos,
    /// What one in a hundred exceeds.
    pub p99: Nanos,
    /// The latest.
    pub max: Nanos,
}
