//! One direction of a path.
//!
//! A packet passes the stages in this order, each in a file of its own: MTU, blackouts, loss, duplication, corruption,
//! reordering, policer, queue, shaper, aggregation, propagation delay.

mod config;
mod egress;
mod ingress;
mod log;
mod logged;
mod queueing;
mod shaping;
mod statistics;
/// The result of an offered packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueResult {
    /// The packet is on its way. A queue that manages itself may still drop it.
    Accepted,
    /// The packet is gone.
    Dropped(DropCause),
}

#[cfg(test)]
mod tests;
mod timeline;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

pub use config::{
    Aggregation, CODEL_INTERVAL, CODEL_TARGET, CoDel, ConfigError, Delay, DelayStep,
    FQ_CODEL_FLOWS, FQ_CODEL_LIMIT, FQ_CODEL_QUANTUM, FqCoDel, Impairments, Interval, Jitter,
    Limit, LinkConfig, Loss, MAHIMAHI_OVERHEAD, MAHIMAHI_PIE_UPDATE, PIE_ALPHA, PIE_BETA,
    PIE_BURST, PIE_ECN_THRESHOLD, PIE_MIN_UPDATE, PIE_TARGET, PIE_UPDATE, Pie, Policer, Queue,
    RED_MAX_PROBABILITY, RED_PACKET_TIME, RED_WEIGHT, RateStep, Red, Reordering, Shaper, StepMark,
    TRUNCATION, UDP_IPV4_OVERHEAD, UDP_IPV6_OVERHEAD,
};
pub use log::{Flow, FlowId, PacketLog, PacketOutcome, Record};
pub(crate) use logged::LoggedOpportunities;
pub use statistics::{Count, DropCause, Statistics};

use self::egress::Egress;
use self::ingress::Ingress;
use self::queueing::{Discipline, Queued};
use self::shaping::Server;
use self::statistics::LinkStats;
use crate::packet::Packet;
use crate::time::Nanos;

/// An emulated link, shared by all packets offered to it. The [module](self) describes a packet's way through it.
///
/// The link's time never runs backwards: a packet offered before the time of an earlier call arrives at that time. At
/// equal times the shaper acts before an arrival: an arrival cannot use a delivery opportunity of its own time.
#[derive(Debug)]
pub struct Link {
    now: Nanos,
    /// Whether there are no stages but loss, policer, queue, shaper and propagation in order. Such links skip the
    /// questions for the others.
    plain: bool,
    /// When the shaper takes the next packet from the queue; `None` while that is empty.
    next_service: Option<Nanos>,
    overhead: u64,
    ingress: Ingress,
    policer: Option<shaping::Policer>,
    queue: Discipline,
    server: Server,
    egress: Egress,
    stats: LinkStats,
}

impl Link {
    /// Makes an idle link. All its randomness comes from `seed`.
    ///
    /// # Errors
    /// A field of the configuration is out of its range.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        // Every random stage has a seed of its own, in a fixed order, so that adding one changes no other's draws.
        let mut seeds = Pcg64::seed_from_u64(seed);
        let mut ingress = Ingress::new(config.loss, seeds.next_u64())?;
        let queue = Discipline::new(config.queue, seeds.next_u64());
        let egress = Egress::new(config.aggregation, config.delay, seeds.next_u64());
        ingress.impair(config.impairments, &mut seeds)?;
        let plain = !ingress.is_impaired() && egress.is_plain();
        Ok(Self {
            now: Nanos::ZERO,
            plain,
            next_service: None,
            overhead: u64::from(config.overhead),
            ingress,
            policer: config.policer.map(shaping::Policer::new),
            queue,
            server: Server::new(config.shaper)?,
            egress,
            stats: LinkStats::new(config.log),
        })
    }

    /// Puts a packet onto the link.
    pub fn offer(&mut self, now: Nanos, packet: Packet) -> EnqueueResult {
        self.advance(now);
        let size = (packet.payload.len() as u64).saturating_add(self.overhead);
        let record = self.stats.offered(self.now, &packet, size);
        let queued = Queued {
            packet,
            size,
            record,
            arrival: self.now,
        };
        if let Err(cause) = self.ingress.admit(self.now, size) {
            return self.refuse(size, record, cause);
        }
        if self.plain {
            self.admit(queued)
        } else {
            self.impair(queued)
        }
    }

    /// When to poll next; `None` while the link is empty. No delivery happens before this time, but a poll at this
    /// time may deliver nothing.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        let event = if self.plain {
            // Packets that depart later arrive later.
            self.egress.next_in_order().or(self.next_service)
        } else {
            self.next_of_all()
        };
        event.filter(|time| *time < Nanos::MAX)
    }

    /// Hands over every packet due by `now`, each with the time it was due, in order.
    pub fn poll(&mut self, now: Nanos, mut deliver: impl FnMut(Nanos, Packet)) {
        self.advance(now);
        while let Some((time, packet)) = self.deliver(now) {
            deliver(time, packet);
        }
    }

    /// The bytes that the shaper could send after `from` and up to `to`, inclusive, with a queue that is never empty; `u64::MAX` for a
    /// shaper without a limit.
    pub fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        self.server.capacity(from, to)
    }

    /// The statistics so far.
    pub fn statistics(&self) -> &Statistics {
        &self.stats.statistics
    }

    /// The number of packets in any of its stages, as of the latest call.
    pub fn in_transit(&self) -> u64 {
        let statistics = self.statistics();
        let came = statistics.offered.packets + statistics.duplicated.packets;
        came - statistics.delivered.packets - statistics.all_dropped().packets
    }

    /// The packets in the queue, as of the latest call; without the packet being sent.
    pub fn queued(&self) -> Count {
        self.queue.count()
    }

    /// The log of single packets, if [`LinkConfig::log`] is set.
    pub fn log(&self) -> Option<&PacketLog> {
        self.stats.log.as_ref()
    }

    /// Lets the shaper work until `now`, inclusive.
    #[inline]
    pub(crate) fn advance(&mut self, now: Nanos) {
        if !self.plain {
            self.release(now);
        }
        self.now = self.now.max(now);
        self.serve();
    }

    /// Takes the next packet if it is due by `now`.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Nanos) -> Option<(Nanos, Packet)> {
        if !self.plain {
            return self.deliver_any(now);
        }
        let (time, size, packet) = self.egress.pop_in_order(now)?;
        self.stats.statistics.delivered.add(size);
        Some((time, packet))
    }

    #[inline(never)]
    fn deliver_any(&mut self, now: Nanos) -> Option<(Nanos, Packet)> {
        let (time, size, packet) = self.egress.pop(now)?;
        self.stats.statistics.delivered.add(size);
        Some((time, packet))
    }

    /// Takes a packet through the impairments that may copy it, change it or hold it back. Out of line, as a packet is
    /// large and most links have none.
    #[inline(never)]
    fn impair(&mut self, queued: Queued) -> EnqueueResult {
        let copy = self.ingress.duplicate(&queued, &mut self.stats);
        let offer = self.pass(queued);
        if let Some(copy) = copy {
            self.pass(copy);
        }
        offer
    }

    /// Takes a packet or a copy through the impairments that happen to either.
    fn pass(&mut self, queued: Queued) -> EnqueueResult {
        match self.ingress.pass(queued, &mut self.stats) {
            Some(queued) => self.admit(queued),
            None => EnqueueResult::Accepted,
        }
    }

    /// Takes the packets that were held back until now to the queue.
    #[inline(never)]
    fn release(&mut self, now: Nanos) {
        while let Some(queued) = self.ingress.release(now) {
            self.now = self.now.max(queued.arrival);
            self.serve();
            self.admit(queued);
        }
    }

    /// Takes a packet that comes now to the policer and the queue. Always inlined: it is on every packet's way, but has
    /// callers enough not to be.
    #[inline(always)]
    fn admit(&mut self, queued: Queued) -> EnqueueResult {
        let (size, record) = (queued.size, queued.record);
        if let Some(policer) = &mut self.policer
            && !policer.admits(self.now, size)
        {
            return self.refuse(size, record, DropCause::Policed);
        }
        let result = self.queue.enqueue(queued, &mut self.stats);
        match (self.next_service, result) {
            (None, Ok(())) => {
                self.server.wake(self.now);
                self.next_service = Some(self.server.ready());
            }
            // To make room, the queue may have dropped all that it held.
            (Some(_), Err(_)) => self.schedule(),
            (Some(_), Ok(())) | (None, Err(_)) => {}
        }
        match result {
            Ok(()) => {
                self.serve();
                EnqueueResult::Accepted
            }
            Err(cause) => self.refuse(size, record, cause),
        }
    }

    fn refuse(&mut self, size: u64, record: Option<usize>, cause: DropCause) -> EnqueueResult {
        self.stats.dropped(self.now, size, record, cause);
        EnqueueResult::Dropped(cause)
    }

    /// The first of all stages' events.
    #[inline(never)]
    fn next_of_all(&self) -> Option<Nanos> {
        let events = [
            self.egress.next_delivery(),
            self.egress.next_release(),
            self.next_service,
            self.ingress.next_release(),
        ];
        events.into_iter().flatten().min()
    }

    /// The queue or the shaper has changed.
    #[inline]
    fn schedule(&mut self) {
        self.next_service = (!self.queue.is_empty()).then(|| self.server.ready());
    }

    /// Runs the shaper and the later stages until now.
    #[inline]
    fn serve(&mut self) {
        if !self.plain || self.next_service.is_some_and(|start| start <= self.now) {
            self.work();
        }
    }

    /// Moves packets out of the queue, as far as the shaper has taken them by now.
    fn work(&mut self) {
        while let Some(start) = self.next_service
            && start <= self.now
        {
            // The queue may drop all that it holds.
            if let Some(queued) = self.queue.dequeue(start, &mut self.stats) {
                let departure = self.server.serve(queued.size);
                self.egress.push(departure, queued, &mut self.stats);
            }
            self.schedule();
        }
        if !self.plain {
            self.egress.release(self.now, &mut self.stats);
        }
    }
}
