//! Links that stop for a time: what waits is held, or what comes is dropped.

use kneepoint_emulator::link::{Interval, RateStep, Shaper};

use crate::frontier::path::bytes_per_second;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let held = HELD.iter().map(|&(name, from, span, every)| {
        let steps = stops(from, span, every).into_iter().flat_map(|(from, to)| {
            [(from, 0.0), (to, MBPS)].map(|(time, mbps)| RateStep {
                from: seconds(time).into(),
                bytes_per_second: if mbps > 0.0 {
                    bytes_per_second(mbps)
                } else {
                    0
                },
            })
        });
        let first = RateStep {
            from: seconds(0.0).into(),
            bytes_per_second: bytes_per_second(MBPS),
        };
        let shaper = Shaper::Schedule([first].into_iter().chain(steps).collect());
        let buffer = (2.0 * MBPS * 125.0 * RTT_MS) as u64;
        (format!("{name}, held"), Path::new(shaper, RTT_MS, buffer))
    });
    let dropped = DROPPED.iter().map(|&(name, from, span, every)| {
        let mut path = Path::constant(MBPS, RTT_MS, 2.0);
        let blackouts: Vec<Interval> = stops(from, span, every)
            .into_iter()
            .map(|(from, to)| Interval {
                from: seconds(from).into(),
                to: seconds(to).into(),
            })
            .collect();
        path.forward.impairments.blackouts = blackouts;
        (format!("{name}, dropped"), path)
    });
    // As in a train: the link stops often, delay varies, and packets are lost.
    let train = {
        let mut path = Path::constant(MBPS, RTT_MS, 2.0)
            .loss(0.01)
            .jitter(5.0, false);
        let mut start = 1.0;
        for (number, gap) in (0_u32..).zip([1.3, 0.7, 2.1, 0.9, 1.6].into_iter().cycle()) {
            let span = 0.1 + 0.1 * f64::from(number % 6);
            if start + span >= DURATION - 1.0 {
                break;
            }
            path.forward.impairments.blackouts.push(Interval {
                from: seconds(start).into(),
                to: seconds(start + span).into(),
            });
            start += span + gap;
        }
        ("stops of 0.1-0.6s, loss 1%, jitter".to_owned(), path)
    };
    held.chain(dropped)
        .chain([train])
        .map(|(name, path)| Case::bulk(Family::Blackouts, name, path, seconds(DURATION)))
        .collect()
}

/// From when until when the link stops, in seconds.
fn stops(first: f64, span: f64, every: f64) -> Vec<(f64, f64)> {
    let starts = (0_u32..).map(|number| first + f64::from(number) * every);
    starts
        .take_while(|start| start + span < DURATION - 2.0)
        .map(|start| (start, start + span))
        .collect()
}

/// The name, when the first stop begins, how long it takes, and from one to the next, in seconds.
const HELD: [(&str, f64, f64, f64); 4] = [
    ("0.2s every 2s", 3.0, 0.2, 2.0),
    ("1s every 5s", 4.0, 1.0, 5.0),
    ("5s once", 5.0, 5.0, 100.0),
    ("0.5s of every 0.8s", 2.0, 0.5, 0.8),
];

/// The same.
const DROPPED: [(&str, f64, f64, f64); 2] =
    [("1s every 5s", 4.0, 1.0, 5.0), ("5s once", 5.0, 5.0, 100.0)];

const MBPS: f64 = 20.0;
const RTT_MS: f64 = 40.0;
const DURATION: f64 = 20.0;
