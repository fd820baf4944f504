//! Flows that fill the queue, and flows that could be taken for such.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};

/// 50 Mb/s and 50 ms with a queue of one bandwidth-delay product, and flows that start one second apart.
fn run(controllers: &[&str], seed: u64) -> Outcome {
    let link = |bytes_per_second| LinkConfig {
        delay: Duration::from_millis(25).into(),
        ..LinkConfig::new(Shaper::ConstantRate { bytes_per_second })
    };
    let links = Duplex {
        forward: LinkConfig {
            queue: Queue::DropTail(Limit::bytes(312_500)),
            ..link(6_250_000)
        },
        reverse: link(125_000_000),
    };
    let flow = |(number, controller): (u32, &&str)| {
        let candidate = candidate(controller, seed + 1000 * u64::from(number));
        let start = Duration::from_secs(1) * number;
        FlowPlan::greedy(candidate.expect("a known controller"), start, END)
    };
    let trial = Trial {
        topology: Topology::point_to_point(links),
        flows: (0..).zip(controllers).map(flow).collect(),
        duration: END,
        interval: None,
        seed,
    };
    trial.run().expect("it runs")
}

/// Trap: a window sized from min RTT loses most of the link to a flow that fills the queue.
#[test]
fn bbr_s_holds_its_own_beside_cubic() {
    let mut share = 0.0;
    for seed in 1..=SEEDS {
        let outcome = run(&["bbr-s", "cubic"], seed);
        share += outcome.flows[0].goodput_mbps(Duration::from_secs(5), END) / 25.0;
    }
    let share = share / SEEDS as f64;
    assert!((0.6..1.4).contains(&share), "{share} of its half");
}

/// Trap: flows that both start competitive mode by mistake keep the queue full and confirm it for each other.
#[test]
fn flows_of_one_kind_soon_see_that_they_are_no_rivals() {
    for seed in 1..=SEEDS {
        let outcome = run(&["bbr-s"; 6], seed);
        let from = END - Duration::from_secs(15);
        let rtt = stats::mean(&outcome.rtts(from, END)).expect("they are acknowledged") / 1e6;
        assert!(rtt < 80.0, "{rtt} ms with seed {seed}");
        let jain = outcome.jain(from, END).expect("they get something");
        assert!(jain > 0.95, "{jain} with seed {seed}");
    }
}

const SEEDS: u64 = 3;

const END: Duration = Duration::from_secs(60);
