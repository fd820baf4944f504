//! One run over time: throughput against capacity, queueing delay, congestion window.

use std::collections::BTreeSet;
use std::ops::Range;

use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, DrawResult, Drawing};
use super::look::Look;
use super::panel::{Panel, Swatch, heading};
use super::scale::Scale;
use super::scatter::axis_end;
use super::style::{CAPACITY, INK};
use crate::compare::Outcome;
use crate::metrics::{Bin, Spread, Timeline};

/// The ranges of the axes, the same for every controller on one link so that their plots compare.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes {
    seconds: f64,
    mbps: f64,
    delay_ms: f64,
    window_kb: (f64, f64),
}

impl Axes {
    /// Axes that hold all of these runs.
    pub(super) fn shared(outcomes: &[Outcome]) -> Self {
        let (mut capacity, mut max) = (0.0_f64, 0.0_f64);
        let mut axes = Self {
            seconds: 0.0,
            mbps: 0.0,
            delay_ms: 0.0,
            window_kb: (f64::INFINITY, 0.0),
        };
        for outcome in outcomes {
            axes.seconds = axes.seconds.max(outcome.timeline.duration_seconds);
            for bin in &outcome.timeline.bins {
                capacity = capacity.max(bin.capacity_mbps);
                max = max.max(bin.throughput_mbps);
                if let Some(spread) = bin.queue_delay_ms {
                    axes.delay_ms = axes.delay_ms.max(spread.max);
                }
            }
            for &(_, window) in outcome.windows.iter().flatten() {
                let (min, largest) = axes.window_kb;
                let window = window as f64 / 1e3;
                axes.window_kb = (min.min(window), largest.max(window));
            }
        }
        Self {
            mbps: HEADROOM
                * outcomes.first().map_or(capacity.max(max), |outcome| {
                    axis_end(&outcome.row, capacity, max)
                }),
            delay_ms: axes.delay_ms * HEADROOM,
            window_kb: (axes.window_kb.0 / HEADROOM, axes.window_kb.1 * HEADROOM),
            ..axes
        }
    }
}

/// The plot of one run.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) axes: Axes,
}

impl Drawing for Plot<'_> {
    fn size(&self) -> (u32, u32) {
        (1200, 1000)
    }

    fn title(&self) -> String {
        let row = &self.outcome.row;
        format!("{} on {}", row.controller, row.trace)
    }

    fn description(&self) -> String {
        let panels = "Throughput beside capacity, queueing delay, and congestion window over time";
        format!("{panels}: {}.", self.result())
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        self.heading(area)?;
        self.throughput(area)?;
        self.queue_delay(area)?;
        self.windows(area)
    }
}

impl Plot<'_> {
    fn heading<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let scenario = self.outcome.row.scenario_caption();
        heading(area, ACROSS.0, &self.title(), &[scenario, self.result()])
    }

    /// The run in one line.
    fn result(&self) -> String {
        let row = &self.outcome.row;
        let times = |name, p50, p95, p99| {
            let [p50, p95, p99] = [p50, p95, p99].map(millis);
            format!("{name} p50 {p50}, p95 {p95}, p99 {p99}")
        };
        let merit = if row.messages.is_some() {
            let (p50, p95, p99) = (row.message_p50_ms, row.message_p95_ms, row.message_p99_ms);
            times("messages", p50, p95, p99)
        } else if row.frames.is_some() {
            let (p50, p95) = (row.frame_delay_p50_ms, row.frame_delay_p95_ms);
            times("frames", p50, p95, row.frame_delay_p99_ms)
        } else {
            format!("power {:.3}", row.power)
        };
        let mut result = format!(
            "utilization {:.1} %, mean RTT {}, loss {:.2} %, {merit}",
            row.utilization * 100.0,
            millis(row.rtt_mean_ms),
            row.loss_rate * 100.0,
        );
        if row.closed.is_some() {
            result += ", connection closed early";
        }
        result
    }

    fn color(&self) -> RGBColor {
        Look::of(&self.outcome.row.controller).color
    }

    /// The name and the colour of each flow's window. Flows of different controllers have these controllers' colours.
    fn flows(&self) -> Vec<(String, RGBColor)> {
        let flows = &self.outcome.row.flows;
        let names: BTreeSet<&str> = flows.iter().map(|flow| flow.controller.as_str()).collect();
        if flows.len() == 1 {
            return vec![(self.outcome.row.controller.clone(), self.color())];
        }
        let differ = names.len() == flows.len();
        let flow = |index: usize| match flows.get(index) {
            Some(flow) if differ => {
                let name = flow.controller.clone();
                (name, Look::of(&flow.controller).color)
            }
            _ => (format!("flow {}", index + 1), Look::at(index).color),
        };
        (0..self.outcome.windows.len()).map(flow).collect()
    }

    fn throughput<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let high = self.axes.mbps;
        let panel = self.panel(THROUGHPUT, Scale::Linear { low: 0.0, high });
        throughput(&panel, area, &self.outcome.timeline, self.color())
    }

    fn queue_delay<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let panel = self.panel(QUEUE_DELAY, delay_scale(self.axes.delay_ms));
        let p95 = self.outcome.row.queue_delay_p95_ms;
        queue_delay(&panel, area, &self.outcome.timeline, p95, self.color())
    }

    fn windows<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let (low, high) = self.axes.window_kb;
        let panel = self.panel(WINDOW, Scale::Log { low, high });
        let windows = &self.outcome.windows;
        panel.frame(area, "congestion window (kB)")?;
        panel.x_labels(area, "time (s)")?;
        let flows = self.flows();
        if (2..=MAX_NAMED_FLOWS).contains(&windows.len()) {
            let name = |(name, color): &(String, RGBColor)| (Swatch::Line(*color), name.clone());
            let entries: Vec<_> = flows.iter().map(name).collect();
            panel.legend(area, &entries)?;
        }
        for (points, (_, color)) in windows.iter().zip(&flows) {
            let points = points
                .iter()
                .map(|&(time, window)| (time.as_secs_f64(), window as f64 / 1e3));
            // One pixel: wider lines are mitred, and the corners of a series as jagged as this would stand out as spikes.
            panel.line(area, points, color.stroke_width(1))?;
        }
        panel.outline(area)
    }

    fn panel(&self, down: (i32, i32), y: Scale) -> Panel {
        Panel {
            across: ACROSS,
            down,
            x: Scale::Linear {
                low: 0.0,
                high: self.axes.seconds,
            },
            y,
        }
    }
}

/// A time in a caption, if it is known.
fn millis(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), delay)
}

/// Throughput against capacity.
pub(super) fn throughput<DB: DrawingBackend>(
    panel: &Panel,
    area: &Area<DB>,
    timeline: &Timeline,
    color: RGBColor,
) -> DrawResult<DB> {
    panel.frame(area, "throughput (Mb/s)")?;
    let capacity = steps(timeline, 0..timeline.bins.len(), |bin| bin.capacity_mbps);
    let base = [(timeline.duration_seconds, 0.0), (0.0, 0.0)];
    panel.between(area, capacity, base, CAPACITY.filled())?;
    let throughput = steps(timeline, 0..timeline.bins.len(), |bin| bin.throughput_mbps);
    panel.line(area, throughput, color.stroke_width(2))?;
    panel.outline(area)?;
    panel.legend(
        area,
        &[
            (Swatch::Fill(CAPACITY.filled()), "capacity".to_owned()),
            (Swatch::Line(color), "delivered, on the wire".to_owned()),
        ],
    )
}

/// The range and the mean of the queueing delays, and all packets' 95th percentile.
pub(super) fn queue_delay<DB: DrawingBackend>(
    panel: &Panel,
    area: &Area<DB>,
    timeline: &Timeline,
    p95: Option<f64>,
    color: RGBColor,
) -> DrawResult<DB> {
    panel.frame(area, "queueing delay (ms)")?;
    let band = color.mix(0.3).filled();
    for bins in bins_with_packets(timeline) {
        let spread = |value: fn(&Spread) -> f64| {
            steps(timeline, bins.clone(), move |bin| {
                bin.queue_delay_ms.as_ref().map_or(0.0, value)
            })
        };
        let mut lower = spread(|spread| spread.min);
        lower.reverse();
        panel.between(area, spread(|spread| spread.max), lower, band)?;
        let mean = spread(|spread| spread.mean);
        panel.line(area, mean, color.stroke_width(2))?;
    }
    let mut entries = vec![
        (Swatch::Fill(band), "least to largest".to_owned()),
        (Swatch::Line(color), "mean".to_owned()),
    ];
    if let Some(value) = p95 {
        panel.level(area, value, INK)?;
        let label = format!("95th percentile of all packets, {}", delay(value));
        entries.push((Swatch::Dashes(INK), label));
    }
    panel.outline(area)?;
    panel.legend(area, &entries)
}

/// The upper edge of a bar chart of some bins.
fn steps(timeline: &Timeline, bins: Range<usize>, value: impl Fn(&Bin) -> f64) -> Vec<(f64, f64)> {
    let border =
        |index: usize| (index as f64 * timeline.bin_seconds).min(timeline.duration_seconds);
    bins.filter_map(|index| Some((index, value(timeline.bins.get(index)?))))
        .flat_map(|(index, value)| [(border(index), value), (border(index + 1), value)])
        .collect()
}

/// The stretches of bins in which packets departed.
fn bins_with_packets(timeline: &Timeline) -> Vec<Range<usize>> {
    let mut start = 0;
    timeline
        .bins
        .chunk_by(|a, b| a.queue_delay_ms.is_some() == b.queue_delay_ms.is_some())
        .filter_map(|bins| {
            let range = start..start + bins.len();
            start = range.end;
            bins.first()?.queue_delay_ms.map(|_| range)
        })
        .collect()
}

/// The left and right side of every panel.
pub(super) const ACROSS: (i32, i32) = (80, 1170);
/// The top and bottom of each panel.
pub(super) const THROUGHPUT: (i32, i32) = (142, 392);
pub(super) const QUEUE_DELAY: (i32, i32) = (442, 692);
const WINDOW: (i32, i32) = (742, 932);

/// The axis of delays up to this one, in milliseconds. What is less than its start is drawn as that.
pub(super) fn delay_scale(longest: f64) -> Scale {
    let low = if longest < SHORT_DELAY_MS { 0.01 } else { 1.0 };
    Scale::Log {
        low,
        high: longest.max(10.0 * low),
    }
}

/// A delay in a caption, to two digits at least.
fn delay(millis: f64) -> String {
    let digits = match millis {
        short if short < 1.0 => 2,
        short if short < SHORT_DELAY_MS => 1,
        _ => 0,
    };
    format!("{millis:.digits$} ms")
}

/// Where no packet waits for so long, the path is short.
const SHORT_DELAY_MS: f64 = 10.0;

/// As many flows as colours that differ, and as fit into a legend.
const MAX_NAMED_FLOWS: usize = 7;

/// How much room to leave above the largest value.
pub(super) const HEADROOM: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::*;

    /// Fault: every delay of a path below a millisecond was drawn as one.
    #[test]
    fn delays_of_short_paths_are_told_apart() {
        let captions = [0.0, 0.772, 1.36, 9.96, 75.3, 1020.0].map(delay);
        assert_eq!(
            captions,
            [
                "0.00 ms", "0.77 ms", "1.4 ms", "10.0 ms", "75 ms", "1020 ms"
            ]
        );
        for (longest, low, high) in [(0.0, 0.01, 0.1), (2.1, 0.01, 2.1), (10.0, 1.0, 10.0)] {
            let Scale::Log {
                low: from,
                high: to,
            } = delay_scale(longest)
            else {
                panic!("logarithmic");
            };
            assert_eq!((from, to), (low, high));
        }
    }

    #[test]
    fn bars_and_stretches() {
        let bin = |throughput_mbps, packets: bool| Bin {
            throughput_mbps,
            queue_delay_ms: packets.then_some(Spread {
                min: 1.0,
                mean: 2.0,
                max: 3.0,
            }),
            ..Bin::default()
        };
        let timeline = Timeline {
            bin_seconds: 0.5,
            duration_seconds: 1.75,
            bins: vec![
                bin(1.0, false),
                bin(2.0, true),
                bin(3.0, true),
                bin(4.0, false),
            ],
        };
        assert_eq!(bins_with_packets(&timeline), vec![1..3]);
        assert_eq!(
            steps(&timeline, 2..4, |bin| bin.throughput_mbps),
            [(1.0, 3.0), (1.5, 3.0), (1.5, 4.0), (1.75, 4.0)]
        );
    }
}
