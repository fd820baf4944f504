//! Recorded and generated traces: 40 ms and a buffer of 3 MB, one flow of bulk data.

use std::time::Duration;

use kneepoint_emulator::generate::{Profile, generate};
use kneepoint_emulator::link::Shaper;
use kneepoint_emulator::trace::Trace;

use crate::frontier::seconds;
use crate::frontier::{Case, Family, Path};

/// A recorded trace and its name in the results.
#[derive(Debug, Clone)]
pub struct RecordedTrace {
    /// The name.
    pub name: String,
    /// The trace.
    pub trace: Trace,
}

pub(super) fn recorded(traces: &[RecordedTrace]) -> Vec<Case> {
    let case = |recorded: &RecordedTrace| {
        let (name, trace) = (recorded.name.clone(), recorded.trace.clone());
        case(Family::Traces, name, trace, DURATION)
    };
    traces.iter().map(case).collect()
}

/// One of each kind, as long as the bundled trace of the kind but at most [`DURATION`].
pub(super) fn generated(seed: u64) -> Vec<Case> {
    Profile::ALL
        .into_iter()
        .map(|profile| {
            let duration = DURATION.min(profile.bundled_duration().into());
            let trace = generate(profile, seed, duration.into());
            case(Family::Generated, profile.to_string(), trace, duration)
        })
        .collect()
}

fn case(family: Family, name: String, trace: Trace, duration: Duration) -> Case {
    let path = Path::new(Shaper::Trace(trace), RTT_MS, BUFFER);
    Case::bulk(family, name, path, duration.max(seconds(1.0)))
}

const DURATION: Duration = Duration::from_secs(60);
const RTT_MS: f64 = 40.0;
const BUFFER: u64 = 3_000_000;
