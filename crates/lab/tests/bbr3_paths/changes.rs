//! Paths that change their rate or their length.

use crate::paths::{PAYLOAD, bdp, constant, goodput, greedy, lengthened, links, step, time_to};

/// Trap: BBRv2's probe ended once the flight was a quarter more than the pipe of before: after one round, whatever it had
/// found.
#[test]
fn a_link_ten_times_as_fast_is_found_by_one_probe() {
    for name in ["bbr2", "bbr2-sampled", "bbr3", "bbr3-s"] {
        for at in [6.0, 6.7] {
            let links = links(step(2.0, at, 20.0), 0.04, bdp(20.0, 0.04, 1.0));
            let outcome = greedy(name, links, 15.0);
            let after = time_to(&outcome, at, 0.85 * PAYLOAD * 20.0);
            // A probe begins 3 s after the last one at the latest.
            assert!(after < 4.0, "{name}: {after} s");
        }
    }
}

/// Trap: BBR believes a minimum round trip for 10 s, and carries a fifth of the link until then; its maximum forgets the rate.
///
/// A second, four rounds, a ProbeRTT of 200 ms and a round, and as many doublings of the window as the path has become longer
/// make 2 to 5 s.
///
/// Trap: a window that follows a low estimate shrinks with it. The estimated bandwidth-delay product, at the old min RTT, is soon
/// less than eight packets, and a rule that depends on it never applies.
#[test]
fn a_longer_path_is_filled_within_seconds() {
    for (name, within) in [
        ("bbr3", 4.5),
        ("bbr3-s", 5.0),
        ("bbr2", 4.5),
        ("bbr2-sampled", 5.0),
        ("bbr:tuned", 4.5),
        ("bbr-x", 4.5),
        ("bbr-sampled", 5.0),
        ("bbr-fair", 4.5),
    ] {
        for (mbps, before, after) in [(20.0, 0.02, 0.2), (20.0, 0.02, 0.4), (5.0, 0.02, 0.2)] {
            let at = 6.3;
            let mut links = links(constant(mbps), before, bdp(mbps, after, 1.0));
            links.forward.delay = lengthened(before / 2.0, at, after - before / 2.0);
            let outcome = greedy(name, links, at + 9.0);
            let filled = time_to(&outcome, at, 0.9 * PAYLOAD * mbps);
            // A second and four rounds of the longest take 1.6 s more.
            let within = if after > 0.2 { within } else { within - 1.3 };
            assert!(
                filled < within,
                "{name}, {mbps} Mb/s, {after} s: {filled} s"
            );
        }
    }
}

/// Trap: bandwidth of before times a round trip of after is a window without bound.
#[test]
fn a_link_a_hundred_times_as_slow_is_not_flooded() {
    for name in ["bbr3", "bbr3-s", "bbr2", "bbr3:paper"] {
        // Seconds of queue are measured as part of the path when its minimum round trip expires in them, by chance: what is
        // used then varies, and the mean of several queues is looked at.
        for (queues, min) in [(&[0.04][..], 0.9), (&[3.0, 3.5, 4.0, 4.5], 0.6)] {
            let mut used = 0.0;
            for &queue in queues {
                let links = links(step(50.0, 5.0, 0.5), 0.04, bdp(0.5, queue, 1.0));
                let outcome = greedy(name, links, 40.0);
                let lost = outcome.links["forward"].loss_rate();
                let closed = &outcome.flows[0].closed;
                assert!(closed.is_none(), "{name}: {closed:?}");
                assert!(lost < 0.1, "{name}, {queue} s of queue: {lost} lost");
                used += goodput(&outcome, 20.0, 40.0) / 0.5 / queues.len() as f64;
            }
            assert!(used > min, "{name}, {queues:?} s of queue: {used}");
        }
    }
}
