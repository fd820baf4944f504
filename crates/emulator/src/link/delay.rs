//! Propagation.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::time::Nanos;

/// Delays every packet by the same time, so that the order stays.
#[derive(Debug)]
pub(super) struct DelayLine {
    delay: Nanos,
    /// Delivery time, bytes on the wire, packet.
    packets: VecDeque<(Nanos, u64, Packet)>,
}

impl DelayLine {
    pub(super) fn new(delay: Nanos) -> Self {
        Self {
            delay,
            packets: VecDeque::new(),
        }
    }

    /// Takes a packet that departs at the given time, not before the one pushed previously. Returns when it arrives.
    pub(super) fn push(&mut self, departure: Nanos, size: u64, packet: Packet) -> Nanos {
        let delivery = departure + self.delay;
        self.packets.push_back((delivery, size, packet));
        delivery
    }

    pub(super) fn next_delivery(&self) -> Option<Nanos> {
        self.packets.front().map(|(delivery, ..)| *delivery)
    }

    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, u64, Packet)> {
        if self.next_delivery()? > now {
            return None;
        }
        self.packets.pop_front()
    }
}
