//! B1: the link's rate doubles, and is halved again.

use std::time::Duration;

use kneepoint_controllers::Snapshot;
use kneepoint_emulator::link::{Limit, Queue, RateStep, Shaper};
use serde::{Deserialize, Serialize};

use super::Case;
use crate::plots::{Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, number_alone};
use crate::reproduce::setup::Bottleneck;
use crate::reproduce::summary::{Spread, estimate, known, rtts, shown, thin};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};
use crate::trial::{LinkOutcome, Outcome};

/// Figures 4 and 5.
pub(in crate::reproduce) static RATE_STEPS: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "B1",
        paper: Paper::Bbr,
        title: "The bottleneck's rate doubles, and is halved again",
        figure: "figures 4 and 5",
        setup: "One bulk flow over 10 Mb/s and 40 ms; 20 Mb/s from second 20 on, 10 Mb/s again from second 40 on. The queue \
                holds 500 kB, ten bandwidth-delay products: nothing is lost. Seeds differ in where the gain cycle begins.",
        claim: "BBR converges to the doubled rate exponentially fast: a quarter more per cycle of eight round trips, so in \
                three to four cycles of 0.32 s. After the halving the old maximum lasts for the filter's length; then \
                the queue drains.",
    },
    cases: |scale| Case::each(&CONTROLLERS, scale),
    weight: |_| 800.0,
    run,
    report,
};

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

fn run(case: &Case) -> Result<Run, CaseError> {
    let interval = Some(Duration::from_millis(20));
    let outcome = bottleneck().bulk(case.controller, case.seed, END, interval)?;
    let level = Spread::of(&outcome.rtts(Duration::from_secs(10), DOUBLED)).median;
    let after = between(rtts(&outcome.flows[0]), HALVED, END);
    Ok(Run {
        level,
        converged: outcome.links.get("forward").and_then(converged),
        peak: Spread::of(&outcome.rtts(HALVED, END)).max,
        drained: drained(&after, 1.25 * level).map(|at| at - HALVED.as_secs_f64()),
        curves: (case.seed == 1 && DRAWN.contains(&case.controller))
            .then(|| [DOUBLED, HALVED].map(|step| Curves::around(&outcome, step))),
    })
}

fn report(_: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let converged = |run: &Run| known(run.converged);
    let drained = |run: &Run| known(run.drained);
    let table = runs
        .table(
            "Two steps of the rate: means over the seeds (least to largest)",
            |case| case.controller,
        )
        .name("controller", |case| code(case.controller))
        .numbers("RTT at 10 Mb/s, ms", |run| run.level)
        .numbers("95 % of 20 Mb/s after, s", converged)
        .numbers("longest RTT after the halving, ms", |run| run.peak)
        .numbers("drained after, s", drained);
    let mut section = section.table(table);
    for name in ["bbr", "noq:bbr"] {
        let of = runs.only(|case| case.controller == name);
        let (converged, drained) = (of.over(converged), of.over(drained));
        section = section
            .verdict(Verdict::new(
                format!("`{name}`: time to 95 % of the doubled rate"),
                "about 1.3 s (four cycles)",
                converged.text(|s| format!("{s:.1} s")),
                number_alone(converged.mean, 1.3),
                "The probes do not raise the estimate by a quarter each: see the curves.",
            ))
            .verdict(Verdict::new(
                format!("`{name}`: time until the queue is gone after the halving"),
                "about 2 s (figure 5)",
                drained.text(|s| format!("{s:.1} s")),
                number_alone(drained.mean, 2.0),
                "The queue stays until the next ProbeRTT.",
            ));
    }
    charts(section, runs).note(
        "A step counts as done when the link is used to 95 % over half a second, on the wire; the queue as gone when the mean \
         round-trip time of a tenth of a second is within 25 % of the median of seconds 10 to 20, at the same rate. quinn \
         paces at 1.25 windows per smoothed round trip whatever the controller says: with `bbr`, whose window is two \
         bandwidth-delay products, one product waits in the queue, and the doubled link finds enough in flight to be \
         full at once. `bbr:tuned` holds its window near one product: there the steps of the paper's figure are seen.",
    )
}

impl Curves {
    /// From 2 s before a step to 8 s after it.
    fn around(outcome: &Outcome, step: Duration) -> Self {
        let (from, to) = (step - Duration::from_secs(2), step + Duration::from_secs(8));
        let flow = &outcome.flows[0];
        let in_flight = |snapshot: &Snapshot| Some(snapshot.in_flight.0 as f64 / 1e3);
        Self {
            estimate: between(shown(flow, estimate), from, to),
            in_flight: between(shown(flow, in_flight), from, to),
            rtt: between(rtts(flow), from, to),
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

/// The means of the points between two times.
fn between(
    points: impl Iterator<Item = (f64, f64)>,
    from: Duration,
    to: Duration,
) -> Vec<(f64, f64)> {
    let within = from.as_secs_f64()..to.as_secs_f64();
    thin(points.filter(|(at, _)| within.contains(at)), BIN)
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

fn charts(mut section: Section, runs: &Runs<'_, Case, Run>) -> Section {
    let steps = [
        ("doubled", 20.0, [10.0, 20.0]),
        ("halved", 40.0, [20.0, 10.0]),
    ];
    for (place, (what, at, [before, after])) in steps.into_iter().enumerate() {
        let chart = |what_of: &str, unit| {
            Chart::over_time(format!("The rate is {what}, seed 1: {what_of}"), unit)
        };
        let capacity = [
            (at - 2.0, before),
            (at, before),
            (at, after),
            (at + 8.0, after),
        ];
        let rate = chart("the estimate", "Mb/s").series("capacity", Mark::Reference, capacity);
        let lines = |chart, curve: fn(&Curves) -> &Vec<(f64, f64)>| {
            let name = |case: &Case| case.controller;
            runs.lines(chart, name, |run| {
                let curves = run.curves.as_ref().map(|curves| &curves[place]);
                curves.map(curve).cloned().unwrap_or_default()
            })
        };
        section = section.charts([
            lines(rate, |curves| &curves.estimate),
            lines(chart("round-trip time", "ms"), |curves| &curves.rtt),
            lines(chart("in flight", "kB"), |curves| &curves.in_flight),
        ]);
    }
    section
}

const DOUBLED: Duration = Duration::from_secs(20);
const HALVED: Duration = Duration::from_secs(40);
const END: Duration = Duration::from_secs(60);

/// The time between two points of a curve, in seconds.
const BIN: f64 = 0.1;

const CONTROLLERS: [&str; 8] = [
    "bbr",
    "noq:bbr",
    "knee",
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
