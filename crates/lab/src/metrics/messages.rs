//! From when messages were due and when they arrived to what a user of them notices.

use std::time::Duration;

use super::stats::nanos;
use crate::trial::FlowOutcome;

/// Messages that were due, and how long those took that arrived.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Messages {
    /// How many were due.
    pub(super) due: u64,
    /// How long each one that arrived by the end of the run took, in nanoseconds.
    pub(super) took: Vec<u64>,
}

impl Messages {
    /// Those of all flows that were due before `end`.
    pub(super) fn of(flows: &[FlowOutcome], end: Duration) -> Self {
        let mut messages = Self::default();
        for flow in flows {
            messages.due += flow
                .due
                .iter()
                .map(|series| series.due_before(end))
                .sum::<u64>();
            let took = flow
                .messages
                .iter()
                .filter(|message| message.began < end)
                .map(|message| nanos(message.arrived.saturating_sub(message.began)));
            messages.took.extend(took);
        }
        messages
    }

    /// How many had not arrived by the end of the run.
    pub(super) fn missing(&self) -> u64 {
        self.due.saturating_sub(self.took.len() as u64)
    }

    /// The share of them that took longer than this, or did not arrive at all.
    pub(super) fn late(&self, deadline: Duration) -> f64 {
        let in_time = |took: &&u64| **took <= nanos(deadline);
        let in_time = self.took.iter().filter(in_time).count() as u64;
        if self.due == 0 {
            0.0
        } else {
            self.due.saturating_sub(in_time) as f64 / self.due as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Message, Series};

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn missing_data_is_late() {
        let message = |began, arrived| Message {
            began: ms(began),
            arrived: ms(arrived),
            bytes: 8,
        };
        let flow = FlowOutcome {
            due: vec![Series {
                first: ms(0),
                period: ms(10),
                until: ms(100),
                max: None,
            }],
            messages: vec![message(0, 5), message(10, 40), message(20, 29)],
            ..FlowOutcome::default()
        };
        let all = Messages::of(std::slice::from_ref(&flow), ms(1000));
        assert_eq!((all.due, all.missing()), (10, 7));
        assert_eq!(all.took, [5_000_000, 30_000_000, 9_000_000]);
        assert!((all.late(ms(9)) - 0.8).abs() < 1e-12);
        // Those that are due too late to be judged do not count.
        let judged = Messages::of(&[flow], ms(20));
        assert_eq!((judged.due, judged.missing()), (2, 0));
        assert!((judged.late(ms(9)) - 0.5).abs() < 1e-12);
        assert_eq!(Messages::default().late(ms(9)), 0.0);
    }
}
