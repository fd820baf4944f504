//! The two sides over quinn.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use bytes::Bytes;
use kneepoint_emulator::sim::tls::{self, SERVER_NAME};
use quinn::{ClientConfig, Endpoint, EndpointConfig, RecvStream, ServerConfig};
use tokio::time::timeout;

use super::{
    CHUNK, DONE, End, FLOW_CONTROL_WINDOW, LoopbackError, Moment, Next, Progress, Recorder,
    SEND_WINDOW, Sent, Transfer, sides,
};
use crate::probe::SharedFactory;

sides!(quinn);

fn client_config(recorder: &Recorder, controller: &SharedFactory) -> ClientConfig {
    let mut transport = transport();
    transport.congestion_controller_factory(recorder.observe(Arc::clone(controller)));
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    config
}

async fn read(stream: &mut RecvStream) -> Next {
    match stream.read_chunk(usize::MAX, true).await {
        Ok(Some(chunk)) => Next::Bytes(chunk.bytes.len()),
        Ok(None) => Next::End,
        Err(_) => Next::Lost,
    }
}

/// All data in one stream.
const STREAMS: usize = 1;
