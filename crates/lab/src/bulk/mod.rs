//! Bulk traffic: applications that write, and read, as much as they can, over either QUIC stack.

mod noq;
mod quinn;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kneepoint_emulator::sim::Simulation;

use crate::controllers::Contestant;
use crate::metrics::{FlowObservation, Observation, stats};
use crate::probe::Recorder;
use crate::workload::Received;

/// What is shared between a flow's tasks and the observer.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) recorder: Recorder,
    pub(crate) received: Received,
    closed: Arc<Mutex<Option<String>>>,
}

impl Flow {
    pub(crate) fn new(simulation: &Simulation) -> Self {
        Self {
            recorder: Recorder::new(simulation.handle().instant()),
            received: Received::default(),
            closed: Arc::default(),
        }
    }

    /// The connection ended, and why.
    fn close(&self, reason: String) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    /// What it achieved in a run of this length, and the round-trip times of what was acknowledged.
    pub(crate) fn observe(&self, duration: Duration) -> (FlowObservation, Vec<u64>) {
        let recording = self.recorder.take();
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let rtts: Vec<u64> = recording.rtts.iter().map(|sample| sample.rtt).collect();
        let last_third = Observation::last_third(duration);
        let flow = FlowObservation {
            goodput_bytes: self.received.bytes_since(Duration::ZERO),
            late_goodput_bytes: self.received.bytes_since(last_third),
            rtt_mean: stats::mean(&rtts).map(|mean| Duration::from_nanos(mean.round() as u64)),
            closed: closed.clone(),
            windows: recording.windows,
            ..FlowObservation::default()
        };
        (flow, rtts)
    }
}

/// One end's place in the simulation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) address: SocketAddr,
    /// For everything that its QUIC stack draws at random.
    pub(crate) seed: u64,
}

/// Starts the receiving application, on the stack of `contestant`: it reads every stream of every connection, and counts
/// the bytes that come from each address.
pub(crate) fn serve(
    simulation: &Simulation,
    contestant: &Contestant,
    end: End,
    flows: HashMap<SocketAddr, Received>,
) -> io::Result<()> {
    match contestant {
        Contestant::Quinn(_) => quinn::serve(simulation, end, flows),
        Contestant::Noq(_) => noq::serve(simulation, end, flows),
    }
}

/// Starts a sending application under the controllers of `contestant`: it connects at `start`, then writes for ever.
pub(crate) fn send(
    simulation: &Simulation,
    contestant: &Contestant,
    flow: &Flow,
    end: End,
    start: Duration,
    server: SocketAddr,
) -> io::Result<()> {
    match contestant {
        Contestant::Quinn(factory) => quinn::send(simulation, factory, flow, end, start, server),
        Contestant::Noq(factory) => noq::send(simulation, factory, flow, end, start, server),
    }
}

/// Writes the applications for a stack. The two stacks' types differ, but not their names, nor what is done with them; a
/// module that calls this brings what does differ: `open`, `client_config`, `server_config`, `read`, and
/// over how many streams a sender writes.
macro_rules! applications {
    ($stack:ident) => {
        pub(super) fn serve(
            simulation: &Simulation,
            end: End,
            flows: HashMap<SocketAddr, Received>,
        ) -> io::Result<()> {
            let endpoint = open(simulation, Side::Right, end, Some(server_config()))?;
            let handle = simulation.handle();
            let tasks = handle.clone();
            handle.spawn(async move {
                while let Some(incoming) = endpoint.accept().await {
                    let flow = flows.get(&incoming.remote_address()).cloned();
                    if let (Some(flow), Ok(connecting)) = (flow, incoming.accept()) {
                        let readers = tasks.clone();
                        tasks.spawn(async move {
                            if let Ok(connection) = connecting.await {
                                for _ in (0..STREAMS).skip(1) {
                                    readers.spawn(drain(
                                        readers.clone(),
                                        connection.clone(),
                                        flow.clone(),
                                    ));
                                }
                                drain(readers, connection, flow).await;
                            }
                        });
                    }
                }
            });
            Ok(())
        }

        pub(super) fn send(
            simulation: &Simulation,
            controller: &SharedFactory,
            flow: &Flow,
            end: End,
            start: Duration,
            server: SocketAddr,
        ) -> io::Result<()> {
            let endpoint = open(simulation, Side::Left, end, None)?;
            let config = client_config(&flow.recorder, controller);
            let (handle, flow) = (simulation.handle(), flow.clone());
            let tasks = handle.clone();
            tasks.spawn(async move {
                handle.sleep_until(start.into()).await;
                let reason = match endpoint.connect_with(config, server, SERVER_NAME) {
                    Ok(connecting) => match connecting.await {
                        Ok(connection) => upload(&connection).await.to_string(),
                        Err(error) => format!("handshake failed: {error}"),
                    },
                    Err(error) => format!("cannot connect: {error}"),
                };
                flow.close(reason);
            });
            Ok(())
        }

        /// Reads stream after stream until the connection closes.
        async fn drain(handle: Handle, connection: $stack::Connection, flow: Received) {
            while let Ok(mut stream) = connection.accept_uni().await {
                while let Some(bytes) = read(&mut stream).await {
                    flow.count(handle.now().into(), bytes as u64);
                }
            }
        }

        /// Writes to its streams in turn until the connection closes, and returns why it did.
        async fn upload(connection: &$stack::Connection) -> $stack::ConnectionError {
            let mut streams = Vec::new();
            while streams.len() < STREAMS
                && let Ok(stream) = connection.open_uni().await
            {
                streams.push(stream);
            }
            while !streams.is_empty() {
                for stream in &mut streams {
                    if stream
                        .write_chunk(Bytes::from_static(&CHUNK))
                        .await
                        .is_err()
                    {
                        return connection.closed().await;
                    }
                }
            }
            connection.closed().await
        }

        /// The stack's defaults, but for flow control, which must never be what limits a sender.
        fn transport() -> $stack::TransportConfig {
            let window = $stack::VarInt::from_u32(FLOW_CONTROL_WINDOW);
            let mut transport = $stack::TransportConfig::default();
            transport
                .stream_receive_window(window)
                .receive_window(window)
                .send_window(window.into_inner());
            transport
        }
    };
}

use applications;

/// What the sender writes, again and again.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

/// Beyond anything a link emulated here can hold: 1 GiB.
const FLOW_CONTROL_WINDOW: u32 = 1 << 30;
