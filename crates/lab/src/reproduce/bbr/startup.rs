//! B2: the start of a flow, and the queue that it leaves.

use std::time::Duration;

use kneepoint_emulator::link::Limit;
use serde::{Deserialize, Serialize};

use super::Case;
use crate::plots::{Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, near, number_alone, percent};
use crate::reproduce::setup::Bottleneck;
use crate::reproduce::summary::{Spread, rtts, thin};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};

/// Figures 6 and 7.
pub(in crate::reproduce) static STARTUP: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "B2",
        paper: Paper::Bbr,
        title: "Startup, and the queue after it, against Cubic",
        figure: "figures 6 and 7",
        setup: "One bulk flow over 10 Mb/s and 40 ms for 40 s. The paper does not give its buffer: ours holds 500 kB, ten \
                bandwidth-delay products. The steady part begins with second 10.",
        claim: "BBR drains the queue of its startup and then runs with essentially none. CUBIC fills the buffer and then \
                cycles between 70 % and 100 % full.",
    },
    cases: |scale| Case::each(&CONTROLLERS, scale),
    weight: |_| 400.0,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// The longest round-trip time of the first 2 s, in milliseconds.
    peak: f64,
    /// The mean of the steady part, in milliseconds.
    rtt: f64,
    /// The queue in the steady part as a share of the buffer: least, mean, largest.
    queue: [f64; 3],
    goodput_mbps: f64,
    /// Round-trip times of the first 8 s in milliseconds, if they are drawn.
    curve: Vec<(f64, f64)>,
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let buffer = Limit::bytes(BUFFER);
    let bottleneck = Bottleneck::constant(10.0, buffer, EMPTY_RTT);
    let outcome = bottleneck.bulk(case.controller, case.seed, END, None)?;
    let flow = &outcome.flows[0];
    let waits = outcome.links.get("forward");
    let waits = waits.map_or_else(Vec::new, |link| link.queue_delays(STEADY, END));
    // What has waited so long found so much in front of it, itself included.
    let full = BUFFER as f64 / 1_250_000.0 * 1e9;
    let share = |nanos: u64| nanos as f64 / full;
    let mean = waits.iter().map(|&nanos| share(nanos)).sum::<f64>() / waits.len() as f64;
    let drawn = case.seed == 1 && DRAWN.contains(&case.controller);
    Ok(Run {
        peak: Spread::of(&outcome.rtts(Duration::ZERO, Duration::from_secs(2))).max,
        rtt: Spread::of(&outcome.rtts(STEADY, END)).mean,
        queue: [
            waits.first().copied().map_or(f64::NAN, share),
            mean,
            waits.last().copied().map_or(f64::NAN, share),
        ],
        goodput_mbps: flow.goodput_mbps(STEADY, END),
        curve: thin(rtts(flow).take_while(|(at, _)| drawn && *at < 8.0), 0.05),
    })
}

fn report(_: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let of = |name: &str| runs.only(|case| case.controller == name);
    let table = runs
        .table(
            "The queue of 500 kB: means over the seeds (least to largest)",
            |case| case.controller,
        )
        .name("controller", |case| code(case.controller))
        .numbers("longest RTT of the first 2 s, ms", |run| run.peak)
        .numbers("mean RTT after 10 s, ms", |run| run.rtt)
        .percents("emptiest queue after 10 s", |run| run.queue[0])
        .percents("mean queue", |run| run.queue[1])
        .percents("fullest queue", |run| run.queue[2])
        .numbers("goodput, Mb/s", |run| run.goodput_mbps);
    let mut section = section.table(table);
    let cubic = of("cubic").over(|run| run.rtt);
    for name in ["bbr", "noq:bbr"] {
        let rtt = of(name).over(|run| run.rtt);
        section = section.verdict(Verdict::new(
            format!("`{name}`: mean RTT after startup"),
            "about 40 ms: essentially no queue",
            rtt.text(|ms| format!("{ms:.1} ms")),
            (near(rtt.mean, 40.0), rtt.mean < cubic.mean),
            "quinn paces at 1.25 windows per smoothed round trip whatever the controller's rate, so the window of two \
             bandwidth-delay products is filled and one of them waits: 40 ms. Startup's queue is drained down to that. noq paces \
             at the controller's rate, and the same controller leaves a quarter of that queue.",
        ));
    }
    for name in ["cubic", "quinn-cubic"] {
        let emptiest = of(name).over(|run| run.queue[0]);
        let fullest = of(name).over(|run| run.queue[2]);
        section = section.verdict(Verdict::new(
            format!("`{name}`: the buffer is filled between"),
            "70 % and 100 %",
            format!("{} and {}", emptiest.text(percent), fullest.text(percent)),
            {
                let (near, alike) = number_alone(emptiest.mean, 0.7);
                let (full, filled) = number_alone(fullest.mean, 1.0);
                (near && full, alike && filled)
            },
            "See the curves.",
        ));
    }
    let empty = [(0.0, 40.0), (8.0, 40.0)];
    let chart = Chart::over_time("Startup, seed 1: round-trip time", "ms");
    let chart = chart.series("no queue", Mark::Reference, empty);
    let chart = runs.lines(chart, |case| case.controller, |run| run.curve.clone());
    section.chart(chart).note(
        "The queue is what each packet found on its arrival and itself, by its wait; the one being sent counts. CUBIC's \
         window falls to 70 %: of buffer and path together, so that the queue falls to 67 % of a buffer of ten \
         bandwidth-delay products, and to 70 % of a very deep one.",
    )
}

const BUFFER: u64 = 500_000;
const EMPTY_RTT: Duration = Duration::from_millis(40);
const STEADY: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_secs(40);

const CONTROLLERS: [&str; 8] = [
    "bbr",
    "bbr:tuned",
    "noq:bbr",
    "bbr3",
    "cubic",
    "quinn-bbr",
    "quinn-cubic",
    "quinn-new-reno",
];

const DRAWN: [&str; 5] = ["bbr", "bbr:tuned", "noq:bbr", "cubic", "quinn-cubic"];
