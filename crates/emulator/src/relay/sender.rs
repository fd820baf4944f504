//! Sends what leaves a link.

use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

use super::Clock;
use super::backlog::Backlog;
use super::capture::Tap;
use super::clients::Clients;
use super::path::{Path, Turn};
use super::recorder::{Batch, LOG_PATIENCE, Sent};
use super::socket::{LARGEST_PAYLOAD, Socket, Train};
use super::tally::Tally;
use super::{NAP, lock, nap, train};
use crate::link::Flow;
use crate::packet::Packet;
use crate::time::Nanos;

/// A thread that waits for a link and sends.
pub(super) struct Sender {
    pub(super) path: Arc<Path>,
    pub(super) clock: Clock,
    pub(super) outlet: Outlet,
    pub(super) tally: Arc<Mutex<Tally>>,
    pub(super) backlog: Arc<Backlog>,
    pub(super) log: Option<SyncSender<Batch>>,
    /// Copies what has been sent, towards clients.
    pub(super) tap: Option<Tap>,
}

/// Which socket a packet leaves by.
pub(super) enum Outlet {
    /// Towards the server, by the client's own.
    Up(Arc<Mutex<Clients<Socket>>>),
    /// Towards the client, by the one that all clients know.
    Down(Arc<Mutex<Clients<Socket>>>, Arc<Socket>),
}

impl Sender {
    /// Works until the path is stopped.
    pub(super) fn run(self) {
        let mut turn = Turn::default();
        let mut batch = Batch::default();
        let mut contents = Vec::with_capacity(LARGEST_PAYLOAD);
        while self.path.wait(&mut turn) {
            self.turn(&mut turn, &mut batch, &mut contents);
        }
        self.turn(&mut turn, &mut batch, &mut contents);
        if let Some(log) = &self.log {
            (batch.now, batch.horizon) = (turn.now, turn.horizon);
            let kept = batch.settled.len();
            let open = &mut batch.settled;
            self.path
                .take_open(&mut |flow, record| open.push((flow, record)));
            self.backlog.add(open.len() - kept);
            // The recorder exists as long as a sender does, but what it writes to may be stuck.
            for _ in 0..LOG_PATIENCE.as_millis() / NAP.as_millis() {
                match log.try_send(batch) {
                    Err(TrySendError::Full(kept)) => batch = kept,
                    _ => break,
                }
                nap();
            }
        }
    }

    fn turn(&self, turn: &mut Turn, batch: &mut Batch, contents: &mut Vec<u8>) {
        let mut rest = turn.due.as_slice();
        while let Some((_, first)) = rest.first() {
            let length = match self.outlet.route(first) {
                Some((socket, local)) => self.send(rest, &socket, local, batch, contents),
                None => {
                    lock(&self.tally).forgotten += 1;
                    self.note(rest.get(..1).unwrap_or_default(), None, batch);
                    1
                }
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        if let Some(log) = &self.log {
            self.backlog.add(turn.settled.len());
            batch.settled.append(&mut turn.settled);
            batch.horizon = turn.horizon;
            batch.now = turn.now;
            self.record(log, batch);
        }
        turn.due.clear();
        turn.settled.clear();
    }

    /// Sends as many packets as go out together; returns how many.
    fn send(
        &self,
        due: &[(Nanos, Packet)],
        socket: &Socket,
        local: Option<IpAddr>,
        batch: &mut Batch,
        contents: &mut Vec<u8>,
    ) -> usize {
        let length = train::length(due, socket.max_train());
        let packets = due.get(..length).unwrap_or_default();
        let Some((_, first)) = packets.first() else {
            return 1;
        };
        contents.clear();
        for (_, packet) in packets {
            contents.extend_from_slice(&packet.payload);
        }
        let failed = socket.send(&Train {
            destination: first.destination,
            local,
            ecn: first.ecn,
            contents,
            size: first.payload.len(),
        });
        // After the call: the packets have left by now, and not before it.
        let now = self.clock.now();
        let mut tally = lock(&self.tally);
        tally.unsent += failed;
        for (time, _) in packets {
            tally.late(now - *time);
        }
        drop(tally);
        if let (Some(tap), 0) = (&self.tap, failed) {
            tap.copy(now, packets.iter().map(|(_, packet)| packet));
        }
        self.note(packets, Some(now), batch);
        length
    }

    /// Notes for the log when packets were sent.
    fn note(&self, packets: &[(Nanos, Packet)], now: Option<Nanos>, batch: &mut Batch) {
        // Of packets that are left out of the log nobody needs to know.
        if self.log.is_some() && !self.backlog.is_exhausted() {
            self.backlog.add(packets.len());
            batch.sent.extend(packets.iter().map(|(due, packet)| Sent {
                due: *due,
                flow: Flow {
                    source: packet.source,
                    destination: packet.destination,
                },
                lateness: now.map(|now| now - *due),
            }));
        }
    }

    /// Passes the batch on if the recorder keeps up; if not, keeps it for a while.
    fn record(&self, log: &SyncSender<Batch>, batch: &mut Batch) {
        match log.try_send(std::mem::take(batch)) {
            Ok(()) => {}
            Err(TrySendError::Full(kept) | TrySendError::Disconnected(kept)) => *batch = kept,
        }
    }
}

impl Outlet {
    /// The socket, and the address to send from if it has several; `None` if the client is forgotten.
    fn route(&self, packet: &Packet) -> Option<(Arc<Socket>, Option<IpAddr>)> {
        match self {
            Self::Up(clients) => {
                let clients = lock(clients);
                let client = clients.get(packet.source)?;
                Some((Arc::clone(&client.socket), None))
            }
            Self::Down(clients, socket) => {
                let local = lock(clients).get(packet.destination)?.local;
                let several = |address: SocketAddr| address.ip().is_unspecified();
                Some((
                    Arc::clone(socket),
                    local.filter(|_| several(socket.local())),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::link::{Link, LinkConfig};

    /// Each packet that leaves is told of to the log, also one that is left out of it.
    #[test]
    fn a_log_that_is_not_written_is_told_little() {
        let (memory, clock) = (1 << 20, Clock::start());
        let backlog = Arc::new(Backlog::new(memory));
        let link = Link::new(LinkConfig::constant(1), 1).unwrap();
        // Nobody is there to receive either.
        let (log, _batches) = sync_channel(1);
        let sender = Sender {
            path: Arc::new(Path::new(link, clock, memory, false, Arc::clone(&backlog))),
            clock,
            outlet: Outlet::Up(Arc::new(Mutex::new(Clients::new(1, Nanos::MAX, 2)))),
            tally: Arc::new(Mutex::new(crate::relay::tally::Tally::new())),
            backlog: Arc::clone(&backlog),
            log: Some(log),
            tap: None,
        };
        let packet = Packet {
            source: ([127, 0, 0, 1], 1).into(),
            destination: ([127, 0, 0, 1], 2).into(),
            ecn: None,
            payload: Vec::new(),
        };
        let mut batch = Batch::default();
        for _ in 0..100 {
            let mut turn = Turn {
                due: vec![(Nanos(1), packet.clone()); 1000],
                ..Turn::default()
            };
            sender.turn(&mut turn, &mut batch, &mut Vec::new());
        }
        assert_eq!(lock(&sender.tally).forgotten, 100_000);
        assert!(backlog.is_exhausted());
        assert!(batch.sent.len() < 5000, "{}", batch.sent.len());
    }
}
