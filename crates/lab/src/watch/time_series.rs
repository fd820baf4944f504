//! What was seen.

use std::time::Duration;

use kneepoint_controllers::{Bandwidth, Bytes, Mode, Snapshot};
use kneepoint_emulator::link::{PacketOutcome, Record, Statistics};
use kneepoint_emulator::time::Nanos;

/// The controller's state at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Duration,
    /// What it was.
    pub snapshot: Snapshot,
}

/// What was seen of one connection.
#[derive(Debug, Clone, Default)]
pub struct TimeSeries {
    /// The controller's state from the end of the handshake on, at regular moments.
    pub samples: Vec<Sample>,
    /// What the data link did with every packet, if it kept a log.
    pub records: Vec<Record>,
    /// The data link's counters.
    pub statistics: Statistics,
}

impl TimeSeries {
    /// When each mode was seen to begin, in order.
    pub fn modes(&self) -> Vec<(Duration, Mode)> {
        let mut modes = Vec::new();
        for sample in &self.samples {
            let mode = sample.snapshot.mode;
            if modes.last().is_none_or(|&(_, last)| last != mode) {
                modes.push((sample.at, mode));
            }
        }
        modes
    }

    /// When `mode` was first seen to begin at `from` or later.
    pub fn entry(&self, mode: Mode, from: Duration) -> Option<Duration> {
        self.modes()
            .into_iter()
            .find(|&(at, entered)| entered == mode && at >= from)
            .map(|(at, _)| at)
    }

    /// The first mode seen to begin after `at`, and when.
    pub fn next_mode(&self, at: Duration) -> Option<(Duration, Mode)> {
        self.modes().into_iter().find(|&(entry, _)| entry > at)
    }

    /// The moments from `from` on and before `to`.
    pub fn between(&self, from: Duration, to: Duration) -> &[Sample] {
        let start = self.samples.partition_point(|sample| sample.at < from);
        let end = self.samples.partition_point(|sample| sample.at < to);
        &self.samples[start..end.max(start)]
    }

    /// The state at `at`: as of the last moment until then.
    pub fn at(&self, at: Duration) -> Option<&Snapshot> {
        let after = self.samples.partition_point(|sample| sample.at <= at);
        Some(&self.samples[..after].last()?.snapshot)
    }

    /// Bytes that left the data link between two times, on the wire.
    pub fn delivered(&self, from: Duration, to: Duration) -> u64 {
        let carried = |record: &&Record| match record.outcome {
            PacketOutcome::Sent { departure, .. } => (from..to).contains(&departure.into()),
            _ => false,
        };
        self.records.iter().filter(carried).map(|r| r.size).sum()
    }

    /// The rate at which it did.
    pub fn rate(&self, from: Duration, to: Duration) -> Bandwidth {
        let bytes = self.delivered(from, to);
        Bandwidth::from_delivery(Bytes(bytes), to.saturating_sub(from)).unwrap_or_default()
    }

    /// How long each packet that the data link served was there, from its arrival to the end of its own service.
    pub fn queue_delays(&self) -> impl Iterator<Item = Nanos> {
        self.records
            .iter()
            .filter_map(|record| match record.outcome {
                PacketOutcome::Sent { departure, .. } => Some(departure - record.arrival),
                _ => None,
            })
    }

    /// Packets that arrived at the data link between two times, and how many of them it dropped.
    pub fn dropped(&self, from: Duration, to: Duration) -> (usize, usize) {
        let arrived = self
            .records
            .iter()
            .filter(|record| (from..to).contains(&record.arrival.into()));
        let lost = |record: &&Record| matches!(record.outcome, PacketOutcome::Dropped { .. });
        (arrived.clone().count(), arrived.filter(lost).count())
    }
}
