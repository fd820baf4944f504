//! The applications over quinn.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kneepoint_emulator::network::Side;
use kneepoint_emulator::sim::tls::SERVER_NAME;
use kneepoint_emulator::sim::{Handle, Simulation, endpoint_config, tls};
use quinn::{ClientConfig, Endpoint, RecvStream, ServerConfig};

use super::{CHUNK, End, FLOW_CONTROL_WINDOW, Flow, applications};
use crate::probe::{Recorder, SharedFactory};
use crate::workload::Received;

applications!(quinn);

fn open(
    simulation: &Simulation,
    side: Side,
    end: End,
    server: Option<ServerConfig>,
) -> io::Result<Endpoint> {
    simulation.endpoint(side, end.address, endpoint_config(end.seed), server)
}

fn server_config() -> ServerConfig {
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport()));
    config
}

fn client_config(recorder: &Recorder, controller: &SharedFactory) -> ClientConfig {
    let mut transport = transport();
    transport.congestion_controller_factory(recorder.observe(Arc::clone(controller)));
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    config
}

async fn read(stream: &mut RecvStream) -> Option<usize> {
    let chunk = stream.read_chunk(usize::MAX, true).await.ok()??;
    Some(chunk.bytes.len())
}

/// All data in one stream.
const STREAMS: usize = 1;
