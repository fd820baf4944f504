//! Paths, one connection over them, marks that a test deals out itself, and random histories of both.
//!
//! Test crates share this module: `#[path = "paths/mod.rs"] mod paths;` in `tests/NAME.rs`.

#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test crate uses a part of it"
)]

pub(crate) mod histories;
pub(crate) mod marks;

use std::time::Duration;

use kneepoint_emulator::link::{
    Aggregation, Delay, DelayStep, Jitter, Limit, LinkConfig, Queue, RateStep, Shaper, StepMark,
};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::{Candidate, candidate};
use kneepoint_lab::metrics::stats;
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

/// The data's link, and a way back.
pub(crate) fn links(shaper: Shaper, rtt: f64, queue: u64) -> Duplex {
    Duplex {
        forward: forward(shaper, rtt, queue),
        reverse: reverse(rtt),
    }
}

/// Links whose acknowledgements come every so many seconds.
pub(crate) fn batched(mbps: f64, rtt: f64, queue: u64, interval: f64) -> Duplex {
    let mut links = links(constant(mbps), rtt, queue);
    links.reverse.aggregation = Some(batches(interval));
    links
}

/// What is held back comes out every so many seconds.
pub(crate) fn batches(interval: f64) -> Aggregation {
    Aggregation {
        interval: seconds(interval).into(),
        packets: None,
    }
}

/// Links with a delay, in either direction, of anything between two numbers of seconds.
pub(crate) fn jittered(mut links: Duplex, from: f64, to: f64) -> Duplex {
    let delay = Delay::Jittered {
        jitter: Jitter::Uniform {
            from: seconds(from).into(),
            to: seconds(to).into(),
        },
        reordering: false,
    };
    links.forward.delay = delay.clone();
    links.reverse.delay = delay;
    links
}

/// A delay, and another one from a time on, all in seconds.
pub(crate) fn lengthened(before: f64, at: f64, after: f64) -> Delay {
    let step = |from, delay| DelayStep {
        from: seconds(from).into(),
        delay: seconds(delay).into(),
    };
    Delay::Steps {
        steps: vec![step(0.0, before), step(at, after)],
        reordering: false,
    }
}

/// A step marker at 5 ms on a path of 40 ms keeps the queue short, and the link is used.
pub(crate) fn heeds_a_marker(name: &str, mbps: f64, end: f64) {
    let mut links = links(constant(mbps), 0.04, 1);
    links.forward.queue = Queue::StepMark(StepMark {
        threshold: Limit::time(Duration::from_millis(5).into()),
        drop_not_ect: false,
        limit: None,
    });
    let outcome = greedy(name, links, end);
    let used = goodput(&outcome, 5.0, end) / mbps;
    assert!(used >= 0.85, "{name}: {used} of {mbps} Mb/s");
    let rtt = mean_rtt(&outcome, 5.0, end);
    assert!(rtt <= 50.0, "{name}: {rtt} ms at {mbps} Mb/s");
}

/// A greedy connection until `end`, in seconds.
pub(crate) fn greedy(name: &str, links: Duplex, end: f64) -> Outcome {
    let controller = candidate(name, 1).expect("a known controller");
    with(controller, links, end, None)
}

/// `knee` alone on this path for so many seconds, with this seed.
pub(crate) fn seeded(links: Duplex, end: f64, seed: u64) -> Outcome {
    let candidate = candidate("knee", seed).expect("it is known");
    let flow = FlowPlan::greedy(candidate, Duration::ZERO, seconds(end));
    let trial = Trial {
        seed,
        ..Trial::new(Topology::point_to_point(links), vec![flow], seconds(end))
    };
    trial.run().expect("it runs")
}

/// What was lost of what was sent.
pub(crate) fn loss(outcome: &Outcome) -> f64 {
    let flow = &outcome.flows[0];
    flow.lost_bytes as f64 / (flow.lost_bytes + flow.acked_bytes) as f64
}

/// A connection of a given controller, or with another application.
pub(crate) fn with(
    controller: impl Into<Candidate>,
    links: Duplex,
    end: f64,
    application: Option<Vec<Phase>>,
) -> Outcome {
    let mut flow = FlowPlan::greedy(controller, Duration::ZERO, seconds(end));
    if let Some(application) = application {
        flow.application = application;
    }
    let trial = Trial::new(Topology::point_to_point(links), vec![flow], seconds(end));
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
