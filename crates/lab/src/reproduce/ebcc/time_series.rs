//! C1: one flow over time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::buffer;
use super::dumbbell::{Case, Dumbbell, TRANSFER};
use crate::metrics::stats;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, number, number_alone};
use crate::reproduce::summary::{Spread, TimeSeries, windows};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};

/// Figures 2 to 4.
pub(in crate::reproduce) static SINGLE_FLOW: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "C1",
        paper: Paper::Ebcc,
        title: "One flow over time",
        figure: "figures 2 to 4",
        setup: "Access links of 50 Mb/s and 20 ms, a bottleneck of 15 Mb/s and 10 ms with 60 packets of queue (see C2), 19 s \
                of transfer.",
        claim: "NewReno and CUBIC cut their windows at losses; BBR's stays at its maximum, and so does its RTT; eBCC's RTT is a \
                sawtooth with peaks near BBR's.",
    },
    cases,
    weight: Case::weight,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    series: TimeSeries,
    /// In packets, its mean in every half second.
    window: Vec<(f64, f64)>,
    /// After Startup: from the fifth second on.
    rtt: Spread,
    /// The lowest twentieth of it.
    rtt_p5: f64,
}

fn cases(_scale: Scale) -> Vec<Case> {
    let case = |controller| Case {
        network: Dumbbell::new(50.0, 15.0, buffer::CHOSEN),
        controller,
        flows: 1,
        seed: 1,
    };
    DRAWN.map(case).to_vec()
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let outcome = case.outcome()?;
    let flow = &outcome.flows[0];
    let rtts = outcome.rtts(SETTLED, TRANSFER);
    Ok(Run {
        series: TimeSeries::of(flow),
        window: windows(flow, 0.2),
        rtt: Spread::of(&rtts),
        rtt_p5: stats::percentile(&rtts, 0.05).unwrap_or(0) as f64 / 1e6,
    })
}

fn report(_scale: Scale, runs: &Runs<'_, Case, Run>, mut section: Section) -> Section {
    let table = runs
        .table("Round-trip time from the fifth second on, in ms", |case| {
            case.controller
        })
        .name("controller", |case| code(case.controller))
        .numbers("5th percentile", |run| run.rtt_p5)
        .numbers("median", |run| run.rtt.median)
        .numbers("mean", |run| run.rtt.mean)
        .numbers("p95", |run| run.rtt.p95)
        .numbers("max", |run| run.rtt.max);
    let window = Chart::over_time("One flow: congestion window", "packets");
    let window = runs.lines(window, |case| case.controller, |run| run.window.clone());
    let flows = runs.iter();
    let flows = flows.map(|(case, run)| (case.controller, Mark::Line, &run.series));
    let [goodput, rtt] = TimeSeries::charts("One flow", Axis::linear("ms"), flows);
    let of = |name| {
        let run = runs.only(|case| case.controller == name).first();
        run.map(|run| (run.rtt_p5, run.rtt.median, run.rtt.p95))
    };
    if let (Some(bbr), Some(ebcc)) = (of("bbr"), of("ebcc:paper")) {
        let peak = ebcc.2 / bbr.1;
        let swing = |(low, _, high): (f64, f64, f64)| high / low;
        section = section
            .verdict(Verdict::new(
                "peak RTT (95th percentile) of `ebcc` as a part of `bbr`'s median",
                "about 1",
                number(peak),
                number_alone(peak, 1.0),
                "",
            ))
            .verdict(Verdict::new(
                "95th against 5th percentile of the RTT of `ebcc`, and of `bbr`",
                "a sawtooth against a plateau",
                format!("{} and {}", number(swing(ebcc)), number(swing(bbr))),
                (swing(ebcc) > swing(bbr), false),
                "",
            ));
    }
    section.table(table).chart(window).chart(rtt).chart(goodput)
}

/// The paper's four.
const DRAWN: [&str; 4] = ["new-reno", "cubic", "bbr", "ebcc:paper"];

const SETTLED: Duration = Duration::from_secs(5);
