//! The record of every packet.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::DropCause;
use crate::packet::Packet;
use crate::time::Nanos;

/// Every packet that a link was offered, in the order of the offers, and every duplicate behind its original.
#[derive(Debug, Default)]
pub struct PacketLog {
    records: Vec<Record>,
    /// How many records were taken.
    taken: usize,
    /// How many of the others were found settled.
    #[cfg(feature = "relay")]
    settled: usize,
    /// Whether new packets are left out of the log, and how many were.
    #[cfg(feature = "relay")]
    full: bool,
    #[cfg(feature = "relay")]
    left_out: u64,
    flows: Vec<Flow>,
    ids: BTreeMap<Flow, FlowId>,
}

impl PacketLog {
    /// The packets.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The flows, in the order of their first packets.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The flow that a record of this log belongs to; `None` for an identifier from another log.
    pub fn flow(&self, id: FlowId) -> Option<Flow> {
        self.flows.get(id.0).copied()
    }

    /// Adds a packet and returns its index, unless it is left out.
    pub(super) fn arrival(
        &mut self,
        now: Nanos,
        packet: &Packet,
        size: u64,
        duplicate: bool,
    ) -> Option<usize> {
        #[cfg(feature = "relay")]
        if self.full {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        let flow = Flow {
            source: packet.source,
            destination: packet.destination,
        };
        let flow = *self.ids.entry(flow).or_insert_with(|| {
            self.flows.push(flow);
            FlowId(self.flows.len() - 1)
        });
        self.records.push(Record {
            flow,
            arrival: now,
            size,
            duplicate,
            outcome: PacketOutcome::Queued,
        });
        Some(self.taken + self.records.len() - 1)
    }

    /// Whether there is room for more packets in memory.
    #[cfg(feature = "relay")]
    pub(super) fn set_full(&mut self, full: bool) {
        self.full = full;
    }

    /// How many packets were left out because there was no room.
    #[cfg(feature = "relay")]
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn set(&mut self, place: usize, outcome: PacketOutcome) {
        let place = place.checked_sub(self.taken);
        if let Some(record) = place.and_then(|place| self.records.get_mut(place)) {
            record.outcome = outcome;
        }
    }

    /// Takes the records up to the first one without an outcome. Flows without records are removed from time to time,
    /// so identifiers change.
    #[cfg(feature = "relay")]
    pub(super) fn take_settled(&mut self, take: &mut dyn FnMut(Flow, Record)) {
        let unseen = self.records.iter().skip(self.settled);
        let found = unseen.take_while(|record| record.outcome != PacketOutcome::Queued);
        self.settled += found.count();
        let settled = self.settled;
        // Moving the others up is worth it only if they are not many.
        if settled == 0 || settled < self.records.len() / 4 {
            return;
        }
        self.taken += settled;
        self.settled = 0;
        for record in self.records.drain(..settled) {
            if let Some(flow) = self.flows.get(record.flow.0) {
                take(*flow, record);
            }
        }
        if self.flows.len() > FLOWS_KEPT.max(2 * self.records.len()) {
            self.forget_flows();
        }
    }

    /// Numbers the flows of the records that are left, again by first packet.
    #[cfg(feature = "relay")]
    fn forget_flows(&mut self) {
        let old = std::mem::take(&mut self.flows);
        self.ids.clear();
        for record in &mut self.records {
            if let Some(flow) = old.get(record.flow.0).copied() {
                record.flow = *self.ids.entry(flow).or_insert_with(|| {
                    self.flows.push(flow);
                    FlowId(self.flows.len() - 1)
                });
            }
        }
    }
}

/// One packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Whose packet it is, see [`PacketLog::flow`].
    pub flow: FlowId,
    /// When it was offered.
    pub arrival: Nanos,
    /// Bytes on the wire.
    pub size: u64,
    /// Whether the link made it of the packet before.
    pub duplicate: bool,
    /// Its outcome.
    pub outcome: PacketOutcome,
}

impl Record {
    /// When its last byte left the shaper; `None` if it has not, or was dropped.
    pub fn departure(&self) -> Option<Nanos> {
        match self.outcome {
            PacketOutcome::Sent { departure, .. } => Some(departure),
            _ => None,
        }
    }

    /// The time from its arrival to the end of its own service: propagation is not part of it.
    pub fn wait(&self) -> Option<Nanos> {
        Some(self.departure()? - self.arrival)
    }
}

/// The outcome of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketOutcome {
    /// It waits: in the queue, for its batch to be released, or because it was held back.
    Queued,
    /// The shaper took it, and its batch is complete if the link aggregates. Both times are known from then on, and may lie ahead.
    Sent {
        /// When its last byte leaves the shaper.
        departure: Nanos,
        /// When it is delivered: after the propagation delay.
        delivery: Nanos,
    },
    /// It was dropped.
    Dropped {
        /// When.
        time: Nanos,
        /// Why.
        cause: DropCause,
    },
}

/// The packets from one address to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// The sender's address.
    pub source: SocketAddr,
    /// The receiver's address.
    pub destination: SocketAddr,
}

/// A flow's number within its log, by first packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(usize);

/// How many flows a log may know before it forgets those that it has no records of.
#[cfg(feature = "relay")]
const FLOWS_KEPT: usize = 4096;
