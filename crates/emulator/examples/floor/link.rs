//! One direction of the way: a drop-tail queue, a constant rate, a constant delay.

use std::collections::VecDeque;

use bytes::BytesMut;
use quinn_proto::EcnCodepoint;

/// A drop-tail queue, a constant rate, a constant delay.
pub(crate) struct Link {
    bytes_per_second: u64,
    limit_bytes: u64,
    /// When the last byte will be sent.
    free: u64,
    packets: VecDeque<Packet>,
    pub(crate) offered: u64,
    pub(crate) dropped: u64,
    pub(crate) delivered_bytes: u64,
}

/// One datagram on its way, between hosts by their places.
pub(crate) struct Packet {
    /// When it arrives.
    pub(crate) due: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) data: BytesMut,
}

impl Link {
    pub(crate) fn new(flows: u32) -> Self {
        Self {
            bytes_per_second: 1_250_000 * u64::from(flows),
            limit_bytes: 50_000 * u64::from(flows),
            free: 0,
            packets: VecDeque::new(),
            offered: 0,
            dropped: 0,
            delivered_bytes: 0,
        }
    }

    /// When the next packet arrives.
    pub(crate) fn next(&self) -> u64 {
        self.packets.front().map_or(u64::MAX, |packet| packet.due)
    }

    /// When a packet of this size would arrive that is sent now; `None` if there is no room for it.
    pub(crate) fn offer(&mut self, now: u64, payload: usize) -> Option<u64> {
        self.offered += 1;
        let backlog = self.free.saturating_sub(now) * self.bytes_per_second / SECOND;
        // The packet that is being sent does not count, and is about as long as this one.
        if backlog > self.limit_bytes {
            self.dropped += 1;
            return None;
        }
        let time = (payload as u64 + OVERHEAD) * SECOND / self.bytes_per_second;
        self.free = self.free.max(now) + time;
        Some(self.free + DELAY)
    }

    pub(crate) fn push(&mut self, packet: Packet) {
        self.packets.push_back(packet);
    }

    pub(crate) fn deliver(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.delivered_bytes += packet.data.len() as u64 + OVERHEAD;
        Some(packet)
    }
}

/// In nanoseconds.
pub(crate) const SECOND: u64 = 1_000_000_000;
/// 20 ms.
const DELAY: u64 = 20_000_000;
/// Headers of IPv4 and UDP, in bytes.
const OVERHEAD: u64 = 28;
