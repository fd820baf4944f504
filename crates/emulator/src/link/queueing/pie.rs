//! Proportional integral controller, enhanced (RFC 8033).

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{Fifo, Queued};
use crate::generate::random;
use crate::link::statistics::LinkStats;
use crate::link::{Count, DropCause, Pie};
use crate::time::Nanos;

/// A queue governed by PIE.
///
/// Updates are due at multiples of the update interval. They run when a packet arrives or leaves: nothing else changes
/// their inputs.
#[derive(Debug)]
pub(in crate::link) struct PieQueue {
    pie: Pie,
    controller: Controller,
    next_update: Nanos,
    /// The wait of the last packet that left (RFC 8033, section 4.3).
    sojourn: Nanos,
    /// The probabilities since the last drop.
    accumulated: f64,
    generator: Pcg64,
    fifo: Fifo,
}

/// The state that updates change.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Controller {
    probability: f64,
    old_delay: Nanos,
    burst_allowance: Nanos,
}

impl PieQueue {
    pub(super) fn new(pie: Pie, seed: u64) -> Self {
        Self {
            pie,
            controller: Controller {
                probability: 0.0,
                old_delay: Nanos::ZERO,
                burst_allowance: pie.burst,
            },
            next_update: pie.update,
            sojourn: Nanos::ZERO,
            accumulated: 0.0,
            generator: Pcg64::seed_from_u64(seed),
            fifo: Fifo::new(pie.limit),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        mut queued: Queued,
        stats: &mut LinkStats,
    ) -> Result<(), DropCause> {
        self.update(queued.arrival);
        self.fifo.admit(queued.size)?;
        let calm = |delay: Nanos| delay.0 < self.pie.target.0 / 2;
        let controller = self.controller;
        if controller.probability == 0.0 && calm(self.delay()) && calm(controller.old_delay) {
            // Burst tolerance (RFC 8033, section 4.4).
            self.controller.burst_allowance = self.pie.burst;
        }
        if self.strikes() {
            // ECN (RFC 8033, section 5.1).
            let mark = self.pie.ecn && self.controller.probability < self.pie.ecn_threshold;
            if !(mark && queued.mark(stats)) {
                return Err(DropCause::Aqm);
            }
        }
        self.fifo.push(queued);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        self.update(now);
        let queued = self.fifo.dequeue(now, stats)?;
        self.sojourn = now - queued.arrival;
        Some(queued)
    }

    pub(super) fn count(&self) -> Count {
        self.fifo.count()
    }

    /// The current queueing delay.
    fn delay(&self) -> Nanos {
        if self.fifo.is_empty() {
            Nanos::ZERO
        } else {
            self.sojourn
        }
    }

    /// Whether to drop an arrival (RFC 8033, sections 4.1, 4.4 and 5.4).
    fn strikes(&mut self) -> bool {
        let Controller {
            probability,
            old_delay,
            burst_allowance,
        } = self.controller;
        let half_target = self.pie.target.0 / 2;
        if burst_allowance > Nanos::ZERO
            || (old_delay.0 < half_target && probability < WORK_CONSERVING_PROBABILITY)
            || self.fifo.count().bytes <= 2 * MEAN_PACKET
        {
            return false;
        }
        let certain = if self.pie.derandomized {
            self.accumulated = if probability == 0.0 {
                0.0
            } else {
                self.accumulated + probability
            };
            if self.accumulated < MIN_ACCUMULATED {
                return false;
            }
            self.accumulated >= MAX_ACCUMULATED
        } else {
            false
        };
        // A draw is never 0.
        let strikes = random::uniform(&mut self.generator) <= probability || certain;
        if strikes {
            self.accumulated = 0.0;
        }
        strikes
    }

    /// Makes up for the updates due by now.
    fn update(&mut self, now: Nanos) {
        let delay = self.delay();
        let mut made = 0;
        while self.next_update <= now && self.next_update < Nanos::MAX {
            let before = self.controller;
            self.controller.update(&self.pie, delay);
            self.next_update = self.next_update + self.pie.update;
            made += 1;
            if self.controller == before || made == MAX_UPDATES {
                // More updates would change nothing.
                let left = (now - self.next_update).0 / self.pie.update.0.max(1);
                let skipped = left.saturating_mul(self.pie.update.0);
                self.next_update = self.next_update + Nanos(skipped);
            }
        }
    }
}

impl Controller {
    /// The periodic update (RFC 8033, sections 4.2 and 4.4).
    fn update(&mut self, pie: &Pie, delay: Nanos) {
        let seconds = |from: Nanos, to: Nanos| (to.0 as f64 - from.0 as f64) / 1e9;
        let change =
            pie.alpha * seconds(pie.target, delay) + pie.beta * seconds(self.old_delay, delay);
        // Small probabilities change in small steps.
        let divisor = SCALE
            .iter()
            .find(|(below, _)| self.probability < *below)
            .map_or(1.0, |(_, divisor)| *divisor);
        self.probability += change / divisor;
        if delay == Nanos::ZERO && self.old_delay == Nanos::ZERO {
            self.probability *= IDLE_DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        if self.probability < MIN_PROBABILITY {
            self.probability = 0.0;
        }
        self.old_delay = delay;
        self.burst_allowance = self.burst_allowance - pie.update;
    }
}

/// The divisors of changes below each probability (RFC 8033, section 4.2).
const SCALE: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// The factor of the probability after an update of an idle queue (RFC 8033, section 4.2).
const IDLE_DECAY: f64 = 0.98;
/// Below this probability no packet is dropped while the delay is below half the target (RFC 8033, section 4.1).
const WORK_CONSERVING_PROBABILITY: f64 = 0.2;
/// MEAN_PKTSIZE, in bytes: a queue of two packets has no drops (RFC 8033, section 4.1). The value is DOCSIS-PIE's (RFC
/// 8034).
const MEAN_PACKET: u64 = 1024;
/// The sums of probabilities before a packet may be dropped, and before one must be dropped (RFC 8033, section 5.4).
const MIN_ACCUMULATED: f64 = 0.85;
const MAX_ACCUMULATED: f64 = 8.5;
/// Less than any draw: such a probability is none. Without it, the decay would never end.
const MIN_PROBABILITY: f64 = 1.0 / (1_u64 << 53) as f64;
/// How many updates in a row are made up for: 25 minutes at 15 ms, after which the probability has long settled.
const MAX_UPDATES: u32 = 100_000;

#[cfg(test)]
mod tests;
