//! First in, first out.

use std::collections::VecDeque;

use super::Queued;
use crate::link::statistics::LinkStats;
use crate::link::{Count, DropCause, Limit};
use crate::time::Nanos;

/// First in, first out, with a limit.
#[derive(Debug, Default)]
pub(in crate::link) struct Fifo {
    packets: VecDeque<Queued>,
    bytes: u64,
    limit: Limit,
}

impl Fifo {
    pub(super) fn new(limit: Option<Limit>) -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
            limit: limit.unwrap_or_default(),
        }
    }

    /// Adds a packet if it fits.
    #[inline]
    pub(super) fn enqueue(&mut self, queued: Queued) -> Result<(), DropCause> {
        self.admit(queued.size)?;
        self.push(queued);
        Ok(())
    }

    /// Fails if the limit in bytes or packets leaves no room for a packet of the given size.
    #[inline]
    pub(super) fn admit(&self, size: u64) -> Result<(), DropCause> {
        let Limit { bytes, packets, .. } = self.limit;
        let exceeds = |limit: Option<u64>, after| limit.is_some_and(|max| after > max);
        if exceeds(bytes, self.bytes.saturating_add(size))
            || exceeds(packets, self.packets.len() as u64 + 1)
        {
            return Err(DropCause::QueueFull);
        }
        Ok(())
    }

    /// Enqueues a packet, dropping packets from the front to make room. Fails if it still does not fit.
    pub(super) fn enqueue_dropping(
        &mut self,
        queued: Queued,
        stats: &mut LinkStats,
    ) -> Result<(), DropCause> {
        while let Err(full) = self.admit(queued.size) {
            let oldest = self.pop().ok_or(full)?;
            oldest.drop(queued.arrival, DropCause::QueueFull, stats);
        }
        self.push(queued);
        Ok(())
    }

    /// Takes the first packet that has not waited too long; drops those that have.
    #[inline]
    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        if let Some(max) = self.limit.time {
            self.expire(max, now, stats);
        }
        self.pop()
    }

    #[inline(never)]
    fn expire(&mut self, max: Nanos, now: Nanos, stats: &mut LinkStats) {
        let expired = |queued: &Queued| now - queued.arrival > max;
        while self.packets.front().is_some_and(expired) {
            if let Some(queued) = self.pop() {
                queued.drop(now, DropCause::Expired, stats);
            }
        }
    }

    #[inline]
    pub(super) fn push(&mut self, queued: Queued) {
        self.bytes = self.bytes.saturating_add(queued.size);
        self.packets.push_back(queued);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_front()?;
        self.bytes = self.bytes.saturating_sub(queued.size);
        Some(queued)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    #[inline]
    pub(super) fn count(&self) -> Count {
        Count {
            packets: self.packets.len() as u64,
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::tests::arriving;

    const fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    #[test]
    fn drop_head_makes_room_from_the_front() {
        let bytes = Limit::bytes(100);
        let packets = Limit::packets(2);
        let both = Limit {
            packets: Some(3),
            ..bytes
        };
        for (what, limit, arrivals, left, dropped) in [
            ("one makes room", bytes, &[60, 40, 50][..], &[40, 50][..], 1),
            ("exactly full is in order", bytes, &[60, 40], &[60, 40], 0),
            ("as many as it takes", bytes, &[50, 40, 10, 95], &[95], 3),
            ("too large on its own", bytes, &[60, 40, 101], &[], 2),
            ("packets", packets, &[1, 2, 3, 4], &[3, 4], 2),
            (
                "the nearer of both",
                both,
                &[10, 10, 10, 10, 75],
                &[10, 10, 75],
                2,
            ),
        ] {
            let mut stats = LinkStats::new(false);
            let mut fifo = Fifo::new(Some(limit));
            for size in arrivals {
                let fits = fifo.enqueue_dropping(arriving(*size, ms(1)), &mut stats);
                assert_eq!(fits.is_ok(), *size <= 100, "{what}");
            }
            let sizes: Vec<usize> = std::iter::from_fn(|| fifo.pop())
                .map(|queued| queued.packet.payload.len())
                .collect();
            assert_eq!(sizes, left, "{what}");
            assert_eq!(stats.statistics.queue_full.packets, dropped, "{what}");
            assert_eq!(fifo.count(), Count::default(), "{what}");
        }
    }

    #[test]
    fn packets_that_waited_too_long_are_dropped_at_departure() {
        let mut stats = LinkStats::new(false);
        let mut fifo = Fifo::new(Some(Limit::time(ms(10))));
        for (arrival, size) in [(0, 1), (1, 2), (5, 3), (20, 4)] {
            assert!(fifo.enqueue(arriving(size, ms(arrival))).is_ok());
        }
        let mut leave = |now, stats: &mut LinkStats| fifo.dequeue(now, stats).map(|q| q.size);
        assert_eq!(
            leave(ms(10), &mut stats),
            Some(1),
            "exactly the limit is in order"
        );
        assert_eq!(leave(ms(12), &mut stats), Some(3));
        assert_eq!(leave(ms(40), &mut stats), None);
        let expired = Count {
            packets: 2,
            bytes: 6,
        };
        assert_eq!(stats.statistics.expired, expired);
    }
}
