//! Release in batches.

use std::collections::VecDeque;

use crate::link::config;
use crate::link::queueing::Queued;
use crate::time::Nanos;

/// Holds the packets of a batch. All of them depart before its deadline.
#[derive(Debug)]
pub(super) struct Aggregation {
    interval: Nanos,
    full: u64,
    deadline: Nanos,
    batch: VecDeque<(Nanos, Queued)>,
}

impl Aggregation {
    pub(super) fn new(aggregation: config::Aggregation) -> Self {
        Self {
            interval: aggregation.interval,
            full: aggregation.packets.unwrap_or(u64::MAX),
            deadline: Nanos::MAX,
            batch: VecDeque::new(),
        }
    }

    /// When the batch is released; `None` if there is none.
    pub(super) fn deadline(&self) -> Option<Nanos> {
        (!self.batch.is_empty()).then_some(self.deadline)
    }

    /// Adds a packet that departs at the given time, after a batch due by then has been [taken](Self::pop). Returns
    /// whether the batch is full.
    pub(super) fn push(&mut self, departure: Nanos, queued: Queued) -> bool {
        if self.batch.is_empty() {
            let interval = self.interval.0.max(1);
            let multiple = (departure.0 / interval).saturating_add(1);
            self.deadline = Nanos(multiple.saturating_mul(interval));
        }
        self.batch.push_back((departure, queued));
        self.batch.len() as u64 >= self.full
    }

    /// Takes the batch's next packet, with its departure.
    pub(super) fn pop(&mut self) -> Option<(Nanos, Queued)> {
        self.batch.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::tests::queued;

    #[test]
    fn a_batch_ends_with_its_interval_or_when_it_is_full() {
        let mut aggregation = Aggregation::new(config::Aggregation {
            interval: Nanos(100),
            packets: Some(3),
        });
        assert_eq!(aggregation.deadline(), None);
        for (departure, deadline, full) in [
            (0, 100, false),
            (99, 100, false),
            (99, 100, true),
            (100, 200, false),
            (300, 400, false),
        ] {
            let departure = Nanos(departure);
            if aggregation
                .deadline()
                .is_some_and(|deadline| deadline <= departure)
            {
                while aggregation.pop().is_some() {}
            }
            assert_eq!(aggregation.push(departure, queued(1)), full);
            assert_eq!(aggregation.deadline(), Some(Nanos(deadline)));
            if full {
                while aggregation.pop().is_some() {}
                assert_eq!(aggregation.deadline(), None);
            }
        }
    }

    #[test]
    fn time_may_end_before_the_interval() {
        let mut aggregation = Aggregation::new(config::Aggregation {
            interval: Nanos::MAX,
            packets: None,
        });
        assert!(!aggregation.push(Nanos::MAX, queued(1)));
        assert_eq!(aggregation.deadline(), Some(Nanos::MAX));
    }
}
