//! Counters that are always on.

use std::fmt;

use super::{Limit, PacketLog, PacketOutcome};
use crate::packet::Packet;
use crate::time::Nanos;

/// The statistics of a link. Packets that were offered or duplicated, but neither delivered nor dropped, are still in
/// it.
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
    /// Packets dropped for [`DropCause::Policed`].
    pub policed: Count,
    /// Packets dropped for [`DropCause::Expired`].
    pub expired: Count,
    /// Packets dropped for [`DropCause::Aqm`].
    pub aqm: Count,
    /// Packets dropped for [`DropCause::Blackout`].
    pub blackout: Count,
    /// Packets dropped for [`DropCause::TooLarge`].
    pub too_large: Count,
    /// Packets that the link made, as copies of others.
    pub duplicated: Count,
    /// Packets of which a byte was inverted. They are not dropped.
    pub corrupted: Count,
    /// Packets that were held back. They are not dropped.
    pub reordered: Count,
    /// Packets that the queue marked with [`Ecn::Ce`](crate::packet::Ecn::Ce). They are not dropped.
    pub marked: Count,
}

impl Statistics {
    /// The packets dropped for one cause.
    pub fn dropped(&self, cause: DropCause) -> Count {
        match cause {
            DropCause::Loss => self.lost,
            DropCause::QueueFull => self.queue_full,
            DropCause::Policed => self.policed,
            DropCause::Expired => self.expired,
            DropCause::Aqm => self.aqm,
            DropCause::Blackout => self.blackout,
            DropCause::TooLarge => self.too_large,
        }
    }

    /// The packets dropped for any cause.
    pub fn all_dropped(&self) -> Count {
        let causes = DropCause::ALL.into_iter().map(|cause| self.dropped(cause));
        causes.fold(Count::default(), |sum, count| Count {
            packets: sum.packets.saturating_add(count.packets),
            bytes: sum.bytes.saturating_add(count.bytes),
        })
    }

    pub(super) fn count_drop(&mut self, cause: DropCause, size: u64) {
        let count = match cause {
            DropCause::Loss => &mut self.lost,
            DropCause::QueueFull => &mut self.queue_full,
            DropCause::Policed => &mut self.policed,
            DropCause::Expired => &mut self.expired,
            DropCause::Aqm => &mut self.aqm,
            DropCause::Blackout => &mut self.blackout,
            DropCause::TooLarge => &mut self.too_large,
        };
        count.add(size);
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

    pub(super) fn remove(&mut self, size: u64) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(size);
    }

    /// Whether it is above a limit in bytes or in packets.
    pub(super) fn exceeds(self, limit: Limit) -> bool {
        limit.bytes.is_some_and(|max| self.bytes > max)
            || limit.packets.is_some_and(|max| self.packets > max)
    }
}

/// Why a link dropped a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropCause {
    /// Loss on the way to the queue.
    Loss,
    /// The queue was at its limit.
    QueueFull,
    /// The policer had too few tokens.
    Policed,
    /// The packet had waited longer than the queue's limit.
    Expired,
    /// Active queue management dropped it early.
    Aqm,
    /// It arrived in a blackout.
    Blackout,
    /// It was larger than the MTU.
    TooLarge,
}

impl DropCause {
    /// Every cause.
    pub const ALL: [Self; 7] = [
        Self::Loss,
        Self::QueueFull,
        Self::Policed,
        Self::Expired,
        Self::Aqm,
        Self::Blackout,
        Self::TooLarge,
    ];
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::QueueFull => "queue full",
            Self::Policed => "policed",
            Self::Expired => "waited too long",
            Self::Aqm => "active queue management",
            Self::Blackout => "blackout",
            Self::TooLarge => "too large",
        })
    }
}

/// The statistics and the log of a link, which every stage updates.
#[derive(Debug)]
pub(super) struct LinkStats {
    pub(super) statistics: Statistics,
    pub(super) log: Option<PacketLog>,
}

impl LinkStats {
    pub(super) fn new(log: bool) -> Self {
        Self {
            statistics: Statistics::default(),
            log: log.then(PacketLog::default),
        }
    }

    /// Returns the packet's place in the log, if it has one.
    pub(super) fn offered(&mut self, now: Nanos, packet: &Packet, size: u64) -> Option<usize> {
        self.statistics.offered.add(size);
        let log = self.log.as_mut();
        log.and_then(|log| log.arrival(now, packet, size, false))
    }

    /// Returns the copy's place in the log, if it has one.
    pub(super) fn duplicated(&mut self, now: Nanos, packet: &Packet, size: u64) -> Option<usize> {
        self.statistics.duplicated.add(size);
        let log = self.log.as_mut();
        log.and_then(|log| log.arrival(now, packet, size, true))
    }

    pub(super) fn dropped(
        &mut self,
        time: Nanos,
        size: u64,
        record: Option<usize>,
        cause: DropCause,
    ) {
        self.statistics.count_drop(cause, size);
        self.set(record, PacketOutcome::Dropped { time, cause });
    }

    pub(super) fn sent(&mut self, record: Option<usize>, departure: Nanos, delivery: Nanos) {
        let outcome = PacketOutcome::Sent {
            departure,
            delivery,
        };
        self.set(record, outcome);
    }

    fn set(&mut self, record: Option<usize>, outcome: PacketOutcome) {
        if let (Some(log), Some(record)) = (&mut self.log, record) {
            log.set(record, outcome);
        }
    }
}
