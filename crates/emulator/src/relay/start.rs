//! How a relay comes to be.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use mio::{Interest, Poll, Token, Waker};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::Clock;
use super::backlog::Backlog;
use super::capture::{self, Tap};
use super::clients::Clients;
use super::path::Path;
use super::receiver::{FromClients, FromServer, Shared};
use super::recorder::{Batch, Recorder};
use super::sender::{Outlet, Sender};
use super::socket::Socket;
use super::tally::Tally;
use super::unread::Unread;
use super::{Lane, Relay, RelayConfig, RelayError, Sinks};
use crate::link::{Link, LinkConfig};
use crate::log_format::PacketSink;
use crate::network::Direction;

/// Starts everything.
pub(super) fn relay(config: RelayConfig, sinks: Sinks) -> Result<Relay, RelayError> {
    config.validate()?;
    let mut seeds = Pcg64::seed_from_u64(config.seed);
    let clock = Clock::start();
    let mut plan = |direction, link: &LinkConfig, sink| {
        let seed = seeds.next_u64();
        Planned::new(&config, direction, link, sink, seed, clock)
    };
    let up = plan(Direction::Forward, &config.up, sinks.up)?;
    let down = plan(Direction::Reverse, &config.down, sinks.down)?;

    let socket = Socket::bind(config.listen);
    let mut socket = socket.map_err(|error| RelayError::Listen {
        address: config.listen,
        error,
    })?;
    let (clients_poll, server_poll) = (Poll::new()?, Poll::new()?);
    let wakers = vec![
        Waker::new(clients_poll.registry(), WAKE)?,
        Waker::new(server_poll.registry(), WAKE)?,
    ];
    let readable = Interest::READABLE;
    clients_poll
        .registry()
        .register(&mut socket.io, LISTEN, readable)?;
    let socket = Arc::new(socket);
    let clients = Clients::new(config.clients, config.idle.into(), FIRST_CLIENT);
    let shared = Arc::new(Shared {
        clients: Arc::new(Mutex::new(clients)),
        clock,
        server: config.to,
        stopped: AtomicBool::new(false),
        refused: AtomicU64::new(0),
        foreign: AtomicU64::new(0),
        unread: Unread::open(),
        buried: AtomicU64::new(0),
    });

    // From here on, whatever fails stops the threads that have begun.
    let mut relay = Relay {
        shared: Arc::clone(&shared),
        socket: Arc::clone(&socket),
        up: up.lane.clone(),
        down: down.lane.clone(),
        wakers,
        threads: Vec::new(),
        recorders: Vec::new(),
        capture: None,
        capture_failure: Arc::default(),
        uncaptured: Arc::default(),
    };
    let tap = match sinks.capture {
        Some(sink) => {
            let (tap, copies) = Tap::new(Arc::clone(&relay.uncaptured));
            let failure = Arc::clone(&relay.capture_failure);
            let writer = spawn("capture", move || capture::run(sink, &copies, &failure))?;
            relay.capture = Some(writer);
            Some(tap)
        }
        None => None,
    };
    let from_clients = FromClients {
        shared: Arc::clone(&shared),
        poll: clients_poll,
        socket: Arc::clone(&socket),
        path: Arc::clone(&up.lane.path),
        registry: server_poll.registry().try_clone()?,
        tally: Arc::clone(&up.lane.tally),
        tap: tap.clone(),
    };
    let from_server = FromServer {
        shared: Arc::clone(&shared),
        poll: server_poll,
        path: Arc::clone(&down.lane.path),
        tally: Arc::clone(&down.lane.tally),
    };
    let to_server = Outlet::Up(Arc::clone(&shared.clients));
    let to_clients = Outlet::Down(Arc::clone(&shared.clients), socket);
    let lanes = [("up", up, to_server, None), ("down", down, to_clients, tap)];
    for (name, planned, outlet, tap) in lanes {
        let log = match planned.recorder {
            Some(recorder) => {
                let (log, handle) = record(recorder)?;
                relay.recorders.push(handle);
                Some(log)
            }
            None => None,
        };
        let sender = Sender {
            path: planned.lane.path,
            clock,
            outlet,
            tally: planned.lane.tally,
            backlog: planned.backlog,
            log,
            tap,
        };
        relay.threads.push(spawn(name, move || sender.run())?);
    }
    relay
        .threads
        .push(spawn("clients", move || from_clients.run())?);
    relay
        .threads
        .push(spawn("server", move || from_server.run())?);
    Ok(relay)
}

/// A direction whose threads have not begun.
struct Planned {
    lane: Lane,
    backlog: Arc<Backlog>,
    recorder: Option<Recorder>,
}

impl Planned {
    fn new(
        config: &RelayConfig,
        direction: Direction,
        link: &LinkConfig,
        sink: Option<Box<dyn PacketSink>>,
        seed: u64,
        clock: Clock,
    ) -> Result<Self, RelayError> {
        let make = |log| {
            let link = LinkConfig {
                log,
                ..link.clone()
            };
            Link::new(link, seed).map_err(|error| RelayError::Link { direction, error })
        };
        // Without a sink, the log of an endless run would fill the memory.
        let log = sink.as_ref().map_or(0, |_| config.memory / LOG_SHARE);
        let backlog = Arc::new(Backlog::new(log));
        let path = Path::new(
            make(sink.is_some())?,
            clock,
            config.memory - log,
            config.busy,
            Arc::clone(&backlog),
        );
        let capacity = make(false)?;
        let tally = Arc::new(Mutex::new(Tally::new()));
        let recorder = sink
            .map(|sink| Recorder::new(capacity, sink, Arc::clone(&backlog), Arc::clone(&tally)));
        Ok(Self {
            lane: Lane {
                path: Arc::new(path),
                tally,
            },
            backlog,
            recorder,
        })
    }
}

type Recording = (SyncSender<Batch>, JoinHandle<io::Result<()>>);

fn record(recorder: Recorder) -> io::Result<Recording> {
    let (log, batches) = sync_channel(BATCHES);
    let handle = spawn("log", move || recorder.run(&batches))?;
    Ok((log, handle))
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new()
        .name(format!("relay {name}"))
        .spawn(work)
}

const WAKE: Token = Token(0);
const LISTEN: Token = Token(1);
const FIRST_CLIENT: usize = 2;

/// A log may take a quarter of the memory.
const LOG_SHARE: u64 = 4;

/// How many batches may wait for the log to be written.
const BATCHES: usize = 64;
