//! Acknowledgements that come in batches, that are thinned out, or that wait for a slow link.

use kneepoint_emulator::link::{Limit, Loss, Queue};

use super::rate_name;
use crate::frontier::path::rate;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let batches = BATCHES.iter().map(|&(mbps, rtt_ms, interval_ms)| {
        let name = format!("{} {rtt_ms}ms batches of {interval_ms}ms", rate_name(mbps));
        let path = Path::constant(mbps, rtt_ms, 2.0).ack_batches(interval_ms);
        (name, path)
    });
    // Of eight in a row the last seven are lost: what remains acknowledges as much.
    let thinned = Path::constant(20.0, 40.0, 2.0).way_back(|link| {
        link.loss = Loss::Burst {
            every: 8,
            length: 7,
        };
    });
    let slow = Path::constant(20.0, 40.0, 2.0).way_back(|link| {
        link.shaper = rate(0.2);
        link.queue = Queue::DropTail(Limit::packets(20));
    });
    let others = [
        ("20Mbps 40ms one of 8", thinned),
        ("20Mbps 40ms over 200kbps", slow),
    ];
    batches
        .chain(others.map(|(name, path)| (name.to_owned(), path)))
        .map(|(name, path)| Case::bulk(Family::Acks, name, path, seconds(15.0)))
        .collect()
}

/// Mb/s, ms, and the interval of the releases in ms.
const BATCHES: [(f64, f64, f64); 5] = [
    (50.0, 10.0, 10.0),
    (50.0, 10.0, 20.0),
    (20.0, 40.0, 40.0),
    (20.0, 40.0, 80.0),
    (10.0, 40.0, 100.0),
];
