//! The stages after the shaper: aggregation, then propagation.

mod aggregation;
mod delay;

use self::aggregation::Aggregation;
use self::delay::DelayLine;
use super::config::{self, Delay};
use super::queueing::Queued;
use super::statistics::LinkStats;
use crate::packet::Packet;
use crate::time::Nanos;

/// The stages behind the shaper.
#[derive(Debug)]
pub(super) struct Egress {
    aggregation: Option<Aggregation>,
    delay: DelayLine,
}

impl Egress {
    pub(super) fn new(aggregation: Option<config::Aggregation>, delay: Delay, seed: u64) -> Self {
        Self {
            aggregation: aggregation.map(Aggregation::new),
            delay: DelayLine::new(delay, seed),
        }
    }

    /// Adds a packet that leaves the shaper at `departure`, in order of time.
    #[inline]
    pub(super) fn push(&mut self, departure: Nanos, queued: Queued, stats: &mut LinkStats) {
        if self.aggregation.is_none() {
            self.propagate(departure, departure, queued, stats);
        } else {
            self.aggregate(departure, queued, stats);
        }
    }

    /// As [`next_delivery`](Self::next_delivery), for [plain](Self::is_plain) stages.
    #[inline]
    pub(super) fn next_in_order(&self) -> Option<Nanos> {
        self.delay.next_in_order()
    }

    /// As [`pop`](Self::pop), for [plain](Self::is_plain) stages.
    #[inline]
    pub(super) fn pop_in_order(&mut self, now: Nanos) -> Option<(Nanos, u64, Packet)> {
        self.delay.pop_in_order(now)
    }

    /// Out of line, as a packet is large and most links do not aggregate.
    #[inline(never)]
    fn aggregate(&mut self, departure: Nanos, queued: Queued, stats: &mut LinkStats) {
        self.release(departure, stats);
        let aggregation = self.aggregation.as_mut();
        if aggregation.is_some_and(|aggregation| aggregation.push(departure, queued)) {
            self.release_batch(departure, stats);
        }
    }

    /// Releases the batch that is due by `now`. Packets that leave the shaper after `now` are too late for it.
    pub(super) fn release(&mut self, now: Nanos, stats: &mut LinkStats) {
        if let Some(deadline) = self.next_release().filter(|deadline| *deadline <= now) {
            self.release_batch(deadline, stats);
        }
    }

    /// When packets that are held begin to propagate.
    pub(super) fn next_release(&self) -> Option<Nanos> {
        self.aggregation.as_ref().and_then(Aggregation::deadline)
    }

    /// When the next packet arrives of those that propagate.
    pub(super) fn next_delivery(&self) -> Option<Nanos> {
        self.delay.next_delivery()
    }

    /// Whether packets arrive in the order in which they are pushed, and none is held.
    pub(super) fn is_plain(&self) -> bool {
        self.aggregation.is_none() && self.delay.in_order()
    }

    /// Takes the next packet that has arrived, with the time and its bytes on the wire.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, u64, Packet)> {
        self.delay.pop(now)
    }

    #[inline(never)]
    fn release_batch(&mut self, time: Nanos, stats: &mut LinkStats) {
        while let Some((departure, queued)) = self.aggregation.as_mut().and_then(Aggregation::pop) {
            self.propagate(departure, time, queued, stats);
        }
    }

    #[inline]
    fn propagate(&mut self, departure: Nanos, start: Nanos, queued: Queued, stats: &mut LinkStats) {
        let Queued {
            packet,
            size,
            record,
            ..
        } = queued;
        let delivery = self.delay.push(start, size, packet);
        stats.sent(record, departure, delivery);
    }
}
