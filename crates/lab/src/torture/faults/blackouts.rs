//! Links that stop: the data that waits is held, or data and acknowledgements are dropped.

use kneepoint_emulator::link::{Interval, RateStep, Shaper};

use crate::frontier::path::bytes_per_second;
use crate::frontier::{Path, seconds};
use crate::torture::case::{Bound, Case};
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    let spans = SPANS.into_iter();
    spans
        .flat_map(|span| {
            [("held", held(span)), ("dropped", dropped(span))].map(|(how, path)| (span, how, path))
        })
        .map(|(span, how, path)| {
            let over = seconds(START + span);
            // A sender whose probe timeouts back off sleeps for as long as the link did.
            let rest = seconds(REST + span);
            let case = Case::bulk(Fault::Blackouts, format!("{span}s {how}"), path, over, rest);
            let regain = seconds(3.0).max(case.base_rtt() * 20);
            match span {
                5.0 => case.bound(Bound::Regain(regain)),
                _ => case,
            }
        })
        .collect()
}

/// The data link stands still.
fn held(span: f64) -> Path {
    let rate = bytes_per_second(MBPS);
    let steps = [(0.0, rate), (START, 0), (START + span, rate)];
    let steps = steps.map(|(from, bytes_per_second)| RateStep {
        from: seconds(from).into(),
        bytes_per_second,
    });
    let buffer = (BDPS * MBPS * 125.0 * RTT_MS) as u64;
    Path::new(Shaper::Schedule(steps.into()), RTT_MS, buffer)
}

/// Both ways lose all.
fn dropped(span: f64) -> Path {
    let mut path = Path::constant(MBPS, RTT_MS, BDPS);
    for link in [&mut path.forward, &mut path.reverse] {
        link.impairments.blackouts = vec![Interval {
            from: seconds(START).into(),
            to: seconds(START + span).into(),
        }];
    }
    path
}

/// In seconds.
const SPANS: [f64; 4] = [0.2, 1.0, 5.0, 20.0];

const MBPS: f64 = 20.0;
const RTT_MS: f64 = 40.0;
const BDPS: f64 = 2.0;

/// When the link stops, in seconds.
const START: f64 = 5.0;

/// For how long a run goes on beyond the blackout, in seconds, and for as long as the blackout.
const REST: f64 = 12.0;
