//! Where packets wait for the shaper.

use std::collections::VecDeque;

use super::{Count, DropCause, Limit, Queue};
use crate::packet::Packet;

/// First in, first out, with a limit that drops arrivals.
#[derive(Debug)]
pub(super) struct Fifo {
    packets: VecDeque<Queued>,
    bytes: u64,
    limit: Limit,
}

/// A waiting packet.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) packet: Packet,
    /// Bytes on the wire.
    pub(super) size: u64,
    /// The packet's place in the log.
    pub(super) record: Option<usize>,
}

impl Fifo {
    pub(super) fn new(queue: Queue) -> Self {
        let limit = match queue {
            Queue::Infinite => Limit {
                bytes: None,
                packets: None,
            },
            Queue::DropTail(limit) => limit,
        };
        Self {
            packets: VecDeque::new(),
            bytes: 0,
            limit,
        }
    }

    pub(super) fn enqueue(&mut self, queued: Queued) -> Result<(), DropCause> {
        let bytes = self.bytes.saturating_add(queued.size);
        let packets = self.packets.len() as u64 + 1;
        let fits = |limit: Option<u64>, after| limit.is_none_or(|limit| after <= limit);
        if !fits(self.limit.bytes, bytes) || !fits(self.limit.packets, packets) {
            return Err(DropCause::QueueFull);
        }
        self.bytes = bytes;
        self.packets.push_back(queued);
        Ok(())
    }

    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_front()?;
        self.bytes = self.bytes.saturating_sub(queued.size);
        Some(queued)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn count(&self) -> Count {
        Count {
            packets: self.packets.len() as u64,
            bytes: self.bytes,
        }
    }
}
