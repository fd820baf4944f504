//! The two sides over noq.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use bytes::Bytes;
use kneepoint_emulator::sim::noq::tls::{self, SERVER_NAME};
use noq::{ClientConfig, Endpoint, EndpointConfig, RecvStream, ServerConfig};
use tokio::time::timeout;

use super::{
    CHUNK, DONE, End, FLOW_CONTROL_WINDOW, LoopbackError, Moment, Next, Progress, Recorder,
    SEND_WINDOW, Sent, Transfer, sides,
};
use crate::probe::noq::SharedFactory;

sides!(noq);

fn client_config(recorder: &Recorder, controller: &SharedFactory) -> ClientConfig {
    let mut transport = transport();
    transport.congestion_controller_factory(recorder.observe_noq(Arc::clone(controller)));
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    config
}

async fn read(stream: &mut RecvStream) -> Next {
    match stream.read_chunk(usize::MAX).await {
        Ok(Some(bytes)) => Next::Bytes(bytes.len()),
        Ok(None) => Next::End,
        Err(_) => Next::Lost,
    }
}

/// noq 1.4 closes a connection once the receiver has some 2,000 full packets of one stream in pieces that are out of order:
/// what follows a single loss when 3 MB are in flight. Data over several streams has room for several times that.
const STREAMS: usize = 4;
