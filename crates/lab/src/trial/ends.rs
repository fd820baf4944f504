//! The two ends of a flow.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kneepoint_emulator::sim::{Handle, Socket};

use super::{FlowOutcome, LIMITS, Moments, look};
use crate::probe::Recorder;
use crate::stack::{Connection, Endpoint, Handshake, Limits};
use crate::workload::{Clock, Phase, Received, read_streams, receive, send_noting};

/// What is seen of a flow while it runs.
#[derive(Clone)]
pub(super) struct Observer {
    pub(super) recorder: Recorder,
    pub(super) received: Received,
    pub(super) samples: Moments,
    pub(super) closed: Arc<Mutex<Option<String>>>,
}

impl Observer {
    /// The sender is done, because its connection closed if there is a reason.
    fn close(&self, reason: Option<String>) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    pub(super) fn outcome(&self, address: SocketAddr) -> FlowOutcome {
        let recording = self.recorder.take();
        let samples = &mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        FlowOutcome {
            rtts: recording.rtts,
            acked_bytes: recording.acked_bytes,
            lost_bytes: recording.lost_bytes,
            windows: recording.windows,
            received: self.received.bins(),
            messages: self.received.messages(),
            samples: std::mem::take(samples),
            closed: closed.clone(),
            address: Some(address),
            due: self.received.due().series(),
        }
    }
}

/// Reads all that comes to a socket, and sorts it by the address that it comes from.
pub(super) fn serve<E: Endpoint>(
    handle: &Handle,
    clock: &Clock,
    socket: Arc<Socket>,
    seed: u64,
    limits: Limits,
    senders: HashMap<SocketAddr, Received>,
) -> io::Result<()> {
    let endpoint = E::simulated(handle, socket, seed, Some(limits))?;
    clock.spawn(receive(clock.clone(), endpoint, senders));
    Ok(())
}

/// What a sender needs to know.
pub(super) struct Sender {
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) start: Duration,
    pub(super) application: Vec<Phase>,
    pub(super) observer: Observer,
    /// Between two looks at the controller.
    pub(super) interval: Option<Duration>,
}

/// Who connects to whom.
pub(super) enum Dialing {
    /// The sender, to this address.
    Sender(SocketAddr),
    /// The receiver, from this socket.
    Receiver {
        /// Where the sender is.
        sender: SocketAddr,
        socket: Arc<Socket>,
        seed: u64,
    },
}

/// Lets both ends live. The one who connects `moves` at a time to another socket.
pub(super) fn begin<E: Endpoint>(
    handle: &Handle,
    socket: Arc<Socket>,
    seed: u64,
    sender: Sender,
    factory: E::Factory,
    dialing: Dialing,
    moves: Option<(Duration, Arc<Socket>)>,
) -> io::Result<()> {
    let clock = sender.clock.clone();
    match dialing {
        Dialing::Sender(server) => {
            let endpoint = Arc::new(E::simulated(handle, socket, seed, None)?);
            migrate(&clock, &endpoint, moves);
            clock.spawn(sender.dial(endpoint, server, factory));
        }
        Dialing::Receiver {
            sender: address,
            socket: receiving,
            seed: receiving_seed,
        } => {
            let recorder = &sender.observer.recorder;
            let endpoint = E::serving(handle, socket, seed, sender.limits, &factory, recorder)?;
            let receiver = Arc::new(E::simulated(handle, receiving, receiving_seed, None)?);
            migrate(&clock, &receiver, moves);
            let (received, start) = (sender.observer.received.clone(), sender.start);
            let limits = Limits {
                windows: sender.limits.windows,
                ..LIMITS
            };
            let tasks = clock.clone();
            clock.spawn(sender.wait(endpoint));
            clock.spawn(async move {
                tasks.sleep_until(start).await;
                let unseen = Recorder::new(tasks.epoch());
                // The sender says why there is no connection.
                if let Ok(handshake) = receiver.connect(address, limits, &E::stock(), &unseen)
                    && let Ok(connection) = handshake.await
                {
                    read_streams(&tasks, connection, received);
                }
            });
        }
    }
    Ok(())
}

/// Moves an endpoint to another socket when it is time.
fn migrate<E: Endpoint>(clock: &Clock, endpoint: &Arc<E>, moves: Option<(Duration, Arc<Socket>)>) {
    let Some((at, socket)) = moves else {
        return;
    };
    let (clock_of_task, endpoint) = (clock.clone(), Arc::clone(endpoint));
    clock.spawn(async move {
        clock_of_task.sleep_until(at).await;
        // An endpoint that could not move stays: the connection shows it.
        _ = endpoint.migrate(socket);
    });
}

impl Sender {
    /// From its start to the end of its phases or of its connection.
    async fn dial<E: Endpoint>(self, endpoint: Arc<E>, server: SocketAddr, factory: E::Factory) {
        self.clock.sleep_until(self.start).await;
        let recorder = &self.observer.recorder;
        match endpoint.connect(server, self.limits, &factory, recorder) {
            Err(error) => self
                .observer
                .close(Some(format!("cannot connect: {error}"))),
            Ok(handshake) => self.live(handshake).await,
        }
    }

    /// The same for one who is called.
    async fn wait<E: Endpoint>(self, endpoint: E) {
        if let Some((_, handshake)) = endpoint.accept().await {
            self.live(handshake).await;
        }
    }

    async fn live<C: Connection>(&self, handshake: Handshake<C>) {
        self.observer.close(match handshake.await {
            Err(error) => Some(format!("handshake failed: {error}")),
            Ok(connection) => {
                self.perform(&connection).await;
                connection.close_reason()
            }
        });
    }

    async fn perform<C: Connection>(&self, connection: &C) {
        if let Some(interval) = self.interval {
            look(&self.clock, connection, interval, &self.observer.samples);
        }
        let due = self.observer.received.due();
        send_noting(&self.clock, connection, &self.application, due).await;
    }
}
