//! Paths, one connection over them, marks that a test deals out itself, and random histories of both.
//!
//! Test crates share this module: `#[path = "paths/mod.rs"] mod paths;` in `tests/NAME.rs`.

#![allow(dead_code, reason = "each test crate uses a part of it")]

pub(crate) mod histories;
pub(crate) mod marks;

use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, RateStep, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::probe::SharedFactory;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};
use kneepoint_lab::workload::Phase;

/// The share of a link's rate that a stream gets: 1452 of 1480 bytes are datagram, and a part of that is header.
pub(crate) const PAYLOAD: f64 = 0.97;

pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

pub(crate) fn bytes_per_second(mbps: f64) -> u64 {
    (mbps * 125_000.0) as u64
}

pub(crate) fn constant(mbps: f64) -> Shaper {
    Shaper::ConstantRate {
        bytes_per_second: bytes_per_second(mbps),
    }
}

/// One rate until a time, and another from then on.
pub(crate) fn step(before: f64, at: f64, after: f64) -> Shaper {
    let step = |from, mbps| RateStep {
        from: seconds(from).into(),
        bytes_per_second: bytes_per_second(mbps),
    };
    Shaper::Schedule(vec![step(0.0, before), step(at, after)])
}

/// So many bandwidth-delay products, and ten packets at least.
pub(crate) fn bdp(mbps: f64, rtt: f64, times: f64) -> u64 {
    ((mbps * 125_000.0 * rtt * times) as u64).max(15_000)
}

/// The data's link.
pub(crate) fn forward(shaper: Shaper, rtt: f64, queue: u64) -> LinkConfig {
    LinkConfig {
        queue: Queue::DropTail(Limit::bytes(queue)),
        delay: seconds(rtt / 2.0).into(),
        ..LinkConfig::new(shaper)
    }
}

/// The way back, which limits nothing.
pub(crate) fn reverse(rtt: f64) -> LinkConfig {
    LinkConfig {
        delay: seconds(rtt / 2.0).into(),
        ..LinkConfig::new(constant(40_000.0))
    }
}

/// A greedy connection until `end`, in seconds.
pub(crate) fn greedy(name: &str, links: Duplex, end: f64) -> Outcome {
    let controller = resolve(name, 1).expect("a known controller");
    with(controller, links, end, None)
}

/// A connection of a given controller, or with another application.
pub(crate) fn with(
    controller: SharedFactory,
    links: Duplex,
    end: f64,
    application: Option<Vec<Phase>>,
) -> Outcome {
    let mut flow = FlowPlan::greedy(controller, Duration::ZERO, seconds(end));
    if let Some(application) = application {
        flow.application = application;
    }
    let trial = Trial {
        topology: Topology::point_to_point(links),
        flows: vec![flow],
        duration: seconds(end),
        interval: None,
        seed: 1,
    };
    trial.run().expect("it runs")
}

/// The goodput from one second to another in Mb/s.
pub(crate) fn goodput(outcome: &Outcome, from: f64, to: f64) -> f64 {
    outcome.flows[0].goodput_mbps(seconds(from), seconds(to))
}

/// The mean round-trip time in the same span, in milliseconds.
pub(crate) fn mean_rtt(outcome: &Outcome, from: f64, to: f64) -> f64 {
    let rtts = outcome.rtts(seconds(from), seconds(to));
    stats::mean(&rtts).expect("it is acknowledged") / 1e6
}

/// How long after `from` a second begins with a goodput of `mbps`, to a tenth of a second.
pub(crate) fn time_to(outcome: &Outcome, from: f64, mbps: f64) -> f64 {
    let end = outcome.duration.as_secs_f64();
    (0..)
        .map(|tenths| f64::from(tenths) / 10.0)
        .take_while(|after| from + after + 1.0 <= end)
        .find(|after| goodput(outcome, from + after, from + after + 1.0) >= mbps)
        .unwrap_or(f64::INFINITY)
}
