//! A5: one flow of BBR-S beside one of CUBIC.

use std::time::Duration;

use kneepoint_emulator::link::Limit;
use serde::{Deserialize, Serialize};

use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Verdict, number, percent};
use crate::reproduce::setup::{Bottleneck, greedy, transfer};
use crate::reproduce::summary::{Seeds, Summary, TimeSeries};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};

/// Figures 13 and 14.
pub(in crate::reproduce) static BESIDE_CUBIC: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "A5",
        paper: Paper::BbrS,
        title: "One flow beside CUBIC",
        figure: "figures 13 and 14",
        setup: "50 Mb/s, 50 ms, two flows that start together, measured from 5 s on. The paper does not give the queue: it is \
                swept.",
        claim: "BBR-S gets 80 to 90 % of its fair share; the RTT grows, for CUBIC fills the queue.",
    },
    cases,
    weight: |case| f64::from(case.seconds) * MBPS,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    ours: &'static str,
    theirs: &'static str,
    /// The queue in BDP.
    queue: f64,
    seed: u64,
    seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    summary: Summary,
    /// What each got of its half.
    shares: [f64; 2],
    /// Of the run that is drawn: both flows.
    courses: Vec<TimeSeries>,
}

fn cases(scale: Scale) -> Vec<Case> {
    let mut cases = Vec::new();
    let queues = scale.pick(&[DRAWN][..], &QUEUES[..]);
    for &(ours, theirs) in scale.pick(&PAIRS[..2], &PAIRS[..]) {
        // quinn's CUBIC does what ours does.
        let drawn = |queue: &&f64| theirs != "quinn-cubic" || **queue == DRAWN;
        for &queue in queues.iter().filter(drawn) {
            cases.extend(scale.seeds().map(|seed| Case {
                ours,
                theirs,
                queue,
                seed,
                seconds: scale.pick(30, 60),
            }));
        }
    }
    cases
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let duration = Duration::from_secs(case.seconds.into());
    let buffer = Limit::bytes((case.queue * BDP).round() as u64);
    let bottleneck = Bottleneck::constant(MBPS, buffer, Duration::from_millis(50));
    let flows = [(case.ours, case.seed), (case.theirs, case.seed + 1000)]
        .map(|(name, seed)| greedy(name, seed, Duration::ZERO, duration));
    let outcome = transfer(bottleneck.topology(), flows, duration, None, case.seed)?;
    let from = Duration::from_secs(5);
    let share = |flow: usize| outcome.flows[flow].goodput_mbps(from, duration) / (MBPS / 2.0);
    let drawn = (case.seed, case.ours, case.theirs) == (1, "bbr-s", "cubic");
    Ok(Run {
        summary: Summary::of(&outcome, &bottleneck, from, duration),
        shares: [share(0), share(1)],
        courses: TimeSeries::drawn(&outcome, drawn),
    })
}

fn report(_scale: Scale, runs: &Runs<'_, Case, Run>, mut section: Section) -> Section {
    let table = runs
        .table("Shares of the half of the link, means over the seeds", key)
        .name("flows", |case| {
            format!("`{}` beside `{}`", case.ours, case.theirs)
        })
        .name("queue, BDP", |case| number(case.queue))
        .percents("ours", |run| run.shares[0])
        .percents("theirs", |run| run.shares[1])
        .percents("utilization", |run| run.summary.used())
        .numbers("RTT mean, ms", |run| run.summary.rtt.mean)
        .numbers("p99", |run| run.summary.rtt.p99)
        .percents("loss", |run| run.summary.loss_rate);
    let shares = |ours: &str, theirs: &str| -> Vec<(f64, Seeds)> {
        let pair = runs.only(|case| (case.ours, case.theirs) == (ours, theirs));
        let queues = pair.by(|case| case.queue).into_iter();
        let share =
            |(queue, runs): (f64, Runs<'_, Case, Run>)| (queue, runs.over(|run| run.shares[0]));
        queues.map(share).collect()
    };
    for (queue, share) in shares("bbr-s", "cubic") {
        section = section.verdict(Verdict::new(
            format!("share of `bbr-s` beside `cubic`, queue of {} BDP", number(queue)),
            "80 to 90 % of its half",
            share.text(percent),
            ((0.8..=0.9).contains(&share.mean), (0.5..1.0).contains(&share.mean)),
            "The window is the rate times the smoothed RTT, and at most two bandwidth-delay products. With a short queue it is \
             larger than what CUBIC has after a loss, with a long one a smaller part of what path and queue hold.",
        ));
    }
    section = section.table(table);
    let mut chart = Chart::new(
        "Share of its half of the link, by the queue",
        Axis::log("queue, BDP"),
        Axis::linear("%"),
    )
    .series(
        "the paper's 80 %",
        Mark::Reference,
        [(QUEUES[0], 80.0), (QUEUES[QUEUES.len() - 1], 80.0)],
    );
    for (ours, theirs) in CURVES {
        let points = shares(ours, theirs).into_iter();
        let points = points.map(|(queue, share)| (queue, 100.0 * share.mean));
        chart = chart.series(format!("{ours} beside {theirs}"), Mark::Dots, points);
    }
    section = section.chart(chart);
    for (case, run) in runs.only(|case| case.queue == DRAWN).iter() {
        if !run.courses.is_empty() {
            let caption = format!("`bbr-s` beside `cubic`, queue of {} BDP", number(DRAWN));
            let flows = [case.ours, case.theirs].into_iter().zip(&run.courses);
            let flows = flows.map(|(name, series)| (name, Mark::Line, series));
            section = section.charts(TimeSeries::charts(&caption, Axis::linear("ms"), flows));
        }
    }
    section
}

/// What the runs of a row have in common.
fn key(case: &Case) -> (&'static str, &'static str, f64) {
    (case.ours, case.theirs, case.queue)
}

const MBPS: f64 = 50.0;
/// Bandwidth times round-trip time, in bytes.
const BDP: f64 = 312_500.0;
const QUEUES: [f64; 11] = [0.125, 0.25, 0.4, 0.45, 0.5, 0.7, 1.0, 1.2, 1.4, 2.0, 4.0];
/// The queue whose course is drawn.
const DRAWN: f64 = 2.0;
const PAIRS: [(&str, &str); 7] = [
    ("bbr-s", "cubic"),
    ("bbr", "cubic"),
    ("bbr-s:published", "cubic"),
    ("knee", "cubic"),
    ("bbr-s", "quinn-cubic"),
    ("bbr", "quinn-cubic"),
    ("noq:bbr-s", "noq-cubic"),
];
/// The pairs whose shares are drawn.
const CURVES: [(&str, &str); 5] = [PAIRS[0], PAIRS[1], PAIRS[2], PAIRS[3], PAIRS[6]];
