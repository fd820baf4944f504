//! B6: a token-bucket policer.

use std::sync::Arc;
use std::time::Duration;

use kneepoint_controllers::{BbrConfig, Mode};
use kneepoint_emulator::link::{Limit, LinkConfig, PacketOutcome, Policer};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_quinn::Factory;
use serde::{Deserialize, Serialize};

use super::Case;
use crate::controllers::{Candidate, candidate};
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, number, number_alone, percent};
use crate::reproduce::setup::{Bottleneck, transfer};
use crate::reproduce::summary::{estimate, known, shown, thin};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};
use crate::trial::{FlowPlan, Outcome};

/// Section "Token-bucket policers".
pub(in crate::reproduce) static TOKEN_BUCKET: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "B6",
        paper: Paper::Bbr,
        title: "A token-bucket policer",
        figure: "section \"Token-bucket policers\"",
        setup: "One bulk flow for 40 s over 100 Mb/s and 40 ms, policed to 10 Mb/s by a bucket of 2 MB, which is full in the \
                beginning. The paper gives no figures. The steady part begins with second 10.",
        claim: "BBR first learns the bandwidth of the network, then, once the bucket is empty, the policed rate; its probes \
                go on to lose packets. An explicit policer model (in Linux, not in the paper's text) ends that.",
    },
    cases: |scale| Case::each(&CONTROLLERS, scale),
    weight: |_| 500.0,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// The largest estimate, in Mb/s, if the controller shows any.
    largest: Option<f64>,
    /// The mean estimate of the steady part, in Mb/s; the same.
    estimate: Option<f64>,
    goodput_mbps: f64,
    /// Packets dropped in the steady part as a share of those offered: in all, while probing, otherwise. `None` of none.
    lost: [Option<f64>; 3],
    /// The share of the drops that fell into probes.
    probes: Option<f64>,
    /// Dropped per second, as a share of what was offered, of the runs that are drawn.
    losses: Vec<(f64, f64)>,
    /// The estimate in Mb/s over time, of the same.
    estimates: Vec<(f64, f64)>,
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let flow = controller(case.controller, case.seed)
        .map(|controller| FlowPlan::greedy(controller, Duration::ZERO, END));
    let interval = Some(Duration::from_millis(5));
    let outcome = transfer(topology(), [flow], END, interval, case.seed)?;
    let estimates: Vec<(f64, f64)> = shown(&outcome.flows[0], estimate).collect();
    let steady = estimates
        .iter()
        .filter(|(at, _)| *at >= STEADY.as_secs_f64());
    let steady: Vec<f64> = steady.map(|(_, rate)| *rate).collect();
    let fates = fates(&outcome);
    let (probing, otherwise) = losses(&fates);
    let drops = probing.dropped + otherwise.dropped;
    let offered = probing.offered + otherwise.offered;
    let drawn = case.seed == 1 && DRAWN.contains(&case.controller);
    Ok(Run {
        largest: estimates
            .iter()
            .map(|(_, rate)| *rate)
            .max_by(f64::total_cmp),
        estimate: ratio(steady.iter().sum(), steady.len() as f64),
        goodput_mbps: outcome.flows[0].goodput_mbps(STEADY, END),
        lost: [ratio(drops, offered), probing.share(), otherwise.share()],
        probes: ratio(probing.dropped, drops),
        losses: {
            let fates = fates.iter().filter(|_| drawn);
            let points = fates.map(|fate| (fate.at, f64::from(u8::from(fate.dropped))));
            thin(points, 0.25)
        },
        estimates: thin(estimates.into_iter().filter(|_| drawn), 0.25),
    })
}

fn report(_: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let of = |name: &str, figure: fn(&Run) -> Option<f64>| {
        let runs = runs.only(|case| case.controller == name);
        runs.over(|run| known(figure(run)))
    };
    let table = runs
        .table(
            "Policed to 10 Mb/s: means over the seeds (least to largest)",
            |case| case.controller,
        )
        .name("controller", |case| code(case.controller))
        .numbers("largest estimate, Mb/s", |run| known(run.largest))
        .numbers("mean estimate after 10 s, Mb/s", |run| known(run.estimate))
        .numbers("goodput, Mb/s", |run| run.goodput_mbps)
        .percents("lost", |run| known(run.lost[0]))
        .percents("lost while probing", |run| known(run.lost[1]))
        .percents("lost otherwise", |run| known(run.lost[2]))
        .percents("drops that fell into probes", |run| known(run.probes));
    let mut section = section.table(table);
    for name in ["bbr", "noq:bbr"] {
        let largest = of(name, |run| run.largest);
        let estimate = of(name, |run| run.estimate);
        let probing = of(name, |run| run.lost[1]);
        let otherwise = of(name, |run| run.lost[2]);
        section = section
            .verdict(Verdict::new(
                format!("`{name}`: learns first 100 Mb/s, then the policed 10 Mb/s"),
                "yes",
                format!("{}, then {}", largest.text(mbps), estimate.text(mbps)),
                {
                    let (line, alike) = number_alone(largest.mean, 100.0);
                    let (policed, close) = number_alone(estimate.mean, 10.0);
                    (line && policed, alike && close)
                },
                "See the curves.",
            ))
            .verdict(Verdict::new(
                format!("`{name}`: loss while probing, and otherwise"),
                "moderate losses at each probe",
                format!("{}, and {}", probing.text(percent), otherwise.text(percent)),
                (
                    probing.mean > 0.01 && probing.mean > 2.0 * otherwise.mean,
                    probing.mean > otherwise.mean,
                ),
                "See the notes.",
            ));
    }
    for name in ["bbr", "noq:bbr"] {
        let [without, with] =
            [name, &format!("{name}, detecting")].map(|name| of(name, |run| run.lost[0]));
        section = section.verdict(Verdict::new(
            format!("`{name}`: loss without and with policer detection"),
            "less",
            format!("{}, {}", without.text(percent), with.text(percent)),
            (with.mean < without.mean, false),
            "See the notes.",
        ));
    }
    charts(section, runs).note(
        "Packets that are policed never queue, so that through quinn the window alone makes the rate: the two bandwidth-delay \
         products of `bbr` in each round trip are twice the policed rate, of which half is dropped in every phase, probe or \
         not, and the explicit model, which only takes the probes away, changes little. `bbr:tuned` keeps to one product \
         and quinn's own margin of a quarter. noq paces at the controller's rate: the losses come with the probes, as the \
         paper has it.",
    )
}

/// A packet at the policer.
struct Arrival {
    /// When, in seconds.
    at: f64,
    dropped: bool,
    /// Whether the controller was probing for bandwidth.
    probing: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    offered: f64,
    dropped: f64,
}

impl Count {
    fn share(self) -> Option<f64> {
        ratio(self.dropped, self.offered)
    }
}

/// A part of a whole, if there is one.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// All packets; the sender is at the policer.
fn fates(outcome: &Outcome) -> Vec<Arrival> {
    let samples = &outcome.flows[0].samples;
    let records = outcome.links.get("forward");
    let records = records.map_or(&[][..], |link| &link.records);
    let arrival = |record: &kneepoint_emulator::link::Record| {
        let at = Duration::from(record.arrival);
        let seen = samples.partition_point(|sample| sample.at <= at);
        let mode = seen
            .checked_sub(1)
            .map(|place| samples[place].snapshot.mode);
        Arrival {
            at: at.as_secs_f64(),
            dropped: matches!(record.outcome, PacketOutcome::Dropped { .. }),
            probing: matches!(mode, Some(Mode::ProbeBandwidth(0) | Mode::ProbeUp)),
        }
    };
    records.iter().map(arrival).collect()
}

/// While probing and otherwise, in the steady part.
fn losses(arrivals: &[Arrival]) -> (Count, Count) {
    let (mut probing, mut otherwise) = (Count::default(), Count::default());
    for arrival in arrivals {
        if arrival.at >= STEADY.as_secs_f64() {
            let count = if arrival.probing {
                &mut probing
            } else {
                &mut otherwise
            };
            count.offered += 1.0;
            count.dropped += f64::from(u8::from(arrival.dropped));
        }
    }
    (probing, otherwise)
}

fn charts(section: Section, runs: &Runs<'_, Case, Run>) -> Section {
    let estimate = Chart::new(
        "Policed to 10 Mb/s, seed 1: the estimate",
        Axis::linear("time, s"),
        Axis::log("Mb/s"),
    )
    .series("policed rate", Mark::Reference, [(0.0, 10.0), (40.0, 10.0)]);
    let loss = Chart::over_time("Policed to 10 Mb/s, seed 1: loss", "lost, %");
    let name = |case: &Case| case.controller;
    section
        .chart(runs.lines(estimate, name, |run| run.estimates.clone()))
        .chart(runs.lines(loss, name, |run| {
            let losses = run.losses.iter();
            losses.map(|&(at, share)| (at, 100.0 * share)).collect()
        }))
}

/// The policer in front of a fast link.
fn topology() -> Topology {
    let buffer = Limit::bytes(2_000_000);
    let bottleneck = Bottleneck::constant(100.0, buffer, Duration::from_millis(40));
    Topology::point_to_point(Duplex {
        forward: LinkConfig {
            policer: Some(Policer {
                bytes_per_second: 1_250_000,
                burst: 2_000_000,
            }),
            ..bottleneck.forward()
        },
        reverse: bottleneck.reverse(),
    })
}

/// By name, as everywhere; those that detect policers have no name of their own.
fn controller(name: &str, seed: u64) -> Result<Candidate, CaseError> {
    let detecting = |mut config: BbrConfig| {
        config.core.policer_detection = true;
        config
    };
    let quinn = |config| Factory::new(detecting(config)).map(|factory| factory.seed(seed));
    Ok(match name {
        "bbr, detecting" => Candidate::Quinn(Arc::new(quinn(BbrConfig::paper())?)),
        "bbr:tuned, detecting" => Candidate::Quinn(Arc::new(quinn(BbrConfig::tuned())?)),
        "noq:bbr, detecting" => {
            let factory = kneepoint_noq::Factory::new(detecting(BbrConfig::paper()))?;
            Candidate::Noq(Arc::new(factory.seed(seed)))
        }
        _ => candidate(name, seed)?,
    })
}

fn mbps(rate: f64) -> String {
    format!("{} Mb/s", number(rate))
}

const STEADY: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_secs(40);

/// The first six of them are drawn.
const CONTROLLERS: [&str; 10] = [
    "bbr",
    "bbr, detecting",
    "bbr:tuned",
    "bbr:tuned, detecting",
    "noq:bbr",
    "noq:bbr, detecting",
    "bbr3",
    "quinn-bbr",
    "quinn-cubic",
    "quinn-new-reno",
];

const DRAWN: &[&str] = CONTROLLERS.split_at(6).0;
