//! The counters of one direction's threads.

use hdrhistogram::Histogram;

use super::Lateness;
use crate::time::Nanos;

/// The counters of one direction, beside those of its link.
#[derive(Debug)]
pub(super) struct Tally {
    lateness: Times,
    waited: Times,
    pub(super) unsent: u64,
    pub(super) forgotten: u64,
    pub(super) unlogged: u64,
    /// Why the log is no longer written.
    pub(super) log_failure: Option<String>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            lateness: Times::new(),
            waited: Times::new(),
            unsent: 0,
            forgotten: 0,
            unlogged: 0,
            log_failure: None,
        }
    }

    /// A packet was sent late by this much.
    pub(super) fn late(&mut self, lateness: Nanos) {
        self.lateness.add(lateness);
    }

    /// Packets were read that had waited for so long.
    pub(super) fn waited(&mut self, times: impl IntoIterator<Item = Nanos>) {
        for time in times {
            self.waited.add(time);
        }
    }

    pub(super) fn lateness(&self) -> Lateness {
        self.lateness.quantiles()
    }

    pub(super) fn waiting(&self) -> Lateness {
        self.waited.quantiles()
    }
}

/// In nanoseconds.
#[derive(Debug)]
struct Times(Option<Histogram<u64>>);

impl Times {
    fn new() -> Self {
        Self(Histogram::new_with_bounds(1, MAX_LATE, DIGITS).ok())
    }

    fn add(&mut self, time: Nanos) {
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(time.0);
        }
    }

    fn quantiles(&self) -> Lateness {
        let quantile = |quantile| {
            let histogram = self.0.as_ref();
            Nanos(histogram.map_or(0, |histogram| histogram.value_at_quantile(quantile)))
        };
        let histogram = self.0.as_ref();
        Lateness {
            packets: histogram.map_or(0, Histogram::len),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: Nanos(histogram.map_or(0, Histogram::max)),
        }
    }
}

/// Ten seconds, in nanoseconds: what is later counts as that.
const MAX_LATE: u64 = 10_000_000_000;

/// Significant digits.
const DIGITS: u8 = 3;
