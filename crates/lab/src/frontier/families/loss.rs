//! Packets that are lost at random, alone and in bursts.

use kneepoint_emulator::link::Loss;

use super::rate_name;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let random = RANDOM.iter().map(|&(mbps, rtt_ms, percent, duration)| {
        let name = format!("{} {rtt_ms}ms {percent}%", rate_name(mbps));
        let path = Path::constant(mbps, rtt_ms, 2.0).loss(percent / 100.0);
        Case::bulk(Family::Loss, name, path, seconds(duration))
    });
    let bursts = [
        // 2 % in bursts of 20 packets on average.
        (
            "bursts of 20, 2%",
            Loss::GilbertElliott {
                p: 0.001,
                r: 0.05,
                good: 0.0,
                bad: 1.0,
            },
        ),
        (
            "30 of every 3000",
            Loss::Burst {
                every: 3000,
                length: 30,
            },
        ),
    ];
    let bursts = bursts.into_iter().map(|(name, loss)| {
        let path = Path::constant(20.0, 40.0, 2.0).loss(loss);
        let name = format!("20Mbps 40ms {name}");
        Case::bulk(Family::Loss, name, path, seconds(20.0))
    });
    random.chain(bursts).collect()
}

/// Mb/s, ms, percent, and how long the run is in seconds.
const RANDOM: [(f64, f64, f64, f64); 6] = [
    (20.0, 40.0, 0.1, 20.0),
    (20.0, 40.0, 1.0, 20.0),
    (20.0, 40.0, 2.0, 20.0),
    (20.0, 40.0, 5.0, 20.0),
    (10.0, 600.0, 1.0, 40.0),
    (100.0, 20.0, 0.1, 5.0),
];
