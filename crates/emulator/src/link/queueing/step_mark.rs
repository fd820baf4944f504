//! Marking above a threshold.

use super::{Fifo, Queued};
use crate::link::statistics::LinkStats;
use crate::link::{Count, DropCause, StepMark};
use crate::time::Nanos;

/// A queue that marks.
#[derive(Debug)]
pub(in crate::link) struct StepMarkQueue {
    step: StepMark,
    fifo: Fifo,
}

impl StepMarkQueue {
    pub(super) fn new(step: StepMark) -> Self {
        Self {
            step,
            fifo: Fifo::new(step.limit),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        mut queued: Queued,
        stats: &mut LinkStats,
    ) -> Result<(), DropCause> {
        self.fifo.admit(queued.size)?;
        if self.fifo.count().exceeds(self.step.threshold)
            && !queued.mark(stats)
            && self.step.drop_not_ect
        {
            return Err(DropCause::Aqm);
        }
        self.fifo.push(queued);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        loop {
            let mut queued = self.fifo.dequeue(now, stats)?;
            let waited = now - queued.arrival;
            let late = self.step.threshold.time.is_some_and(|max| waited > max);
            if !late || queued.mark(stats) || !self.step.drop_not_ect {
                return Some(queued);
            }
            queued.drop(now, DropCause::Aqm, stats);
        }
    }

    pub(super) fn count(&self) -> Count {
        self.fifo.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Limit;
    use crate::link::tests::arriving;
    use crate::packet::Ecn;

    #[test]
    fn marks_begin_exactly_above_the_threshold() {
        for (what, threshold, unmarked) in [
            ("above 300 bytes is the fifth of 100", Limit::bytes(300), 4),
            ("a byte less marks the fourth", Limit::bytes(299), 3),
            ("above 2 packets is the fourth", Limit::packets(2), 3),
            ("threshold 0 spares the first", Limit::bytes(0), 1),
            (
                "the nearer counts",
                Limit {
                    packets: Some(1),
                    ..Limit::bytes(300)
                },
                2,
            ),
        ] {
            for drop_not_ect in [false, true] {
                for ecn in [None, Some(Ecn::Ect0), Some(Ecn::Ect1), Some(Ecn::Ce)] {
                    let mut queue = StepMarkQueue::new(StepMark {
                        threshold,
                        drop_not_ect,
                        limit: None,
                    });
                    let mut stats = LinkStats::new(false);
                    for place in 0..8 {
                        let mut queued = arriving(100, Nanos::ZERO);
                        queued.packet.ecn = ecn;
                        let dropped = place >= unmarked && drop_not_ect && ecn.is_none();
                        let result = queue.enqueue(queued, &mut stats);
                        assert_eq!(result.is_err(), dropped, "{what}");
                    }
                    for place in 0..queue.count().packets {
                        let out = queue.dequeue(Nanos::MAX, &mut stats).unwrap();
                        let marked = place >= unmarked && ecn.is_some();
                        assert_eq!(
                            out.packet.ecn,
                            if marked { Some(Ecn::Ce) } else { ecn },
                            "{what}"
                        );
                    }
                    let fresh = matches!(ecn, Some(Ecn::Ect0 | Ecn::Ect1));
                    let marks = if fresh { 8 - unmarked } else { 0 };
                    assert_eq!(stats.statistics.marked.packets, marks, "{what}");
                }
            }
        }
    }

    #[test]
    fn a_threshold_in_time_applies_to_departures() {
        for drop_not_ect in [false, true] {
            let mut queue = StepMarkQueue::new(StepMark {
                threshold: Limit::time(Nanos(10)),
                drop_not_ect,
                limit: None,
            });
            let mut stats = LinkStats::new(false);
            for (arrival, ecn) in [
                (0, Some(Ecn::Ect0)),
                (0, Some(Ecn::Ect1)),
                (0, None),
                (9, None),
            ] {
                let mut queued = arriving(1, Nanos(arrival));
                queued.packet.ecn = ecn;
                queue.enqueue(queued, &mut stats).unwrap();
            }
            let mut out = |now| {
                queue
                    .dequeue(Nanos(now), &mut stats)
                    .map(|out| out.packet.ecn)
            };
            assert_eq!(out(10), Some(Some(Ecn::Ect0)));
            assert_eq!(out(11), Some(Some(Ecn::Ce)));
            assert_eq!(out(12), Some(None));
            assert_eq!(out(13), if drop_not_ect { None } else { Some(None) });
            assert_eq!(stats.statistics.marked.packets, 1);
            assert_eq!(stats.statistics.aqm.packets, u64::from(drop_not_ect));
        }
    }
}
