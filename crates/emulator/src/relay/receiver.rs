//! Receives what goes onto a link.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mio::{Events, Interest, Poll, Registry, Token};

use super::Clock;
use super::clients::Clients;
use super::lock;
use super::path::Path;
use super::socket::{Buffers, Datagram, Socket};
use super::tally::Tally;
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
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
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
}

impl FromClients {
    /// Works until it is woken and told to stop.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffers = Buffers::new();
        let mut packets = Vec::new();
        let mut expired = Nanos::ZERO;
        while wait(&mut self.poll, &mut events, &self.shared) {
            // A flood must not keep it from looking up.
            let mut more = true;
            while more && !self.shared.stopped() {
                more = self.receive(&mut buffers, &mut packets);
                let now = self.shared.clock.now();
                if now - expired >= EXPIRY_INTERVAL.into() {
                    lock(&self.shared.clients).expire(now);
                    expired = now;
                }
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
                let now = shared.clock.now();
                let open = |token| self.open(token);
                let result = clients.admit(datagram.source, datagram.local, now, open);
                if result.is_err() {
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
            self.path.offer(shared.clock.now(), packets.drain(..));
        }
        go_on(&result)
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
        let mut buffers = Buffers::new();
        let mut packets = Vec::new();
        let mut ready = Vec::new();
        while wait(&mut self.poll, &mut events, &self.shared) {
            ready.extend(events.iter().map(|event| event.token().0));
            while !ready.is_empty() && !self.shared.stopped() {
                // In turns, so that a socket with many datagrams does not delay the others.
                ready.retain(|token| self.receive(*token, &mut buffers, &mut packets));
            }
        }
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
fn wait(poll: &mut Poll, events: &mut Events, shared: &Shared) -> bool {
    let result = poll.poll(events, Some(EXPIRY_INTERVAL));
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
