//! What the uploads over quinn and over noq have in common.

use std::net::SocketAddr;

use kneepoint::emulator::link::{
    Limit, LinkConfig, MAHIMAHI_OVERHEAD, PacketOutcome, Queue, Record, Shaper,
};
use kneepoint::emulator::time::Nanos;
use kneepoint::traces;

/// The bundled LTE trace behind 3 MB of queue.
pub(crate) fn lte() -> LinkConfig {
    LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..fast()
    }
}

/// A link of a constant rate, of 20 ms, with a log.
pub(crate) fn link(bytes_per_second: u64) -> LinkConfig {
    LinkConfig {
        delay: Nanos::from_millis(20).into(),
        overhead: MAHIMAHI_OVERHEAD,
        log: true,
        ..LinkConfig::constant(bytes_per_second)
    }
}

/// The way back.
pub(crate) fn fast() -> LinkConfig {
    link(125_000_000)
}

/// The bytes that left the shaper between two times.
pub(crate) fn served(log: &[Record], from: Nanos, to: Nanos) -> u64 {
    let in_time = |record: &&Record| matches!(record.outcome, PacketOutcome::Sent { departure, .. } if (from..to).contains(&departure));
    log.iter().filter(in_time).map(|record| record.size).sum()
}

/// Bytes without a pattern.
pub(crate) fn bytes(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

pub(crate) fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 1, 1], 4433))
}
