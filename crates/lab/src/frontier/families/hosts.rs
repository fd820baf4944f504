//! End hosts that take time to wake up, to read and to send.

use kneepoint_emulator::host::HostConfig;

use super::rate_name;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    HOSTS
        .iter()
        .filter_map(|&(host, mbps, rtt_ms, duration)| {
            let config = HostConfig::preset(host).ok()?;
            let name = format!("{host} {} {rtt_ms}ms", rate_name(mbps));
            let path = Path::constant(mbps, rtt_ms, 2.0);
            Some(Case::bulk(Family::Hosts, name, path, seconds(duration)).host(config))
        })
        .collect()
}

/// The preset, Mb/s, ms, and how long the run is in seconds.
const HOSTS: [(&str, f64, f64, f64); 8] = [
    ("server", 10_000.0, 0.05, 0.1),
    ("server", 1_000.0, 1.0, 0.5),
    ("server", 100.0, 20.0, 5.0),
    ("busy", 1_000.0, 0.3, 0.5),
    ("busy", 100.0, 1.0, 3.0),
    ("phone", 100.0, 5.0, 4.0),
    ("phone", 20.0, 40.0, 15.0),
    ("phone", 2.0, 80.0, 40.0),
];
