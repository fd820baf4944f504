//! Controlled delay (RFC 8289).

use super::{Fifo, Queued};
use crate::link::statistics::LinkStats;
use crate::link::{CoDel, Count, DropCause};
use crate::time::Nanos;

/// A queue governed by CoDel.
#[derive(Debug)]
pub(in crate::link) struct CoDelQueue {
    codel: CoDel,
    control: Control,
    fifo: Fifo,
}

impl CoDelQueue {
    pub(super) fn new(codel: CoDel) -> Self {
        Self {
            codel,
            control: Control::default(),
            fifo: Fifo::new(codel.limit),
        }
    }

    pub(super) fn enqueue(&mut self, queued: Queued) -> Result<(), DropCause> {
        self.fifo.enqueue(queued)
    }

    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        self.control
            .dequeue(&self.codel, &mut self.fifo, now, stats)
    }

    pub(super) fn count(&self) -> Count {
        self.fifo.count()
    }
}

/// The state of one queue's control loop (RFC 8289, section 5.4).
#[derive(Debug, Default)]
pub(super) struct Control {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<Nanos>,
    dropping: bool,
    drop_next: Nanos,
    /// Drops since the dropping state was entered; where it started then.
    count: u64,
    last_count: u64,
}

impl Control {
    /// Dequeues a packet, dropping or marking others (RFC 8289, section 5.5). A mark replaces a drop and the dequeue
    /// that follows it (RFC 8290, section 4.2).
    pub(super) fn dequeue(
        &mut self,
        codel: &CoDel,
        fifo: &mut Fifo,
        now: Nanos,
        stats: &mut LinkStats,
    ) -> Option<Queued> {
        let (mut queued, mut ok_to_drop) = self.next(codel, fifo, now, stats)?;
        if self.dropping {
            self.dropping = ok_to_drop;
            // A large backlog may make the next drop due at once.
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if codel.ecn && queued.mark(stats) {
                    self.schedule(self.drop_next, codel);
                    break;
                }
                queued.drop(now, DropCause::Aqm, stats);
                (queued, ok_to_drop) = self.next(codel, fifo, now, stats)?;
                self.dropping = ok_to_drop;
                if self.dropping {
                    self.schedule(self.drop_next, codel);
                }
            }
        } else if ok_to_drop {
            // Where the last cycle ended soon before, its drop rate is a good one to start with.
            let drops = self.count - self.last_count;
            let recent = now - self.drop_next < times(codel.interval, RECENT_INTERVALS);
            self.count = if drops > 1 && recent { drops } else { 1 };
            self.last_count = self.count;
            self.dropping = true;
            self.schedule(now, codel);
            if !(codel.ecn && queued.mark(stats)) {
                queued.drop(now, DropCause::Aqm, stats);
                (queued, _) = self.next(codel, fifo, now, stats)?;
            }
        }
        Some(queued)
    }

    /// Dequeues a packet. Returns whether the delay has been above the target for an interval (RFC 8289, section 5.6).
    fn next(
        &mut self,
        codel: &CoDel,
        fifo: &mut Fifo,
        now: Nanos,
        stats: &mut LinkStats,
    ) -> Option<(Queued, bool)> {
        let Some(queued) = fifo.dequeue(now, stats) else {
            self.first_above = None;
            // As the RFC's empty result, which is not to be dropped.
            self.dropping = false;
            return None;
        };
        if now - queued.arrival < codel.target || fifo.count().bytes <= codel.mtu {
            self.first_above = None;
            return Some((queued, false));
        }
        let first_above = *self.first_above.get_or_insert(now + codel.interval);
        Some((queued, now >= first_above))
    }

    /// The control law (RFC 8289, section 5.3): the drop rate grows so that throughput falls linearly.
    fn schedule(&mut self, from: Nanos, codel: &CoDel) {
        let wait = codel.interval.0 as f64 / libm::sqrt(self.count as f64);
        // A conversion from floating point saturates.
        self.drop_next = from + Nanos(wait as u64);
    }
}

fn times(span: Nanos, factor: u64) -> Nanos {
    Nanos(span.0.saturating_mul(factor))
}

/// How long a drop rate stays a good guess, in intervals (RFC 8289, section 5.5).
const RECENT_INTERVALS: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::tests::arriving;
    use crate::packet::Ecn;

    const fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    /// Takes one packet a millisecond, all of which have waited for the given time; returns when some were dropped,
    /// in milliseconds.
    fn drops(control: &mut Control, times: std::ops::Range<u64>, sojourn: u64) -> Vec<u64> {
        let codel = CoDel::default();
        let mut stats = LinkStats::new(false);
        times
            .filter(|time| {
                let before = stats.statistics.aqm;
                let mut fifo = Fifo::default();
                for _ in 0..5 {
                    fifo.push(arriving(1500, ms(time - sojourn)));
                }
                assert!(
                    control
                        .dequeue(&codel, &mut fifo, ms(*time), &mut stats)
                        .is_some()
                );
                stats.statistics.aqm != before
            })
            .collect()
    }

    #[test]
    fn drops_begin_after_an_interval_and_come_closer() {
        // Above from 1000 on. Drops are due at 1100, 1200, + 100 / sqrt(2) = 1270.7, + 57.7 = 1328.4, + 50 = 1378.4,
        // + 44.7 = 1423.2, + 40.8 = 1464.0.
        let expected = [1100, 1200, 1271, 1329, 1379, 1424, 1464];
        let mut control = Control::default();
        assert_eq!(drops(&mut control, 1000..1480, 5), expected);
        assert_eq!(control.count, 7);
    }

    #[test]
    fn nothing_is_dropped_below_the_target_or_before_the_interval() {
        let mut control = Control::default();
        assert_eq!(drops(&mut control, 1000..5000, 4), [0; 0]);
        for start in (5000..9000).step_by(200) {
            assert_eq!(drops(&mut control, start..start + 100, 50), [0; 0]);
            assert_eq!(drops(&mut control, start + 100..start + 101, 4), [0; 0]);
        }
    }

    #[test]
    fn a_new_cycle_starts_at_the_last_one_s_rate_if_that_was_recent() {
        for (what, gap, count) in [
            // Seven drops ended the last cycle at count 7 from 1; the next is 1464.8 + 37.8 = 1501.8.
            ("soon", 10, 6),
            ("just within 16 intervals", 1490, 6),
            ("just beyond", 1540, 1),
        ] {
            let mut control = Control::default();
            drops(&mut control, 1000..1480, 5);
            assert_eq!((control.count, control.last_count), (7, 1));
            let below = 1480..1480 + gap;
            assert_eq!(drops(&mut control, below.clone(), 0), [0; 0], "{what}");
            // Above again: a drop after an interval, the next one after another of them over the root of the count.
            let above = below.end..below.end + 101;
            assert_eq!(
                drops(&mut control, above.clone(), 5),
                [below.end + 100],
                "{what}"
            );
            assert_eq!(control.count, count, "{what}");
            let wait = (100.0 / (count as f64).sqrt()).ceil() as u64;
            let next = below.end + 100 + wait;
            assert_eq!(
                drops(&mut control, above.end..next + 1, 5),
                [next],
                "{what}"
            );
        }
    }

    #[test]
    fn a_cycle_without_further_drops_does_not_count() {
        let mut control = Control::default();
        drops(&mut control, 1000..1480, 5);
        drops(&mut control, 1480..1490, 0);
        assert_eq!(drops(&mut control, 1490..1600, 5), [1590]);
        assert_eq!((control.count, control.last_count), (6, 6));
        drops(&mut control, 1600..1601, 0);
        assert_eq!(drops(&mut control, 1601..1702, 5), [1701]);
        assert_eq!((control.count, control.last_count), (1, 1));
    }

    #[test]
    fn the_last_packet_s_worth_is_left_alone() {
        let codel = CoDel::default();
        let (mut control, mut stats) = (Control::default(), LinkStats::new(false));
        for time in 0..1000 {
            let mut fifo = Fifo::default();
            for _ in 0..2 {
                fifo.push(arriving(1500, ms(0)));
            }
            assert!(
                control
                    .dequeue(&codel, &mut fifo, ms(time), &mut stats)
                    .is_some()
            );
        }
        assert_eq!(stats.statistics.aqm, Count::default());
    }

    #[test]
    fn a_mark_replaces_a_drop_at_the_same_times() {
        let codel = CoDel {
            ecn: true,
            ..CoDel::default()
        };
        for (ecn, marks) in [
            (Some(Ecn::Ect0), 7),
            (Some(Ecn::Ect1), 7),
            (Some(Ecn::Ce), 0),
        ] {
            let mut queue = CoDelQueue::new(codel);
            let mut stats = LinkStats::new(false);
            for _ in 0..500 {
                let mut queued = arriving(1500, ms(0));
                queued.packet.ecn = ecn;
                queue.enqueue(queued).unwrap();
            }
            for time in 1..=480 {
                let queued = queue.dequeue(ms(4 + time), &mut stats).unwrap();
                let due = [101, 201, 272, 330, 380, 425, 465].contains(&time);
                assert_eq!(queued.packet.ecn, if due { Some(Ecn::Ce) } else { ecn });
            }
            assert_eq!(stats.statistics.marked.packets, marks);
            assert_eq!(stats.statistics.aqm.packets, 0);
            assert_eq!(queue.count().packets, 20);
        }
    }
}
