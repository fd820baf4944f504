//! Losses and marks that end, on a path that is clean afterwards.

use kneepoint_emulator::link::{Interval, Loss, Shaper};
use kneepoint_emulator::network::Duplex;

use crate::paths::marks::marked;
use crate::paths::{PAYLOAD, bdp, constant, goodput, greedy, links, seconds, step, with};

/// 40 ms, and for a second around 2 s one millisecond of each 20 lost.
fn lossy(shaper: Shaper, mbps: f64) -> Duplex {
    let holes = (0..50).map(|hole| {
        let from = 1.5 + 0.02 * f64::from(hole);
        Interval {
            from: seconds(from).into(),
            to: seconds(from + 0.001).into(),
        }
    });
    let mut links = links(shaper, 0.04, bdp(mbps, 0.04, 1.0));
    links.forward.loss = Loss::Intervals(holes.collect());
    links
}

/// Trap: a bound of whole packets was never full where the host stops before the packet that would reach it, so that nothing
/// raised it again.
#[test]
fn a_lossy_second_is_over_after_ten() {
    for (name, mbps) in [
        ("bbr3", 50.0),
        ("bbr3-s", 50.0),
        ("bbr2", 20.0),
        ("bbr3:paper", 20.0),
        ("knee", 50.0),
        ("knee", 20.0),
        ("bbr2:paper", 20.0),
    ] {
        let outcome = greedy(name, lossy(constant(mbps), mbps), 15.0);
        let used = goodput(&outcome, 12.0, 15.0) / (PAYLOAD * mbps);
        assert!(used > 0.9, "{name}: {used} of {mbps} Mb/s");
    }
}

#[test]
fn a_link_twenty_times_as_fast_is_used_after_a_lossy_second() {
    for name in ["bbr3", "bbr3-s", "bbr2", "bbr2-sampled", "knee"] {
        let outcome = greedy(name, lossy(step(1.0, 5.0, 20.0), 20.0), 20.0);
        let used = goodput(&outcome, 17.0, 20.0) / (PAYLOAD * 20.0);
        // A share of the rate is what bbr2-sampled is about.
        let min = if name == "bbr2-sampled" { 0.75 } else { 0.9 };
        assert!(used > min, "{name}: {used}");
    }
}

/// Trap: one mark ended Startup for good.
#[test]
fn a_stray_mark_costs_less_than_a_second() {
    let links = || links(constant(20.0), 0.04, bdp(20.0, 0.04, 1.0));
    let delivered = |name: &str, times, packet| {
        let outcome = with(marked(name, times, packet), links(), 8.0, None);
        goodput(&outcome, 0.0, 8.0) * 8.0
    };
    for name in [
        "knee",
        "bbr3",
        "bbr3-s",
        "bbr2",
        "bbr2-sampled",
        "bbr3:paper",
    ] {
        let clean = delivered(name, Vec::new(), None);
        for (when, packet) in [(None, Some(15)), (Some(0.2), None), (Some(1.0), None)] {
            let times = when.map(seconds).into_iter().collect();
            let cost = (clean - delivered(name, times, packet)) / 20.0;
            assert!(cost < 1.0, "{name}, {when:?} {packet:?}: {cost} s");
        }
    }
}
