//! Controllers with a window and no pacing rate, over real quinn: short paths, marks, changes of the path, delays that vary.
//!
//! The hosts' delay and the path's noise must not cost a window-based controller its link.

#[path = "paths/mod.rs"]
mod paths;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::Duplex;
use paths::{
    batched, batches, constant, goodput, greedy, heeds_a_marker, jittered, lengthened, links,
    reverse, step,
};

const OURS: [&str; 5] = ["new-reno", "cubic", "compound", "vegas", "ebcc"];

/// Acknowledgements and data come in lumps, as from hosts that are woken now and then. Times are in seconds.
fn short_path(name: &str, mbps: f64, rtt: f64, lump: f64, end: f64) -> f64 {
    let link = LinkConfig {
        shaper: constant(mbps),
        aggregation: Some(batches(lump)),
        ..reverse(rtt)
    };
    goodput(&greedy(name, Duplex::both(link), end), end / 5.0, end)
}

/// As much as quinn's CUBIC, or half of it where the controller is not CUBIC itself.
fn uses_a_short_path(mbps: f64, rtt: f64, lump: f64, end: f64) {
    let reference = short_path("quinn-cubic", mbps, rtt, lump, end);
    for name in OURS {
        let rate = short_path(name, mbps, rtt, lump, end);
        let min = if name == "cubic" { 0.9 } else { 0.5 };
        assert!(
            rate >= min * reference,
            "{name}, {rtt} s, {lump} s: {rate} of {reference} Mb/s"
        );
    }
}

/// Trap: over a path of 50 us, a millisecond of the hosts' own looks like twenty times the path. A window sized by that is none.
#[test]
fn short_paths_are_used() {
    uses_a_short_path(10_000.0, 2e-4, 1e-3, 0.1);
}

#[test]
#[ignore = "a sweep of a minute"]
fn short_paths_of_all_lengths_are_used() {
    for (mbps, end) in [(1_000.0, 0.5), (10_000.0, 0.2)] {
        for rtt in [5e-5, 2e-4, 1e-3] {
            for lump in [1e-4, 3e-4, 1e-3] {
                uses_a_short_path(mbps, rtt, lump, end);
            }
        }
    }
}

/// Trap: a loss costs `ebcc` 200 ms of silence by the paper, which on a path of 1 ms are 200 round trips.
#[test]
fn a_loss_costs_round_trips_and_no_fixed_time() {
    for name in OURS {
        let outcome = greedy(name, links(constant(1_000.0), 0.001, 125_000), 0.5);
        let rate = goodput(&outcome, 0.1, 0.5);
        assert!(rate > 900.0, "{name}: {rate} Mb/s");
        let flow = &outcome.flows[0];
        let loss = flow.lost_bytes as f64 / flow.acked_bytes as f64;
        assert!(loss < 0.02, "{name}: {loss}");
    }
}

/// Trap: a queue that marks is shorter than one that overflows. Halving the window for a mark leaves a fifth of the link.
#[test]
fn marks_keep_the_queue_short_and_the_link_busy() {
    for name in OURS {
        heeds_a_marker(name, 10.0, 15.0);
        heeds_a_marker(name, 50.0, 10.0);
    }
}

#[test]
#[ignore = "a sweep of a minute"]
fn marks_keep_the_queue_short_at_all_rates() {
    for name in OURS {
        for mbps in [10.0, 20.0, 50.0, 100.0] {
            heeds_a_marker(name, mbps, 30.0);
        }
    }
}

/// Trap: the least round-trip time ever leaves 1 % of a link whose path gets longer.
#[test]
fn a_path_that_gets_longer_is_used_again() {
    let mut links = links(constant(20.0), 0.0, 500_000);
    links.forward.delay = lengthened(0.01, 5.0, 0.1);
    links.reverse.delay = links.forward.delay.clone();
    links.reverse.shaper = constant(1_000.0);
    let rate = goodput(&greedy("vegas", links, 20.0), 15.0, 20.0);
    assert!(rate > 17.5, "{rate} of 20 Mb/s");
}

/// Trap: a packet more per round trip takes ten seconds to a rate ten times as high.
#[test]
fn a_link_that_gets_faster_is_used() {
    for name in ["cubic", "compound", "vegas", "ebcc"] {
        let links = links(step(10.0, 10.0, 100.0), 0.04, 500_000);
        let rate = goodput(&greedy(name, links, 14.0), 12.0, 14.0);
        assert!(rate > 85.0, "{name}: {rate} of 100 Mb/s");
    }
}

/// Trap: a window anchored to the least round-trip time ever is below what a path with varying delay holds.
#[test]
fn delays_that_vary_are_no_queue() {
    for name in OURS {
        let links = jittered(links(constant(50.0), 0.0, 1_000_000), 0.005, 0.015);
        let used = goodput(&greedy(name, links, 10.0), 2.0, 10.0) / 50.0;
        assert!(used >= 0.85, "{name}: {used}");
    }
}

/// Acknowledgements come in batches of two round trips.
#[test]
fn acknowledgements_in_batches_are_no_queue() {
    let rate = |name| {
        let outcome = greedy(name, batched(50.0, 0.04, 250_000, 0.08), 15.0);
        goodput(&outcome, 2.0, 15.0)
    };
    let reference = rate("quinn-cubic");
    for name in OURS {
        let rate = rate(name);
        assert!(
            rate >= 0.6 * reference,
            "{name}: {rate} of {reference} Mb/s"
        );
    }
}
