//! Steps of the rate by a hundred.

use kneepoint_emulator::link::{RateStep, Shaper};

use crate::frontier::path::bytes_per_second;
use crate::frontier::{Path, rate_name, seconds};
use crate::torture::case::{Bound, Case};
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    STEPS
        .into_iter()
        .map(|(before, after, at, rest, bound)| {
            let steps = [(0.0, before), (at, after)].map(|(from, mbps)| RateStep {
                from: seconds(from).into(),
                bytes_per_second: bytes_per_second(mbps),
            });
            // One BDP of the higher rate.
            let buffer = (f64::max(before, after) * 125.0 * RTT_MS) as u64;
            let path = Path::new(Shaper::Schedule(steps.into()), RTT_MS, buffer);
            let name = format!("{} to {}", rate_name(before), rate_name(after));
            Case::bulk(Fault::Rate, name, path, seconds(at), seconds(rest)).bound(bound)
        })
        .collect()
}

/// Mb/s before and after, when, how long the run goes on, both in seconds, and the bound.
const STEPS: [(f64, f64, f64, f64, Bound); 2] = [
    (1.0, 100.0, 8.0, 12.0, Bound::Regain(TEN_SECONDS)),
    (100.0, 1.0, 4.0, 40.0, Bound::Calm(10.0)),
];

const TEN_SECONDS: std::time::Duration = std::time::Duration::from_secs(10);

const RTT_MS: f64 = 40.0;
