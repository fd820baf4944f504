//! Random early detection (Floyd and Jacobson, 1993).

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{Fifo, Queued};
use crate::generate::random;
use crate::link::statistics::LinkStats;
use crate::link::{Count, DropCause, Red};
use crate::time::Nanos;

/// A queue governed by RED.
#[derive(Debug)]
pub(in crate::link) struct RedQueue {
    red: Red,
    /// The average queue, in bytes.
    average: f64,
    /// Since when the queue is empty.
    idle_since: Nanos,
    /// Packets since the last drop while the average is between the thresholds; `None` while it is below.
    since_drop: Option<u64>,
    generator: Pcg64,
    fifo: Fifo,
}

impl RedQueue {
    pub(super) fn new(red: Red, seed: u64) -> Self {
        Self {
            red,
            average: 0.0,
            idle_since: Nanos::ZERO,
            since_drop: None,
            generator: Pcg64::seed_from_u64(seed),
            fifo: Fifo::new(red.limit),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        mut queued: Queued,
        stats: &mut LinkStats,
    ) -> Result<(), DropCause> {
        self.average(queued.arrival);
        self.fifo.admit(queued.size)?;
        if self.strikes() && !(self.red.ecn && queued.mark(stats)) {
            return Err(DropCause::Aqm);
        }
        self.fifo.push(queued);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        let queued = self.fifo.dequeue(now, stats);
        if self.fifo.is_empty() {
            self.idle_since = now;
        }
        queued
    }

    pub(super) fn count(&self) -> Count {
        self.fifo.count()
    }

    /// Takes the queue that an arrival meets into the average (section 4).
    fn average(&mut self, now: Nanos) {
        let keep = 1.0 - self.red.weight;
        if self.fifo.is_empty() {
            let idle = (now - self.idle_since).0 / self.red.packet_time.0.max(1);
            self.average *= libm::pow(keep, idle as f64);
            self.idle_since = now;
        } else {
            let queue = self.fifo.count().bytes as f64;
            self.average = keep * self.average + self.red.weight * queue;
        }
    }

    /// Whether to drop or mark an arrival (section 4; the spacing is section 7's second method).
    fn strikes(&mut self) -> bool {
        let (min, max) = (self.red.min as f64, self.red.max as f64);
        if self.average < min {
            self.since_drop = None;
            return false;
        }
        let since = self.since_drop.map_or(0, |since| since + 1);
        let strikes = self.average >= max || {
            let base = self.red.max_probability * (self.average - min) / (max - min);
            // Towards a uniform distribution of the distance between drops. A draw is never 0.
            let left = 1.0 - since as f64 * base;
            random::uniform(&mut self.generator) * left <= base
        };
        self.since_drop = Some(if strikes { 0 } else { since });
        strikes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::tests::arriving;
    use crate::packet::Ecn;

    const RED: Red = Red {
        min: 1_000,
        max: 3_000,
        max_probability: 0.1,
        weight: 1.0,
        packet_time: Nanos::from_millis(1),
        limit: None,
        ecn: true,
    };

    /// A queue of so many bytes that no packet has come to since the last drop.
    fn filled(red: Red, bytes: usize) -> RedQueue {
        let mut queue = RedQueue::new(red, 1);
        queue.fifo.push(arriving(bytes, Nanos::ZERO));
        queue
    }

    #[test]
    fn below_nothing_is_dropped_and_above_everything() {
        for (bytes, share) in [(999, 0.0), (1_000, 0.0), (3_000, 1.0), (9_000, 1.0)] {
            let mut struck = 0.0;
            for _ in 0..100 {
                let mut stats = LinkStats::new(false);
                let result = filled(RED, bytes).enqueue(arriving(1, Nanos::ZERO), &mut stats);
                struck += f64::from(u8::from(result.is_err())) / 100.0;
            }
            assert!((struck - share).abs() < 1e-9, "{bytes}: {struck}");
        }
    }

    /// With a base probability of 0.05, drops are 1 to 19 packets apart, each distance as likely as the others.
    #[test]
    fn drops_between_the_thresholds_are_evenly_apart() {
        let mut queue = filled(RED, 2_000);
        let mut distances = Vec::new();
        let mut distance = 0;
        for _ in 0..200_000 {
            queue.average(Nanos::ZERO);
            distance += 1;
            if queue.strikes() {
                distances.push(distance);
                distance = 0;
            }
        }
        let distances = &distances[1..];
        let mean = distances.iter().sum::<u64>() as f64 / distances.len() as f64;
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
        assert_eq!(distances.iter().max(), Some(&19));
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_while_idle() {
        let mut queue = filled(
            Red {
                weight: 0.25,
                ..RED
            },
            1_000,
        );
        let mut averages = Vec::new();
        for _ in 0..3 {
            queue.average(Nanos::ZERO);
            averages.push(queue.average);
        }
        assert_eq!(averages, [250.0, 437.5, 578.125]);
        let mut stats = LinkStats::new(false);
        assert!(queue.dequeue(Nanos::from_millis(5), &mut stats).is_some());
        queue.average(Nanos::from_millis(7));
        assert!((queue.average - 578.125 * 0.75 * 0.75).abs() < 1e-9);
        queue.average(Nanos::MAX);
        assert_eq!(queue.average, 0.0);
    }

    #[test]
    fn ecn_packets_are_marked_and_others_dropped() {
        for (ecn, capable, marked) in [
            (false, true, false),
            (true, false, false),
            (true, true, true),
        ] {
            let mut stats = LinkStats::new(false);
            let mut queued = arriving(1, Nanos::ZERO);
            queued.packet.ecn = capable.then_some(Ecn::Ect1);
            let result = filled(Red { ecn, ..RED }, 5_000).enqueue(queued, &mut stats);
            assert_eq!(result.is_ok(), marked);
            assert_eq!(stats.statistics.marked.packets, u64::from(marked));
        }
    }
}
