//! Flows that share a link, each of which starts into the queue of those before it.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};

/// Six flows on 30 Mb/s and 50 ms, one more every 4 s, until 20 s after the last one.
fn newcomers(controller: &str, seed: u64) -> Outcome {
    let link = |bytes_per_second| LinkConfig {
        delay: Duration::from_millis(25).into(),
        ..LinkConfig::new(Shaper::ConstantRate { bytes_per_second })
    };
    let links = Duplex {
        forward: LinkConfig {
            queue: Queue::DropTail(Limit::bytes(4 * 187_500)),
            ..link(3_750_000)
        },
        reverse: link(125_000_000),
    };
    let end = LAST + Duration::from_secs(20);
    let flow = |number: u32| {
        let seed = 100 * seed + u64::from(number);
        let factory = resolve(controller, seed).expect("a known controller");
        FlowPlan::greedy(factory, GAP * number, end)
    };
    let trial = Trial {
        topology: Topology::point_to_point(links),
        flows: (0..=5).map(flow).collect(),
        duration: end,
        interval: None,
        seed,
    };
    trial.run().expect("it runs")
}

/// Trap: a window of about one BDP hangs on the minimum RTT. A newcomer that takes the others' queue for a part of the path
/// adds a queue of its own, the next one takes both for the path, and the first ones starve. And: a newcomer keeps the
/// head-room of one who knows nothing yet, and with it the largest part of the link. And: a flow whose minimum is too old takes
/// the others' queue for a part of the path.
#[test]
fn new_flows_neither_measure_the_queue_as_the_path_nor_monopolise_the_link() {
    // Single runs vary at random.
    let (mut jain, mut rtt) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let outcome = newcomers("bbr-s", seed);
        let (from, to) = (LAST + Duration::from_secs(10), outcome.duration);
        jain += outcome.jain(from, to).expect("they get something");
        let rtts = outcome.rtts(from, to);
        rtt += stats::mean(&rtts).expect("they are acknowledged") / 1e6;
    }
    let (jain, rtt) = (jain / SEEDS as f64, rtt / SEEDS as f64);
    assert!(jain > 0.94, "{jain}");
    assert!(rtt < 80.0, "{rtt} ms");
}

const SEEDS: u64 = 8;

const GAP: Duration = Duration::from_secs(4);
const LAST: Duration = Duration::from_secs(20);
