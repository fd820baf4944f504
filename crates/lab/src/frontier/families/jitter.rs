//! Delay that is drawn for every packet, in both directions.

use super::rate_name;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    JITTERS
        .iter()
        .map(|&(mbps, rtt_ms, most_ms, reordering)| {
            let reordered = if reordering { " reordered" } else { "" };
            let name = format!("{} {rtt_ms}ms 0-{most_ms}ms{reordered}", rate_name(mbps));
            let path = Path::constant(mbps, rtt_ms, 2.0).jitter(most_ms, reordering);
            Case::bulk(Family::Jitter, name, path, seconds(10.0))
        })
        .collect()
}

/// Mb/s, ms, the most jitter of each direction in ms, and whether packets overtake each other.
const JITTERS: [(f64, f64, f64, bool); 5] = [
    (50.0, 10.0, 5.0, false),
    (50.0, 10.0, 10.0, false),
    (50.0, 10.0, 25.0, false),
    (20.0, 40.0, 25.0, false),
    (20.0, 40.0, 1.0, true),
];
