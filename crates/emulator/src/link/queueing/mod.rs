//! Where packets wait for the shaper.

mod codel;
mod fifo;
mod fq_codel;
mod pie;
mod red;
mod step_mark;

use self::codel::CoDelQueue;
use self::fifo::Fifo;
use self::fq_codel::FqCoDelQueue;
use self::pie::PieQueue;
use self::red::RedQueue;
use self::step_mark::StepMarkQueue;
use super::statistics::LinkStats;
use super::{Count, DropCause, Queue};
use crate::packet::{Ecn, Packet};
use crate::time::Nanos;

/// The queue and its management. Packets arrive and leave in order of time.
#[derive(Debug)]
pub(super) enum Discipline {
    DropTail(Fifo),
    DropHead(Fifo),
    CoDel(CoDelQueue),
    Pie(PieQueue),
    FqCoDel(FqCoDelQueue),
    Red(RedQueue),
    StepMark(StepMarkQueue),
}

impl Discipline {
    pub(super) fn new(queue: Queue, seed: u64) -> Self {
        match queue {
            Queue::Infinite => Self::DropTail(Fifo::new(None)),
            Queue::DropTail(limit) => Self::DropTail(Fifo::new(Some(limit))),
            Queue::DropHead(limit) => Self::DropHead(Fifo::new(Some(limit))),
            Queue::CoDel(codel) => Self::CoDel(CoDelQueue::new(codel)),
            Queue::Pie(pie) => Self::Pie(PieQueue::new(pie, seed)),
            Queue::FqCoDel(fq_codel) => Self::FqCoDel(FqCoDelQueue::new(fq_codel, seed)),
            Queue::Red(red) => Self::Red(RedQueue::new(red, seed)),
            Queue::StepMark(step) => Self::StepMark(StepMarkQueue::new(step)),
        }
    }

    /// Enqueues a packet at its arrival time. Records the outcome of dropped packets, and of this one only if it is
    /// accepted.
    pub(super) fn enqueue(
        &mut self,
        queued: Queued,
        stats: &mut LinkStats,
    ) -> Result<(), DropCause> {
        match self {
            Self::DropTail(queue) => queue.enqueue(queued),
            Self::DropHead(queue) => queue.enqueue_dropping(queued, stats),
            Self::CoDel(queue) => queue.enqueue(queued),
            Self::Pie(queue) => queue.enqueue(queued, stats),
            Self::FqCoDel(queue) => queue.enqueue(queued, stats),
            Self::Red(queue) => queue.enqueue(queued, stats),
            Self::StepMark(queue) => queue.enqueue(queued, stats),
        }
    }

    /// Dequeues the packet that leaves now. `None` if the queue is empty, even if only after drops.
    #[inline]
    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        match self {
            Self::DropTail(queue) => queue.dequeue(now, stats),
            _ => self.dequeue_managed(now, stats),
        }
    }

    /// Out of line, so that the simplest queue stays as fast as it is without the others.
    #[inline(never)]
    fn dequeue_managed(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        match self {
            Self::DropTail(queue) | Self::DropHead(queue) => queue.dequeue(now, stats),
            Self::CoDel(queue) => queue.dequeue(now, stats),
            Self::Pie(queue) => queue.dequeue(now, stats),
            Self::FqCoDel(queue) => queue.dequeue(now, stats),
            Self::Red(queue) => queue.dequeue(now, stats),
            Self::StepMark(queue) => queue.dequeue(now, stats),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::DropTail(queue) | Self::DropHead(queue) => queue.is_empty(),
            _ => self.count().packets == 0,
        }
    }

    pub(super) fn count(&self) -> Count {
        match self {
            Self::DropTail(queue) | Self::DropHead(queue) => queue.count(),
            Self::CoDel(queue) => queue.count(),
            Self::Pie(queue) => queue.count(),
            Self::FqCoDel(queue) => queue.count(),
            Self::Red(queue) => queue.count(),
            Self::StepMark(queue) => queue.count(),
        }
    }
}

/// A packet between its offer and its departure.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) packet: Packet,
    /// Bytes on the wire.
    pub(super) size: u64,
    /// The packet's place in the log.
    pub(super) record: Option<usize>,
    /// When it came to the queue.
    pub(super) arrival: Nanos,
}

impl Queued {
    /// Marks the packet as having met congestion (RFC 3168, section 5). Returns whether its transport is ECN-capable.
    fn mark(&mut self, stats: &mut LinkStats) -> bool {
        match self.packet.ecn {
            None => false,
            Some(Ecn::Ce) => true,
            Some(Ecn::Ect0 | Ecn::Ect1) => {
                self.packet.ecn = Some(Ecn::Ce);
                stats.statistics.marked.add(self.size);
                true
            }
        }
    }

    fn drop(self, now: Nanos, cause: DropCause, stats: &mut LinkStats) {
        stats.dropped(now, self.size, self.record, cause);
    }
}
