//! A queue that marks instead of dropping.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue, StepMark};
use kneepoint_emulator::network::Duplex;

use crate::paths::{bdp, constant, forward, goodput, greedy, mean_rtt, reverse};

/// Trap: a sender that keeps a longer queue than the marker allows has nearly every packet marked, and a marker that nobody
/// heeds controls nothing.
#[test]
fn a_marker_of_five_milliseconds_keeps_the_queue_short() {
    for name in ["bbr3", "bbr3-s", "bbr2", "bbr2-sampled"] {
        for mbps in [10.0, 50.0] {
            let marker = Queue::StepMark(StepMark {
                threshold: Limit::time(Duration::from_millis(5).into()),
                drop_not_ect: false,
                limit: Some(Limit::bytes(bdp(mbps, 0.04, 10.0))),
            });
            let mut forward = forward(constant(mbps), 0.04, 1);
            forward.queue = marker;
            let links = Duplex {
                forward,
                reverse: reverse(0.04),
            };
            let outcome = greedy(name, links, 15.0);
            let used = goodput(&outcome, 5.0, 15.0) / mbps;
            let rtt = mean_rtt(&outcome, 5.0, 15.0);
            assert!(used >= 0.85, "{name}: {used} of {mbps} Mb/s");
            assert!(rtt <= 50.0, "{name}: {rtt} ms at {mbps} Mb/s");
        }
    }
}
