//! The applications over noq.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kneepoint_emulator::network::Side;
use kneepoint_emulator::sim::noq::tls::SERVER_NAME;
use kneepoint_emulator::sim::noq::{endpoint, endpoint_config, tls};
use kneepoint_emulator::sim::{Handle, Simulation};
use noq::{ClientConfig, Endpoint, RecvStream, ServerConfig};

use super::{CHUNK, End, FLOW_CONTROL_WINDOW, Flow, applications};
use crate::probe::Recorder;
use crate::probe::noq::SharedFactory;
use crate::workload::Received;

applications!(noq);

fn open(
    simulation: &Simulation,
    side: Side,
    end: End,
    server: Option<ServerConfig>,
) -> io::Result<Endpoint> {
    let config = endpoint_config(end.seed);
    endpoint(&simulation.handle(), side, end.address, config, server)
}

fn server_config() -> ServerConfig {
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport()));
    config
}

fn client_config(recorder: &Recorder, controller: &SharedFactory) -> ClientConfig {
    let mut transport = transport();
    transport.congestion_controller_factory(recorder.observe_noq(Arc::clone(controller)));
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    config
}

async fn read(stream: &mut RecvStream) -> Option<usize> {
    let chunk = stream.read_chunk(usize::MAX).await.ok()??;
    Some(chunk.len())
}

/// noq 1.4 closes a connection once the receiver has some 2,000 full packets of one stream in pieces that are out of order:
/// what follows a single loss when 3 MB are in flight. Data over several streams has room for several times that.
const STREAMS: usize = 4;
