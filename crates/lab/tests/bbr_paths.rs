//! `knee` and BBRv1's recommended presets where receivers and links are not ideal: markers, rare acknowledgements, links that close.

#[path = "paths/mod.rs"]
mod paths;

use std::time::Duration;

use kneepoint_emulator::link::{RateStep, Shaper};
use paths::{batched, goodput, greedy, heeds_a_marker, links};

const CONTROLLERS: [&str; 5] = ["knee", "bbr:tuned", "bbr-x", "bbr-sampled", "bbr-fair"];

/// Trap: a queue that marks instead of dropping packets cannot limit a sender that ignores marks.
#[test]
fn a_marking_queue_holds_the_recommended_presets_near_its_threshold() {
    for name in CONTROLLERS {
        heeds_a_marker(name, 20.0, 15.0);
    }
}

/// Trap: where acknowledgements come at longer intervals than round trips, a window of a round trip is a fraction of the path.
#[test]
fn rare_acknowledgements_do_not_starve_the_sender() {
    for name in CONTROLLERS {
        let outcome = greedy(name, batched(10.0, 0.04, 200_000, 0.1), 15.0);
        let rate = goodput(&outcome, 5.0, 15.0);
        assert!(rate > 5.0, "{name}: {rate} Mb/s");
    }
}

/// Trap: a link that is closed most of the time is taken for a slow one.
#[test]
fn a_link_that_opens_and_closes_is_used_while_it_is_open() {
    let end = 15_000;
    // Open for 0.2 s in every 0.8 s.
    let step = |millis, bytes_per_second| RateStep {
        from: Duration::from_millis(millis).into(),
        bytes_per_second,
    };
    let steps = (0..=18).flat_map(|number| {
        let from = 800 * number;
        [step(from, 15_625_000), step(from + 200, 0)]
    });
    let steps: Vec<RateStep> = steps.chain([step(end, 15_625_000)]).collect();
    let measure = |name: &str| {
        let links = links(Shaper::Schedule(steps.clone()), 0.02, 3_000_000);
        goodput(&greedy(name, links, 15.0), 0.0, 15.0)
    };
    let cubic = measure("quinn-cubic");
    for name in ["knee", "bbr-s", "bbr", "bbr-x", "bbr-sampled"] {
        let rate = measure(name);
        assert!(rate > 0.6 * cubic, "{name}: {rate} of {cubic} Mb/s");
    }
}
