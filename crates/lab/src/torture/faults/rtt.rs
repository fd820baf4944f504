//! A path that becomes sixty times as long, and short again.

use crate::frontier::{Path, rate_name, seconds};
use crate::torture::case::Case;
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    // Two BDP of 200 ms.
    let path = || Path::constant(MBPS, 200.0, 2.0);
    let away = path().rtt_steps(&[(0.0, NEAR), (START, FAR)]);
    let back = path().rtt_steps(&[(0.0, NEAR), (START, FAR), (BACK, NEAR)]);
    [
        (
            format!("{NEAR} to {FAR}ms, {}", rate_name(MBPS)),
            away,
            START,
            60.0,
        ),
        (
            format!("{NEAR} to {FAR}ms and back, {}", rate_name(MBPS)),
            back,
            BACK,
            20.0,
        ),
    ]
    .map(|(name, path, over, rest)| {
        Case::bulk(Fault::Rtt, name, path, seconds(over), seconds(rest))
    })
    .into()
}

const MBPS: f64 = 20.0;

/// In milliseconds.
const NEAR: f64 = 10.0;
const FAR: f64 = 600.0;

/// When the path becomes longer, and when it is short again, in seconds.
const START: f64 = 5.0;
const BACK: f64 = 25.0;
