//! B3: flows that start one after the other.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::Limit;
use serde::{Deserialize, Serialize};

use crate::plots::{Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, percent};
use crate::reproduce::setup::{Bottleneck, greedy, transfer};
use crate::reproduce::summary::{Spread, known};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};
use crate::trial::{FlowOutcome, Outcome};

/// Figure 8.
pub(in crate::reproduce) static FAIR_SHARE: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "B3",
        paper: Paper::Bbr,
        title: "Five flows that start 2 s apart",
        figure: "figure 8",
        setup: "Five bulk flows over 100 Mb/s and 10 ms. The paper does not give its queue: ours holds 1 MB, eight \
                bandwidth-delay products. Figures are of the last 20 s.",
        claim: "The flows converge to their fair shares, and enter ProbeRTT together.",
    },
    cases,
    weight: |case| f64::from(case.seconds) * 100.0,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    controller: &'static str,
    seed: u64,
    seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// Jain's index: the mean over the seconds of the last 20 s.
    jain: f64,
    /// From the last start until Jain's index over 2 s first reaches 0.95, in seconds.
    converged: Option<f64>,
    /// The goodput of all flows in the last 20 s, in Mb/s.
    goodput_mbps: f64,
    /// The mean round-trip time in the last 20 s, in milliseconds.
    rtt: f64,
    /// When each flow entered ProbeRTT, in seconds; empty if the controller does not show it.
    probes: Vec<Vec<f64>>,
    /// Each flow's goodput over time, of the runs that are drawn.
    courses: Vec<Vec<(f64, f64)>>,
}

fn cases(scale: Scale) -> Vec<Case> {
    let seconds = scale.pick(32, 50);
    let controllers = scale.pick(&DRAWN[..], &CONTROLLERS[..]);
    let cases = |seed| {
        controllers.iter().map(move |&controller| Case {
            controller,
            seed,
            seconds,
        })
    };
    scale.seeds().flat_map(cases).collect()
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let end = Duration::from_secs(case.seconds.into());
    let buffer = Limit::bytes(1_000_000);
    let bottleneck = Bottleneck::constant(100.0, buffer, Duration::from_millis(10));
    let flows = (0..FLOWS).map(|flow| {
        // A factory gives each controller of its own a seed, but every flow has its own factory.
        let seed = case.seed * 100 + u64::from(flow);
        greedy(case.controller, seed, flow * APART, end)
    });
    let interval = Some(Duration::from_millis(50));
    let outcome = transfer(bottleneck.topology(), flows, end, interval, case.seed)?;
    let from = end - LAST;
    let shares = outcome.shares(from, end);
    let bits = shares.iter().sum::<u64>() as f64 * 8.0;
    let drawn = case.seed == 1 && DRAWN.contains(&case.controller);
    Ok(Run {
        jain: outcome
            .mean_jain(from, end, Duration::from_secs(1))
            .unwrap_or(0.0),
        converged: converged(&outcome, end),
        goodput_mbps: bits / 1e6 / LAST.as_secs_f64(),
        rtt: Spread::of(&outcome.rtts(from, end)).mean,
        probes: outcome.flows.iter().map(probes).collect(),
        courses: outcome
            .flows
            .iter()
            .filter(|_| drawn)
            .map(FlowOutcome::goodput_series)
            .collect(),
    })
}

fn report(_: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let of = |name: &str| runs.only(|case| case.controller == name);
    let entries = |run: &Run| together(&run.probes);
    let table = runs
        .table(
            "Five flows: means over the seeds (least to largest)",
            |case| case.controller,
        )
        .name("controller", |case| code(case.controller))
        .numbers("Jain's index", |run| run.jain)
        .numbers("0.95 reached after, s", |run| known(run.converged))
        .numbers("goodput, Mb/s", |run| run.goodput_mbps)
        .numbers("mean RTT, ms", |run| run.rtt)
        .percents("ProbeRTT together", entries);
    let mut section = section.table(table);
    for name in ["bbr", "noq:bbr"] {
        let jain = of(name).over(|run| run.jain);
        let together = of(name).over(entries);
        section = section
            .verdict(Verdict::new(
                format!("`{name}`: Jain's index over seconds"),
                "fair shares",
                jain.text(|index| format!("{index:.3}")),
                (jain.mean >= 0.95, jain.mean >= 0.9),
                "Through quinn only the window counts. It is two bandwidth-delay products of the flow's own estimate, and a flow's \
                 share of a queue is its share of all windows: any division reproduces itself, and the probes that would \
                 move it are not paced. Only ProbeRTT changes the shares. noq paces at the controller's rate, as Linux does.",
            ))
            .verdict(Verdict::new(
                format!("`{name}`: ProbeRTT entries together with half of the other flows"),
                "synchronized",
                together.text(percent),
                (together.mean >= 0.8, together.mean >= 0.4),
                "The flows' minima of the round-trip time expire at different times.",
            ));
    }
    for name in DRAWN {
        let caption = format!("Five flows, `{name}`, seed 1: goodput");
        let courses = of(name).first().into_iter().flat_map(|run| &run.courses);
        let chart = (1..).zip(courses).fold(
            Chart::over_time(caption, "Mb/s"),
            |chart, (number, series)| {
                chart.series(format!("flow {number}"), Mark::Line, series.clone())
            },
        );
        section = section.chart(chart);
    }
    section.note(
        "An entry into ProbeRTT counts as together with others if at least two of the other four flows enter it within 1 s; \
         entries from second 20 on count, when each flow has had its first. Entries every 10 s at random times would do so in 18 % of the cases.",
    )
}

/// From the last start to the first 2 s that are fairly shared.
fn converged(outcome: &Outcome, end: Duration) -> Option<f64> {
    let window = Duration::from_secs(2);
    let last = (FLOWS - 1) * APART;
    let mut start = last;
    while start + window <= end {
        if outcome.jain(start, start + window)? >= 0.95 {
            return Some((start - last).as_secs_f64());
        }
        start += Duration::from_millis(500);
    }
    None
}

/// When a flow was seen to enter ProbeRTT.
fn probes(flow: &FlowOutcome) -> Vec<f64> {
    let modes = flow.samples.iter();
    let modes: Vec<_> = modes
        .map(|sample| (sample.at, sample.snapshot.mode))
        .collect();
    let entry = |pair: &[(Duration, Mode)]| {
        let [(_, before), (at, mode)] = pair else {
            return None;
        };
        (*before != Mode::ProbeRtt && *mode == Mode::ProbeRtt).then_some(at.as_secs_f64())
    };
    modes.windows(2).filter_map(entry).collect()
}

/// The share of entries from second 20 on for which at least half of the other flows have one within 1 s.
fn together(flows: &[Vec<f64>]) -> f64 {
    let (mut all, mut shared) = (0_u32, 0_u32);
    for (place, flow) in flows.iter().enumerate() {
        for at in flow.iter().filter(|at| **at >= 20.0) {
            let near = |other: &Vec<f64>| other.iter().any(|entry| (entry - at).abs() <= 1.0);
            let others = flows.iter().enumerate();
            let company = others
                .filter(|(other, entries)| *other != place && near(entries))
                .count();
            all += 1;
            shared += u32::from(2 * company >= flows.len() - 1);
        }
    }
    f64::from(shared) / f64::from(all)
}

const FLOWS: u32 = 5;
const APART: Duration = Duration::from_secs(2);
const LAST: Duration = Duration::from_secs(20);

const CONTROLLERS: [&str; 7] = [
    "bbr",
    "bbr:tuned",
    "noq:bbr",
    "bbr3",
    "quinn-bbr",
    "quinn-cubic",
    "quinn-new-reno",
];

const DRAWN: [&str; 3] = ["bbr", "bbr:tuned", "noq:bbr"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_together_with_half_of_the_others() {
        // The first entry of the first flow is too early, its last one alone.
        let flows = [
            vec![5.0, 20.5, 30.0],
            vec![21.4],
            vec![20.0],
            vec![40.0, 50.0],
            vec![],
        ];
        // 20.5 has two; 21.4 and 20.0 have one beside 20.5, as they are 1.4 s apart.
        assert_eq!(together(&flows), 1.0 / 6.0);
        assert!(together(&[vec![], vec![]]).is_nan());
    }
}
