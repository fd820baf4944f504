//! The books: counters, and the record of every packet if asked for.

use super::{DropCause, PacketLog, PacketOutcome, Statistics};
use crate::packet::Packet;
use crate::time::Nanos;

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
