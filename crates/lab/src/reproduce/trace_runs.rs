//! One flow on a link that follows a trace: what several experiments run and tabulate.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue, Shaper};
use kneepoint_emulator::trace::Trace;
use serde::{Deserialize, Serialize};

use super::CaseError;
use super::informed::headroom;
use super::report::{Section, Table, number, opt, percent};
use super::setup::{Bottleneck, greedy};
use super::summary::{Course, Seeds, Summary, geometric_mean};
use crate::ideal::{informed, omniscient};
use crate::plots::{Axis, Chart, Mark};
use crate::run::RunError;
use crate::trial::Trial;

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
    pub(super) course: Option<Course>,
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
        } else if let Some(headroom) = headroom(self.controller) {
            informed(&trace, RTT, duration, headroom).map_err(RunError::from)?
        } else {
            self.trial(trace.clone(), duration)?.run()?
        };
        let bottleneck = bottleneck(trace);
        let course = drawn.then(|| outcome.flows.first().map(Course::of));
        Ok(TraceRun {
            summary: Summary::of(&outcome, &bottleneck, from, duration),
            course: course.flatten(),
        })
    }

    fn trial(&self, trace: Trace, duration: Duration) -> Result<Trial, CaseError> {
        Ok(Trial {
            topology: bottleneck(trace).topology(),
            flows: vec![greedy(
                self.controller,
                self.seed,
                Duration::ZERO,
                duration,
            )?],
            duration,
            interval: None,
            seed: self.seed,
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

/// The runs on one link.
pub(super) struct Runs<'a>(Vec<(&'a TraceCase, &'a TraceRun)>);

impl<'a> Runs<'a> {
    pub(super) fn on(link: &str, results: &'a [(TraceCase, TraceRun)]) -> Self {
        let runs = results.iter().filter(|(case, _)| case.link == link);
        Self(runs.map(|(case, run)| (case, run)).collect())
    }

    /// One figure of one controller, seed by seed.
    pub(super) fn of(&self, controller: &str, figure: impl Fn(&Summary) -> f64) -> Vec<f64> {
        let runs = self
            .0
            .iter()
            .filter(|(case, _)| case.controller == controller);
        runs.map(|(_, run)| figure(&run.summary)).collect()
    }

    /// The seeds, in the order of the runs.
    pub(super) fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = self.0.iter().map(|(case, _)| case.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// What came of one controller with one seed.
    pub(super) fn one(&self, controller: &str, seed: u64) -> Option<&Summary> {
        let mut runs = self.0.iter();
        let run = runs.find(|(case, _)| (case.controller, case.seed) == (controller, seed));
        run.map(|(_, run)| &run.summary)
    }

    /// One figure of one controller as a part of another's: the geometric mean over the seeds.
    pub(super) fn ratio(&self, ours: &str, theirs: &str, figure: impl Fn(&Summary) -> f64) -> f64 {
        let (ours, theirs) = (self.of(ours, &figure), self.of(theirs, &figure));
        geometric_mean(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs))
    }

    /// All controllers, in the order of the runs; informed senders have tables of their own.
    pub(super) fn table(&self, caption: impl Into<String>) -> Table {
        let mut table = Table::new(
            caption,
            &[
                "controller",
                "goodput, Mb/s",
                "utilization",
                "RTT mean, ms",
                "p95",
                "p99",
                "queue mean, ms",
                "p95",
                "p99",
                "loss",
                "power",
                "closed",
            ],
        );
        let names = self.controllers().into_iter();
        for name in names.filter(|name| headroom(name).is_none()) {
            let seeds = |figure: fn(&Summary) -> f64, print: fn(f64) -> String| {
                Seeds::of(self.of(name, figure)).text(print)
            };
            let closed = self.of(name, |run| f64::from(u8::from(run.closed.is_some())));
            let closed: f64 = closed.iter().sum();
            table.row([
                format!("`{name}`"),
                seeds(|run| run.goodput_mbps, number),
                seeds(utilization, percent),
                seeds(|run| run.rtt.mean, number),
                seeds(|run| run.rtt.p95, number),
                seeds(|run| run.rtt.p99, number),
                seeds(|run| run.queue.mean, number),
                seeds(|run| run.queue.p95, number),
                seeds(|run| run.queue.p99, number),
                seeds(|run| run.loss_rate, percent),
                seeds(power, number),
                opt((closed > 0.0).then_some(closed)),
            ]);
        }
        table
    }

    /// Goodput and round-trip time of the controllers that were drawn.
    pub(super) fn charts(&self, section: Section, caption: &str) -> Section {
        let time = || Axis::linear("time, s");
        let mut goodput = Chart::new(format!("{caption}: goodput"), time(), Axis::linear("Mb/s"));
        let mut rtt = Chart::new(
            format!("{caption}: round-trip time"),
            time(),
            Axis::log("ms"),
        );
        for (case, run) in &self.0 {
            let Some(course) = &run.course else {
                continue;
            };
            let mark = match case.controller {
                OMNISCIENT => Mark::Reference,
                _ => Mark::Line,
            };
            goodput = goodput.series(case.controller, mark, course.goodput.iter().copied());
            rtt = rtt.series(case.controller, mark, course.rtt.iter().copied());
        }
        section.chart(goodput).chart(rtt)
    }

    pub(super) fn controllers(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = Vec::new();
        for (case, _) in &self.0 {
            if !names.contains(&case.controller) {
                names.push(case.controller);
            }
        }
        names
    }
}

/// Not a number if it is not known.
pub(super) fn utilization(run: &Summary) -> f64 {
    run.utilization.unwrap_or(f64::NAN)
}

/// Utilization times base RTT over mean RTT: 1 is the omniscient sender's.
pub(super) fn power(run: &Summary) -> f64 {
    utilization(run) * RTT.as_secs_f64() * 1e3 / run.rtt.mean
}

/// A change as a fraction of what it was, in percent.
pub(super) fn change(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

/// The sender that knows the trace.
pub(super) const OMNISCIENT: &str = "omniscient";

/// The empty path's round-trip time.
const RTT: Duration = Duration::from_millis(40);

/// What the queue holds, in bytes.
const QUEUE: u64 = 3_000_000;
