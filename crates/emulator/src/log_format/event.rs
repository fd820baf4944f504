//! The events of a link, in order of time.

use std::collections::BTreeMap;

use super::LoggedPacket;
use crate::link::{DropCause, Link, LoggedOpportunities, PacketOutcome};
use crate::time::Nanos;
use crate::trace::OPPORTUNITY_BYTES;

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Arrival {
        bytes: u64,
    },
    Drop {
        bytes: u64,
        cause: DropCause,
    },
    /// The shaper could send so much.
    Opportunity {
        bytes: u64,
    },
    Departure {
        bytes: u64,
        arrival: Nanos,
        lateness: Option<Nanos>,
    },
}

/// Events that may still be preceded by others.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// By time and rank; what comes first of these goes first.
    waiting: BTreeMap<(Nanos, Rank, u64), Event>,
    entered: u64,
    /// The millisecond up to which opportunities were passed on, inclusive; none yet if absent.
    opportunities: Option<u64>,
}

/// The order of events at the same time: the shaper works before it sees an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Departure,
    Arrival,
    /// A bucket full of tokens lets a packet pass as it comes.
    Passage,
}

impl Events {
    /// Takes a packet's arrival and its end, if it has one.
    pub(super) fn enter(&mut self, packet: &LoggedPacket) {
        let record = &packet.record;
        let (bytes, arrival, lateness) = (record.size, record.arrival, packet.lateness);
        self.push(arrival, Rank::Arrival, Event::Arrival { bytes });
        match record.outcome {
            PacketOutcome::Queued => {}
            PacketOutcome::Dropped { time, cause } => {
                self.push(time, Rank::Arrival, Event::Drop { bytes, cause });
            }
            PacketOutcome::Sent { departure, .. } => {
                let rank = if departure > arrival {
                    Rank::Departure
                } else {
                    Rank::Passage
                };
                let event = Event::Departure {
                    bytes,
                    arrival,
                    lateness,
                };
                self.push(departure, rank, event);
            }
        }
    }

    /// Passes on what happens before `until`, in order.
    pub(super) fn before<E>(
        &mut self,
        until: Nanos,
        link: &Link,
        pass: &mut dyn FnMut(Nanos, Event) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 < until
        {
            let ((time, ..), event) = entry.remove_entry();
            self.opportunities(time, link, pass)?;
            pass(time, event)?;
        }
        self.opportunities(until - Nanos(1), link, pass)
    }

    /// How many there are.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn push(&mut self, time: Nanos, rank: Rank, event: Event) {
        self.waiting.insert((time, rank, self.entered), event);
        self.entered += 1;
    }

    /// Passes on the opportunities up to `time`, those at time 0 included. Those of a trace come one by one. Other shapers
    /// have none: what they could send in each millisecond stands for them.
    fn opportunities<E>(
        &mut self,
        time: Nanos,
        link: &Link,
        pass: &mut dyn FnMut(Nanos, Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let unit = match link.opportunities() {
            LoggedOpportunities::None => return Ok(()),
            LoggedOpportunities::OneByOne => OPPORTUNITY_BYTES,
            LoggedOpportunities::EachMillisecond => u64::MAX,
        };
        let mut note = |milli, mut bytes: u64| {
            while bytes > 0 {
                let bytes_now = unit.min(bytes);
                bytes -= bytes_now;
                let opportunity = Event::Opportunity { bytes: bytes_now };
                pass(Nanos::from_millis(milli), opportunity)?;
            }
            Ok(())
        };
        if self.opportunities.is_none() {
            self.opportunities = Some(0);
            note(0, link.capacity_at_start())?;
        }
        while let Some(milli) = self.opportunities
            && milli < time.0 / NANOS_PER_MILLI
        {
            let next = milli + 1;
            self.opportunities = Some(next);
            let (from, to) = (Nanos::from_millis(milli), Nanos::from_millis(next));
            note(next, link.capacity(from, to))?;
        }
        Ok(())
    }
}

const NANOS_PER_MILLI: u64 = 1_000_000;
