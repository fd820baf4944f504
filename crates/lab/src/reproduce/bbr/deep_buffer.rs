//! B5: a slow link with a deep buffer.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::figures;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number};
use crate::reproduce::setup::{Bottleneck, greedy};
use crate::reproduce::summary::{Seeds, Spread};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};
use crate::trial::Trial;

/// Figure 12.
pub(in crate::reproduce) struct DeepBuffer;

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
}

type Figure = fn(&Run) -> f64;

impl Study for DeepBuffer {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "B5",
            paper: Paper::Bbr,
            title: "Eight flows over a slow link with a deep buffer",
            figure: "figure 12",
            setup: "Eight bulk flows over 128 kb/s and 40 ms, begun at random within 5 s, for 400 s; the buffer holds 10 to 500 \
                    packets. Figures are of the second half.",
            claim: "BBR's median round-trip time does not depend on the buffer; CUBIC's grows linearly with it.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Case> {
        let mut cases = Vec::new();
        for &packets in buffers(scale) {
            for seed in scale.seeds() {
                for controller in CONTROLLERS {
                    cases.push(Case {
                        controller,
                        packets,
                        seed,
                        seconds: scale.pick(200, 400),
                    });
                }
            }
        }
        cases
    }

    fn weight(&self, case: &Case) -> f64 {
        f64::from(case.seconds) * 0.128
    }

    fn run(&self, case: &Case) -> Result<Run, CaseError> {
        let end = Duration::from_secs(case.seconds.into());
        let queue = Queue::DropTail(Limit::packets(case.packets));
        let bottleneck = Bottleneck::constant(RATE_MBPS, queue, Duration::from_millis(40));
        let mut random = Pcg64::seed_from_u64(case.seed);
        let flows: Result<_, _> = (0..FLOWS)
            .map(|flow| {
                let start = Duration::from_millis(random.random_range(0..5000));
                greedy(case.controller, case.seed * 100 + flow, start, end)
            })
            .collect();
        let outcome = Trial {
            topology: bottleneck.topology(),
            flows: flows?,
            duration: end,
            interval: None,
            seed: case.seed,
        }
        .run()?;
        let from = end / 2;
        let bits = outcome.shares(from, end).iter().sum::<u64>() as f64 * 8.0;
        Ok(Run {
            median_rtt: Spread::of(&outcome.rtts(from, end)).median,
            goodput_kbps: bits / 1e3 / (end - from).as_secs_f64(),
            loss_rate: outcome
                .links
                .get("forward")
                .map_or(0.0, |link| link.loss_rate()),
        })
    }

    fn report(&self, scale: Scale, results: &[(Case, Run)]) -> Section {
        let buffers = buffers(scale);
        let of = |name: &str, packets: u64, figure: Figure| {
            let meant = |case: &Case| case.controller == name && case.packets == packets;
            figures(results, meant, figure)
        };
        let medians = |name: &str, least: u64| -> Vec<(f64, f64)> {
            let deep = buffers.iter().filter(|packets| **packets >= least);
            let point = |&packets: &u64| {
                let median = of(name, packets, |run| run.median_rtt);
                (packets as f64, median.mean / 1e3)
            };
            deep.map(point).collect()
        };
        let mut section = Section::new(Study::about(self));
        let tables: [(&str, Figure); 3] = [
            ("Median round-trip time in seconds", |run| {
                run.median_rtt / 1e3
            }),
            ("Goodput of all flows in kb/s", |run| run.goodput_kbps),
            ("Packets lost, in percent", |run| 100.0 * run.loss_rate),
        ];
        for (caption, figure) in tables {
            let mut header = vec!["buffer, packets"];
            header.extend(CONTROLLERS);
            let caption = format!("{caption}: means over the seeds (least to largest)");
            let mut table = Table::new(caption, &header);
            for &packets in buffers {
                let cells = CONTROLLERS.map(|name| of(name, packets, figure).text(number));
                table.row(std::iter::once(packets.to_string()).chain(cells));
            }
            section = section.table(table);
        }
        for name in ["bbr", "bbr:tuned"] {
            let deepest = |name: &str| medians(name, 0).last().map_or(f64::NAN, |point| point.1);
            let bounded = deepest(name) < 0.5 * deepest("cubic");
            let medians = Seeds::of(medians(name, FLOOR).into_iter().map(|(_, rtt)| rtt));
            let ratio = medians.largest / medians.least;
            section = section.verdict(Verdict::new(
                format!("`{name}`: median RTT over buffers of {FLOOR} packets and more"),
                "flat",
                format!("{:.1} to {:.1} s", medians.least, medians.largest),
                (ratio <= 1.2, bounded),
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
        section.chart(chart).note(
            "A packet of 1480 bytes takes 92.5 ms here. Eight flows cannot have less than eight least windows in flight: at four \
             packets each they are 32 packets or 3.0 s, whatever the bandwidth-delay product (640 bytes). A smaller buffer \
             overflows under that alone. BBR's queue is bounded by its windows, not by the buffer, once that is deep enough; but \
             the bound is several times the floor. Round trips are then longer than the 10 s for which a minimum is believed.",
        )
    }
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
    scale.pick(&[50, 200, 500], &[10, 20, 50, 100, 200, 300, 400, 500])
}

const RATE_MBPS: f64 = 0.128;
const FLOWS: u64 = 8;

/// The least buffer that eight times the least window fits.
const FLOOR: u64 = 50;

const CONTROLLERS: [&str; 5] = ["bbr", "bbr:tuned", "cubic", "quinn-bbr", "quinn-cubic"];

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
