//! A2: one flow on LTE in a moving car.

use std::collections::BTreeMap;
use std::time::Duration;

use kneepoint_emulator::generate::{Profile, generate};
use kneepoint_emulator::link::{Limit, Queue, Shaper};
use kneepoint_emulator::time::Nanos;
use serde::{Deserialize, Serialize};

use crate::omniscient::omniscient;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number, opt, percent};
use crate::reproduce::setup::{Bottleneck, greedy};
use crate::reproduce::summary::{Course, Seeds, Summary, geometric_mean};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};
use crate::run::RunError;
use crate::trial::Trial;

/// Figures 5 to 7.
pub(in crate::reproduce) struct LteDriving;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    link: &'static str,
    controller: &'static str,
    seed: u64,
    seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    summary: Summary,
    /// Of the runs that are drawn.
    course: Option<Course>,
}

impl Study for LteDriving {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "A2",
            paper: Paper::BbrS,
            title: "One flow on LTE in a moving car",
            figure: "figures 5 to 7",
            setup: "One bulk flow over generated LTE traces, 40 ms of round-trip time, 3 MB of queue. The paper does not give \
                    its trace, its queue or its round-trip time, so two kinds of drive are shown: in town (median 4.4 Mb/s) and \
                    fast (9 Mb/s, deep swings), each seed a trace of its own.",
            claim: "BBR-S has 40 % less mean RTT than BBR and 60 % less at the 99th percentile, with at least 95 % of its \
                    throughput (abstract; 90 % in the text). Cubic and Compound exceed 500 ms on average; BBRx is like BBR.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Case> {
        let mut cases = Vec::new();
        for link in scale.pick(&["fast"][..], &["town", "fast"][..]) {
            for seed in scale.seeds() {
                for controller in CONTROLLERS {
                    cases.push(Case {
                        link,
                        controller,
                        seed,
                        seconds: scale.pick(30, 120),
                    });
                }
            }
        }
        cases
    }

    fn weight(&self, case: &Case) -> f64 {
        f64::from(case.seconds) * 15.0
    }

    fn run(&self, case: &Case) -> Result<Run, CaseError> {
        let duration = Duration::from_secs(case.seconds.into());
        let bottleneck = bottleneck(case, duration);
        let outcome = if case.controller == OMNISCIENT {
            let Shaper::Trace(trace) = &bottleneck.shaper else {
                return Ok(Run {
                    summary: Summary::default(),
                    course: None,
                });
            };
            omniscient(trace, bottleneck.rtt, duration).map_err(RunError::from)?
        } else {
            let flow = greedy(case.controller, case.seed, Duration::ZERO, duration)?;
            let trial = Trial {
                topology: bottleneck.topology(),
                flows: vec![flow],
                duration,
                interval: None,
                seed: case.seed,
            };
            trial.run()?
        };
        Ok(Run {
            summary: Summary::of(&outcome, &bottleneck, Duration::ZERO, duration),
            course: (case.seed == 1 && DRAWN.contains(&case.controller))
                .then(|| Course::of(&outcome.flows[0])),
        })
    }

    fn report(&self, scale: Scale, results: &[(Case, Run)]) -> Section {
        let mut section = Section::new(Study::about(self));
        let links = scale.pick(&["fast"][..], &["town", "fast"][..]);
        for link in links {
            let runs = Runs::new(results, link);
            section = section.table(runs.table(link));
            let [rtt, p99, throughput] = runs.against_bbr("bbr-s");
            section = section
                .verdict(Verdict::new(
                    format!("mean RTT against `bbr`, {link}"),
                    "-40 %",
                    change(rtt),
                    (rtt <= 0.6, rtt < 0.85),
                    "See the curves.",
                ))
                .verdict(Verdict::new(
                    format!("99th percentile of the RTT against `bbr`, {link}"),
                    "-60 %",
                    change(p99),
                    (p99 <= 0.4, p99 < 0.8),
                    "See the curves.",
                ))
                .verdict(Verdict::new(
                    format!("throughput against `bbr`, {link}"),
                    ">= 95 % (90 % in the text)",
                    percent(throughput),
                    (throughput >= 0.95, throughput >= 0.9),
                    "See the curves.",
                ));
            for name in ["cubic", "compound"] {
                let mean = Seeds::of(runs.of(name, |run| run.rtt.mean));
                section = section.verdict(Verdict::new(
                    format!("mean RTT of `{name}`, {link}"),
                    "> 500 ms",
                    mean.text(|ms| format!("{ms:.0} ms")),
                    (mean.least > 500.0, mean.mean > 250.0),
                    "Its window stays below the queue.",
                ));
            }
            let x = runs.against_bbr("bbr-x")[0];
            section = section.verdict(Verdict::new(
                format!("mean RTT of `bbr-x` against `bbr`, {link}"),
                "about the same",
                change(x),
                ((0.85..1.15).contains(&x), x < 1.3),
                "Its correction takes effect on this link.",
            ));
            section = runs.charts(section, link);
        }
        section.note(
            "`bbr-s` is the recommended preset, `bbr-s:paper` follows the paper's text as closely as quinn's one window allows. \
             `omniscient` knows the trace: it fills the link without a queue.",
        )
    }
}

/// The runs on one link.
struct Runs<'a>(BTreeMap<&'static str, Vec<&'a Run>>);

impl<'a> Runs<'a> {
    fn new(results: &'a [(Case, Run)], link: &str) -> Self {
        let mut runs = BTreeMap::<_, Vec<_>>::new();
        for (case, run) in results.iter().filter(|(case, _)| case.link == link) {
            runs.entry(case.controller).or_default().push(run);
        }
        Self(runs)
    }

    /// One figure of one controller, seed by seed.
    fn of(&self, controller: &str, figure: impl Fn(&Summary) -> f64) -> Vec<f64> {
        let runs = self.0.get(controller);
        let figure = |run: &&Run| figure(&run.summary);
        runs.map_or_else(Vec::new, |runs| runs.iter().map(figure).collect())
    }

    /// Mean RTT, its 99th percentile and goodput as parts of `bbr`'s: geometric means over the seeds.
    fn against_bbr(&self, controller: &str) -> [f64; 3] {
        let figures: [fn(&Summary) -> f64; 3] = [
            |run| run.rtt.mean,
            |run| run.rtt.p99,
            |run| run.goodput_mbps,
        ];
        figures.map(|figure| {
            let ours = self.of(controller, figure);
            let theirs = self.of("bbr", figure);
            geometric_mean(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs))
        })
    }

    fn table(&self, link: &str) -> Table {
        let mut table = Table::new(
            format!("LTE, {link}: means over the seeds (least to largest)"),
            &[
                "controller",
                "goodput, Mb/s",
                "utilization",
                "RTT mean, ms",
                "p95",
                "p99",
                "loss",
                "closed",
            ],
        );
        for name in CONTROLLERS {
            let over_seeds = |figure: fn(&Summary) -> f64, print: fn(f64) -> String| {
                Seeds::of(self.of(name, figure)).text(print)
            };
            let runs = self.0.get(name).map_or(&[][..], |runs| runs);
            let closed = runs
                .iter()
                .filter(|run| run.summary.closed.is_some())
                .count();
            table.row([
                format!("`{name}`"),
                over_seeds(|run| run.goodput_mbps, number),
                over_seeds(|run| run.utilization.unwrap_or(f64::NAN), percent),
                over_seeds(|run| run.rtt.mean, number),
                over_seeds(|run| run.rtt.p95, number),
                over_seeds(|run| run.rtt.p99, number),
                over_seeds(|run| run.loss_rate, percent),
                opt((closed > 0).then_some(closed as f64)),
            ]);
        }
        table
    }

    fn charts(&self, section: Section, link: &str) -> Section {
        let axis = Axis::linear("time, s");
        let mut goodput = Chart::new(
            format!("LTE, {link}, seed 1: goodput"),
            axis.clone(),
            Axis::linear("Mb/s"),
        );
        let mut rtt = Chart::new(
            format!("LTE, {link}, seed 1: round-trip time"),
            axis,
            Axis::log("ms"),
        );
        for name in DRAWN {
            let runs = self.0.get(name).map_or(&[][..], |runs| runs);
            let Some(course) = runs.iter().find_map(|run| run.course.clone()) else {
                continue;
            };
            let mark = if name == OMNISCIENT {
                Mark::Reference
            } else {
                Mark::Line
            };
            goodput = goodput.series(name, mark, course.goodput);
            rtt = rtt.series(name, mark, course.rtt);
        }
        section.chart(goodput).chart(rtt)
    }
}

fn bottleneck(case: &Case, duration: Duration) -> Bottleneck {
    let profile = match case.link {
        "town" => Profile::LteDrivingSlow,
        _ => Profile::LteDrivingFast,
    };
    Bottleneck {
        shaper: Shaper::Trace(generate(profile, case.seed, Nanos::from(duration))),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        rtt: Duration::from_millis(40),
        loss: 0.0,
    }
}

/// A change as a fraction of what it was, in percent.
fn change(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

const OMNISCIENT: &str = "omniscient";

const CONTROLLERS: [&str; 11] = [
    OMNISCIENT,
    "bbr-s",
    "bbr-s:paper",
    "bbr",
    "bbr-x",
    "vegas",
    "cubic",
    "compound",
    "quinn-cubic",
    "quinn-new-reno",
    "quinn-bbr",
];

/// Those whose course is drawn.
const DRAWN: [&str; 5] = [OMNISCIENT, "bbr", "bbr-x", "vegas", "bbr-s"];
