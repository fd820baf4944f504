//! One connection under observation: what its controller thinks, sampled over virtual time, and what the data link did.

use std::time::Duration;

use kneepoint_controllers::{Bandwidth, Bytes, Mode, Snapshot};
use kneepoint_emulator::link::{PacketOutcome, Record};

use crate::run::RunError;
use crate::trial::{LinkOutcome, Outcome, Trial};

/// The controller's state at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Duration,
    /// What it was.
    pub snapshot: Snapshot,
}

/// The estimates of bandwidth at moments at which something was in flight, in bytes per second and sorted.
pub fn estimates(samples: &[Sample]) -> Vec<u64> {
    let mut estimates: Vec<u64> = samples
        .iter()
        .filter(|sample| sample.snapshot.in_flight.0 > 0)
        .filter_map(|sample| sample.snapshot.bandwidth)
        .map(|bandwidth| bandwidth.bytes_per_second())
        .collect();
    estimates.sort_unstable();
    estimates
}

/// What was seen of one connection.
#[derive(Debug, Clone, Default)]
pub struct TimeSeries {
    /// The controller's state from the end of the handshake on, at regular moments.
    pub samples: Vec<Sample>,
    /// What the data link did.
    pub link: LinkOutcome,
}

impl TimeSeries {
    /// Runs a trial, and returns what was seen of its first connection and of its link `forward`.
    ///
    /// # Errors
    /// When the network cannot be emulated, or the simulation stops early.
    pub fn of(trial: &Trial) -> Result<Self, RunError> {
        let Outcome {
            flows, mut links, ..
        } = trial.run()?;
        Ok(Self {
            samples: flows.into_iter().next().unwrap_or_default().samples,
            link: links.remove("forward").unwrap_or_default(),
        })
    }

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

    /// The rate at which bytes left the data link between two times, on the wire.
    pub fn rate(&self, from: Duration, to: Duration) -> Bandwidth {
        let bytes = self.link.delivered(from, to);
        Bandwidth::from_delivery(Bytes(bytes), to.saturating_sub(from)).unwrap_or_default()
    }

    /// Packets that arrived at the data link between two times, and how many of them it dropped.
    pub fn dropped(&self, from: Duration, to: Duration) -> (usize, usize) {
        let arrived = self
            .link
            .records
            .iter()
            .filter(|record| (from..to).contains(&record.arrival.into()));
        let lost = |record: &&Record| matches!(record.outcome, PacketOutcome::Dropped { .. });
        (arrived.clone().count(), arrived.filter(lost).count())
    }
}
