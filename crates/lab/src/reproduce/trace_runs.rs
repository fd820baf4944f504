//! One flow on a link that follows a trace: what several experiments run and tabulate.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue, Shaper};
use kneepoint_emulator::trace::Trace;
use serde::{Deserialize, Serialize};

use super::delayed_oracle::queue_target;
use super::report::{Table, code, opt};
use super::setup::Bottleneck;
use super::summary::{Summary, TimeSeries};
use super::{CaseError, Runs};
use crate::ideal::{delayed_oracle, omniscient};
use crate::plots::{Axis, Chart, Mark};
use crate::run::RunError;

/// The parameters of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct TraceCase {
    /// Which trace.
    pub(super) link: &'static str,
    pub(super) controller: &'static str,
    pub(super) seed: u64,
    /// How long it lasts.
    pub(super) seconds: u32,
    /// From when on it counts.
    pub(super) from: u32,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TraceRun {
    pub(super) summary: Summary,
    /// Of the runs that are drawn.
    pub(super) series: Option<TimeSeries>,
}

impl TraceCase {
    /// One flow of bulk data over the trace: [`RTT`], [`QUEUE`].
    pub(super) fn run(&self, trace: Trace, drawn: bool) -> Result<TraceRun, CaseError> {
        let (from, duration) = (
            Duration::from_secs(self.from.into()),
            Duration::from_secs(self.seconds.into()),
        );
        let outcome = if self.controller == OMNISCIENT {
            omniscient(&trace, RTT, duration).map_err(RunError::from)?
        } else if let Some(queue_target) = queue_target(self.controller) {
            delayed_oracle(&trace, RTT, duration, queue_target).map_err(RunError::from)?
        } else {
            bottleneck(trace.clone()).bulk(self.controller, self.seed, duration, None)?
        };
        let bottleneck = bottleneck(trace);
        let series = drawn.then(|| outcome.flows.first().map(TimeSeries::of));
        Ok(TraceRun {
            summary: Summary::of(&outcome, &bottleneck, from, duration),
            series: series.flatten(),
        })
    }
}

fn bottleneck(trace: Trace) -> Bottleneck {
    Bottleneck {
        shaper: Shaper::Trace(trace),
        queue: Queue::DropTail(Limit::bytes(QUEUE)),
        rtt: RTT,
        loss: 0.0,
    }
}

/// The runs of one link or of several.
pub(super) type TraceRuns<'a> = Runs<'a, TraceCase, TraceRun>;

impl TraceRuns<'_> {
    /// Those on one link.
    pub(super) fn on(&self, link: &str) -> Self {
        self.only(|case| case.link == link)
    }

    /// Those of one controller.
    pub(super) fn under(&self, controller: &str) -> Self {
        self.only(|case| case.controller == controller)
    }

    /// A figure of `bbr-s` as a part of `bbr`'s.
    pub(super) fn against_bbr(&self, figure: impl Fn(&TraceRun) -> f64) -> f64 {
        self.under("bbr-s").ratio(&self.under("bbr"), figure)
    }

    /// All controllers, in the order of the runs; delayed oracles have their own tables.
    pub(super) fn summaries(&self, caption: impl Into<String>) -> Table {
        self.only(|case| queue_target(case.controller).is_none())
            .table(caption, |case| case.controller)
            .name("controller", |case| code(case.controller))
            .numbers("goodput, Mb/s", |run| run.summary.goodput_mbps)
            .percents("utilization", |run| run.summary.used())
            .numbers("RTT mean, ms", |run| run.summary.rtt.mean)
            .numbers("p95", |run| run.summary.rtt.p95)
            .numbers("p99", |run| run.summary.rtt.p99)
            .numbers("queue mean, ms", |run| run.summary.queue.mean)
            .numbers("p95", |run| run.summary.queue.p95)
            .numbers("p99", |run| run.summary.queue.p99)
            .percents("loss", |run| run.summary.loss_rate)
            .numbers("power", power)
            .cells("closed", |runs| {
                let closed = runs.iter().filter(|(_, run)| run.summary.closed.is_some());
                let count = closed.count() as f64;
                opt((count > 0.0).then_some(count))
            })
            .into()
    }

    /// Goodput and round-trip time of the controllers that were drawn.
    pub(super) fn charts(&self, caption: &str) -> [Chart; 2] {
        let drawn = self.iter().filter_map(|(case, run)| {
            let mark = match case.controller {
                OMNISCIENT => Mark::Reference,
                _ => Mark::Line,
            };
            Some((case.controller, mark, run.series.as_ref()?))
        });
        TimeSeries::charts(caption, Axis::log("ms"), drawn)
    }
}

/// Utilization times base RTT over mean RTT: 1 is the omniscient sender's.
pub(super) fn power(run: &TraceRun) -> f64 {
    run.summary.used() * RTT.as_secs_f64() * 1e3 / run.summary.rtt.mean
}

/// The sender that knows the trace.
pub(super) const OMNISCIENT: &str = "omniscient";

/// The empty path's round-trip time.
const RTT: Duration = Duration::from_millis(40);

/// What the queue holds, in bytes.
const QUEUE: u64 = 3_000_000;
