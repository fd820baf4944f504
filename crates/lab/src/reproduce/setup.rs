//! Networks and flows that several experiments use.

use std::time::Duration;

use kneepoint_emulator::link::{
    Limit, LinkConfig, MAHIMAHI_OVERHEAD, Queue, Shaper, UDP_IPV4_OVERHEAD,
};
use kneepoint_emulator::network::{Duplex, Topology};

use super::CaseError;
use crate::controllers::{UnknownController, candidate};
use crate::trial::{FlowPlan, Outcome, Trial};

/// The link that all flows share, and the empty path's round-trip time.
#[derive(Debug, Clone)]
pub(super) struct Bottleneck {
    pub(super) shaper: Shaper,
    pub(super) queue: Queue,
    pub(super) rtt: Duration,
    pub(super) loss: f64,
}

impl Bottleneck {
    /// A link of one rate with a buffer.
    pub(super) fn constant(mbps: f64, buffer: Limit, rtt: Duration) -> Self {
        Self {
            shaper: constant(mbps),
            queue: Queue::DropTail(buffer),
            rtt,
            loss: 0.0,
        }
    }

    /// The data's link, with a log.
    pub(super) fn forward(&self) -> LinkConfig {
        LinkConfig {
            queue: self.queue,
            delay: (self.rtt - self.rtt / 2).into(),
            loss: self.loss.into(),
            overhead: self.overhead(),
            log: true,
            ..LinkConfig::new(self.shaper.clone())
        }
    }

    /// The acknowledgements' link: never in the way.
    pub(super) fn reverse(&self) -> LinkConfig {
        LinkConfig {
            delay: (self.rtt / 2).into(),
            overhead: self.overhead(),
            ..LinkConfig::new(constant(FAST_MBPS))
        }
    }

    /// From `left` to `right` over this link alone.
    pub(super) fn topology(&self) -> Topology {
        Topology::point_to_point(self.duplex())
    }

    /// One flow of bulk data over this link alone, from time zero to `end`.
    pub(super) fn bulk(
        &self,
        controller: &str,
        seed: u64,
        end: Duration,
        interval: Option<Duration>,
    ) -> Result<Outcome, CaseError> {
        let flow = greedy(controller, seed, Duration::ZERO, end);
        transfer(self.topology(), [flow], end, interval, seed)
    }

    /// Both directions.
    pub(super) fn duplex(&self) -> Duplex {
        Duplex {
            forward: self.forward(),
            reverse: self.reverse(),
        }
    }

    /// As mahimahi counts where one of its traces is followed.
    fn overhead(&self) -> u32 {
        match self.shaper {
            Shaper::Trace(_) => MAHIMAHI_OVERHEAD,
            _ => UDP_IPV4_OVERHEAD,
        }
    }

    /// What it can carry between two times, in bytes.
    pub(super) fn capacity(&self, from: Duration, to: Duration) -> f64 {
        match &self.shaper {
            Shaper::ConstantRate { bytes_per_second } => {
                *bytes_per_second as f64 * to.saturating_sub(from).as_secs_f64()
            }
            Shaper::Trace(trace) => trace.capacity(from.into(), to.into()) as f64,
            _ => f64::NAN,
        }
    }
}

/// A link of one rate, with a delay in milliseconds.
pub(super) fn link(mbps: f64, milliseconds: f64) -> LinkConfig {
    LinkConfig {
        delay: Duration::from_secs_f64(milliseconds / 1e3).into(),
        overhead: UDP_IPV4_OVERHEAD,
        ..LinkConfig::new(constant(mbps))
    }
}

/// A shaper of so many megabits per second.
pub(super) fn constant(mbps: f64) -> Shaper {
    Shaper::ConstantRate {
        bytes_per_second: (mbps * 125_000.0).round().max(1.0) as u64,
    }
}

/// A flow from `left` to `right` that sends from `start` to `end`, under the controller of this name.
pub(super) fn greedy(
    controller: &str,
    seed: u64,
    start: Duration,
    end: Duration,
) -> Result<FlowPlan, UnknownController> {
    Ok(FlowPlan::greedy(candidate(controller, seed)?, start, end))
}

/// Runs flows over a network up to `end`. Controllers are looked at every `interval`, if there is one.
pub(super) fn transfer<E>(
    topology: Topology,
    flows: impl IntoIterator<Item = Result<FlowPlan, E>>,
    end: Duration,
    interval: Option<Duration>,
    seed: u64,
) -> Result<Outcome, CaseError>
where
    CaseError: From<E>,
{
    let flows = flows.into_iter().collect::<Result<_, E>>()?;
    let trial = Trial {
        interval,
        seed,
        ..Trial::new(topology, flows, end)
    };
    Ok(trial.run()?)
}

/// The rate of links that are never in the way.
pub(super) const FAST_MBPS: f64 = 10_000.0;
