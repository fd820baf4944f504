//! Five flows of different round-trip times, and what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use kneepoint_controllers::BbrFairConfig;
use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_quinn::Factory;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::round_trips::FAIR;
use crate::controllers::Candidate;
use crate::metrics::stats;
use crate::reproduce::CaseError;
use crate::reproduce::setup::{FAST_MBPS, greedy, link, transfer};
use crate::reproduce::summary::overflow;
use crate::trial::FlowPlan;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    pub(super) mbps: f64,
    /// The longest round-trip time as a multiple of the shortest.
    pub(super) n: u64,
    pub(super) buffer: Buffer,
    pub(super) controller: &'static str,
    pub(super) seed: u64,
    pub(super) seconds: u64,
}

/// What the buffer of four BDP is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Buffer {
    /// The mean of the round-trip times.
    Mean,
    /// The shortest of them.
    Shortest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// Jain's index of what was read in the last two thirds.
    pub(super) jain: f64,
    /// The same from the beginning.
    pub(super) jain_whole: f64,
    /// The least of the same over ten seconds each, in the last two thirds.
    pub(super) jain_min: f64,
    /// Mb/s of each flow in the last two thirds, by round-trip time.
    pub(super) shares: Vec<f64>,
    /// The bottleneck's bytes as a share of what it can carry, in the whole run.
    pub(super) utilization: f64,
    /// How much longer than their shortest the round trips are in the last two thirds: the mean of the flows' means, in ms.
    pub(super) queue: f64,
    pub(super) loss: f64,
}

impl Case {
    /// Round-trip times in milliseconds: evenly from 50 to n x 50.
    pub(super) fn round_trips(&self) -> [f64; FLOWS] {
        let max = MIN_MS * self.n as f64;
        let step = (max - MIN_MS) / (FLOWS - 1) as f64;
        std::array::from_fn(|flow| MIN_MS + step * flow as f64)
    }

    fn topology(&self) -> Topology {
        let rtts = self.round_trips();
        let counted = match self.buffer {
            Buffer::Mean => rtts.iter().sum::<f64>() / FLOWS as f64,
            Buffer::Shortest => MIN_MS,
        };
        let bytes = BUFFER_BDP * self.mbps * 125.0 * counted;
        let bottleneck = Duplex {
            forward: LinkConfig {
                queue: Queue::DropTail(Limit::bytes(bytes as u64)),
                ..link(self.mbps, 0.0)
            },
            reverse: link(FAST_MBPS, 0.0),
        };
        let far = rtts.map(|rtt| Duplex::both(link(FAST_MBPS, rtt / 2.0)));
        let near = rtts.map(|_| Duplex::both(link(FAST_MBPS, 0.0)));
        Topology::dumbbell(bottleneck, &near, &far)
    }

    pub(super) fn run(&self) -> Result<Run, CaseError> {
        let end = Duration::from_secs(self.seconds);
        let mut random = Pcg64::seed_from_u64(self.seed);
        let flows = (1..=FLOWS as u64).map(|flow| {
            let start = Duration::from_millis(random.random_range(0..LATEST_START_MS));
            let seed = self.seed * 100 + flow;
            let plan = if self.controller == FAIR {
                let factory = Factory::new(BbrFairConfig::with_own_queue())?.seed(seed);
                FlowPlan::greedy(Candidate::Quinn(Arc::new(factory)), start, end)
            } else {
                greedy(self.controller, seed, start, end)?
            };
            Ok::<_, CaseError>(plan.between(format!("left-{flow}"), format!("right-{flow}")))
        });
        let outcome = transfer(self.topology(), flows, end, None, self.seed)?;
        let from = end / 3;
        let windows = (0..).map(|window| from + WINDOW * window);
        let min = windows
            .take_while(|&start| start + WINDOW <= end)
            .filter_map(|start| outcome.jain(start, start + WINDOW))
            .fold(1.0, f64::min);
        let flows = outcome.flows.iter();
        let waits = flows.zip(self.round_trips()).filter_map(|(flow, rtt)| {
            let rtts: Vec<u64> = flow.rtts_between(from, end).collect();
            Some(stats::mean(&rtts)? / 1e6 - rtt)
        });
        let forward = outcome.links.get("forward");
        let delivered = forward.map_or(0, |link| link.statistics.delivered.bytes);
        Ok(Run {
            jain: outcome.jain(from, end).unwrap_or(0.0),
            jain_whole: outcome.jain(Duration::ZERO, end).unwrap_or(0.0),
            jain_min: min,
            shares: outcome
                .flows
                .iter()
                .map(|flow| flow.goodput_mbps(from, end))
                .collect(),
            utilization: delivered as f64 * 8e-6 / (self.mbps * end.as_secs_f64()),
            queue: waits.sum::<f64>() / FLOWS as f64,
            loss: overflow(&outcome),
        })
    }
}

pub(super) const FLOWS: usize = 5;
const MIN_MS: f64 = 50.0;
const BUFFER_BDP: f64 = 4.0;

/// The flows begin within so long, at random.
const LATEST_START_MS: u64 = 100;

const WINDOW: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_times_are_even_and_the_rate_is_shared() {
        let case = Case {
            mbps: 10.0,
            n: 10,
            buffer: Buffer::Mean,
            controller: FAIR,
            seed: 1,
            seconds: 12,
        };
        assert_eq!(case.round_trips(), [50.0, 162.5, 275.0, 387.5, 500.0]);
        let run = case.run().unwrap();
        let sum: f64 = run.shares.iter().sum();
        assert!((5.0..10.0).contains(&sum), "{run:?}");
        assert!((0.2..=1.0).contains(&run.jain), "{run:?}");
        assert!((0.5..=1.0).contains(&run.utilization), "{run:?}");
    }
}
