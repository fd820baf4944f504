//! B1: the link's rate doubles, and is halved again.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue, RateStep, Shaper};
use serde::{Deserialize, Serialize};

use super::figures;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number};
use crate::reproduce::setup::{Bottleneck, greedy};
use crate::reproduce::summary::{Spread, thin};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};
use crate::trial::{LinkOutcome, Outcome, Trial};

/// Figures 4 and 5.
pub(in crate::reproduce) struct RateSteps;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    controller: &'static str,
    seed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// The round-trip time before the first step, in milliseconds: the median.
    level: f64,
    /// From the doubling until the link is used to 95 %, in seconds.
    converged: Option<f64>,
    /// The longest round-trip time after the halving, in milliseconds.
    peak: f64,
    /// From the halving until the round-trip time is again about what it was at this rate, in seconds.
    drained: Option<f64>,
    /// Around each step, if it is drawn.
    curves: Option<[Curves; 2]>,
}

/// Around one step, over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Curves {
    /// The estimate in Mb/s; empty if the controller does not show it.
    estimate: Vec<(f64, f64)>,
    /// In flight, in kB; the same.
    in_flight: Vec<(f64, f64)>,
    /// Milliseconds.
    rtt: Vec<(f64, f64)>,
}

impl Study for RateSteps {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "B1",
            paper: Paper::Bbr,
            title: "The bottleneck's rate doubles, and is halved again",
            figure: "figures 4 and 5",
            setup: "One bulk flow over 10 Mb/s and 40 ms; 20 Mb/s from second 20 on, 10 Mb/s again from second 40 on. The queue \
                    holds 500 kB, ten bandwidth-delay products: nothing is lost. Seeds differ in where the gain cycle begins.",
            claim: "BBR converges to the doubled rate exponentially fast: a quarter more per cycle of eight round trips, so in \
                    three to four cycles of 0.32 s. After the halving the old maximum lasts for the filter's length; then \
                    the queue drains.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Case> {
        let cases = |seed| CONTROLLERS.map(|controller| Case { controller, seed });
        scale.seeds().flat_map(cases).collect()
    }

    fn weight(&self, _: &Case) -> f64 {
        800.0
    }

    fn run(&self, case: &Case) -> Result<Run, CaseError> {
        let bottleneck = bottleneck();
        let outcome = Trial {
            topology: bottleneck.topology(),
            flows: vec![greedy(case.controller, case.seed, Duration::ZERO, END)?],
            duration: END,
            interval: Some(Duration::from_millis(20)),
            seed: case.seed,
        }
        .run()?;
        let level = Spread::of(&outcome.rtts(Duration::from_secs(10), DOUBLED)).median;
        let after = rtts(&outcome, HALVED, END);
        Ok(Run {
            level,
            converged: outcome.links.get("forward").and_then(converged),
            peak: Spread::of(&outcome.rtts(HALVED, END)).max,
            drained: drained(&after, 1.25 * level).map(|at| at - HALVED.as_secs_f64()),
            curves: (case.seed == 1 && DRAWN.contains(&case.controller))
                .then(|| [DOUBLED, HALVED].map(|step| Curves::around(&outcome, step))),
        })
    }

    fn report(&self, _: Scale, results: &[(Case, Run)]) -> Section {
        let of = |name: &str, figure: fn(&Run) -> f64| {
            figures(results, |case: &Case| case.controller == name, figure)
        };
        let mut table = Table::new(
            "Two steps of the rate: means over the seeds (least to largest)",
            &[
                "controller",
                "RTT at 10 Mb/s, ms",
                "95 % of 20 Mb/s after, s",
                "longest RTT after the halving, ms",
                "drained after, s",
            ],
        );
        let columns: [fn(&Run) -> f64; 4] = [
            |run| run.level,
            |run| run.converged.unwrap_or(f64::NAN),
            |run| run.peak,
            |run| run.drained.unwrap_or(f64::NAN),
        ];
        for name in CONTROLLERS {
            let cells = columns.map(|figure| of(name, figure).text(number));
            table.row(std::iter::once(format!("`{name}`")).chain(cells));
        }
        let mut section = Section::new(Study::about(self)).table(table);
        for name in ["bbr", "bbr:tuned"] {
            let converged = of(name, columns[1]);
            let drained = of(name, columns[3]);
            section = section
                .verdict(Verdict::new(
                    format!("`{name}`: time to 95 % of the doubled rate"),
                    "about 1.3 s (four cycles)",
                    converged.text(|s| format!("{s:.1} s")),
                    (converged.mean <= 1.5, converged.mean <= 3.0),
                    "The probes do not raise the estimate by a quarter each: see the curves.",
                ))
                .verdict(Verdict::new(
                    format!("`{name}`: time until the queue is gone after the halving"),
                    "about 2 s (figure 5)",
                    drained.text(|s| format!("{s:.1} s")),
                    (drained.mean <= 2.5, drained.mean <= 10.0),
                    "The queue stays until the next ProbeRTT.",
                ));
        }
        charts(section, results).note(
            "A step counts as done when the link is used to 95 % over half a second, on the wire; the queue as gone when the mean \
             round-trip time of a tenth of a second is within 25 % of the median of seconds 10 to 20, at the same rate. quinn \
             paces at 1.25 windows per smoothed round trip whatever the controller says: with `bbr`, whose window is two \
             bandwidth-delay products, one product waits in the queue, and the doubled link finds enough in flight to be \
             full at once. `bbr:tuned` holds its window near one product: there the steps of the paper's figure are seen.",
        )
    }
}

impl Curves {
    /// From 2 s before a step to 8 s after it.
    fn around(outcome: &Outcome, step: Duration) -> Self {
        let (from, to) = (step - Duration::from_secs(2), step + Duration::from_secs(8));
        let moments = outcome.flows[0].moments.iter();
        let moments = moments.filter(|moment| (from..to).contains(&moment.at));
        let series = |value: fn(&kneepoint_controllers::Snapshot) -> Option<f64>| {
            let points = moments.clone().filter_map(|moment| {
                value(&moment.snapshot).map(|value| (moment.at.as_secs_f64(), value))
            });
            thin(points, BIN)
        };
        Self {
            estimate: series(|snapshot| {
                let bandwidth = snapshot.bandwidth?;
                Some(bandwidth.bytes_per_second() as f64 * 8e-6)
            }),
            in_flight: series(|snapshot| Some(snapshot.in_flight.0 as f64 / 1e3)),
            rtt: rtts(outcome, from, to),
        }
    }
}

fn bottleneck() -> Bottleneck {
    let step = |from: Duration, mbps: u64| RateStep {
        from: from.into(),
        bytes_per_second: mbps * 125_000,
    };
    Bottleneck {
        shaper: Shaper::Schedule(vec![
            step(Duration::ZERO, 10),
            step(DOUBLED, 20),
            step(HALVED, 10),
        ]),
        queue: Queue::DropTail(Limit::bytes(500_000)),
        rtt: Duration::from_millis(40),
        loss: 0.0,
    }
}

/// The mean round-trip times between two times, in milliseconds.
fn rtts(outcome: &Outcome, from: Duration, to: Duration) -> Vec<(f64, f64)> {
    let samples = outcome.flows[0].rtts.iter();
    let samples = samples.map(|sample| (sample.at as f64 / 1e9, sample.rtt as f64 / 1e6));
    let within = from.as_secs_f64()..to.as_secs_f64();
    thin(samples.filter(|(at, _)| within.contains(at)), BIN)
}

/// From the doubling to the first half second in which the link is used to 95 %.
fn converged(link: &LinkOutcome) -> Option<f64> {
    let window = Duration::from_millis(500);
    let enough = 0.95 * 2_500_000.0 * window.as_secs_f64();
    let step = Duration::from_millis(20);
    let mut start = DOUBLED;
    while start + window <= HALVED {
        if link.delivered(start, start + window) as f64 >= enough {
            return Some((start - DOUBLED).as_secs_f64());
        }
        start += step;
    }
    None
}

/// When the curve first is at or below the level after its highest point.
fn drained(curve: &[(f64, f64)], level: f64) -> Option<f64> {
    let highest = curve.iter().enumerate();
    let (peak, _) = highest.max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1))?;
    let low = curve[peak..].iter().find(|(_, rtt)| *rtt <= level)?;
    Some(low.0)
}

fn charts(mut section: Section, results: &[(Case, Run)]) -> Section {
    let curves = |name: &str| {
        let mut drawn = results.iter().filter(|(case, _)| case.controller == name);
        drawn.find_map(|(_, run)| run.curves.clone())
    };
    let steps = [
        ("doubled", 20.0, [10.0, 20.0]),
        ("halved", 40.0, [20.0, 10.0]),
    ];
    for (place, (what, at, [before, after])) in steps.into_iter().enumerate() {
        let axis = Axis::linear("time, s");
        let mut rate = Chart::new(
            format!("The rate is {what}, seed 1: the estimate"),
            axis.clone(),
            Axis::linear("Mb/s"),
        )
        .series(
            "capacity",
            Mark::Reference,
            [
                (at - 2.0, before),
                (at, before),
                (at, after),
                (at + 8.0, after),
            ],
        );
        let mut rtt = Chart::new(
            format!("The rate is {what}, seed 1: round-trip time"),
            axis.clone(),
            Axis::linear("ms"),
        );
        let mut in_flight = Chart::new(
            format!("The rate is {what}, seed 1: in flight"),
            axis,
            Axis::linear("kB"),
        );
        for name in DRAWN {
            let Some(curves) = curves(name) else {
                continue;
            };
            let [first, second] = curves;
            let curves = if place == 0 { first } else { second };
            rate = rate.series(name, Mark::Line, curves.estimate);
            rtt = rtt.series(name, Mark::Line, curves.rtt);
            in_flight = in_flight.series(name, Mark::Line, curves.in_flight);
        }
        section = section.chart(rate).chart(rtt).chart(in_flight);
    }
    section
}

const DOUBLED: Duration = Duration::from_secs(20);
const HALVED: Duration = Duration::from_secs(40);
const END: Duration = Duration::from_secs(60);

/// The time between two points of a curve, in seconds.
const BIN: f64 = 0.1;

const CONTROLLERS: [&str; 6] = [
    "bbr",
    "bbr:tuned",
    "bbr3",
    "quinn-bbr",
    "quinn-cubic",
    "quinn-new-reno",
];

const DRAWN: [&str; 3] = ["bbr", "bbr:tuned", "bbr3"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_drained_after_its_peak_only() {
        let curve = [(40.1, 80.0), (40.2, 300.0), (40.3, 120.0), (40.4, 90.0)];
        assert_eq!(drained(&curve, 100.0), Some(40.4));
        assert_eq!(drained(&curve, 70.0), None);
        assert_eq!(drained(&[], 70.0), None);
    }
}
