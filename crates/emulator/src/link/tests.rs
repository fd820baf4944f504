//! What the stages' tests share.

use std::net::SocketAddr;

use super::queueing::Queued;
use crate::packet::Packet;
use crate::time::Nanos;

pub(crate) fn packet(size: usize) -> Packet {
    let address = |last| SocketAddr::from(([10, 0, 0, last], 4433));
    Packet {
        source: address(1),
        destination: address(2),
        ecn: None,
        payload: vec![0; size],
    }
}

/// A packet as large on the wire as its payload.
pub(super) fn queued(size: usize) -> Queued {
    arriving(size, Nanos::ZERO)
}

/// A packet that comes to the queue at a given time.
pub(super) fn arriving(size: usize, arrival: Nanos) -> Queued {
    Queued {
        packet: packet(size),
        size: size as u64,
        record: None,
        arrival,
    }
}
