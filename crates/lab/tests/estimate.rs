//! The controllers' bandwidth estimates of a known link, over quinn in virtual time.

#[path = "paths/mod.rs"]
mod paths;

use std::time::Duration;

use kneepoint_emulator::network::Topology;
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::trial::{FlowOutcome, FlowPlan, Trial};
use kneepoint_lab::workload::{Load, Phase};
use paths::{constant, links};

/// One flow over a link with a buffer of 3 MB; the round-trip time is in seconds.
fn run(controller: &str, mbps: f64, rtt: f64, application: &[Phase]) -> FlowOutcome {
    let end = application.last().expect("a phase").until;
    let candidate = candidate(controller, 1).expect("a known controller");
    let mut flow = FlowPlan::greedy(candidate, Duration::ZERO, end);
    flow.application = application.to_vec();
    let topology = Topology::point_to_point(links(constant(mbps), rtt, 3_000_000));
    let interval = if end > Duration::from_secs(60) {
        100
    } else {
        10
    };
    let trial = Trial {
        interval: Some(Duration::from_millis(interval)),
        ..Trial::new(topology, vec![flow], end)
    };
    let mut outcome = trial.run().expect("it runs");
    outcome.flows.pop().expect("a flow")
}

/// The least and the largest estimate after `from`, as shares of the link.
fn estimates(flow: &FlowOutcome, from: Duration, mbps: f64) -> (f64, f64) {
    let later = flow.samples.iter().filter(|sample| sample.at >= from);
    let shares = later.filter_map(|sample| sample.snapshot.bandwidth);
    shares
        .map(|rate| rate.as_f64() * 8e-6 / mbps)
        .fold((f64::INFINITY, 0.0), |(min, max), share| {
            (min.min(share), max.max(share))
        })
}

fn phase(until: u64, load: Load) -> Phase {
    load.until(Duration::from_secs(until))
}

/// Trap: an acknowledgement that the receiver delays by 25 ms looks like an outage after three short RTTs, and the last
/// one of a message measures the delay.
#[test]
fn messages_do_not_lower_the_estimate_of_a_link_once_seen() {
    for micros in [100, 300, 1000, 2000, 5000, 10_000] {
        let messages = Load::Segments {
            bytes: 100_000,
            period: Duration::from_millis(100),
        };
        // Startup's maximum is too high until a drain and some samples have passed.
        let seen = Duration::from_millis(300);
        let greedy = Load::Greedy.until(seen);
        for controller in ["bbr-s", "bbr3-s", "bbr", "bbr3", "knee"] {
            let rtt = f64::from(micros) * 1e-6;
            let flow = run(controller, 1000.0, rtt, &[greedy, phase(2, messages)]);
            let (min, max) = estimates(&flow, seen, 1000.0);
            assert!(
                min > 0.5 && max < 1.25,
                "{controller}, {micros} us: {min} to {max}"
            );
        }
    }
}

/// Trap: what an application sends is a lower bound, and its bursts make queues that say nothing of the link.
#[test]
fn media_does_not_move_the_estimate_of_a_link_once_seen() {
    let frames = Load::Frames {
        bytes: 20_000,
        period: Duration::from_millis(40),
    };
    for load in [frames, Load::Steady(500_000)] {
        for controller in ["bbr-s", "bbr3-s", "bbr3", "knee"] {
            let phases = [phase(3, Load::Greedy), phase(60, load)];
            let flow = run(controller, 20.0, 0.04, &phases);
            let (min, max) = estimates(&flow, Duration::from_secs(4), 20.0);
            assert!(
                min > 0.9 && max < 1.1,
                "{controller}, {load:?}: {min} to {max}"
            );
        }
    }
}

/// What was never shown cannot be estimated: 100 kB in a round trip of 10 ms are 74 Mb/s, on whatever link. On the shortest paths samples lie
/// within a message. Prints the table of docs/results/hosts.md.
#[test]
fn messages_alone_show_what_a_round_trip_of_them_carries() {
    let messages = Load::Segments {
        bytes: 100_000,
        period: Duration::from_millis(100),
    };
    for micros in [100, 300, 1000, 2000, 5000, 10_000] {
        let rtt = f64::from(micros) * 1e-6;
        let shown = 100_000.0 / (rtt + 100_000.0 / 125e6) / 125e6;
        for controller in ["bbr", "bbr3", "knee"] {
            let flow = run(controller, 1000.0, rtt, &[phase(20, messages)]);
            let (min, max) = estimates(&flow, Duration::from_secs(1), 1000.0);
            println!("{micros} us, shown {shown:.2}, {controller}: {min:.2} to {max:.2}");
            assert!(max < 1.0);
            assert!(micros < 1000 || max < 1.5 * shown);
        }
    }
}

#[test]
#[ignore = "an hour of media, minutes"]
fn an_hour_of_media_does_not_raise_the_estimate() {
    let frames = Load::Frames {
        bytes: 20_000,
        period: Duration::from_millis(40),
    };
    for controller in ["bbr", "bbr3", "bbr3-s", "knee"] {
        let phases = [phase(3, Load::Greedy), phase(3600, frames)];
        let flow = run(controller, 20.0, 0.04, &phases);
        let (_, max) = estimates(&flow, Duration::from_secs(4), 20.0);
        assert!(max < 1.25, "{controller}: {max}");
    }
}

/// An encoder asks for a tenth more than the estimate, as in `examples/adaptive_bitrate.rs`. If the estimate does not follow what arrives,
/// it stays at the rate with which it began.
#[test]
fn the_estimate_follows_an_encoder_below_the_links_rate() {
    // To 77 % of the link.
    let rates = (0..32).map(|step| 100_000.0 * 1.1_f64.powi(step));
    let phases: Vec<_> = (1..)
        .zip(rates)
        .map(|(until, rate)| phase(until, Load::Steady(rate as u64)))
        .collect();
    for controller in ["bbr3", "knee"] {
        let flow = run(controller, 20.0, 0.04, &phases);
        let (min, max) = estimates(&flow, Duration::from_millis(31_500), 20.0);
        assert!(min > 0.7 && max < 1.1, "{controller}: {min} to {max}");
    }
}
