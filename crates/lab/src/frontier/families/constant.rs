//! Links of a constant rate: a thinned grid of 64 kb/s to 10 Gb/s, 0.05 to 600 ms, and buffers of 0.2 to 10 BDP.

use super::rate_name;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    GRID.iter()
        .map(|&(mbps, rtt_ms, bdps, duration)| {
            let name = format!("{} {rtt_ms}ms {bdps}bdp", rate_name(mbps));
            let path = Path::constant(mbps, rtt_ms, bdps);
            Case::bulk(Family::Constant, name, path, seconds(duration))
        })
        .collect()
}

/// Mb/s, ms, BDP, and how long the run is in seconds.
const GRID: [(f64, f64, f64, f64); 20] = [
    (0.064, 40.0, 10.0, 60.0),
    (0.256, 100.0, 4.0, 60.0),
    (1.0, 200.0, 1.0, 60.0),
    (5.0, 600.0, 0.5, 60.0),
    (10.0, 40.0, 0.2, 20.0),
    (10.0, 40.0, 1.0, 20.0),
    (10.0, 40.0, 10.0, 20.0),
    (10.0, 240.0, 0.33, 30.0),
    (20.0, 600.0, 1.0, 40.0),
    (50.0, 200.0, 0.5, 15.0),
    (100.0, 1.0, 1.0, 4.0),
    (100.0, 40.0, 0.2, 6.0),
    (100.0, 40.0, 2.0, 6.0),
    (100.0, 100.0, 10.0, 6.0),
    (1_000.0, 0.3, 4.0, 0.5),
    (1_000.0, 1.0, 1.0, 0.5),
    (1_000.0, 10.0, 2.0, 0.8),
    (1_000.0, 50.0, 1.0, 1.5),
    (10_000.0, 0.05, 10.0, 0.1),
    (10_000.0, 2.0, 2.0, 0.15),
];
