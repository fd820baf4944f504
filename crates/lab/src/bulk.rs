//! Bulk traffic: applications that write, and read, as much as they can.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use kneepoint_emulator::sim::tls::SERVER_NAME;
use kneepoint_emulator::sim::{Handle, Simulation};
use quinn::{Connection, ConnectionError, Endpoint};

use crate::metrics::FlowObservation;
use crate::probe::Recorder;

/// What is shared between a flow's tasks and the observer.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) recorder: Recorder,
    pub(crate) goodput: Arc<AtomicU64>,
    closed: Arc<Mutex<Option<String>>>,
}

impl Flow {
    pub(crate) fn new(simulation: &Simulation) -> Self {
        Self {
            recorder: Recorder::new(simulation.handle().instant()),
            goodput: Arc::default(),
            closed: Arc::default(),
        }
    }

    /// The sending application: connects at its start, then writes for ever.
    pub(crate) async fn send(
        self,
        handle: Handle,
        start: Duration,
        endpoint: Endpoint,
        server: SocketAddr,
    ) {
        handle.sleep_until(start.into()).await;
        let reason = match endpoint.connect(server, SERVER_NAME) {
            Ok(connecting) => match connecting.await {
                Ok(connection) => upload(&connection).await.to_string(),
                Err(error) => format!("handshake failed: {error}"),
            },
            Err(error) => format!("cannot connect: {error}"),
        };
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    pub(crate) fn observe(&self) -> (FlowObservation, Vec<u64>) {
        let recording = self.recorder.take();
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let flow = FlowObservation {
            goodput_bytes: self.goodput.load(Ordering::Relaxed),
            closed: closed.clone(),
            windows: recording.windows,
        };
        let rtts = recording.rtts.iter().map(|sample| sample.rtt).collect();
        (flow, rtts)
    }
}

/// Writes to one stream until the connection closes, and returns why it did.
async fn upload(connection: &Connection) -> ConnectionError {
    if let Ok(mut stream) = connection.open_uni().await {
        while stream.write_chunk(Bytes::from_static(&CHUNK)).await.is_ok() {}
    }
    connection.closed().await
}

/// The receiving application: reads every stream of every connection, and counts the bytes that come from each address.
pub(crate) async fn serve(
    handle: Handle,
    endpoint: Endpoint,
    goodputs: HashMap<SocketAddr, Arc<AtomicU64>>,
) {
    while let Some(incoming) = endpoint.accept().await {
        let goodput = goodputs.get(&incoming.remote_address()).cloned();
        if let (Some(goodput), Ok(connecting)) = (goodput, incoming.accept()) {
            handle.spawn(async move {
                if let Ok(connection) = connecting.await {
                    while let Ok(mut stream) = connection.accept_uni().await {
                        while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await {
                            goodput.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    }
}

/// What the sender writes, again and again.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];
