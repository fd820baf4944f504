//! Brings a link's records together with when the packets were sent, for the log.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use super::backlog::Backlog;
use super::lock;
use super::tally::Tally;

use crate::link::{Flow, Link, PacketOutcome, Record};
use crate::log_format::{LoggedPacket, PacketSink};
use crate::time::Nanos;

/// The report of a sender.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Records, in the order of arrival.
    pub(super) settled: Vec<(Flow, Record)>,
    /// All packets that were due by `now` and not told of before.
    pub(super) sent: Vec<Sent>,
    pub(super) now: Nanos,
    /// The records to come are of packets that arrive no earlier.
    pub(super) horizon: Nanos,
}

/// A packet that was due.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) due: Nanos,
    pub(super) flow: Flow,
    /// `None` if it was not sent after all.
    pub(super) lateness: Option<Nanos>,
}

/// A thread that feeds a sink.
pub(super) struct Recorder {
    /// For its capacity.
    link: Link,
    sink: Box<dyn PacketSink>,
    /// In the order of arrival.
    open: VecDeque<(Flow, Record)>,
    sent: BTreeMap<(Nanos, Flow), VecDeque<Option<Nanos>>>,
    backlog: Arc<Backlog>,
    tally: Arc<Mutex<Tally>>,
}

impl Recorder {
    pub(super) fn new(
        link: Link,
        sink: Box<dyn PacketSink>,
        backlog: Arc<Backlog>,
        tally: Arc<Mutex<Tally>>,
    ) -> Self {
        Self {
            link,
            sink,
            backlog,
            tally,
            open: VecDeque::new(),
            sent: BTreeMap::new(),
        }
    }

    /// Works until there is no sender. An error is told at once; after it, the recorder still listens.
    pub(super) fn run(mut self, batches: &Receiver<Batch>) -> io::Result<()> {
        let mut result = Ok(());
        let mut end = Nanos::ZERO;
        for batch in batches {
            end = batch.now;
            self.backlog.remove(batch.settled.len());
            if result.is_ok() {
                result = self.take(batch);
                let waiting = self.open.len().saturating_add(self.sink.waiting());
                self.backlog.set_recorder(waiting);
                if let Err(error) = &result {
                    lock(&self.tally).log_failure = Some(error.to_string());
                    self.backlog.set_recorder(0);
                    self.open.clear();
                    self.sent.clear();
                }
            } else {
                lock(&self.tally).unlogged += batch.settled.len() as u64;
            }
        }
        result?;
        while let Some((flow, record)) = self.open.pop_front() {
            let lateness = None;
            self.sink.packet(&LoggedPacket {
                flow,
                record,
                lateness,
            })?;
        }
        self.sink.finish(end, &self.link)
    }

    fn take(&mut self, batch: Batch) -> io::Result<()> {
        self.open.extend(batch.settled);
        for Sent {
            due,
            flow,
            lateness,
        } in batch.sent
        {
            let sent = self.sent.entry((due, flow)).or_default();
            sent.push_back(lateness);
        }
        // Those that are left out of the log would wait for their records for ever.
        while self.sent.len() > MAX_SENT {
            self.sent.pop_first();
        }
        while let Some(&(flow, record)) = self.open.front() {
            let lateness = match record.outcome {
                PacketOutcome::Sent { delivery, .. } if delivery > batch.now => break,
                PacketOutcome::Sent { delivery, .. } => self.lateness(delivery, flow),
                PacketOutcome::Queued | PacketOutcome::Dropped { .. } => None,
            };
            self.open.pop_front();
            self.sink.packet(&LoggedPacket {
                flow,
                record,
                lateness,
            })?;
        }
        let horizon = match self.open.front() {
            Some((_, record)) => record.arrival,
            None => batch.horizon,
        };
        // Of packets that were left out: nothing is due before it arrives.
        while let Some(entry) = self.sent.first_entry()
            && entry.key().0 < horizon
        {
            entry.remove();
        }
        self.sink.advance(horizon, &self.link)
    }

    /// Packets of the same flow that are due at the same time are the same to the log.
    fn lateness(&mut self, due: Nanos, flow: Flow) -> Option<Nanos> {
        let Entry::Occupied(mut entry) = self.sent.entry((due, flow)) else {
            return None;
        };
        let lateness = entry.get_mut().pop_front();
        if entry.get().is_empty() {
            entry.remove();
        }
        lateness.flatten()
    }
}

/// How many packets' lateness waits for their records, at most.
const MAX_SENT: usize = 1 << 16;
