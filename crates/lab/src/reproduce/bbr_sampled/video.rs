//! One film behind a token bucket.

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::controllers::resolve;
use crate::dash::abr::Algorithm;
use crate::dash::{Path, Session};
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::summary::thin;
use crate::reproduce::{CaseError, Runs};

/// The parameters of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::reproduce) struct VideoCase {
    pub(super) controller: &'static str,
    /// The rule by which the player chooses.
    pub(super) rule: Algorithm,
    pub(super) buffer_kb: u64,
    pub(super) burst_kb: u64,
    pub(super) rtt_ms: u64,
    pub(super) segments: usize,
    /// Fetched over these in turn.
    pub(super) connections: usize,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Shown {
    /// 0 to 10.
    pub(super) quality: Option<f64>,
    pub(super) stall_rate: Option<f64>,
    /// Shares of time in STARTUP, DRAIN, PROBE_BW and PROBE_RTT.
    pub(super) states: Option<[f64; 4]>,
    pub(super) estimate_mean_mbps: Option<f64>,
    pub(super) estimate_median_mbps: Option<f64>,
    pub(super) rtt_median_ms: Option<f64>,
    pub(super) drops: u64,
    pub(super) closed: Option<String>,
    /// Segment by segment, when it was requested in seconds and how fast it came in Mb/s.
    pub(super) throughput: Vec<(f64, f64)>,
    /// Megabytes in flight over the seconds of [`LOOK`], counted from its beginning: their mean in every tenth of one; of one
    /// connection.
    pub(super) in_flight: Vec<(f64, f64)>,
}

/// When the flight is looked at closely: well after the start, for several segments.
const LOOK: Range<f64> = 60.0..90.0;

/// The films of a study.
pub(super) type VideoRuns<'a> = Runs<'a, VideoCase, Shown>;

impl VideoRuns<'_> {
    /// How fast the segments of films came that have a name, beside the link's rate for as long as there were requests.
    pub(super) fn throughputs(&self, name: impl Fn(&VideoCase) -> Option<&'static str>) -> Chart {
        let requests = self.iter().flat_map(|(_, shown)| &shown.throughput);
        let last = requests.fold(0.0, |last, (at, _)| f64::max(last, *at));
        let chart = Chart::new(
            "10 MB of buffer: throughput of each segment",
            Axis::linear("requested at, s"),
            Axis::linear("Mb/s"),
        )
        .series("the link", Mark::Reference, [(0.0, 25.0), (last, 25.0)]);
        self.iter()
            .fold(chart, |chart, (case, shown)| match name(case) {
                Some(name) => chart.series(name, Mark::Line, shown.throughput.clone()),
                None => chart,
            })
    }
}

impl VideoCase {
    /// One with 10 MB of buffer, and bursts of 1 MB.
    pub(super) const fn new(controller: &'static str, segments: usize) -> Self {
        Self {
            controller,
            rule: Algorithm::Dynamic,
            buffer_kb: 10_000,
            burst_kb: 1000,
            rtt_ms: 100,
            segments,
            connections: 1,
        }
    }

    pub(super) fn show(&self) -> Result<Shown, CaseError> {
        let mut session = Session::new(resolve(self.controller, 1)?);
        session.abr = self.rule;
        session.segments = self.segments;
        session.connections = self.connections;
        session.path = Path {
            burst: self.burst_kb * 1000,
            buffer: self.buffer_kb * 1000,
            rtt: Duration::from_millis(self.rtt_ms),
            ..Path::deep()
        };
        let outcome = session.run()?;
        let states = outcome.states;
        let samples = outcome.samples.iter().filter(|_| self.connections == 1);
        let flight = samples
            .map(|sample| (sample.at.as_secs_f64(), sample.snapshot.in_flight.0))
            .filter(|(at, _)| LOOK.contains(at))
            .map(|(at, bytes)| (at - LOOK.start, bytes as f64 / 1e6));
        Ok(Shown {
            quality: outcome.quality,
            stall_rate: outcome.stall_rate,
            states: states.map(|s| [s.startup, s.drain, s.probe_bw, s.probe_rtt]),
            estimate_mean_mbps: outcome.estimate_mean_mbps,
            estimate_median_mbps: outcome.estimate_median_mbps,
            rtt_median_ms: outcome.rtt_median_ms,
            drops: outcome.drops,
            closed: outcome.closed,
            throughput: outcome
                .segments
                .iter()
                .map(|segment| (segment.requested_s, segment.throughput_mbps))
                .collect(),
            in_flight: thin(flight, 0.1),
        })
    }

    /// About how many megabits it transfers.
    pub(super) fn weight(&self) -> f64 {
        self.segments as f64 * 125.0
    }
}

/// A buffer or a burst, to read.
pub(super) fn bytes(kilobytes: u64) -> String {
    if kilobytes >= 1000 {
        format!("{} MB", kilobytes / 1000)
    } else {
        format!("{kilobytes} KB")
    }
}
