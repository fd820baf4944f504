//! A trial's flows over noq, which paces at the rate that a controller of ours asks for.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kneepoint_emulator::sim::noq::{endpoint_config, endpoint_on, tls};
use kneepoint_emulator::sim::{Handle, Socket};
use noq::{ClientConfig, Connection, Endpoint, PathId, RecvStream, TransportConfig, VarInt};

use super::{FLOW_CONTROL_WINDOW, FlowPlan, Observer};
use crate::probe::noq::SharedFactory;
use crate::run::RunError;
use crate::workload::{Clock, Load, Received};

/// Reads all that comes to a socket, and sorts it by the address that it comes from.
pub(super) fn serve(
    handle: &Handle,
    clock: &Clock,
    socket: Arc<Socket>,
    seed: u64,
    senders: HashMap<SocketAddr, Received>,
) -> Result<(), RunError> {
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport()));
    let endpoint = endpoint_on(handle, socket, endpoint_config(seed), Some(config))?;
    let tasks = clock.clone();
    clock.spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            let received = senders.get(&incoming.remote_address()).cloned();
            if let Ok(connecting) = incoming.accept() {
                let clock = tasks.clone();
                tasks.spawn(async move {
                    if let Ok(connection) = connecting.await {
                        read_streams(&clock, &connection, &received.unwrap_or_default()).await;
                    }
                });
            }
        }
    });
    Ok(())
}

/// Starts a sender on a socket.
pub(super) fn start(
    handle: &Handle,
    clock: &Clock,
    socket: Arc<Socket>,
    seed: u64,
    sender: Sender,
) -> Result<(), RunError> {
    let endpoint = endpoint_on(handle, socket, endpoint_config(seed), None)?;
    clock.spawn(sender.live(clock.clone(), endpoint));
    Ok(())
}

/// What a sender needs to know.
pub(super) struct Sender {
    pub(super) factory: SharedFactory,
    pub(super) flow: FlowPlan,
    pub(super) observer: Observer,
    pub(super) server: SocketAddr,
    /// Between two looks at the controller.
    pub(super) interval: Option<Duration>,
}

impl Sender {
    async fn live(self, clock: Clock, endpoint: Endpoint) {
        clock.sleep_until(self.flow.start).await;
        let config = client_config(self.observer.recorder.observe_noq(self.factory));
        let reason = match endpoint.connect_with(config, self.server, tls::SERVER_NAME) {
            Err(error) => Some(format!("cannot connect: {error}")),
            Ok(connecting) => match connecting.await {
                Err(error) => Some(format!("handshake failed: {error}")),
                Ok(connection) => {
                    if let Some(interval) = self.interval {
                        let observer = self.observer.clone();
                        clock.spawn(look(clock.clone(), connection.clone(), interval, observer));
                    }
                    for phase in &self.flow.application {
                        if phase.load == Load::Greedy {
                            write_until(&clock, &connection, phase.until).await;
                        }
                        clock.sleep_until(phase.until).await;
                    }
                    connection.close_reason().map(|reason| reason.to_string())
                }
            },
        };
        self.observer.close(reason);
    }
}

/// Writes to several streams in turn; what has not left by then is given up.
async fn write_until(clock: &Clock, connection: &Connection, end: Duration) -> Option<()> {
    let mut streams = Vec::new();
    while streams.len() < STREAMS {
        streams.push(connection.open_uni().await.ok()?);
    }
    let writing = async {
        loop {
            for stream in &mut streams {
                let chunk = Bytes::from_static(&CHUNK);
                if stream.write_chunk(chunk).await.is_err() {
                    return;
                }
            }
        }
    };
    let over = clock.until(end, writing).await.is_err();
    for stream in &mut streams {
        stream.reset(VarInt::from_u32(0)).ok()?;
    }
    over.then_some(())
}

async fn read_streams(clock: &Clock, connection: &Connection, received: &Received) {
    while let Ok(stream) = connection.accept_uni().await {
        clock.spawn(read(clock.clone(), stream, received.clone()));
    }
}

async fn read(clock: Clock, mut stream: RecvStream, received: Received) {
    while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX).await {
        received.count(clock.now(), chunk.len() as u64);
    }
}

async fn look(clock: Clock, connection: Connection, interval: Duration, observer: Observer) {
    while connection.close_reason().is_none() {
        let state = connection.congestion_state(PathId::ZERO);
        if let Some(snapshot) = state.and_then(kneepoint_noq::snapshot) {
            observer.note(clock.now(), snapshot);
        }
        clock.sleep(interval).await;
    }
}

fn client_config(controller: SharedFactory) -> ClientConfig {
    let mut transport = transport();
    transport.congestion_controller_factory(controller);
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    config
}

/// Flow control never limits a sender, and silence does not close a connection.
fn transport() -> TransportConfig {
    let window = VarInt::from_u32(FLOW_CONTROL_WINDOW);
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(window.into_inner())
        .max_idle_timeout(None);
    transport
}

/// noq 1.4 closes a connection once the receiver has some 2,000 full packets of one stream in pieces that are out of order:
/// what follows a single loss when 3 MB are in flight. Data over several streams has room for several times that.
const STREAMS: usize = 4;

/// What is written, again and again.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];
