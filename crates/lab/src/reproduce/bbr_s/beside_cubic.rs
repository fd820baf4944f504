//! A5: one flow of BBR-S beside one of CUBIC.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue};
use serde::{Deserialize, Serialize};

use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number, percent};
use crate::reproduce::setup::{Bottleneck, greedy};
use crate::reproduce::summary::{Course, Seeds, Summary};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};
use crate::trial::Trial;

/// Figures 13 and 14.
pub(in crate::reproduce) struct BesideCubic;

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
    courses: Vec<Course>,
}

impl Study for BesideCubic {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "A5",
            paper: Paper::BbrS,
            title: "One flow beside CUBIC",
            figure: "figures 13 and 14",
            setup: "50 Mb/s, 50 ms, two flows that start together, measured from 5 s on. The paper does not give the queue: it is \
                    swept.",
            claim: "BBR-S gets 80 to 90 % of its fair share; the RTT grows, for CUBIC fills the queue.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Case> {
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

    fn weight(&self, case: &Case) -> f64 {
        f64::from(case.seconds) * MBPS
    }

    fn run(&self, case: &Case) -> Result<Run, CaseError> {
        let duration = Duration::from_secs(case.seconds.into());
        let queue = (case.queue * BDP).round() as u64;
        let bottleneck = Bottleneck::constant(
            MBPS,
            Queue::DropTail(Limit::bytes(queue)),
            Duration::from_millis(50),
        );
        let trial = Trial {
            topology: bottleneck.topology(),
            flows: vec![
                greedy(case.ours, case.seed, Duration::ZERO, duration)?,
                greedy(case.theirs, case.seed + 1000, Duration::ZERO, duration)?,
            ],
            duration,
            interval: None,
            seed: case.seed,
        };
        let outcome = trial.run()?;
        let from = Duration::from_secs(5);
        let share = |flow: usize| outcome.flows[flow].goodput_mbps(from, duration) / (MBPS / 2.0);
        Ok(Run {
            summary: Summary::of(&outcome, &bottleneck, from, duration),
            shares: [share(0), share(1)],
            courses: if case.seed == 1 && case.ours == "bbr-s" && case.theirs == "cubic" {
                outcome.flows.iter().map(Course::of).collect()
            } else {
                Vec::new()
            },
        })
    }

    fn report(&self, _scale: Scale, results: &[(Case, Run)]) -> Section {
        let mut table = Table::new(
            "Shares of the half of the link, means over the seeds",
            &[
                "flows",
                "queue, BDP",
                "ours",
                "theirs",
                "utilization",
                "RTT mean, ms",
                "p99",
                "loss",
            ],
        );
        let mut cells: Vec<&Case> = results.iter().map(|(case, _)| case).collect();
        cells.dedup_by_key(|case| (case.ours, case.theirs, case.queue.to_bits()));
        let seeds = |cell: &Case, figure: fn(&Run) -> f64| {
            let same = |case: &Case| {
                (case.ours, case.theirs, case.queue) == (cell.ours, cell.theirs, cell.queue)
            };
            Seeds::of(
                results
                    .iter()
                    .filter(|(case, _)| same(case))
                    .map(|(_, run)| figure(run)),
            )
        };
        for cell in &cells {
            let text =
                |figure: fn(&Run) -> f64, print: fn(f64) -> String| seeds(cell, figure).text(print);
            table.row([
                format!("`{}` beside `{}`", cell.ours, cell.theirs),
                number(cell.queue),
                text(|run| run.shares[0], percent),
                text(|run| run.shares[1], percent),
                text(|run| run.summary.utilization.unwrap_or(f64::NAN), percent),
                text(|run| run.summary.rtt.mean, number),
                text(|run| run.summary.rtt.p99, number),
                text(|run| run.summary.loss_rate, percent),
            ]);
        }
        let mut section = Section::new(Study::about(self));
        for cell in cells
            .iter()
            .filter(|cell| (cell.ours, cell.theirs) == ("bbr-s", "cubic"))
        {
            let share = seeds(cell, |run| run.shares[0]);
            section = section.verdict(Verdict::new(
                format!("share of `bbr-s` beside `cubic`, queue of {} BDP", number(cell.queue)),
                "80 to 90 % of its half",
                share.text(percent),
                ((0.8..=1.1).contains(&share.mean), share.mean >= 0.5),
                "Up to 0.4 BDP CUBIC's reduction empties the queue, and `bbr-s` takes what it leaves. From there on `bbr-s` sees \
                 that somebody fills the queue, by two ProbeRTTs that find it standing and a loss between them, and keeps two BDP in \
                 flight, the paper's window. That is a half of what one BDP of queue and the path hold, and less of longer \
                 queues; until it has lost something it gives way. A window that grows with the queue would make flows of its own \
                 kind that once take each other for rivals keep the queue full.",
            ));
        }
        for name in ["bbr-s", "bbr-s:paper"] {
            let fitting = cells.iter().filter(|cell| {
                (cell.ours, cell.theirs) == (name, "cubic")
                    && (0.75..=0.95).contains(&seeds(cell, |run| run.shares[0]).mean)
            });
            let fitting: Vec<_> = fitting.map(|cell| number(cell.queue)).collect();
            section = section.verdict(Verdict::new(
                format!("queues in BDP, of those tried, with which `{name}` has the paper's share beside `cubic`"),
                "not given",
                if fitting.is_empty() {
                    "none".to_owned()
                } else {
                    fitting.join(", ")
                },
                (!fitting.is_empty(), false),
                "The share falls from far above the half to far below it between two neighbours of the sweep.",
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
            let mine = cells
                .iter()
                .filter(|cell| (cell.ours, cell.theirs) == (ours, theirs));
            let points =
                mine.map(|cell| (cell.queue, 100.0 * seeds(cell, |run| run.shares[0]).mean));
            chart = chart.series(format!("{ours} beside {theirs}"), Mark::Dots, points);
        }
        section = section.chart(chart);
        for (case, run) in results.iter().filter(|(_, run)| !run.courses.is_empty()) {
            let time = || Axis::linear("time, s");
            let caption = format!(
                "`bbr-s` beside `cubic`, queue of {} BDP",
                number(case.queue)
            );
            let mut goodput =
                Chart::new(format!("{caption}: goodput"), time(), Axis::linear("Mb/s"));
            let mut rtt = Chart::new(
                format!("{caption}: round-trip time"),
                time(),
                Axis::linear("ms"),
            );
            for (name, course) in [case.ours, case.theirs].into_iter().zip(&run.courses) {
                goodput = goodput.series(name, Mark::Line, course.goodput.iter().copied());
                rtt = rtt.series(name, Mark::Line, course.rtt.iter().copied());
            }
            if case.queue == DRAWN {
                section = section.chart(goodput).chart(rtt);
            }
        }
        section
    }
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
    ("bbr-s:paper", "cubic"),
    ("bbr-s", "quinn-cubic"),
    ("bbr", "quinn-cubic"),
    ("bbr-s:paper", "quinn-cubic"),
    ("noq:bbr-s", "noq-cubic"),
];
/// The pairs whose shares are drawn.
const CURVES: [(&str, &str); 4] = [PAIRS[0], PAIRS[1], PAIRS[2], PAIRS[6]];
