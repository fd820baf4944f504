//! B5: a slow link with a deep buffer.

use std::time::Duration;

use kneepoint_emulator::link::Limit;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number};
use crate::reproduce::setup::{Bottleneck, greedy, transfer};
use crate::reproduce::summary::{Seeds, Spread, overflow, windows};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Runs, Scale};

/// Figure 12.
pub(in crate::reproduce) static DEEP_BUFFER: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "B5",
        paper: Paper::Bbr,
        title: "Eight flows over a slow link with a deep buffer",
        figure: "figure 12",
        setup: "Eight bulk flows over 128 kb/s and 40 ms, begun at random within 5 s, for 2000 s; the buffer holds 10 to 1000 \
                packets. Figures are of the second half: the paper's are of the steady state, and a round trip takes 10 s.",
        claim: "BBR's median round-trip time does not depend on the buffer; CUBIC's grows linearly with it.",
    },
    cases,
    weight: |case| f64::from(case.seconds) * 0.128,
    run,
    report,
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::reproduce) struct Case {
    controller: &'static str,
    packets: u64,
    seed: u64,
    seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::reproduce) struct Run {
    /// Milliseconds.
    median_rtt: f64,
    goodput_kbps: f64,
    loss_rate: f64,
    /// The first flow's congestion window in packets, its mean in every 20 s.
    window: Vec<(f64, f64)>,
}

fn cases(scale: Scale) -> Vec<Case> {
    let mut cases = Vec::new();
    for &packets in buffers(scale) {
        for seed in scale.seeds() {
            for controller in CONTROLLERS {
                cases.push(Case {
                    controller,
                    packets,
                    seed,
                    seconds: scale.pick(800, 2000),
                });
            }
        }
    }
    cases
}

fn run(case: &Case) -> Result<Run, CaseError> {
    let end = Duration::from_secs(case.seconds.into());
    let buffer = Limit::packets(case.packets);
    let bottleneck = Bottleneck::constant(RATE as f64 / 1e6, buffer, RTT);
    let mut random = Pcg64::seed_from_u64(case.seed);
    let flows = (0..FLOWS).map(|flow| {
        let start = Duration::from_millis(random.random_range(0..5000));
        let seed = case.seed * 100 + u64::from(flow);
        greedy(case.controller, seed, start, end)
    });
    let outcome = transfer(bottleneck.topology(), flows, end, None, case.seed)?;
    let from = end / 2;
    let bits = outcome.shares(from, end).iter().sum::<u64>() as f64 * 8.0;
    Ok(Run {
        median_rtt: Spread::of(&outcome.rtts(from, end)).median,
        goodput_kbps: bits / 1e3 / (end - from).as_secs_f64(),
        loss_rate: overflow(&outcome),
        window: windows(&outcome.flows[0], 20.0),
    })
}

fn report(scale: Scale, runs: &Runs<'_, Case, Run>, mut section: Section) -> Section {
    let buffers = buffers(scale);
    let of = |name: &str, packets: u64, figure: fn(&Run) -> f64| {
        let runs = runs.only(|case| case.controller == name && case.packets == packets);
        runs.over(figure)
    };
    let medians = |name: &str, min: u64| -> Vec<(f64, f64)> {
        let deep = buffers.iter().filter(|packets| **packets >= min);
        let point = |&packets: &u64| {
            let median = of(name, packets, |run| run.median_rtt);
            (packets as f64, median.mean / 1e3)
        };
        deep.map(point).collect()
    };
    let table = |caption: &str, figure: fn(&Run) -> f64| {
        Table::crossed(
            format!("{caption}: means over the seeds (least to largest)"),
            "buffer, packets",
            buffers.iter().map(|buffer| (buffer.to_string(), *buffer)),
            &CONTROLLERS,
            |&packets, name| of(name, packets, figure).text(number),
        )
    };
    let seconds = |run: &Run| run.median_rtt / 1e3;
    section = section
        .table(table("Median round-trip time in seconds", seconds))
        .table(table("Goodput of all flows in kb/s", |run| {
            run.goodput_kbps
        }))
        .table(table("Packets lost, in percent", |run| {
            100.0 * run.loss_rate
        }));
    for name in ["bbr", "noq:bbr"] {
        let deepest = |name: &str| medians(name, 0).last().map_or(f64::NAN, |point| point.1);
        let bounded = deepest(name) < 0.5 * deepest("cubic");
        let over = |name| Seeds::of(medians(name, FLOOR).into_iter().map(|(_, rtt)| rtt));
        let (ours, filled) = (over(name), over("cubic"));
        let ratio = ours.largest / ours.min;
        section = section.verdict(Verdict::new(
            format!("`{name}`: median RTT over buffers of {FLOOR} packets and more"),
            "flat",
            format!(
                "{:.1} to {:.1} s, `cubic` {:.1} to {:.1} s",
                ours.min, ours.largest, filled.min, filled.largest
            ),
            (ratio <= FLAT, bounded),
            "See the notes.",
        ));
    }
    for name in ["cubic", "quinn-cubic"] {
        let fit = Line::through(&medians(name, 0));
        section = section.verdict(Verdict::new(
            format!("`{name}`: median RTT as a line over the buffer"),
            "linear",
            format!(
                "{:.0} ms per packet, R^2 = {:.3}",
                1e3 * fit.slope,
                fit.r_squared
            ),
            (
                fit.slope > 0.0 && fit.r_squared >= 0.95,
                fit.slope > 0.0 && fit.r_squared >= 0.8,
            ),
            "See the curves.",
        ));
    }
    let mut chart = Chart::new(
        "Eight flows over 128 kb/s: median round-trip time",
        Axis::linear("buffer, packets"),
        Axis::linear("s"),
    );
    for name in CONTROLLERS {
        chart = chart.series(name, Mark::Dots, medians(name, 0));
    }
    let deepest = buffers.last().copied().unwrap_or_default();
    let window = Chart::over_time(
        format!("The first flow's window with {deepest} packets of buffer, seed 1"),
        "packets",
    );
    let drawn = runs.only(|case| {
        (case.packets, case.seed) == (deepest, 1) && WINDOWS.contains(&case.controller)
    });
    let window = drawn.lines(window, |case| case.controller, |run| run.window.clone());
    section
        .chart(chart)
        .chart(window)
        .note(
            "A packet of 1480 bytes takes 92.5 ms here. Eight flows cannot have less than eight least windows in flight: at \
             four packets each they are 32 packets or 3.0 s, whatever the bandwidth-delay product (640 bytes). That is what \
             ProbeRTT can see at best, and the window is twice the product made with it and three packets more: eleven for \
             each flow, 88 in all, or 8 s. A buffer that holds less overflows all the time; one that holds more makes no \
             difference to BBR.",
        )
        .note(
            "How much of these windows is used is the host's doing. quinn fills the window at once, and what is above the minimum \
             waits in the queue: round trips come near the 10 s for which a minimum is believed, so that the flows' \
             ProbeRTTs fall out of step and find each other's queues. noq paces at the controller's rate, as Linux does: \
             most of the second product stays unused, round trips stay short of the 10 s, and the queue stays near its least.",
        )
        .note(
            "The search for the end of Startup has to go on through ProbeRTT, as in Linux: ProbeRTT comes after one or two \
             rounds here, so that a flow that began its search again would never see three without growth, and would keep \
             Startup's window for ever. The last drawing has the first flow's window over the deepest buffer.",
        )
}

/// The line with the least squared vertical distances.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    slope: f64,
    /// The share of the variance that the line explains.
    r_squared: f64,
}

impl Line {
    /// Through points of at least two different abscissae; not numbers otherwise.
    fn through(points: &[(f64, f64)]) -> Self {
        let count = points.len() as f64;
        let (sum_x, sum_y) = points
            .iter()
            .fold((0.0, 0.0), |(sum_x, sum_y), (x, y)| (sum_x + x, sum_y + y));
        let (mean_x, mean_y) = (sum_x / count, sum_y / count);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in points {
            let (dx, dy) = (x - mean_x, y - mean_y);
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
        Self {
            slope: xy / xx,
            r_squared: xy * xy / (xx * yy),
        }
    }
}

fn buffers(scale: Scale) -> &'static [u64] {
    scale.pick(
        &[100, 200, 1000],
        &[10, 20, 50, 100, 150, 200, 300, 500, 1000],
    )
}

/// In bits per second.
const RATE: u64 = 128_000;

const RTT: Duration = Duration::from_millis(40);

const FLOWS: u32 = 8;

/// The least buffer, of those tried, that holds the windows which follow from eight least windows in flight: 88 packets.
const FLOOR: u64 = 100;

/// As flat as a median can be called while CUBIC's grows tenfold.
const FLAT: f64 = 1.2;

/// Those whose windows are drawn.
const WINDOWS: [&str; 3] = ["bbr", "noq:bbr", "cubic"];

const CONTROLLERS: [&str; 6] = [
    "bbr",
    "bbr:tuned",
    "noq:bbr",
    "cubic",
    "quinn-bbr",
    "quinn-cubic",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_explains_what_is_linear() {
        let line = Line::through(&[(0.0, 1.0), (1.0, 3.0), (3.0, 7.0)]);
        assert!((line.slope - 2.0).abs() < 1e-12 && (line.r_squared - 1.0).abs() < 1e-12);
        let cross = Line::through(&[(0.0, 0.0), (0.0, 2.0), (2.0, 0.0), (2.0, 2.0)]);
        assert_eq!((cross.slope, cross.r_squared), (0.0, 0.0));
        assert!(Line::through(&[(1.0, 1.0)]).slope.is_nan());
    }
}
