//! From rates and outages to opportunities.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::model::{Model, STEP_MILLIS};
use super::outages::Outages;
use super::random::{exponential, geometric};
use super::rate::Rates;
use crate::trace::OPPORTUNITY_BYTES;

/// The times of the opportunities before the end, in milliseconds: batches at the points of a Poisson process.
#[derive(Debug)]
pub(super) struct Deliveries {
    batch: f64,
    end: f64,
    rates: Rates,
    outages: Outages,
    generator: Pcg64,
    /// How far the process has come, in milliseconds.
    now: f64,
    /// The end of the present step, and the rate in it in batches per millisecond.
    step_end: f64,
    rate: f64,
    /// The present or next outage.
    outage: (f64, f64),
    /// How many batches the rate has to bring on average until the next one comes.
    due: f64,
    /// The rest of the current batch.
    pending: u64,
}

impl Deliveries {
    pub(super) fn new(model: &'static Model, seed: u64, end_millis: u64) -> Self {
        let mut seeds = Pcg64::seed_from_u64(seed);
        let rates = Rates::new(model, seeds.next_u64());
        let mut outages = Outages::new(model, seeds.next_u64());
        let mut generator = Pcg64::seed_from_u64(seeds.next_u64());
        Self {
            batch: model.batch,
            end: end_millis as f64,
            rates,
            outage: outages.next().unwrap_or((f64::MAX, f64::MAX)),
            outages,
            now: 0.0,
            step_end: 0.0,
            rate: 0.0,
            due: exponential(&mut generator, 1.0),
            generator,
            pending: 0,
        }
    }

    /// Moves on to the next batch; false if the end comes first.
    fn advance(&mut self) -> bool {
        while self.now < self.end {
            if self.now >= self.step_end {
                self.step_end += STEP_MILLIS;
                let packets = self.rates.next().unwrap_or(0.0) / MBPS_PER_PACKET_PER_MILLI;
                self.rate = packets / self.batch;
            }
            let (outage_start, outage_end) = self.outage;
            if self.now >= outage_end {
                self.outage = self.outages.next().unwrap_or((f64::MAX, f64::MAX));
            } else if self.now >= outage_start {
                self.now = outage_end.min(self.step_end);
            } else {
                let until = outage_start.min(self.step_end);
                let brought = (until - self.now) * self.rate;
                if brought >= self.due {
                    self.now += self.due / self.rate;
                    self.due = exponential(&mut self.generator, 1.0);
                    self.pending = geometric(&mut self.generator, self.batch);
                    return self.now < self.end;
                }
                self.due -= brought;
                self.now = until;
            }
        }
        false
    }
}

impl Iterator for Deliveries {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.pending == 0 && !self.advance() {
            return None;
        }
        self.pending -= 1;
        // Rounded up: not before the batch is there.
        Some(libm::ceil(self.now) as u64)
    }
}

/// One opportunity per millisecond in Mb/s.
const MBPS_PER_PACKET_PER_MILLI: f64 = OPPORTUNITY_BYTES as f64 * 8.0 / 1e3;
