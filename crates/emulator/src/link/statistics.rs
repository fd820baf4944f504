//! Counters that are always on.

use std::fmt;

/// What a link has done so far. What was neither delivered nor dropped is still on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets the link was offered.
    pub offered: Count,
    /// Packets handed over at the far end.
    pub delivered: Count,
    /// Packets dropped for [`DropCause::Loss`].
    pub lost: Count,
    /// Packets dropped for [`DropCause::QueueFull`].
    pub queue_full: Count,
}

impl Statistics {
    /// The packets dropped for one cause.
    pub fn dropped(&self, cause: DropCause) -> Count {
        match cause {
            DropCause::Loss => self.lost,
            DropCause::QueueFull => self.queue_full,
        }
    }

    pub(super) fn count_drop(&mut self, cause: DropCause, size: u64) {
        match cause {
            DropCause::Loss => self.lost.add(size),
            DropCause::QueueFull => self.queue_full.add(size),
        }
    }
}

/// A number of packets and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, size: u64) {
        self.packets = self.packets.saturating_add(1);
        self.bytes = self.bytes.saturating_add(size);
    }
}

/// Why a link dropped a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropCause {
    /// Random loss.
    Loss,
    /// The queue was at its limit.
    QueueFull,
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::QueueFull => "queue full",
        })
    }
}
