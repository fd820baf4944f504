//! 60 GHz Wi-Fi that people walk through: the link stops, comes back by a reflection, and is whole again.

use kneepoint_emulator::link::{RateStep, Shaper};

use crate::frontier::path::bytes_per_second;
use crate::frontier::{Path, seconds};
use crate::torture::case::Case;
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    let once = vec![(0.0, MBPS), (2.0, 0.0), (2.4, REFLECTED), (3.4, MBPS)];
    // Open for 100 ms of every 300, ten times.
    let crowd = (0..10)
        .map(f64::from)
        .flat_map(|time| [(2.0 + 0.3 * time, 0.0), (2.2 + 0.3 * time, MBPS)]);
    let crowd = [(0.0, MBPS)].into_iter().chain(crowd).collect();
    [
        ("400ms, then a tenth for 1s", once),
        ("200ms of every 300ms", crowd),
    ]
    .map(|(name, steps): (&str, Vec<(f64, f64)>)| {
        let over = steps.last().map_or(0.0, |step| step.0);
        let steps = steps.into_iter().map(|(from, mbps)| RateStep {
            from: seconds(from).into(),
            bytes_per_second: if mbps > 0.0 {
                bytes_per_second(mbps)
            } else {
                0
            },
        });
        let buffer = (2.0 * MBPS * 125.0 * RTT_MS) as u64;
        let path = Path::new(Shaper::Schedule(steps.collect()), RTT_MS, buffer);
        Case::bulk(Fault::Blocked, name, path, seconds(over), seconds(REST))
    })
    .into()
}

const MBPS: f64 = 200.0;
const REFLECTED: f64 = 20.0;
const RTT_MS: f64 = 10.0;

/// How long the run goes on, in seconds.
const REST: f64 = 4.0;
