//! Brings a link's records together with when the packets were sent, for the log.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

impl Batch {
    /// What it takes in memory, in entries of the [`Backlog`].
    fn entries(&self) -> usize {
        self.settled.len() + self.sent.len()
    }
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
    /// How many there are of these.
    waiting_sent: usize,
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
            waiting_sent: 0,
        }
    }

    /// Works until there is no sender. An error is told at once; after it, the recorder still listens.
    pub(super) fn run(self, batches: &Receiver<Batch>) -> io::Result<()> {
        let (backlog, tally) = (Arc::clone(&self.backlog), Arc::clone(&self.tally));
        // Nothing is kept after an error.
        let result = self.write(batches);
        if let Err(error) = &result {
            lock(&tally).log_failure = Some(error.to_string());
            backlog.hand_over(0, 0);
            for batch in batches {
                lock(&tally).unlogged += batch.settled.len() as u64;
                backlog.hand_over(batch.entries(), 0);
            }
        }
        result
    }

    fn write(mut self, batches: &Receiver<Batch>) -> io::Result<()> {
        let mut end = Nanos::ZERO;
        for batch in batches {
            end = batch.now;
            let passed_on = batch.entries();
            // The sink may take its time.
            self.backlog
                .hand_over(passed_on, self.entries() + passed_on);
            if let Err(error) = self.take(batch) {
                lock(&self.tally).unlogged += self.open.len() as u64;
                return Err(error);
            }
            self.backlog.hand_over(0, self.entries());
        }
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

    /// What it keeps in memory, in entries of the [`Backlog`].
    fn entries(&self) -> usize {
        self.open.len() + self.waiting_sent + self.sink.waiting()
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
            self.waiting_sent += 1;
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
            self.waiting_sent -= entry.remove().len();
        }
        self.sink.advance(horizon, &self.link)
    }

    /// Packets of the same flow that are due at the same time are the same to the log.
    fn lateness(&mut self, due: Nanos, flow: Flow) -> Option<Nanos> {
        let Entry::Occupied(mut entry) = self.sent.entry((due, flow)) else {
            return None;
        };
        let lateness = entry.get_mut().pop_front();
        self.waiting_sent -= usize::from(lateness.is_some());
        if entry.get().is_empty() {
            entry.remove();
        }
        lateness.flatten()
    }
}

/// How long a log may stand still once the relay is to stop.
pub(super) const LOG_PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::link::{DropCause, LinkConfig, PacketLog};
    use crate::packet::Packet;

    /// A sink that looks at the backlog, and takes a number of packets.
    struct Limited {
        backlog: Arc<Backlog>,
        room: usize,
    }

    impl PacketSink for Limited {
        fn packet(&mut self, _: &LoggedPacket) -> io::Result<()> {
            assert!(self.backlog.is_exhausted());
            self.room = self.room.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(())
        }

        fn advance(&mut self, _: Nanos, _: &Link) -> io::Result<()> {
            Ok(())
        }

        fn finish(&mut self, _: Nanos, _: &Link) -> io::Result<()> {
            Ok(())
        }
    }

    /// Packets that were dropped as they came.
    fn settled(packets: usize) -> Vec<(Flow, Record)> {
        let link = LinkConfig {
            loss: 1.0.into(),
            log: true,
            ..LinkConfig::constant(1)
        };
        let mut link = Link::new(link, 1).unwrap();
        let packet = Packet {
            source: ([127, 0, 0, 1], 1).into(),
            destination: ([127, 0, 0, 1], 2).into(),
            ecn: None,
            payload: Vec::new(),
        };
        for _ in 0..packets {
            link.offer(Nanos(1), packet.clone());
        }
        let log: &PacketLog = link.log().unwrap();
        let with_flow = |record: &Record| (log.flow(record.flow).unwrap(), *record);
        log.records().iter().map(with_flow).collect()
    }

    /// A sink may be as slow as a disk: what waits for it counts meanwhile, until an error ends the log.
    #[test]
    fn what_is_being_written_counts_until_an_error() {
        let backlog = Arc::new(Backlog::new(1 << 20));
        let tally = Arc::new(Mutex::new(Tally::new()));
        let link = Link::new(LinkConfig::constant(1), 1).unwrap();
        let sink = Box::new(Limited {
            backlog: Arc::clone(&backlog),
            room: 100,
        });
        let recorder = Recorder::new(link, sink, Arc::clone(&backlog), Arc::clone(&tally));
        let (log, batches) = sync_channel(2);
        for packets in [10_000, 5] {
            let settled = settled(packets);
            assert!(matches!(
                settled[0].1.outcome,
                PacketOutcome::Dropped {
                    cause: DropCause::Loss,
                    ..
                }
            ));
            let batch = Batch {
                settled,
                ..Batch::default()
            };
            backlog.add(batch.entries());
            log.send(batch).unwrap();
        }
        drop(log);
        let error = recorder.run(&batches).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(!backlog.is_full(0));
        // But for the one that was refused.
        assert_eq!(lock(&tally).unlogged, 10_000 - 101 + 5);
    }
}
