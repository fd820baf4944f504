//! Steps of the rate and of the round-trip time.

use kneepoint_emulator::link::{RateStep, Shaper};

use super::rate_name;
use crate::frontier::path::{MIN_BUFFER, bytes_per_second};
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let rates = RATES.iter().map(|&(steps, duration)| {
        let names: Vec<String> = steps.iter().map(|&(_, mbps)| rate_name(mbps)).collect();
        let largest = steps.iter().map(|&(_, mbps)| mbps).fold(0.0, f64::max);
        let shaper = Shaper::Schedule(
            steps
                .iter()
                .map(|&(from, mbps)| RateStep {
                    from: seconds(from).into(),
                    bytes_per_second: bytes_per_second(mbps),
                })
                .collect(),
        );
        // One BDP of the fastest rate.
        let buffer = (largest * 125.0 * RTT_MS) as u64;
        let path = Path::new(shaper, RTT_MS, buffer.max(MIN_BUFFER));
        let name = format!("rate {}", names.join(" to "));
        Case::bulk(Family::Steps, name, path, seconds(duration))
    });
    let delays = DELAYS.iter().map(|&(mbps, steps, duration)| {
        let names: Vec<String> = steps.iter().map(|&(_, rtt)| format!("{rtt}ms")).collect();
        let max = steps.iter().map(|&(_, rtt)| rtt).fold(0.0, f64::max);
        let path = Path::constant(mbps, max.min(MAX_BUFFER_MS), 2.0).rtt_steps(steps);
        let name = format!("RTT {}, {}", names.join(" to "), rate_name(mbps));
        Case::bulk(Family::Steps, name, path, seconds(duration))
    });
    rates.chain(delays).collect()
}

/// From when on in seconds, and the value.
type Steps = &'static [(f64, f64)];

/// The rates in Mb/s, and how long the run is in seconds.
const RATES: [(Steps, f64); 4] = [
    (&[(0.0, 5.0), (8.0, 100.0)], 16.0),
    (&[(0.0, 100.0), (4.0, 1.0)], 34.0),
    (&[(0.0, 10.0), (6.0, 20.0), (12.0, 10.0)], 18.0),
    (
        &[
            (0.0, 20.0),
            (3.0, 2.0),
            (6.0, 20.0),
            (9.0, 2.0),
            (12.0, 20.0),
        ],
        15.0,
    ),
];

/// Mb/s, the round-trip times in ms, and how long the run is in seconds.
const DELAYS: [(f64, Steps, f64); 7] = [
    (20.0, &[(0.0, 20.0), (10.0, 200.0)], 40.0),
    (10.0, &[(0.0, 10.0), (10.0, 600.0)], 60.0),
    // A path that becomes a little longer: a queue of the sender's own looks the same.
    (20.0, &[(0.0, 40.0), (10.0, 50.0)], 40.0),
    (20.0, &[(0.0, 150.0), (10.0, 165.0)], 40.0),
    (20.0, &[(0.0, 200.0), (10.0, 20.0)], 30.0),
    (10.0, &[(0.0, 600.0), (15.0, 10.0)], 40.0),
    // A delay spike.
    (10.0, &[(0.0, 40.0), (10.0, 2000.0), (12.0, 40.0)], 30.0),
];

const RTT_MS: f64 = 40.0;

/// Buffers hold two BDP of no longer round-trip time than this.
const MAX_BUFFER_MS: f64 = 200.0;
