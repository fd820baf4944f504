//! The controllers' bandwidth estimates of a known link, over quinn in virtual time.

use std::time::Duration;

use kneepoint_emulator::link::{Delay, Limit, LinkConfig, Queue, RateStep, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::trial::{FlowOutcome, FlowPlan, Trial};
use kneepoint_lab::workload::{Load, Phase};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// One flow over a link of this rate and round-trip time, with a buffer of 3 MB.
struct Path {
    shaper: Shaper,
    rtt: Duration,
}

impl Path {
    fn new(mbps: u64, rtt: Duration) -> Self {
        Self {
            shaper: Shaper::ConstantRate {
                bytes_per_second: mbps * 125_000,
            },
            rtt,
        }
    }

    fn run(&self, controller: &str, application: &[Phase]) -> FlowOutcome {
        let end = application.last().expect("a phase").until;
        let delay = Delay::from(self.rtt / 2);
        let forward = LinkConfig {
            delay: delay.clone(),
            queue: Queue::DropTail(Limit::bytes(3_000_000)),
            ..LinkConfig::new(self.shaper.clone())
        };
        let reverse = LinkConfig {
            delay,
            ..LinkConfig::new(Shaper::ConstantRate {
                bytes_per_second: 1_250_000_000,
            })
        };
        let candidate = candidate(controller, 1).expect("a known controller");
        let mut flow = FlowPlan::greedy(candidate, Duration::ZERO, end);
        flow.application = application.to_vec();
        let trial = Trial {
            topology: Topology::point_to_point(Duplex { forward, reverse }),
            flows: vec![flow],
            duration: end,
            interval: Some(Duration::from_millis(10)),
            seed: 1,
        };
        let mut outcome = trial.run().expect("it runs");
        outcome.flows.pop().expect("a flow")
    }
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
    Phase {
        until: Duration::from_secs(until),
        load,
    }
}

/// 60 GHz: open for 0.1 to 0.3 s at 100 to 150 Mb/s, blocked for 0.2 to 1.5 s.
fn opens_and_closes(seed: u64) -> Shaper {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut steps = Vec::new();
    let mut from = Duration::ZERO;
    while from < Duration::from_secs(60) {
        let rate = random.random_range(12_500_000..18_750_000);
        steps.push((from, rate));
        from += Duration::from_millis(random.random_range(100..300));
        steps.push((from, 0));
        // Short more often than long: 80 blockages a minute.
        let share = random.random_range(0.0..1.0f64);
        from += Duration::from_secs_f64(0.2 + 1.3 * share * share * share);
    }
    steps.push((from, 12_500_000));
    let step = |(from, bytes_per_second): (Duration, u64)| RateStep {
        from: from.into(),
        bytes_per_second,
    };
    Shaper::Schedule(steps.into_iter().map(step).collect())
}

/// Trap: an acknowledgement that the receiver delays by 25 ms looks like an outage after three short RTTs, and the last
/// one of a message measures the delay.
#[test]
fn messages_do_not_lower_the_estimate_of_a_link_once_seen() {
    for micros in [100, 300, 1000, 2000, 5000, 10_000] {
        let path = Path::new(1000, Duration::from_micros(micros));
        let messages = Load::Segments {
            bytes: 100_000,
            period: Duration::from_millis(100),
        };
        let seen = Duration::from_millis(200);
        let greedy = Phase {
            until: seen,
            load: Load::Greedy,
        };
        for controller in ["bbr-s", "bbr-s:paper", "bbr3-s"] {
            let flow = path.run(controller, &[greedy, phase(2, messages)]);
            let (min, max) = estimates(&flow, seen, 1000.0);
            assert!(min > 0.5, "{controller}, {micros} us: {min}");
            // The paper's rule for lower bounds lets the estimate rise while the application is the limit.
            assert!(
                max < 1.25 || controller == "bbr-s:paper",
                "{controller}, {micros} us: {max}"
            );
        }
    }
}

/// Trap: what an application sends is a lower bound, and its bursts make queues that say nothing of the link.
#[test]
fn media_does_not_move_the_estimate_of_a_link_once_seen() {
    let path = Path::new(20, Duration::from_millis(40));
    let frames = Load::Frames {
        bytes: 20_000,
        period: Duration::from_millis(40),
    };
    for load in [frames, Load::Steady(500_000)] {
        for controller in ["bbr-s", "bbr3-s"] {
            let flow = path.run(controller, &[phase(3, Load::Greedy), phase(60, load)]);
            let (min, max) = estimates(&flow, Duration::from_secs(4), 20.0);
            assert!(
                min > 0.9 && max < 1.1,
                "{controller}, {load:?}: {min} to {max}"
            );
        }
    }
}

/// Trap: silence is no sample of nothing, and an interval across it none of the rate.
#[test]
fn a_link_that_opens_and_closes_is_used() {
    let path = Path {
        shaper: opens_and_closes(1),
        ..Path::new(1, Duration::from_millis(20))
    };
    let goodput = |controller| {
        let end = Duration::from_secs(20);
        let flow = path.run(controller, &[phase(20, Load::Greedy)]);
        flow.goodput_mbps(Duration::ZERO, end)
    };
    let (ours, cubic) = (goodput("bbr3-s"), goodput("quinn-cubic"));
    assert!(ours > 0.6 * cubic, "{ours} of {cubic} Mb/s");
}
