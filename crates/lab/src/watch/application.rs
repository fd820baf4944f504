//! The applications at both ends, and the observer beside the sender.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use kneepoint_emulator::sim::Handle;
use kneepoint_emulator::sim::tls::SERVER_NAME;
use kneepoint_emulator::time::Nanos;
use quinn::{Connection, Endpoint, SendStream, VarInt};

use super::Moment;

/// What the sending application does until a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// When it ends; the next one begins then.
    pub until: Duration,
    /// What it does meanwhile.
    pub load: Load,
}

/// What an application sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// As much as the controller lets it. What has not left when the phase ends is given up.
    Greedy,
    /// Nothing.
    Silent,
    /// So many bytes per second, a packet or so at a time.
    Steady(u64),
    /// Segments of so many bytes, as a video server sends them: each begins at a multiple of the period, counted from the
    /// beginning of the phase, or when the one before has arrived if that is later.
    Segments {
        /// The size of each.
        bytes: u64,
        /// From one segment's beginning to the next one's.
        period: Duration,
    },
}

/// Where to put what is seen of the controller, and how often.
pub(super) struct Observer {
    pub(super) interval: Duration,
    pub(super) moments: Arc<Mutex<Vec<Moment>>>,
}

/// Connects at time zero, then lives through its phases.
pub(super) async fn connect(
    handle: Handle,
    endpoint: Endpoint,
    server: SocketAddr,
    phases: Vec<Phase>,
    observer: Observer,
) {
    // A connection that fails shows in the course: it has no moments, or they end early.
    let Ok(connecting) = endpoint.connect(server, SERVER_NAME) else {
        return;
    };
    let Ok(connection) = connecting.await else {
        return;
    };
    handle.spawn(observe(handle.clone(), connection.clone(), observer));
    for phase in phases {
        if run_phase(&handle, &connection, phase).await.is_none() {
            return;
        }
        handle.sleep_until(phase.until.into()).await;
    }
    connection.closed().await;
}

async fn observe(handle: Handle, connection: Connection, observer: Observer) {
    while connection.close_reason().is_none() {
        if let Some(snapshot) = kneepoint_quinn::snapshot(connection.congestion_state()) {
            let at = Duration::from(handle.now());
            observer
                .moments
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Moment { at, snapshot });
        }
        handle.sleep(observer.interval).await;
    }
}

/// `None` once the connection has closed.
async fn run_phase(handle: &Handle, connection: &Connection, phase: Phase) -> Option<()> {
    let end = Nanos::from(phase.until);
    match phase.load {
        Load::Silent => Some(()),
        Load::Greedy => {
            let mut stream = connection.open_uni().await.ok()?;
            let rest = phase.until.saturating_sub(Duration::from(handle.now()));
            // It ends with the time; only a connection that closes ends the writing.
            let closed = handle.timeout(rest, write_for_ever(&mut stream)).await;
            stream.reset(VarInt::from_u32(0)).ok()?;
            closed.is_err().then_some(())
        }
        Load::Steady(rate) => {
            let mut stream = connection.open_uni().await.ok()?;
            let tick = Duration::from_nanos(TICK_BYTES * 1_000_000_000 / rate.max(1));
            while handle.now() < end {
                write(&mut stream, TICK_BYTES).await?;
                handle.sleep(tick).await;
            }
            stream.finish().ok()
        }
        Load::Segments { bytes, period } => {
            let mut next = handle.now();
            while next < end {
                handle.sleep_until(next).await;
                let mut stream = connection.open_uni().await.ok()?;
                write(&mut stream, bytes).await?;
                stream.finish().ok()?;
                stream.stopped().await.ok()?;
                next = next + period.into();
            }
            Some(())
        }
    }
}

async fn write_for_ever(stream: &mut SendStream) {
    while stream.write_chunk(Bytes::from_static(&CHUNK)).await.is_ok() {}
}

async fn write(stream: &mut SendStream, bytes: u64) -> Option<()> {
    let mut rest = bytes;
    while rest > 0 {
        let size = rest.min(CHUNK.len() as u64);
        rest -= size;
        let chunk = Bytes::from_static(&CHUNK).slice(..usize::try_from(size).ok()?);
        stream.write_chunk(chunk).await.ok()?;
    }
    Some(())
}

/// The receiving application: reads every stream of every connection.
pub(super) async fn receive(handle: Handle, endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        let Ok(connecting) = incoming.accept() else {
            continue;
        };
        let tasks = handle.clone();
        handle.spawn(async move {
            let Ok(connection) = connecting.await else {
                return;
            };
            while let Ok(mut stream) = connection.accept_uni().await {
                tasks.spawn(async move {
                    while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
                });
            }
        });
    }
}

/// What is written, again and again.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

/// What a steady application writes at a time: no more than fits one packet.
const TICK_BYTES: u64 = 1100;
