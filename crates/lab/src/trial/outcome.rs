//! What was seen of a trial.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use kneepoint_emulator::link::{Link, PacketLog, PacketOutcome, Record, Statistics};
use kneepoint_emulator::time::Nanos;

use crate::metrics::stats;
use crate::watch::Sample;
use crate::workload::{Message, Received, Series};

pub use crate::probe::RttSample;

/// What was seen of a trial.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// How long it lasted.
    pub duration: Duration,
    /// The flows, in the order of their plans.
    pub flows: Vec<FlowOutcome>,
    /// The links, by name.
    pub links: BTreeMap<String, LinkOutcome>,
}

/// What was seen of one flow.
#[derive(Debug, Clone, Default)]
pub struct FlowOutcome {
    /// The round-trip time of every acknowledged packet, in order of acknowledgement.
    pub rtts: Vec<RttSample>,
    /// Bytes acknowledged.
    pub acked_bytes: u64,
    /// Bytes that the sender declared lost.
    pub lost_bytes: u64,
    /// The congestion window in bytes over time.
    pub windows: Vec<(Duration, u64)>,
    /// Stream bytes read by the receiver, in bins of [`Received::BIN`].
    pub received: Vec<u64>,
    /// The streams that have arrived to their ends.
    pub messages: Vec<Message>,
    /// The controller's states, if anybody looked and it is one of ours.
    pub samples: Vec<Sample>,
    /// Why the connection closed before its application was done, if it did.
    pub closed: Option<String>,
    /// The address that the sender's packets come from.
    pub address: Option<SocketAddr>,
    /// The frames and the requests that were due, as far as the connection was there for them.
    pub due: Vec<Series>,
}

/// What was seen of one link.
#[derive(Debug, Clone, Default)]
pub struct LinkOutcome {
    /// What it did with every packet, if it kept a log.
    pub records: Vec<Record>,
    /// Its counters.
    pub statistics: Statistics,
    /// The packets by the address that they came from, if it kept a log.
    pub sources: BTreeMap<SocketAddr, Packets>,
}

/// What became of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packets {
    /// How many were offered to a link.
    pub offered: u64,
    /// How many of those it dropped.
    pub dropped: u64,
}

impl Packets {
    /// Counts a log's packets by the address that they came from.
    pub(crate) fn by_source(log: &PacketLog) -> BTreeMap<SocketAddr, Self> {
        let mut flows = BTreeMap::new();
        for record in log.records() {
            let packets: &mut Self = flows.entry(record.flow).or_default();
            packets.offered += 1;
            packets.dropped += u64::from(matches!(record.outcome, PacketOutcome::Dropped { .. }));
        }
        let mut sources: BTreeMap<SocketAddr, Self> = BTreeMap::new();
        for (id, packets) in flows {
            if let Some(flow) = log.flow(id) {
                let sum = sources.entry(flow.source).or_default();
                sum.offered += packets.offered;
                sum.dropped += packets.dropped;
            }
        }
        sources
    }
}

impl Outcome {
    /// The flows' goodputs between two times, in bytes.
    pub fn shares(&self, from: Duration, to: Duration) -> Vec<u64> {
        let share = |flow: &FlowOutcome| flow.received_between(from, to);
        self.flows.iter().map(share).collect()
    }

    /// Jain's index of the goodputs between two times.
    pub fn jain(&self, from: Duration, to: Duration) -> Option<f64> {
        stats::jain(&self.shares(from, to))
    }

    /// The mean of Jain's index over consecutive windows of one length, as far as they fit between two times.
    pub fn mean_jain(&self, from: Duration, to: Duration, window: Duration) -> Option<f64> {
        let (mut sum, mut count, mut start) = (0.0, 0_u32, from);
        while !window.is_zero() && start + window <= to {
            sum += self.jain(start, start + window)?;
            count += 1;
            start += window;
        }
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The round-trip times of all flows between two times, sorted, in nanoseconds.
    pub fn rtts(&self, from: Duration, to: Duration) -> Vec<u64> {
        let mut rtts: Vec<u64> = self
            .flows
            .iter()
            .flat_map(|flow| flow.rtts_between(from, to))
            .collect();
        rtts.sort_unstable();
        rtts
    }
}

impl FlowOutcome {
    /// Stream bytes read between two times, to the bin.
    pub fn received_between(&self, from: Duration, to: Duration) -> u64 {
        let bin = |time: Duration| {
            let bin = time.as_nanos() / Received::BIN.as_nanos();
            usize::try_from(bin)
                .unwrap_or(usize::MAX)
                .min(self.received.len())
        };
        let (from, to) = (bin(from), bin(to));
        self.received.get(from..to).unwrap_or(&[]).iter().sum()
    }

    /// The goodput between two times, in Mb/s.
    pub fn goodput_mbps(&self, from: Duration, to: Duration) -> f64 {
        let seconds = to.saturating_sub(from).as_secs_f64();
        self.received_between(from, to) as f64 * 8.0 / 1e6 / seconds.max(f64::MIN_POSITIVE)
    }

    /// The round-trip times of the packets acknowledged between two times, in nanoseconds.
    pub fn rtts_between(&self, from: Duration, to: Duration) -> impl Iterator<Item = u64> {
        let (from, to) = (stats::nanos(from), stats::nanos(to));
        let start = self.rtts.partition_point(|sample| sample.at < from);
        let samples = self.rtts[start..].iter();
        samples
            .take_while(move |sample| sample.at < to)
            .map(|sample| sample.rtt)
    }

    /// Goodput in Mb/s over time: one point per whole second, at its middle.
    pub fn goodput_series(&self) -> Vec<(f64, f64)> {
        let bins = self.received.chunks_exact(BINS_PER_SECOND);
        (0_u32..)
            .zip(bins)
            .map(|(second, bins)| {
                let bytes: u64 = bins.iter().sum();
                (f64::from(second) + 0.5, bytes as f64 * 8.0 / 1e6)
            })
            .collect()
    }
}

impl LinkOutcome {
    /// What a link has done so far.
    pub fn new(link: &Link) -> Self {
        let records = link.log().map_or(&[][..], |log| log.records());
        Self {
            records: records.to_vec(),
            statistics: *link.statistics(),
            sources: link.log().map_or_else(BTreeMap::new, Packets::by_source),
        }
    }

    /// Bytes that left between two times, on the wire.
    pub fn delivered(&self, from: Duration, to: Duration) -> u64 {
        let within = |departure: Nanos| (from..to).contains(&departure.into());
        let carried = |record: &&Record| record.departure().is_some_and(within);
        self.records.iter().filter(carried).map(|r| r.size).sum()
    }

    /// How long each packet served between two times was there, from its arrival to the end of its own service: sorted, in
    /// nanoseconds.
    pub fn queue_delays(&self, from: Duration, to: Duration) -> Vec<u64> {
        let within = |departure: Nanos| (from..to).contains(&departure.into());
        let served = |record: &&Record| record.departure().is_some_and(within);
        let served = self.records.iter().filter(served);
        let mut delays: Vec<u64> = served.filter_map(Record::wait).map(|wait| wait.0).collect();
        delays.sort_unstable();
        delays
    }

    /// The packets dropped, as a share of those offered.
    pub fn loss_rate(&self) -> f64 {
        let offered = self.statistics.offered.packets;
        let dropped = self.statistics.all_dropped().packets;
        dropped as f64 / offered.max(1) as f64
    }
}

const BINS_PER_SECOND: usize = 10;
