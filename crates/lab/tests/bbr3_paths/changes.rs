//! Paths that change their rate or their length.

use kneepoint_emulator::link::{Delay, DelayStep};
use kneepoint_emulator::network::Duplex;

use crate::paths::{PAYLOAD, bdp, forward, goodput, greedy, reverse, seconds, step, time_to};

/// Trap: BBRv2's probe ended once the flight was a quarter more than the pipe of before: after one round, whatever it had
/// found.
#[test]
fn a_link_ten_times_as_fast_is_found_by_one_probe() {
    for name in ["bbr2", "bbr2-sampled", "bbr3", "bbr3-s"] {
        for at in [6.0, 6.7] {
            let links = Duplex {
                forward: forward(step(2.0, at, 20.0), 0.04, bdp(20.0, 0.04, 1.0)),
                reverse: reverse(0.04),
            };
            let outcome = greedy(name, links, 15.0);
            let after = time_to(&outcome, at, 0.85 * PAYLOAD * 20.0);
            assert!(after < 10.0, "{name}: {after} s");
        }
    }
}

/// The model learns of a longer path when its minimum RTT expires, after 10 s at the latest.
#[test]
fn a_path_ten_times_as_long_is_filled() {
    for (name, within) in [("bbr3", 10.0), ("bbr3-s", 10.0), ("bbr2", 23.0)] {
        let mut forward = forward(step(10.0, 1.0, 10.0), 0.02, bdp(10.0, 0.2, 1.0));
        let delay = |from, delay| DelayStep {
            from: seconds(from).into(),
            delay: seconds(delay).into(),
        };
        forward.delay = Delay::Steps {
            steps: vec![delay(0.0, 0.01), delay(6.3, 0.19)],
            reordering: false,
        };
        let links = Duplex {
            forward,
            reverse: reverse(0.02),
        };
        let outcome = greedy(name, links, 30.0);
        let after = time_to(&outcome, 6.3, 0.9 * PAYLOAD * 10.0);
        assert!(after < within, "{name}: {after} s");
    }
}

/// Trap: bandwidth of before times a round trip of after is a window without bound.
#[test]
fn a_link_a_hundred_times_as_slow_is_not_flooded() {
    for name in ["bbr3", "bbr3-s", "bbr2", "bbr3:paper"] {
        // Seconds of queue are measured as part of the path when its minimum round trip expires in them.
        for (queue, least) in [(0.04, 0.9), (4.0, 0.6)] {
            let links = Duplex {
                forward: forward(step(50.0, 5.0, 0.5), 0.04, bdp(0.5, queue, 1.0)),
                reverse: reverse(0.04),
            };
            let outcome = greedy(name, links, 40.0);
            let lost = outcome.links["forward"].loss_rate();
            let used = goodput(&outcome, 20.0, 40.0) / 0.5;
            let closed = &outcome.flows[0].closed;
            assert!(closed.is_none(), "{name}: {closed:?}");
            assert!(lost < 0.1, "{name}, {queue} s of queue: {lost} lost");
            assert!(used > least, "{name}, {queue} s of queue: {used}");
        }
    }
}
