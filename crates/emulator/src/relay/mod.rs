//! A link in real time: a UDP relay that behaves like it, for any client and server, without privileges.
//!
//! Clients send to the relay, which sends to the server, and back; each client has a socket of its own towards the server.
//! All clients share the same [`Link`] in each direction: the same that works in virtual time. Two threads receive, two
//! send.
//!
//! What happens between the sender's call and the moment that the relay reads a packet is part of neither the delay nor the
//! lateness. On Linux it is known how long packets wait to be read: [`PathSnapshot::waited`].
//!
//! ```no_run
//! use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
//! use kneepoint_emulator::relay::{Relay, RelayConfig};
//! use kneepoint_emulator::time::Nanos;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let link = LinkConfig {
//!     queue: Queue::DropTail(Limit::bytes(100_000)),
//!     delay: Nanos::from_millis(20).into(),
//!     ..LinkConfig::constant(1_250_000)
//! };
//! let (listen, server) = ("127.0.0.1:4433".parse()?, "127.0.0.1:4434".parse()?);
//! let relay = Relay::start(RelayConfig::new(listen, server, link.clone(), link), Default::default())?;
//! // Clients that send to 127.0.0.1:4433 have 10 Mb/s and 40 ms to the server at 127.0.0.1:4434 now.
//! println!("p99 lateness: {}", relay.snapshot().up.lateness.p99);
//! let summary = relay.stop().summary;
//! println!("{} packets dropped", summary.up.statistics.all_dropped().packets);
//! # Ok(())
//! # }
//! ```

mod backlog;
mod capture;
mod clients;
mod config;
mod error;
#[cfg(all(test, kneepoint_loom))]
mod interleavings;
mod oversleep;
mod path;
mod received;
mod receiver;
mod recorder;
mod sender;
mod snapshot;
mod socket;
mod start;
mod sync;
mod tally;
mod train;
mod unread;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};

use mio::Waker;

use self::path::Path;
use self::receiver::Shared;
use self::recorder::LOG_PATIENCE;
use self::socket::Socket;
use self::tally::Tally;
use crate::log_format::PacketSink;
use crate::time::Nanos;

pub use self::capture::CaptureSink;
pub use self::config::{DEFAULT_CLIENTS, DEFAULT_IDLE, DEFAULT_MEMORY, RelayConfig};
pub use self::error::RelayError;
pub use self::path::PACKET_MEMORY;
pub use self::snapshot::{Lateness, PathSnapshot, Snapshot};
#[cfg(doc)]
use crate::link::Link;

/// A relay at work. Dropping it stops it.
pub struct Relay {
    shared: Arc<Shared>,
    socket: Arc<Socket>,
    up: Lane,
    down: Lane,
    wakers: Vec<Waker>,
    threads: Vec<JoinHandle<()>>,
    recorders: Vec<JoinHandle<io::Result<()>>>,
    capture: Option<JoinHandle<io::Result<()>>>,
    capture_failure: Arc<Mutex<Option<String>>>,
    uncaptured: Arc<AtomicU64>,
}

/// One direction.
#[derive(Clone)]
struct Lane {
    path: Arc<Path>,
    tally: Arc<Mutex<Tally>>,
}

/// The result of a relay that was stopped.
#[derive(Debug)]
pub struct Stopped {
    /// Its statistics.
    pub summary: Snapshot,
    /// Whether a sink of packets, or a thread, has failed on the way.
    pub log: io::Result<()>,
    /// Whether the sink of copies has failed.
    pub capture: io::Result<()>,
}

/// The consumers of the two links' packets.
#[derive(Default)]
pub struct Sinks {
    /// Those from the clients to the server.
    pub up: Option<Box<dyn PacketSink>>,
    /// Those from the server to the clients.
    pub down: Option<Box<dyn PacketSink>>,
    /// The consumer of copies of what the clients send and receive.
    pub capture: Option<Box<dyn CaptureSink>>,
}

impl Relay {
    /// Starts a relay.
    ///
    /// # Errors
    /// The configuration is not valid, or the operating system refuses a socket or a thread.
    pub fn start(config: RelayConfig, sinks: Sinks) -> Result<Self, RelayError> {
        start::relay(config, sinks)
    }

    /// Where clients send to.
    pub fn local_addr(&self) -> SocketAddr {
        self.socket.local()
    }

    /// The time since its start.
    pub fn elapsed(&self) -> Nanos {
        self.shared.clock.now()
    }

    /// Its statistics so far.
    pub fn snapshot(&self) -> Snapshot {
        let clients = lock(&self.shared.clients);
        let upstream = clients.sockets().map(|socket| socket.local());
        let addresses: Vec<SocketAddr> = upstream.chain([self.local_addr()]).collect();
        let (known, seen, displaced) = (clients.len(), clients.seen(), clients.displaced());
        drop(clients);
        Snapshot {
            elapsed: self.shared.clock.now(),
            clients: known,
            clients_seen: seen,
            displaced,
            refused: self.shared.refused.load(Ordering::Relaxed),
            foreign: self.shared.foreign.load(Ordering::Relaxed),
            unread: self.unread(addresses.into_iter()),
            uncaptured: self.uncaptured.load(Ordering::Relaxed),
            up: self.up.snapshot(),
            down: self.down.snapshot(),
        }
    }

    fn unread(&self, addresses: impl Iterator<Item = SocketAddr>) -> Option<u64> {
        let buried = self.shared.buried.load(Ordering::Relaxed);
        let dropped = self.shared.unread.datagrams(addresses)?;
        Some(dropped.saturating_add(buried))
    }

    /// Why a log is not written any more, if one is not: the relay goes on without it.
    pub fn log_failure(&self) -> Option<String> {
        let lanes = [&self.up, &self.down];
        lanes
            .into_iter()
            .find_map(|lane| lock(&lane.tally).log_failure.clone())
    }

    /// Why copies are not taken any more, if they are not: the relay goes on without.
    pub fn capture_failure(&self) -> Option<String> {
        lock(&self.capture_failure).clone()
    }

    /// Stops the relay, and tells what it has done. What is on its way is gone. A sink that does not return for seconds is
    /// left behind with its thread.
    pub fn stop(mut self) -> Stopped {
        let (log, capture) = self.end();
        let mut clients = lock(&self.shared.clients);
        self.shared.bury(&mut clients, true);
        let sockets = clients.sockets().chain([&self.socket]);
        let left = sockets.map(|socket| socket.drain()).sum();
        drop(clients);
        self.shared.buried.fetch_add(left, Ordering::Relaxed);
        Stopped {
            summary: self.snapshot(),
            log,
            capture,
        }
    }

    /// Ends all threads: what has become of the logs and of the copies.
    fn end(&mut self) -> (io::Result<()>, io::Result<()>) {
        let begun = self.shared.clock.now();
        self.shared.stopped.store(true, Ordering::Relaxed);
        for waker in &self.wakers {
            // A thread that cannot be woken wakes up by itself.
            let _ = waker.wake();
        }
        self.up.path.stop();
        self.down.path.stop();
        let gone = |_| io::Error::other("a thread of the relay has panicked");
        let mut log = Ok(());
        for thread in self.threads.drain(..) {
            log = log.and(thread.join().map_err(gone));
        }
        let clock = self.shared.clock;
        let written = |recorder: JoinHandle<io::Result<()>>| {
            // One that waits for a pipe that nobody reads would wait for ever.
            while !recorder.is_finished() && clock.now() - begun < LOG_PATIENCE.into() {
                nap();
            }
            match recorder.is_finished() {
                true => recorder.join().unwrap_or_else(|panic| Err(gone(panic))),
                false => Err(io::Error::new(io::ErrorKind::TimedOut, STUCK)),
            }
        };
        for recorder in self.recorders.drain(..) {
            log = log.and(written(recorder));
        }
        (log, self.capture.take().map_or(Ok(()), written))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // A destructor cannot report the errors.
        let _ = self.end();
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("local_addr", &self.local_addr())
            .field("server", &self.shared.server)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Sinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sinks")
            .field("up", &self.up.is_some())
            .field("down", &self.down.is_some())
            .field("capture", &self.capture.is_some())
            .finish()
    }
}

impl Lane {
    fn snapshot(&self) -> PathSnapshot {
        let (statistics, queued, overflow) = self.path.statistics();
        let tally = lock(&self.tally);
        PathSnapshot {
            statistics,
            queued,
            overflow,
            unsent: tally.unsent,
            forgotten: tally.forgotten,
            unlogged: tally.unlogged.saturating_add(self.path.left_out_of_log()),
            lateness: tally.lateness(),
            waited: tally.waiting(),
        }
    }
}

/// Locks, whether or not an earlier holder panicked: each leaves counters and tables consistent.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a log or a capture has no end.
const STUCK: &str = "it is not taken";

/// Waits a moment for a log.
#[expect(clippy::disallowed_methods, reason = "the relay works in real time")]
fn nap() {
    thread::sleep(NAP);
}

const NAP: Duration = Duration::from_millis(1);

/// The time since the start of the relay.
#[derive(Debug, Clone, Copy)]
struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the relay works in real time")]
    fn start() -> Self {
        Self(Instant::now())
    }

    fn now(self) -> Nanos {
        // loom runs a program again and again, and asks for the same steps each time.
        if cfg!(all(test, kneepoint_loom)) {
            return Nanos::from_millis(1);
        }
        self.0.elapsed().into()
    }
}
