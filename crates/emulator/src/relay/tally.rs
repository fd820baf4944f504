//! What a sender counts.

use hdrhistogram::Histogram;

use super::Lateness;
use crate::time::Nanos;

/// What has become of the packets that left the link.
#[derive(Debug)]
pub(super) struct Tally {
    /// In nanoseconds.
    lateness: Option<Histogram<u64>>,
    pub(super) unsent: u64,
    pub(super) forgotten: u64,
    pub(super) unlogged: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            lateness: Histogram::new_with_bounds(1, MOST_LATE, DIGITS).ok(),
            unsent: 0,
            forgotten: 0,
            unlogged: 0,
        }
    }

    pub(super) fn late(&mut self, lateness: Nanos) {
        if let Some(histogram) = &mut self.lateness {
            histogram.saturating_record(lateness.0);
        }
    }

    pub(super) fn lateness(&self) -> Lateness {
        let quantile = |quantile| {
            let histogram = self.lateness.as_ref();
            Nanos(histogram.map_or(0, |histogram| histogram.value_at_quantile(quantile)))
        };
        let histogram = self.lateness.as_ref();
        Lateness {
            packets: histogram.map_or(0, Histogram::len),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: Nanos(histogram.map_or(0, Histogram::max)),
        }
    }
}

/// Ten seconds, in nanoseconds: what is later counts as that.
const MOST_LATE: u64 = 10_000_000_000;

/// Significant digits.
const DIGITS: u8 = 3;
