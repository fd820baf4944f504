//! Policers on a line ten times as fast, from the beginning.

use crate::frontier::{Path, seconds};
use crate::torture::case::Case;
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    BURSTS
        .map(|burst| {
            let path = Path::constant(10.0 * MBPS, 40.0, 2.0).policer(MBPS, burst);
            let name = format!("{MBPS}Mbps, {}kB", burst / 1000);
            Case::bulk(Fault::Policer, name, path, seconds(0.0), seconds(20.0))
        })
        .into()
}

const MBPS: f64 = 10.0;

/// The bucket in bytes.
const BURSTS: [u64; 2] = [100_000, 20_000];
