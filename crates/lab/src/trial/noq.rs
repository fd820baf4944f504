//! A trial's flows over noq, which paces at the rate that a controller of ours asks for.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::sim::noq::{endpoint_config, endpoint_on, tls};
use kneepoint_emulator::sim::{Handle, Socket};
use noq::{ClientConfig, Connection, Endpoint, PathId, TransportConfig, VarInt};

use super::{FLOW_CONTROL_WINDOW, FlowPlan, Observer};
use crate::probe::noq::SharedFactory;
use crate::run::RunError;
use crate::workload::{Clock, Received, receive, send_noting};

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
    clock.spawn(receive(clock.clone(), endpoint, senders));
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
                    let due = self.observer.received.due();
                    send_noting(&clock, &connection, &self.flow.application, due).await;
                    connection.close_reason().map(|reason| reason.to_string())
                }
            },
        };
        self.observer.close(reason);
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
