//! A trace in numbers.

use super::{NANOS_PER_MILLI, OPPORTUNITY_BYTES, Trace};
use crate::time::Nanos;

/// A trace in numbers. All are of one cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceStatistics {
    /// The cycle's length.
    pub duration: Nanos,
    /// Delivery opportunities.
    pub opportunities: u64,
    /// The mean rate, in bytes per second.
    pub mean_rate: f64,
    /// Rates in bins of 100 ms.
    pub rates_100ms: RateBins,
    /// Rates in bins of 1 s.
    pub rates_1s: RateBins,
    /// The number of gaps between opportunities that are longer than [`OUTAGE_MILLIS`], in an endless repetition.
    pub outages: u64,
    /// The longest gap between opportunities, in an endless repetition.
    pub max_gap: Nanos,
    /// What happens where the trace repeats.
    pub wrap: Wrap,
}

/// The distribution of rates, in bytes per second, over a trace's bins; by nearest rank. An incomplete last bin is left
/// out if it is not the only one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateBins {
    /// The least rate.
    pub min: f64,
    /// The 5th percentile.
    pub p5: f64,
    /// The 25th percentile.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// The 75th percentile.
    pub p75: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The largest rate.
    pub max: f64,
}

/// What happens where a trace repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrap {
    /// From a cycle's last opportunity to the next cycle's first.
    pub gap: Nanos,
    /// How many of a cycle's opportunities coincide with the last one of the cycle before.
    pub coinciding: u64,
    /// The rate in the last second of a cycle, in bytes per second.
    pub rate_before: f64,
    /// The rate in the second after it.
    pub rate_after: f64,
}

/// The bins of one cycle that have opportunities, in order.
#[derive(Debug, Clone)]
pub struct Bins<'a> {
    rest: &'a [u64],
    width: u64,
}

impl Trace {
    /// The trace in numbers.
    pub fn statistics(&self) -> TraceStatistics {
        let millis = self.millis();
        let first = millis.first().copied().unwrap_or(0);
        // The gap in front of the first opportunity is the one at the wrap: every cycle ends with an opportunity.
        let gaps = millis.windows(2).map(|pair| match *pair {
            [from, to] => to - from,
            _ => 0,
        });
        let (mut outages, mut max) = (0, 0);
        for gap in gaps.chain([first]) {
            outages += u64::from(gap > OUTAGE_MILLIS);
            max = max.max(gap);
        }
        let second = Nanos::from_millis(1000);
        let (end, before) = (self.period(), self.period() - second);
        let seconds = (end - before).as_secs_f64();
        TraceStatistics {
            duration: self.period(),
            opportunities: millis.len() as u64,
            mean_rate: self.mean_rate(),
            rates_100ms: self.rate_bins(100),
            rates_1s: self.rate_bins(1000),
            outages,
            max_gap: Nanos::from_millis(max),
            wrap: Wrap {
                gap: Nanos::from_millis(first),
                coinciding: millis.iter().take_while(|time| **time == 0).count() as u64,
                rate_before: self.capacity(before, end) as f64 / seconds,
                rate_after: self.capacity(end, end + second) as f64,
            },
        }
    }

    /// Counts the opportunities of one cycle in bins of so many milliseconds, at least 1. Each bin is open at its start:
    /// an opportunity at a border belongs to the bin that ends there; those at time 0 belong to the first.
    pub fn bins(&self, width_millis: u64) -> Bins<'_> {
        Bins {
            rest: self.millis(),
            width: width_millis.max(1),
        }
    }

    fn rate_bins(&self, width: u64) -> RateBins {
        let complete = self.period().0 / NANOS_PER_MILLI / width;
        let (bins, seconds) = match complete {
            0 => (1, self.period().as_secs_f64()),
            bins => (bins, width as f64 / 1e3),
        };
        let mut counts: Vec<u64> = self
            .bins(width)
            .filter(|(index, _)| *index < bins)
            .map(|(_, count)| count)
            .collect();
        counts.sort_unstable();
        // Bins without opportunities are not written out: a trace may have ages of them.
        let empty = bins - counts.len() as u64;
        let rate = |p: f64| {
            let rank = ((p * bins as f64).ceil() as u64).clamp(1, bins) - 1;
            let place = rank
                .checked_sub(empty)
                .and_then(|n| usize::try_from(n).ok());
            let count = place.and_then(|place| counts.get(place));
            count.map_or(0.0, |count| (count * OPPORTUNITY_BYTES) as f64 / seconds)
        };
        RateBins {
            min: rate(0.0),
            p5: rate(0.05),
            p25: rate(0.25),
            p50: rate(0.5),
            p75: rate(0.75),
            p95: rate(0.95),
            max: rate(1.0),
        }
    }
}

impl Iterator for Bins<'_> {
    /// A bin's place, from 0, and its number of opportunities.
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let bin = |time: u64| time.saturating_sub(1) / self.width;
        let index = bin(*self.rest.first()?);
        let count = self.rest.partition_point(|time| bin(*time) == index);
        self.rest = self.rest.get(count..).unwrap_or_default();
        Some((index, count as u64))
    }
}

/// A gap longer than this is an outage, in milliseconds.
pub const OUTAGE_MILLIS: u64 = 300;
