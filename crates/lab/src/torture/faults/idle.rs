//! Applications that have little to send for a long time, and then much.

use crate::frontier::{Path, seconds};
use crate::torture::case::Case;
use crate::torture::fault::Fault;
use crate::workload::Load;

pub(super) fn cases() -> Vec<Case> {
    IDLE.map(|(name, bytes_per_second, span)| {
        let path = Path::constant(20.0, 40.0, 2.0);
        let mut case = Case::bulk(Fault::Idle, name, path, seconds(span), seconds(REST));
        case.application
            .insert(0, Load::Steady(bytes_per_second).until(seconds(span)));
        case
    })
    .into()
}

/// What is sent before the bulk data, in bytes per second, and for how long, in seconds.
const IDLE: [(&str, u64, f64); 2] = [
    ("an hour of 100kbps, then bulk", 12_500, 3_600.0),
    ("a day of a packet every 10s, then bulk", 110, 86_400.0),
];

/// How long the run goes on, in seconds.
const REST: f64 = 12.0;
