//! A4: ten flows, one after the other.

use std::time::Duration;

use kneepoint_emulator::link::Limit;
use kneepoint_emulator::time::Nanos;
use serde::{Deserialize, Serialize};

use crate::plots::{Axis, Mark};
use crate::reproduce::report::{Section, Verdict, code, near, number};
use crate::reproduce::setup::{Bottleneck, greedy, transfer};
use crate::reproduce::summary::{Spread, Summary, TimeSeries};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};
use crate::trial::Outcome;

/// Figures 11 and 12.
pub(in crate::reproduce) static MANY_FLOWS: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "A4",
        paper: Paper::BbrS,
        title: "Ten flows, one more every 8 s",
        figure: "figures 11 and 12",
        setup: "100 Mb/s, 50 ms, a queue of 4 BDP (the paper gives none). Ten flows of one controller, one more every 8 s; \
                Jain's index of what they got from the last one's start plus 4 s on.",
        claim: "Jain's index is 0.9711; the mean RTT is 84 ms once all run; no RTT exceeds 100 ms outside of startups.",
    },
    cases,
    weight: |case| f64::from(72 + case.together) * 100.0,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    controller: &'static str,
    seed: u64,
    /// For how long all flows run together.
    together: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// While all flows run.
    summary: Summary,
    /// Jain's index of what the flows got while all ran, and its mean over windows of 2 s.
    jain: f64,
    jain_windows: f64,
    /// Round-trip times from the first start on, but for the 4 s after each start.
    settled: Spread,
    /// The same without the receivers' delays of acknowledgements: the empty path and the queue, as packets met it.
    path: Spread,
    /// Of the run that is drawn: every flow.
    courses: Vec<TimeSeries>,
}

fn cases(scale: Scale) -> Vec<Case> {
    let controllers = scale.pick(&CONTROLLERS[..2], &CONTROLLERS[..]);
    let mut cases = Vec::new();
    for &controller in controllers {
        cases.extend(scale.seeds().map(|seed| Case {
            controller,
            seed,
            together: scale.pick(20, 60),
        }));
    }
    cases
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let last = GAP * (FLOWS - 1);
    let duration = last + Duration::from_secs(case.together.into());
    let bottleneck = bottleneck();
    let flows = (0..FLOWS).map(|flow| {
        let seed = case.seed + u64::from(flow) * 1000;
        greedy(case.controller, seed, GAP * flow, duration)
    });
    let outcome = transfer(bottleneck.topology(), flows, duration, None, case.seed)?;
    let from = last + STARTUP;
    let window = Duration::from_secs(2);
    Ok(Run {
        summary: Summary::of(&outcome, &bottleneck, from, duration),
        jain: outcome.jain(from, duration).unwrap_or(0.0),
        jain_windows: outcome.mean_jain(from, duration, window).unwrap_or(0.0),
        settled: Spread::of(&settled(duration, |from, to| outcome.rtts(from, to))),
        path: Spread::of(&settled(duration, |from, to| {
            path_delays(&outcome, from, to)
        })),
        courses: TimeSeries::drawn(&outcome, case.seed == 1),
    })
}

fn report(_scale: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let table = runs
        .table("Means over the seeds", |case| case.controller)
        .name("controller", |case| code(case.controller))
        .numbers("Jain", |run| run.jain)
        .numbers("Jain, 2 s", |run| run.jain_windows)
        .percents("utilization", |run| run.summary.used())
        .numbers("RTT mean, ms", |run| run.summary.rtt.mean)
        .numbers("p99", |run| run.summary.rtt.p99)
        .numbers("outside of startups: mean, ms", |run| run.settled.mean)
        .numbers("p99", |run| run.settled.p99)
        .numbers("largest", |run| run.settled.max)
        .numbers("of the path alone: p99, ms", |run| run.path.p99)
        .numbers("largest", |run| run.path.max)
        .percents("loss", |run| run.summary.loss_rate);
    let [ours, bbr] = ["bbr-s", "bbr"].map(|name| runs.only(|case| case.controller == name));
    let both = |figure: fn(&Run) -> f64| [&ours, &bbr].map(|runs| runs.over(figure));
    let [jain, bbr_jain] = both(|run| run.jain);
    let [mean, bbr_mean] = both(|run| run.summary.rtt.mean);
    let [largest, bbr_largest] = both(|run| run.settled.max);
    let [path, bbr_path] = both(|run| run.path.p99);
    let [path_largest, bbr_path_largest] = both(|run| run.path.max);
    let milliseconds = |ms: f64| format!("{ms:.0} ms");
    let mut section = section
        .verdict(Verdict::new(
            "Jain's index of ten `bbr-s` flows",
            "0.971",
            jain.text(number),
            (near(jain.mean, 0.971), jain.mean > bbr_jain.mean),
            CAPPED,
        ))
        .verdict(Verdict::new(
            "mean RTT once all run",
            "84 ms",
            mean.text(milliseconds),
            (near(mean.mean, 84.0), mean.mean < bbr_mean.mean),
            CAPPED,
        ))
        .verdict(Verdict::new(
            "largest RTT outside of startups",
            "100 ms",
            largest.text(milliseconds),
            (largest.mean <= 100.0, largest.mean < bbr_largest.mean),
            "Up to 25 ms of it are the receiver's: see the note.",
        ))
        .verdict(Verdict::new(
            "99th percentile of the path's round-trip time outside of startups, without the delays of acknowledgements",
            "at most 100 ms",
            path.text(milliseconds),
            (path.largest <= 100.0, path.mean < bbr_path.mean),
            "",
        ))
        .verdict(Verdict::new(
            "the largest of these",
            "at most 100 ms",
            path_largest.text(milliseconds),
            (path_largest.largest <= 100.0, path_largest.mean < bbr_path_largest.mean),
            "",
        ))
        .table(table)
        .note(
            "In direction is what is better than `bbr`'s. A round-trip time that a sender measures contains what the receiver waits \
             for a second packet to acknowledge, up to 25 ms: the columns on the right are the path's alone.",
        );
    if let Some(run) = ours.first().filter(|run| !run.courses.is_empty()) {
        let flows = (1..).zip(&run.courses);
        let flows = flows.map(|(number, series)| (number.to_string(), Mark::Line, series));
        let charts = TimeSeries::charts("Ten `bbr-s` flows", Axis::linear("ms"), flows);
        section = section.charts(charts);
    }
    section
}

/// Why flows keep the shares and the queue that they have come to.
const CAPPED: &str = "On quinn a window of rate x smoothed RTT neither grows nor drains a queue. What bounds it is two bandwidth-delay products, of each \
     flow's own estimate and of a minimum RTT that contains the queue which the flow found.";

/// The times that `between` has, but for those of the time after each start, sorted.
fn settled(duration: Duration, between: impl Fn(Duration, Duration) -> Vec<u64>) -> Vec<u64> {
    let mut times = Vec::new();
    for flow in 0..FLOWS {
        let from = GAP * flow + STARTUP;
        let to = if flow + 1 == FLOWS {
            duration
        } else {
            GAP * (flow + 1)
        };
        times.extend(between(from, to));
    }
    times.sort_unstable();
    times
}

/// The empty path's round-trip time and what each packet waited.
fn path_delays(outcome: &Outcome, from: Duration, to: Duration) -> Vec<u64> {
    let Some(link) = outcome.links.get("forward") else {
        return Vec::new();
    };
    let delays = link.queue_delays(from, to).into_iter();
    let empty = Nanos::from(RTT).0;
    delays.map(|delay| empty.saturating_add(delay)).collect()
}

fn bottleneck() -> Bottleneck {
    Bottleneck::constant(MBPS, Limit::bytes(4 * BDP), RTT)
}

const MBPS: f64 = 100.0;
/// Of the empty path.
const RTT: Duration = Duration::from_millis(50);
/// Bandwidth times round-trip time, in bytes.
const BDP: u64 = 625_000;
const FLOWS: u32 = 10;
/// From one flow's start to the next one's.
const GAP: Duration = Duration::from_secs(8);
/// How long a start takes.
const STARTUP: Duration = Duration::from_secs(4);

const CONTROLLERS: [&str; 8] = [
    "bbr-s",
    "bbr",
    "bbr-s:published",
    "noq:bbr-s",
    "knee",
    "noq:knee",
    "cubic",
    "quinn-cubic",
];
