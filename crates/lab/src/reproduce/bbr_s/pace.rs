//! A1: a sender that follows the maximum, the mean, or the Kalman filter's belief of a capacity that varies.

use kneepoint_estimators::{
    CapacitySample, ExactWindow, Max, Skip, SkipConfig, SlidingMean, WindowedFilter,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::plots::Chart;
use crate::reproduce::report::{Section, Verdict, number, number_alone};
use crate::reproduce::summary::thin;
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};

/// Figure 2.
pub(in crate::reproduce) static PACE: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "A1",
        paper: Paper::BbrS,
        title: "The pace that a filter makes of a capacity that varies",
        figure: "figure 2",
        setup: "A fluid sender without a transport. The capacity is drawn every 10 ms, normal with 10 Mb/s of mean and 1 Mb/s of \
                deviation; the filters' window is 0.1 s. The sender's pace is what its filter says, up to a window of 2 BDP \
                at 40 ms.",
        claim: "The maximum is always too high, so that the queue grows until the window stops it, at twice the minimum RTT. The \
                mean keeps the queue short.",
    },
    cases,
    weight: |_case| 1.0,
    run,
    report,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(in crate::reproduce) struct Case {
    filter: Filter,
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
enum Filter {
    /// The largest capacity of the last 0.1 s.
    Maximum,
    /// The mean capacity of the last 0.1 s.
    Mean,
    /// The mean of what was delivered in the last 0.1 s: all that a sender can see.
    MeanOfDelivered,
    /// SKIP on what was delivered.
    Skip,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// The mean pace over the mean capacity.
    pace: f64,
    /// What was delivered over the capacity.
    utilization: f64,
    /// The mean round-trip time over its minimum.
    rtt: f64,
    /// The round-trip time over its minimum, in the first seconds of the run that is drawn.
    series: Vec<(f64, f64)>,
}

fn cases(scale: Scale) -> Vec<Case> {
    let cases = |filter| scale.seeds().map(move |seed| Case { filter, seed });
    Filter::ALL.into_iter().flat_map(cases).collect()
}

fn run(case: &Case) -> Result<Run, CaseError> {
    Ok(simulate(case.filter, case.seed))
}

fn report(_scale: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let table = runs
        .table("Means over the seeds", |case| case.filter)
        .name("the pace is", |case| case.filter.name().to_owned())
        .numbers("pace / capacity", |run| run.pace)
        .numbers("delivered / capacity", |run| run.utilization)
        .numbers("mean RTT / minimum", |run| run.rtt);
    let chart = Chart::over_time(
        "The round-trip time that each pace makes, seed 1",
        "RTT / minimum",
    );
    let chart = runs.lines(chart, |case| case.filter.name(), |run| run.series.clone());
    let of = |filter| runs.only(|case| case.filter == filter);
    let rtt = |filter| of(filter).over(|run| run.rtt);
    let (maximum, mean, skip) = (rtt(Filter::Maximum), rtt(Filter::Mean), rtt(Filter::Skip));
    let sent = of(Filter::Skip).over(|run| run.utilization);
    section
        .verdict(Verdict::new(
            "RTT that the maximum makes",
            "twice the minimum",
            maximum.text(|ratio| format!("{} times", number(ratio))),
            number_alone(maximum.mean, 2.0),
            "",
        ))
        .verdict(Verdict::new(
            "RTT that the mean makes",
            "a short queue",
            mean.text(|ratio| format!("{} times", number(ratio))),
            (mean.mean < 1.3, mean.mean < maximum.mean),
            "",
        ))
        .verdict(Verdict::new(
            "RTT and throughput that SKIP makes",
            "close to the minimum, close to the capacity",
            format!("{} times, {} of it", skip.text(number), sent.text(number)),
            (skip.mean < 1.3 && sent.mean > 0.9, skip.mean < maximum.mean),
            "",
        ))
        .table(table)
        .chart(chart)
        .note(
            "The mean of the capacity itself is what the paper draws, and what no sender can see: it sees what was delivered, \
             which is never more than it sent. A mean of that only ever falls. This is what the Tobit filter is for.",
        )
}

impl Filter {
    const ALL: [Self; 4] = [Self::Maximum, Self::Mean, Self::MeanOfDelivered, Self::Skip];

    const fn name(self) -> &'static str {
        match self {
            Self::Maximum => "maximum of the capacity",
            Self::Mean => "mean of the capacity",
            Self::MeanOfDelivered => "mean of what is delivered",
            Self::Skip => "SKIP on what is delivered",
        }
    }
}

/// What makes the pace.
enum Follower {
    Maximum(ExactWindow<f64, Max>),
    Mean(SlidingMean),
    MeanOfDelivered(SlidingMean),
    /// Without a filter if its configuration is refused, which the library's own never is.
    Skip(Option<Box<Skip>>),
}

impl Follower {
    fn new(filter: Filter) -> Self {
        match filter {
            Filter::Maximum => Self::Maximum(ExactWindow::new(WINDOW as u64 - 1)),
            Filter::Mean => Self::Mean(SlidingMean::new(WINDOW)),
            Filter::MeanOfDelivered => Self::MeanOfDelivered(SlidingMean::new(WINDOW)),
            Filter::Skip => Self::Skip(Skip::new(&SkipConfig::paper(), MEAN).ok().map(Box::new)),
        }
    }

    /// The pace after a step of time, in bytes/s, as all rates here.
    fn update(&mut self, step: u64, capacity: f64, delivered: f64, busy: bool, pace: f64) -> f64 {
        match self {
            Self::Maximum(window) => window.update(step, capacity),
            Self::Mean(mean) => mean.push(capacity),
            Self::MeanOfDelivered(mean) => mean.push(delivered),
            Self::Skip(None) => pace,
            Self::Skip(Some(skip)) => {
                // A queue that stood throughout shows the link; without one, only that it carries what was sent.
                let sample = if busy {
                    CapacitySample::uncensored(delivered)
                } else {
                    CapacitySample::new(delivered, delivered)
                };
                match skip.sample(sample) {
                    Ok(_) => skip.mean(),
                    Err(_) => pace,
                }
            }
        }
    }
}

fn simulate(filter: Filter, seed: u64) -> Run {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut follower = Follower::new(filter);
    let (mut pace, mut queue) = (MEAN, 0.0);
    let (mut paced, mut delivered_all, mut capacity_all, mut rtt_all) = (0.0, 0.0, 0.0, 0.0);
    let mut series = Vec::new();
    for step in 0..STEPS {
        let capacity = (MEAN + DEVIATION * normal(&mut random)).max(0.0);
        // The window: what is on its way and what waits, 2 BDP in all.
        let room = 2.0 * MEAN * MIN_RTT - queue - pace * MIN_RTT;
        let arrived = (pace * STEP).min((room + pace * STEP).max(0.0));
        let delivered = (capacity * STEP).min(queue + arrived);
        let busy = queue + arrived > capacity * STEP;
        queue += arrived - delivered;
        paced += pace;
        delivered_all += delivered;
        capacity_all += capacity * STEP;
        let rtt = 1.0 + queue / (MEAN * MIN_RTT);
        rtt_all += rtt;
        series.push((step as f64 * STEP, rtt));
        pace = follower.update(step, capacity, delivered / STEP, busy, pace);
    }
    let steps = STEPS as f64;
    series.retain(|(time, _)| seed == 1 && *time < DRAWN);
    Run {
        pace: paced / steps / MEAN,
        utilization: delivered_all / capacity_all,
        rtt: rtt_all / steps,
        series: thin(series, 0.1),
    }
}

/// A normal variate, by G. E. P. Box and M. E. Muller, "A Note on the Generation of Random Normal Deviates", 1958.
fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// 10 and 1 Mb/s, in bytes/s.
const MEAN: f64 = 1_250_000.0;
const DEVIATION: f64 = 125_000.0;
/// In seconds.
const STEP: f64 = 0.01;
const MIN_RTT: f64 = 0.04;
/// How much is drawn.
const DRAWN: f64 = 20.0;
/// The filters' window: 0.1 s.
const WINDOW: usize = 10;
/// A minute.
const STEPS: u64 = 6000;
