//! Receives what goes onto a link.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mio::{Events, Interest, Poll, Registry, Token};

use super::Clock;
use super::capture::Tap;
use super::clients::{Clients, Refusal};
use super::lock;
use super::path::Path;
use super::socket::{Buffers, Datagram, Socket};
use super::tally::Tally;
use super::unread::Unread;
use crate::packet::Packet;
use crate::time::Nanos;

/// The state that both receivers and the relay share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clients: Arc<Mutex<Clients<Socket>>>,
    pub(super) clock: Clock,
    pub(super) server: SocketAddr,
    pub(super) stopped: AtomicBool,
    /// Packets of clients that were not admitted.
    pub(super) refused: AtomicU64,
    /// Packets that came from elsewhere to where only the server should send.
    pub(super) foreign: AtomicU64,
    pub(super) unread: Unread,
    /// Packets that were not read before their sockets were closed.
    pub(super) buried: AtomicU64,
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Closes the sockets of clients that are gone. Nobody will read what waits there. To ask the system what it has dropped
    /// takes as long as hundreds of sockets: a flood of new clients must not have that done unless there is reason to.
    pub(super) fn bury(&self, clients: &mut Clients<Socket>, ask: bool) {
        let gone = clients.take_gone();
        if gone.is_empty() {
            return;
        }
        let left: u64 = gone.iter().map(|socket| socket.drain()).sum();
        let addresses = gone.iter().map(|socket| socket.local());
        let dropped = (ask || left > 0).then(|| self.unread.datagrams(addresses));
        let unread = left.saturating_add(dropped.flatten().unwrap_or(0));
        self.buried.fetch_add(unread, Ordering::Relaxed);
    }
}

/// A thread that receives from the clients.
pub(super) struct FromClients {
    pub(super) shared: Arc<Shared>,
    pub(super) poll: Poll,
    pub(super) socket: Arc<Socket>,
    pub(super) path: Arc<Path>,
    /// Where the clients' own sockets are waited for.
    pub(super) registry: Registry,
    pub(super) tally: Arc<Mutex<Tally>>,
    /// Copies what has been read.
    pub(super) tap: Option<Tap>,
}

impl FromClients {
    /// Works until it is woken and told to stop.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffers = Buffers::new();
        let mut packets = Vec::new();
        let mut expired = Nanos::ZERO;
        while wait(&mut self.poll, &mut events, EXPIRY_INTERVAL, &self.shared) {
            // A flood must not keep it from looking up.
            let mut more = true;
            while more && !self.shared.stopped() {
                let now = self.shared.clock.now();
                let since = now - expired;
                if since >= EXPIRY_INTERVAL.into() {
                    let mut clients = lock(&self.shared.clients);
                    // A process that was stopped has not seen who was active.
                    clients.excuse(since - (EXPIRY_INTERVAL * 2).into(), now);
                    clients.expire(now);
                    self.shared.bury(&mut clients, true);
                    expired = now;
                }
                more = self.receive(&mut buffers, &mut packets);
            }
        }
    }

    /// Returns whether there may be more.
    fn receive(&self, buffers: &mut Buffers, packets: &mut Vec<Packet>) -> bool {
        let shared = &self.shared;
        let mut clients = lock(&shared.clients);
        let mut admitted = None;
        let mut waited = Vec::new();
        let result = self.socket.receive(buffers, &mut |datagram| {
            if admitted != Some(datagram.source) {
                if self.is_own(&datagram) || self.admit(&mut clients, &datagram).is_err() {
                    shared.refused.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                admitted = Some(datagram.source);
            }
            waited.extend(datagram.waited);
            packets.push(packet(&datagram, datagram.source, shared.server));
        });
        drop(clients);
        lock(&self.tally).waited(waited);
        if !packets.is_empty() {
            let now = shared.clock.now();
            if let Some(tap) = &self.tap {
                tap.copy(now, packets.iter());
            }
            self.path.offer(now, packets.drain(..));
        }
        go_on(&result)
    }

    /// Whether it comes from where the relay's own packets, or the server's, come from. The answers would come back as
    /// those of a client, and be answered again.
    fn is_own(&self, datagram: &Datagram<'_>) -> bool {
        let Datagram { source, local, .. } = datagram;
        let is = |other: SocketAddr| {
            (source.ip().to_canonical(), source.port()) == (other.ip().to_canonical(), other.port())
        };
        let port = self.socket.local().port();
        is(self.shared.server) || local.is_some_and(|local| is((local, port).into()))
    }

    fn admit(&self, clients: &mut Clients<Socket>, datagram: &Datagram<'_>) -> Result<(), Refusal> {
        let Datagram { source, local, .. } = *datagram;
        let now = self.shared.clock.now();
        let mut result = clients.admit(source, local, now, |token| self.open(token));
        // Where the system grants fewer sockets than there may be clients, they make room like any others.
        if matches!(result, Err(Refusal::NoSocket)) && clients.displace() {
            self.shared.bury(clients, false);
            result = clients.admit(source, local, now, |token| self.open(token));
        }
        self.shared.bury(clients, false);
        result
    }

    /// Makes a client's socket.
    fn open(&self, token: usize) -> io::Result<Socket> {
        let mut socket = Socket::bind(beside(self.shared.server))?;
        self.registry
            .register(&mut socket.io, Token(token), Interest::READABLE)?;
        Ok(socket)
    }
}

/// A thread that receives from the server, for all clients.
pub(super) struct FromServer {
    pub(super) shared: Arc<Shared>,
    pub(super) poll: Poll,
    pub(super) path: Arc<Path>,
    pub(super) tally: Arc<Mutex<Tally>>,
}

impl FromServer {
    /// Works until it is woken and told to stop.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let (mut buffers, mut ready) = (Buffers::new(), BTreeSet::new());
        while self.turn(&mut events, &mut buffers, &mut ready) {}
    }

    /// Reads once from each socket that has something to be read. One whose datagrams never end delays neither those nor any
    /// that become readable meanwhile. Returns false when there is nothing more to do.
    fn turn(
        &mut self,
        events: &mut Events,
        buffers: &mut Buffers,
        ready: &mut BTreeSet<usize>,
    ) -> bool {
        let patience = if ready.is_empty() {
            EXPIRY_INTERVAL
        } else {
            Duration::ZERO
        };
        let go_on = wait(&mut self.poll, events, patience, &self.shared);
        ready.extend(events.iter().map(|event| event.token().0));
        let mut packets = Vec::new();
        ready.retain(|token| self.receive(*token, buffers, &mut packets));
        go_on
    }

    /// Returns whether there may be more.
    fn receive(&self, token: usize, buffers: &mut Buffers, packets: &mut Vec<Packet>) -> bool {
        let shared = &self.shared;
        let answered = {
            let mut clients = lock(&shared.clients);
            let answered = clients.answered(token, shared.clock.now());
            answered.map(|(address, socket)| (address, Arc::clone(socket)))
        };
        let Some((client, socket)) = answered else {
            return false;
        };
        let mut waited = Vec::new();
        let result = socket.receive(buffers, &mut |datagram| {
            if datagram.source == shared.server {
                waited.extend(datagram.waited);
                packets.push(packet(&datagram, shared.server, client));
            } else {
                shared.foreign.fetch_add(1, Ordering::Relaxed);
            }
        });
        lock(&self.tally).waited(waited);
        if !packets.is_empty() {
            self.path.offer(shared.clock.now(), packets.drain(..));
        }
        go_on(&result)
    }
}

/// Waits for something to read. Returns false when there is nothing more to do.
fn wait(poll: &mut Poll, events: &mut Events, patience: Duration, shared: &Shared) -> bool {
    let result = poll.poll(events, Some(patience));
    let interrupted = matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted);
    if interrupted {
        events.clear();
    }
    (result.is_ok() || interrupted) && !shared.stopped()
}

/// Some systems report here that an earlier datagram was not delivered; the next ones follow it.
fn go_on(result: &io::Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

fn packet(datagram: &Datagram<'_>, source: SocketAddr, destination: SocketAddr) -> Packet {
    Packet {
        source,
        destination,
        ecn: datagram.ecn,
        payload: datagram.payload.to_vec(),
    }
}

/// An address of this machine from which another one can be reached.
fn beside(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(server) if server.ip().is_loopback() => (Ipv4Addr::LOCALHOST, 0).into(),
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(server) if server.ip().is_loopback() => (Ipv6Addr::LOCALHOST, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// How many sockets are reported at a time.
const EVENTS: usize = 256;

/// How often clients are looked through for idle ones.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Link, LinkConfig};
    use crate::relay::backlog::Backlog;

    /// Two clients; the first has more to be read than one turn reads, and more comes all the time.
    #[test]
    fn a_flooded_client_does_not_delay_another() {
        let loopback = (Ipv4Addr::LOCALHOST, 0);
        let stranger = std::net::UdpSocket::bind(loopback).unwrap();
        let server = std::net::UdpSocket::bind(loopback).unwrap();
        let (poll, clock) = (Poll::new().unwrap(), Clock::start());
        let mut clients = Clients::new(2, Nanos::MAX, 2);
        for port in [1, 2] {
            let client = (Ipv4Addr::LOCALHOST, port).into();
            let admitted = clients.admit(client, None, Nanos::ZERO, |token| {
                let mut socket = Socket::bind(loopback.into())?;
                let registry = poll.registry();
                registry.register(&mut socket.io, Token(token), Interest::READABLE)?;
                Ok(socket)
            });
            admitted.unwrap();
        }
        let address = |clients: &mut Clients<Socket>, token| {
            let (_, socket) = clients.answered(token, Nanos::ZERO).unwrap();
            socket.local()
        };
        let [flooded, other] = [2, 3].map(|token| address(&mut clients, token));
        let link = Link::new(LinkConfig::constant(1), 1).unwrap();
        let path = Path::new(link, clock, u64::MAX, false, Arc::new(Backlog::default()));
        let mut receiver = FromServer {
            shared: Arc::new(Shared {
                clients: Arc::new(Mutex::new(clients)),
                clock,
                server: server.local_addr().unwrap(),
                stopped: AtomicBool::new(false),
                refused: AtomicU64::new(0),
                foreign: AtomicU64::new(0),
                unread: Unread::open(),
                buried: AtomicU64::new(0),
            }),
            poll,
            path: Arc::new(path),
            tally: Arc::new(Mutex::new(Tally::new())),
        };
        let flood = || {
            for _ in 0..100 {
                stranger.send_to(b"flood", flooded).unwrap();
            }
        };
        let mut events = Events::with_capacity(EVENTS);
        let (mut buffers, mut ready) = (Buffers::new(), BTreeSet::new());
        let shared = Arc::clone(&receiver.shared);
        flood();
        assert!(receiver.turn(&mut events, &mut buffers, &mut ready));
        server.send_to(b"for the other", other).unwrap();
        flood();
        assert!(receiver.turn(&mut events, &mut buffers, &mut ready));
        assert_eq!(receiver.path.statistics().0.offered.packets, 1);
        let read = shared.foreign.load(Ordering::Relaxed);
        assert!((1..200).contains(&read), "{read}");
        assert!(ready.contains(&2));
    }
}
