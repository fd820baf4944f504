//! When nothing is delivered at all.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::model::{Model, OUTAGE_LN_SD, Spells};
use super::random::{exponential, log_normal, uniform};

/// The start and the end of one outage after the other, in milliseconds; endless.
///
/// Unless they are bounded, it takes an exponential time from the end of an outage to the start of the next, with such a mean
/// that both the number of outages per minute and their mean duration are as given, and outages never overlap.
#[derive(Debug)]
pub(super) struct Outages {
    gap_millis: f64,
    mean_millis: f64,
    spells: &'static Spells,
    generator: Pcg64,
    end: f64,
}

impl Outages {
    pub(super) fn new(model: &'static Model, seed: u64) -> Self {
        Self {
            gap_millis: MILLIS_PER_MINUTE / model.outages_per_minute - model.outage_millis,
            mean_millis: model.outage_millis,
            spells: &model.spells,
            generator: Pcg64::seed_from_u64(seed),
            end: 0.0,
        }
    }

    /// The time to the start of the next outage.
    fn gap(&mut self) -> f64 {
        match self.spells {
            Spells::Unbounded => exponential(&mut self.generator, self.gap_millis),
            Spells::Bounded {
                open_millis: (min, max),
                ..
            } => min + (max - min) * uniform(&mut self.generator),
        }
    }

    fn duration(&mut self) -> f64 {
        let mut draw = || log_normal(&mut self.generator, self.mean_millis, OUTAGE_LN_SD);
        let mut duration = draw();
        if let Spells::Bounded {
            blocked_millis: (min, max),
            ..
        } = self.spells
        {
            // Nine in ten draws lie within the bounds.
            while !(*min..=*max).contains(&duration) {
                duration = draw();
            }
        }
        duration
    }
}

impl Iterator for Outages {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let start = self.end + self.gap();
        self.end = start + self.duration();
        Some((start, self.end))
    }
}

/// Milliseconds per minute.
const MILLIS_PER_MINUTE: f64 = 60_000.0;
