//! QUIC transfers over loopback, whose work is counted and timed on both sides.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use kneepoint_emulator::sim::tls::{self, SERVER_NAME};
use quinn::{Connection, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::costs::Work;
use super::counts::Counting;
use super::{CalibrateError, LOOPBACK};
use crate::real_clock::{Moment, now};

/// How data is transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Bytes of UDP payload of a full datagram.
    pub(super) datagram: u16,
    /// Bytes that may be on their way. Little makes both sides wait for each other, and read little at a time.
    pub(super) window: u32,
    /// Whether several datagrams may leave in one burst.
    pub(super) bursts: bool,
}

/// Transfers whose batches, bursts, datagrams and bytes are in many proportions, so that the costs of each can be told apart.
pub(super) fn shapes() -> impl Iterator<Item = Shape> {
    let kinds = WINDOWS
        .map(|window| (window, true))
        .into_iter()
        .chain([(LARGEST_WINDOW, false)]);
    DATAGRAMS.into_iter().flat_map(move |datagram| {
        kinds.clone().map(move |(window, bursts)| Shape {
            datagram,
            window,
            bursts,
        })
    })
}

/// Transfers for so long. Returns the work of sender and receiver.
pub(super) fn measure(shape: Shape, duration: Duration) -> Result<[Work; 2], CalibrateError> {
    let socket = UdpSocket::bind(LOOPBACK).map_err(CalibrateError::system("open a socket"))?;
    let to = socket
        .local_addr()
        .map_err(CalibrateError::system("open a socket"))?;
    // Neither side waits for ever for the other.
    let limit = duration + PATIENCE;
    let receiving = thread::spawn(move || side(limit, receive(socket, shape)));
    let sent = side(limit, send(to, shape, duration));
    let received = receiving.join().map_err(|_| CalibrateError::Panicked)?;
    Ok([sent?, received?])
}

/// Runs one side on this thread alone.
fn side(
    limit: Duration,
    side: impl Future<Output = Result<Work, CalibrateError>>,
) -> Result<Work, CalibrateError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CalibrateError::system("start a runtime"))?;
    let late = |_| CalibrateError::Connection("it took too long".to_owned());
    runtime.block_on(async {
        timeout(limit, side)
            .await
            .unwrap_or_else(|error| Err(late(error)))
    })
}

async fn send(to: SocketAddr, shape: Shape, duration: Duration) -> Result<Work, CalibrateError> {
    let socket = UdpSocket::bind(LOOPBACK).map_err(CalibrateError::system("open a socket"))?;
    let counting = Counting::default();
    let endpoint = endpoint(socket, None, shape, &counting)?;
    let mut config = tls::client_config();
    config.transport_config(transport(shape));
    let connecting = endpoint
        .connect_with(config, to, SERVER_NAME)
        .map_err(|error| CalibrateError::Connection(error.to_string()))?;
    let connection = connecting.await.map_err(lost)?;
    let clock = WorkClock::start(&counting);
    write(&connection, duration).await?;
    // The receiver closes it when it has everything. A close of the sender's could be lost in a full socket, with nobody left
    // to ask for it.
    connection.closed().await;
    clock.stop()
}

async fn write(connection: &Connection, duration: Duration) -> Result<(), CalibrateError> {
    let mut stream = connection.open_uni().await.map_err(lost)?;
    let begin = now();
    while now().saturating_duration_since(begin) < duration {
        stream
            .write_chunk(Bytes::from_static(&CHUNK))
            .await
            .map_err(|error| CalibrateError::Connection(error.to_string()))?;
    }
    stream
        .finish()
        .map_err(|error| CalibrateError::Connection(error.to_string()))
}

/// Reads to the stream's end.
async fn receive(socket: UdpSocket, shape: Shape) -> Result<Work, CalibrateError> {
    let counting = Counting::default();
    let mut config = tls::server_config();
    config.transport_config(transport(shape));
    let endpoint = endpoint(socket, Some(config), shape, &counting)?;
    let Some(incoming) = endpoint.accept().await else {
        return Err(CalibrateError::Connection(
            "the endpoint is closed".to_owned(),
        ));
    };
    let connection = incoming.await.map_err(lost)?;
    let clock = WorkClock::start(&counting);
    if let Ok(mut stream) = connection.accept_uni().await {
        while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
    }
    let work = clock.stop();
    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
    work
}

/// Measures work from a time on, on this thread.
struct WorkClock<'a> {
    counting: &'a Counting,
    begin: Moment,
}

impl<'a> WorkClock<'a> {
    fn start(counting: &'a Counting) -> Self {
        // The handshake's work does not count.
        counting.take();
        Self {
            counting,
            begin: Moment::now(),
        }
    }

    fn stop(self) -> Result<Work, CalibrateError> {
        let processor = self.begin.passed().processor;
        Ok(Work {
            counts: self.counting.take(),
            processor: processor.ok_or(CalibrateError::NoProcessorTime)?,
        })
    }
}

fn endpoint(
    socket: UdpSocket,
    server: Option<ServerConfig>,
    shape: Shape,
    counting: &Counting,
) -> Result<Endpoint, CalibrateError> {
    let mut config = EndpointConfig::default();
    config
        .max_udp_payload_size(shape.datagram.max(DEFAULT_DATAGRAM))
        .map_err(|error| CalibrateError::Connection(error.to_string()))?;
    Endpoint::new(config, server, socket, Arc::new(counting.clone()))
        .map_err(CalibrateError::system("open an endpoint"))
}

/// Datagrams of one size from the first on. Flow control limits what is on its way.
fn transport(shape: Shape) -> Arc<TransportConfig> {
    let window = VarInt::from_u32(shape.window);
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(shape.datagram)
        .min_mtu(shape.datagram)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(shape.bursts)
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(LARGEST_WINDOW.into());
    Arc::new(transport)
}

fn lost(error: quinn::ConnectionError) -> CalibrateError {
    CalibrateError::Connection(error.to_string())
}

/// From the smallest that QUIC allows to twice what paths of an Ethernet's size carry, so that bytes can be told from datagrams. Ten
/// larger ones fill half of a socket's buffer at once.
const DATAGRAMS: [u16; 3] = [1200, 1452, 3000];

/// quinn's default.
const DEFAULT_DATAGRAM: u16 = 1472;

/// From some datagrams to more than loopback holds. What is left of it when the time is up still has to be sent.
const WINDOWS: [u32; 3] = [20_000, 100_000, LARGEST_WINDOW];

const LARGEST_WINDOW: u32 = 1 << 22;

static CHUNK: [u8; 64 * 1024] = [0; 64 * 1024];

/// For the handshake, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
