//! One queue in front of one link.

use std::time::Duration;

use kneepoint_controllers::{Bandwidth, Bytes, Timestamp};

/// A path without randomness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    /// Of the link.
    pub(crate) rate: Bandwidth,
    /// Without queues.
    pub(crate) rtt: Duration,
    /// What fits the queue.
    pub(crate) buffer: Bytes,
}

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Delivered,
    Marked,
    Lost,
}

impl Path {
    /// A path with a queue of one bandwidth-delay product.
    pub(crate) const fn new(megabits_per_second: u64, rtt_millis: u64) -> Self {
        Self {
            rate: Bandwidth::from_bytes_per_second(megabits_per_second * 125_000),
            rtt: Duration::from_millis(rtt_millis),
            buffer: Bytes(megabits_per_second * 125 * rtt_millis),
        }
    }

    /// How long the link takes for so much.
    pub(crate) fn service(&self, bytes: Bytes) -> Duration {
        time_at(self.rate, bytes)
    }

    /// Whether a packet that comes to a link busy until `link_free` finds room in the queue.
    pub(crate) fn has_room(&self, now: Timestamp, link_free: Timestamp, bytes: Bytes) -> bool {
        self.rate.bytes_in(link_free.saturating_since(now)) + bytes <= self.buffer
    }
}

/// How long so much takes at a rate.
pub(crate) fn time_at(rate: Bandwidth, bytes: Bytes) -> Duration {
    let nanos = u128::from(bytes.0) * 1_000_000_000 / u128::from(rate.bytes_per_second().max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
