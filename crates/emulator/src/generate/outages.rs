//! When nothing is delivered at all.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::model::{Model, OUTAGE_LN_SD};
use super::random::{exponential, log_normal};

/// The start and the end of one outage after the other, in milliseconds; endless.
///
/// From the end of an outage to the start of the next it takes an exponential time, with such a mean that both the
/// number of outages per minute and their mean duration are as given, and outages never overlap.
#[derive(Debug)]
pub(super) struct Outages {
    gap_millis: f64,
    mean_millis: f64,
    generator: Pcg64,
    end: f64,
}

impl Outages {
    pub(super) fn new(model: &Model, seed: u64) -> Self {
        Self {
            gap_millis: MILLIS_PER_MINUTE / model.outages_per_minute - model.outage_millis,
            mean_millis: model.outage_millis,
            generator: Pcg64::seed_from_u64(seed),
            end: 0.0,
        }
    }
}

impl Iterator for Outages {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let start = self.end + exponential(&mut self.generator, self.gap_millis);
        self.end = start + log_normal(&mut self.generator, self.mean_millis, OUTAGE_LN_SD);
        Some((start, self.end))
    }
}

/// Milliseconds per minute.
const MILLIS_PER_MINUTE: f64 = 60_000.0;
