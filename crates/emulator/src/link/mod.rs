//! One direction of a path.
//!
//! A packet passes the stages in this order, each in a file of its own: loss, queue, shaper, propagation delay.

mod config;
mod constant_rate;
mod delay;
mod log;
mod loss;
mod opportunities;
mod queue;
mod shaper;
mod statistics;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

pub use config::{
    ConfigError, Limit, LinkConfig, MAHIMAHI_OVERHEAD, Queue, Shaper, UDP_IPV4_OVERHEAD,
};
pub use log::{Fate, Flow, FlowId, PacketLog, Record};
pub use statistics::{Count, DropCause, Statistics};

use self::delay::DelayLine;
use self::loss::Loss;
use self::queue::{Fifo, Queued};
use self::shaper::Server;
use crate::packet::Packet;
use crate::time::Nanos;

/// An emulated link, shared by all packets offered to it. See the [module](self) for what happens to a packet.
///
/// The link's time never runs backwards: a packet offered at a time before an earlier call's arrives at that call's time.
/// What the shaper does at a moment, it does before it sees an arrival of the same moment: an arrival cannot use a
/// delivery opportunity of its own time.
#[derive(Debug)]
pub struct Link {
    now: Nanos,
    overhead: u64,
    loss: Loss,
    queue: Fifo,
    server: Server,
    delay: DelayLine,
    statistics: Statistics,
    log: Option<PacketLog>,
}

impl Link {
    /// Makes an idle link. All its randomness comes from `seed`.
    ///
    /// # Errors
    /// A field of the configuration is out of its range.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut seeds = Pcg64::seed_from_u64(seed);
        Ok(Self {
            now: Nanos::ZERO,
            overhead: u64::from(config.overhead),
            loss: Loss::new(config.loss, seeds.next_u64())?,
            queue: Fifo::new(config.queue),
            server: Server::new(config.shaper)?,
            delay: DelayLine::new(config.delay),
            statistics: Statistics::default(),
            log: config.log.then(PacketLog::default),
        })
    }

    /// Puts a packet onto the link.
    pub fn offer(&mut self, now: Nanos, packet: Packet) -> Offer {
        self.advance(now);
        let now = self.now;
        let size = (packet.payload.len() as u64).saturating_add(self.overhead);
        self.statistics.offered.add(size);
        let record = self.log.as_mut().map(|log| log.arrival(now, &packet, size));
        let accepted = if self.loss.strikes() {
            Err(DropCause::Loss)
        } else {
            self.enqueue(Queued {
                packet,
                size,
                record,
            })
        };
        match accepted {
            Ok(()) => {
                self.serve();
                Offer::Accepted
            }
            Err(cause) => {
                self.statistics.count_drop(cause, size);
                if let (Some(log), Some(record)) = (&mut self.log, record) {
                    log.set(record, Fate::Dropped { time: now, cause });
                }
                Offer::Dropped(cause)
            }
        }
    }

    /// When to poll next; `None` while the link is empty. No delivery happens before this time, but a poll at this
    /// time may deliver nothing.
    pub fn next_event(&self) -> Option<Nanos> {
        self.delay
            .next_delivery()
            .or_else(|| self.next_service())
            .filter(|time| *time < Nanos::MAX)
    }

    /// Hands over every packet due by `now`, each with the time it was due, in order.
    pub fn poll(&mut self, now: Nanos, mut deliver: impl FnMut(Nanos, Packet)) {
        self.advance(now);
        while let Some((time, packet)) = self.deliver(now) {
            deliver(time, packet);
        }
    }

    /// The bytes that the shaper could send after `from` and up to `to`, inclusive, if it always had some.
    pub fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        self.server.capacity(from, to)
    }

    /// What has become of the packets so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// What waits in the queue, as of the latest call; without the packet being sent.
    pub fn queued(&self) -> Count {
        self.queue.count()
    }

    /// The packets one by one, if the configuration asked for that.
    pub fn log(&self) -> Option<&PacketLog> {
        self.log.as_ref()
    }

    /// Lets the shaper work until `now`, inclusive.
    pub(crate) fn advance(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        self.serve();
    }

    /// The time of the next packet that [`deliver`](Self::deliver) hands over; exact after [`advance`](Self::advance).
    pub(crate) fn next_delivery(&self) -> Option<Nanos> {
        self.delay.next_delivery()
    }

    /// Takes the next packet if it is due by `now`.
    pub(crate) fn deliver(&mut self, now: Nanos) -> Option<(Nanos, Packet)> {
        let (time, size, packet) = self.delay.pop(now)?;
        self.statistics.delivered.add(size);
        Some((time, packet))
    }

    fn enqueue(&mut self, queued: Queued) -> Result<(), DropCause> {
        let was_empty = self.queue.is_empty();
        self.queue.enqueue(queued)?;
        if was_empty {
            self.server.wake(self.now);
        }
        Ok(())
    }

    /// When the shaper takes the next packet from the queue.
    fn next_service(&self) -> Option<Nanos> {
        (!self.queue.is_empty()).then(|| self.server.ready())
    }

    /// Moves packets from the queue to the delay line, as far as the shaper takes them by now.
    fn serve(&mut self) {
        while self.next_service().is_some_and(|start| start <= self.now) {
            let Some(Queued {
                packet,
                size,
                record,
            }) = self.queue.dequeue()
            else {
                return;
            };
            let departure = self.server.serve(size);
            let delivery = self.delay.push(departure, size, packet);
            if let (Some(log), Some(record)) = (&mut self.log, record) {
                log.set(
                    record,
                    Fate::Sent {
                        departure,
                        delivery,
                    },
                );
            }
        }
    }
}

/// What a link did with a packet it was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// The packet is on its way.
    Accepted,
    /// The packet is gone.
    Dropped(DropCause),
}
