//! A 60 GHz link in a crowd: open for 0.1 to 0.3 s, then blocked for 0.2 to 1.5 s.

#[path = "paths/mod.rs"]
mod paths;

use std::time::Duration;

use kneepoint_emulator::generate::{Profile, generate};
use kneepoint_emulator::link::Shaper;
use kneepoint_emulator::network::Topology;
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::trial::{FlowPlan, Trial};
use paths::links;

/// Controllers that build on a model of the path, which time without a link must not spoil.
const MODEL_BASED: &[&str] = &[
    "knee",
    "ebcc",
    "bbr",
    "bbr:tuned",
    "knee",
    "bbr-x",
    "bbr-fair",
    "bbr-sampled",
    "bbr2",
    "bbr2-sampled",
    "bbr3",
    "bbr3-s",
    "noq:knee",
    "noq:bbr",
    "noq:knee",
    "noq:bbr-x",
    "noq:bbr-sampled",
    "noq:bbr2-sampled",
    "noq:bbr3",
];

/// Of what quinn's CUBIC gets.
const SHARE: f64 = 0.6;

/// The goodput in Mb/s over a link that can hold 3 MB: 40 ms, from 2 s to 20 s.
fn goodput(name: &str, seed: u64) -> f64 {
    let end = Duration::from_secs(20);
    let trace = generate(Profile::WigigCrowd, seed, end.into());
    let links = links(Shaper::Trace(trace), 0.04, 3_000_000);
    let controller = candidate(name, seed).expect("a known controller");
    let topology = Topology::point_to_point(links);
    let flows = vec![FlowPlan::greedy(controller, Duration::ZERO, end)];
    let trial = Trial {
        seed,
        ..Trial::new(topology, flows, end)
    };
    let outcome = trial.run().expect("it runs");
    outcome.flows[0].goodput_mbps(Duration::from_secs(2), end)
}

fn check(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let reference = goodput("quinn-cubic", seed);
        assert!(reference > 25.0, "{reference} Mb/s with seed {seed}");
        for name in MODEL_BASED {
            let rate = goodput(name, seed);
            assert!(
                rate >= SHARE * reference,
                "{name}: {rate} of {reference} Mb/s with seed {seed}"
            );
        }
    }
}

/// Trap: the time for which a link is blocked counts as time in which it was slow, and hosts that pace by a smoothed round trip
/// with the silence in it are slow when the link is open.
#[test]
fn a_blocked_link_is_not_a_slow_one() {
    check(1..=1);
}

#[test]
#[ignore = "five seeds, a minute"]
fn blocked_links_are_not_slow_ones() {
    check(1..=5);
}
