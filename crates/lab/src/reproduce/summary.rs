//! What most experiments keep of a run.

use std::time::Duration;

use kneepoint_controllers::Snapshot;
use serde::{Deserialize, Serialize};

use super::setup::Bottleneck;
use crate::metrics::stats;
use crate::plots::{Axis, Chart, Mark};
use crate::trial::{FlowOutcome, Outcome};

/// What all flows of a run achieved together on the link `forward`, in a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Summary {
    /// Stream bytes read, in Mb/s.
    pub(super) goodput_mbps: f64,
    /// Bytes delivered over the link as a share of its capacity; `None` where that is not known.
    pub(super) utilization: Option<f64>,
    /// Round-trip times in milliseconds.
    pub(super) rtt: Spread,
    /// Queueing delays on the link in milliseconds.
    pub(super) queue: Spread,
    /// Packets dropped on the link as a share of those offered, over the whole run.
    pub(super) loss_rate: f64,
    /// Why a connection closed early, if one did.
    pub(super) closed: Option<String>,
}

/// The distribution of some times, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) median: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Spread {
    /// Of sorted nanoseconds; all zero of none.
    pub(super) fn of(sorted: &[u64]) -> Self {
        let rank = |p| stats::percentile(sorted, p).unwrap_or(0) as f64 / 1e6;
        Self {
            mean: stats::mean(sorted).unwrap_or(0.0) / 1e6,
            median: rank(0.5),
            p95: rank(0.95),
            p99: rank(0.99),
            max: rank(1.0),
        }
    }
}

impl Summary {
    /// Of what happened between two times.
    pub(super) fn of(
        outcome: &Outcome,
        bottleneck: &Bottleneck,
        from: Duration,
        to: Duration,
    ) -> Self {
        let bytes: u64 = outcome.shares(from, to).iter().sum();
        let seconds = to.saturating_sub(from).as_secs_f64().max(f64::MIN_POSITIVE);
        let link = outcome.links.get("forward");
        let capacity = bottleneck.capacity(from, to);
        let delivered = link.map_or(0, |link| link.delivered(from, to));
        let closed = outcome.flows.iter().find_map(|flow| flow.closed.clone());
        Self {
            goodput_mbps: bytes as f64 * 8.0 / 1e6 / seconds,
            utilization: (capacity > 0.0).then(|| delivered as f64 / capacity),
            rtt: Spread::of(&outcome.rtts(from, to)),
            queue: link.map_or_else(Spread::default, |link| {
                Spread::of(&link.queue_delays(from, to))
            }),
            loss_rate: overflow(outcome),
            closed,
        }
    }

    /// The utilization; not a number where it is not known.
    pub(super) fn used(&self) -> f64 {
        known(self.utilization)
    }
}

/// One flow over time, to be drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TimeSeries {
    /// Goodput in Mb/s, second by second.
    pub(super) goodput: Vec<(f64, f64)>,
    /// The mean round-trip time of every half second, in milliseconds.
    pub(super) rtt: Vec<(f64, f64)>,
}

impl TimeSeries {
    /// Of one flow.
    pub(super) fn of(flow: &FlowOutcome) -> Self {
        Self {
            goodput: flow.goodput_series(),
            rtt: thin(rtts(flow), 0.5),
        }
    }

    /// Of every flow, if they are to be drawn.
    pub(super) fn drawn(outcome: &Outcome, drawn: bool) -> Vec<Self> {
        let flows = outcome.flows.iter().filter(|_| drawn);
        flows.map(Self::of).collect()
    }

    /// Goodput and round-trip time of flows by their names, the latter over an axis in milliseconds.
    pub(super) fn charts<'a>(
        caption: &str,
        rtt: Axis,
        flows: impl IntoIterator<Item = (impl Into<String>, Mark, &'a Self)>,
    ) -> [Chart; 2] {
        let charts = [
            Chart::over_time(format!("{caption}: goodput"), "Mb/s"),
            Chart {
                y: rtt,
                ..Chart::over_time(format!("{caption}: round-trip time"), "ms")
            },
        ];
        let flows = flows.into_iter();
        flows.fold(charts, |[goodput, rtt], (name, mark, series)| {
            let name = name.into();
            [
                goodput.series(&name, mark, series.goodput.iter().copied()),
                rtt.series(&name, mark, series.rtt.iter().copied()),
            ]
        })
    }
}

/// A flow's round-trip times in milliseconds, over seconds.
pub(super) fn rtts(flow: &FlowOutcome) -> impl Iterator<Item = (f64, f64)> {
    let samples = flow.rtts.iter();
    samples.map(|sample| (sample.at as f64 / 1e9, sample.rtt as f64 / 1e6))
}

/// A flow's congestion window in datagrams, its mean in every `width` seconds.
pub(super) fn windows(flow: &FlowOutcome, width: f64) -> Vec<(f64, f64)> {
    let windows = flow.windows.iter();
    let packets = windows.map(|&(at, bytes)| (at.as_secs_f64(), bytes as f64 / DATAGRAM));
    thin(packets, width)
}

/// What a flow's controller shows of itself, over seconds.
pub(super) fn shown(
    flow: &FlowOutcome,
    value: impl Fn(&Snapshot) -> Option<f64>,
) -> impl Iterator<Item = (f64, f64)> {
    let samples = flow.samples.iter();
    samples.filter_map(move |sample| Some((sample.at.as_secs_f64(), value(&sample.snapshot)?)))
}

/// A controller's estimate of the bandwidth in Mb/s, if it shows one.
pub(super) fn estimate(snapshot: &Snapshot) -> Option<f64> {
    Some(snapshot.bandwidth?.bytes_per_second() as f64 * 8e-6)
}

/// Packets dropped on the link `forward`, as a share of those offered.
pub(super) fn overflow(outcome: &Outcome) -> f64 {
    let link = outcome.links.get("forward");
    link.map_or(0.0, |link| link.loss_rate())
}

/// The datagram that quinn finds the path to take, in bytes.
const DATAGRAM: f64 = 1452.0;

/// A figure over several seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seeds {
    pub(super) mean: f64,
    pub(super) min: f64,
    pub(super) largest: f64,
}

impl Seeds {
    /// Of one figure per seed; not a number if there is none.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            largest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The mean, and the least and the largest if they differ as they are printed.
    pub(super) fn text(self, print: impl Fn(f64) -> String) -> String {
        let (min, largest) = (print(self.min), print(self.largest));
        if min == largest {
            print(self.mean)
        } else {
            format!("{} ({min} to {largest})", print(self.mean))
        }
    }
}

/// A figure to calculate with: not a number if there is none.
pub(super) fn known(figure: Option<f64>) -> f64 {
    figure.unwrap_or(f64::NAN)
}

/// The geometric mean; not a number of no values.
pub(super) fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0.0), |(sum, count), value: f64| {
            (sum + value.ln(), count + 1.0)
        });
    (sum / count).exp()
}

/// Points as the means of so many parts of the time that they are in, to draw them.
pub(super) fn thin(points: impl IntoIterator<Item = (f64, f64)>, width: f64) -> Vec<(f64, f64)> {
    let mut bins: Vec<(f64, f64, f64)> = Vec::new();
    for (x, y) in points {
        let start = (x / width).floor() * width;
        match bins.last_mut() {
            Some(bin) if bin.0 == start => {
                bin.1 += y;
                bin.2 += 1.0;
            }
            _ => bins.push((start, y, 1.0)),
        }
    }
    bins.into_iter()
        .map(|(start, sum, count)| (start + width / 2.0, sum / count))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_show_their_spread() {
        let print = |value: f64| format!("{value:.1}");
        assert_eq!(Seeds::of([2.0]).text(print), "2.0");
        assert_eq!(Seeds::of([1.0, 3.0]).text(print), "2.0 (1.0 to 3.0)");
        assert_eq!(Seeds::of([2.01, 2.02]).text(print), "2.0");
    }

    #[test]
    fn thinned_points_are_means() {
        let points = [(0.1, 1.0), (0.9, 3.0), (2.5, 7.0)];
        assert_eq!(thin(points, 1.0), [(0.5, 2.0), (2.5, 7.0)]);
        assert!((geometric_mean([2.0, 8.0]) - 4.0).abs() < 1e-12);
    }
}
