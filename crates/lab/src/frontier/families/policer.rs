//! Token buckets that drop, and token buckets that delay.

use kneepoint_emulator::link::Shaper;

use super::rate_name;
use crate::frontier::path::bytes_per_second;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let policers = POLICERS.iter().map(|&(mbps, rtt_ms, burst)| {
        let name = format!("policer {} {rtt_ms}ms {}kB", rate_name(mbps), burst / 1000);
        // The line is ten times as fast.
        let path = Path::constant(10.0 * mbps, rtt_ms, 2.0).policer(mbps, burst);
        Case::bulk(Family::Policer, name, path, seconds(20.0))
    });
    let shapers = SHAPERS.iter().map(|&(mbps, rtt_ms, burst, buffer)| {
        let name = format!(
            "shaper {} {rtt_ms}ms {}kB, buffer {}kB",
            rate_name(mbps),
            burst / 1000,
            buffer / 1000
        );
        let shaper = Shaper::TokenBucket {
            bytes_per_second: bytes_per_second(mbps),
            burst,
            peak: Some(bytes_per_second(1000.0)),
        };
        let path = Path::new(shaper, rtt_ms, buffer);
        Case::bulk(Family::Policer, name, path, seconds(15.0))
    });
    policers.chain(shapers).collect()
}

/// Mb/s, ms, and the bucket in bytes.
const POLICERS: [(f64, f64, u64); 3] = [
    (10.0, 40.0, 100_000),
    (10.0, 40.0, 20_000),
    (5.0, 100.0, 50_000),
];

/// Mb/s, ms, the bucket and the buffer in bytes.
const SHAPERS: [(f64, f64, u64, u64); 3] = [
    (25.0, 10.0, 1_000_000, 10_000_000),
    (25.0, 100.0, 1_000_000, 1_000_000),
    (10.0, 40.0, 100_000, 100_000),
];
