//! The paper's network, and what its tables show of a run.

use std::time::Duration;

use kneepoint_emulator::link::{Count, Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{Duplex, Topology};
use serde::{Deserialize, Serialize};

use crate::reproduce::CaseError;
use crate::reproduce::setup::{greedy, link, transfer};
use crate::trial::Outcome;

/// Access link, bottleneck, access link; the rates in Mb/s, the delays in milliseconds and one way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Dumbbell {
    pub(super) access_mbps: f64,
    pub(super) access_ms: f64,
    pub(super) bottleneck_mbps: f64,
    pub(super) bottleneck_ms: f64,
    /// Packets that every link's queue holds.
    pub(super) buffer: u64,
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    pub(super) network: Dumbbell,
    pub(super) controller: &'static str,
    pub(super) flows: u64,
    pub(super) seed: u64,
}

/// A column of the paper's tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// Mb/s that a flow sends on average, with all headers.
    pub(super) sent: f64,
    /// Mb/s of it that arrive.
    pub(super) received: f64,
    /// The share of the packets that is dropped on the way.
    pub(super) loss: f64,
    /// Jain's index of what the receivers have read.
    pub(super) jain: f64,
    /// The mean round-trip time in milliseconds.
    pub(super) rtt: f64,
}

impl Dumbbell {
    pub(super) const fn new(access_mbps: f64, bottleneck_mbps: f64, buffer: u64) -> Self {
        Self {
            access_mbps,
            access_ms: 20.0,
            bottleneck_mbps,
            bottleneck_ms: 10.0,
            buffer,
        }
    }

    /// The round-trip time of the empty path in seconds.
    fn rtt(self) -> f64 {
        2e-3 * (2.0 * self.access_ms + self.bottleneck_ms)
    }

    /// The buffer as a multiple of the bandwidth-delay product.
    pub(super) fn buffer_in_bdp(self) -> f64 {
        let packets = self.bottleneck_mbps * 125_000.0 * self.rtt() / PACKET_BYTES;
        self.buffer as f64 / packets
    }

    fn topology(self, flows: u64) -> Topology {
        let access = self.link(self.access_mbps, self.access_ms);
        let hosts: Vec<Duplex> = (0..flows).map(|_| access.clone()).collect();
        let bottleneck = self.link(self.bottleneck_mbps, self.bottleneck_ms);
        Topology::dumbbell(bottleneck, &hosts, &hosts)
    }

    fn link(self, mbps: f64, milliseconds: f64) -> Duplex {
        Duplex::both(LinkConfig {
            queue: Queue::DropTail(Limit::packets(self.buffer)),
            ..link(mbps, milliseconds)
        })
    }
}

impl Case {
    /// Megabits, about.
    pub(super) fn weight(&self) -> f64 {
        self.network.bottleneck_mbps * TRANSFER.as_secs_f64()
    }

    pub(super) fn outcome(&self) -> Result<Outcome, CaseError> {
        let flows = (1..=self.flows).map(|flow| {
            // Every flow draws from a seed of its own.
            let plan = greedy(
                self.controller,
                self.seed * 100 + flow,
                Duration::ZERO,
                TRANSFER,
            );
            plan.map(|plan| plan.between(format!("left-{flow}"), format!("right-{flow}")))
        });
        let topology = self.network.topology(self.flows);
        transfer(topology, flows, TRANSFER, None, self.seed)
    }

    pub(super) fn run(&self) -> Result<Run, CaseError> {
        Ok(self.measure(&self.outcome()?))
    }

    /// What the paper's tables show.
    fn measure(&self, outcome: &Outcome) -> Run {
        let link = |name: &str| outcome.links.get(name).map(|link| link.statistics);
        let (mut sent, mut received) = (Count::default(), 0);
        let mut dropped = link("forward").map_or(0, |seen| seen.all_dropped().packets);
        for flow in 1..=self.flows {
            if let Some(seen) = link(&format!("left-{flow}-up")) {
                sent.packets += seen.offered.packets;
                sent.bytes += seen.offered.bytes;
                dropped += seen.all_dropped().packets;
            }
            if let Some(seen) = link(&format!("right-{flow}-down")) {
                received += seen.delivered.bytes;
                dropped += seen.all_dropped().packets;
            }
        }
        let mbps =
            |bytes: u64| bytes as f64 * 8e-6 / (TRANSFER.as_secs_f64() * self.flows.max(1) as f64);
        let rtts = outcome.rtts(Duration::ZERO, TRANSFER);
        Run {
            sent: mbps(sent.bytes),
            received: mbps(received),
            loss: dropped as f64 / sent.packets.max(1) as f64,
            jain: outcome.jain(Duration::ZERO, TRANSFER).unwrap_or(0.0),
            rtt: crate::metrics::stats::mean(&rtts).unwrap_or(0.0) / 1e6,
        }
    }
}

/// The paper's transfer lasts for 19 s.
pub(super) const TRANSFER: Duration = Duration::from_secs(19);

/// A packet on the wire: quinn finds out that the path takes 1452 bytes, to which come the headers of UDP and IPv4.
const PACKET_BYTES: f64 = 1480.0;

/// The four of the paper, ours; then what `bbr` is for hosts without pacing, and quinn's own. The other three have no presets that
/// differ.
pub(super) const CONTROLLERS: [&str; 10] = [
    "new-reno",
    "cubic",
    "bbr",
    "ebcc:paper",
    "bbr:tuned",
    "quinn-new-reno",
    "quinn-cubic",
    "quinn-bbr",
    "noq:bbr",
    "noq:ebcc:paper",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_the_columns_of_the_papers_tables() {
        let case = Case {
            network: Dumbbell::new(3.0, 1.0, 30),
            controller: "bbr",
            flows: 2,
            seed: 1,
        };
        let run = case.run().unwrap();
        // Two flows over 1 Mb/s; what is sent and not received is lost or still on its way.
        assert!((0.4..=0.5).contains(&run.received), "{run:?}");
        assert!(run.sent > run.received && run.loss < 0.5, "{run:?}");
        assert!(
            (0.5..=1.0).contains(&run.jain) && run.rtt > 100.0,
            "{run:?}"
        );
    }
}
