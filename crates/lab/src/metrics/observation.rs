//! Everything a run leaves behind, before it is condensed.

use std::time::Duration;

use crate::trial::Packets;
use crate::workload::{Message, Series};

/// One packet that crossed the data link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// When the packet arrived at the queue.
    pub arrival: Duration,
    /// When its last byte was served.
    pub departure: Duration,
    /// Its size on the wire.
    pub wire_bytes: u64,
}

impl Delivery {
    /// The time from the packet's arrival at the queue to the end of its own service: propagation is not part of it.
    pub fn queue_delay(&self) -> Duration {
        self.departure.saturating_sub(self.arrival)
    }
}

/// The results of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlowObservation {
    /// Stream bytes the receiving application read.
    pub goodput_bytes: u64,
    /// Why the connection closed before the deadline, if it did.
    pub closed: Option<String>,
    /// The congestion window in bytes over time.
    pub windows: Vec<(Duration, u64)>,
    /// Its controller, where not all flows of the run have the same.
    pub controller: Option<String>,
    /// The part of the goodput that was read in the last third of the run.
    pub late_goodput_bytes: u64,
    /// The mean round-trip time of its acknowledged packets.
    pub rtt_mean: Option<Duration>,
    /// The outcomes of its packets on the data link.
    pub packets: Packets,
    /// The frames and the responses that were due.
    pub due: Vec<Series>,
    /// Those that have arrived.
    pub messages: Vec<Message>,
}

/// The observations from time zero to the deadline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// How long the run lasted: the deadline.
    pub duration: Duration,
    /// Packets offered to the data link.
    pub offered: u64,
    /// Of those, packets dropped: by the queue, or by random loss.
    pub dropped: u64,
    /// Packets whose service ended by the deadline, in order of departure.
    pub deliveries: Vec<Delivery>,
    /// The round-trip times of every acknowledged packet of every flow, in nanoseconds.
    pub rtts: Vec<u64>,
    /// Bytes the data link could have carried in each bin of [`bin_width`](super::Timeline::bin_width).
    pub capacity: Vec<f64>,
    /// The flows, in the order of their start.
    pub flows: Vec<FlowObservation>,
}

impl Observation {
    /// When the last third of the run begins: what flows that share a link have come to is measured from there on.
    pub fn last_third(duration: Duration) -> Duration {
        duration - duration / 3
    }

    /// Bytes on the wire delivered by the deadline.
    pub fn delivered_bytes(&self) -> u64 {
        self.deliveries.iter().map(|packet| packet.wire_bytes).sum()
    }

    /// Bytes the data link could have carried by the deadline.
    pub fn capacity_bytes(&self) -> f64 {
        self.capacity.iter().sum()
    }
}
