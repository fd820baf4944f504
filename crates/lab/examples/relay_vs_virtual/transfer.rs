//! The applications, which do not know in what time they run.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use kneepoint_emulator::sim::tls;
use kneepoint_lab::controllers;
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig, VarInt};

/// Writes until the connection is lost, which is not expected.
pub(crate) async fn upload(endpoint: Endpoint, server: SocketAddr) -> Result<(), Box<dyn Error>> {
    let connection = endpoint.connect(server, tls::SERVER_NAME)?.await?;
    let mut stream = connection.open_uni().await?;
    loop {
        stream.write_chunk(Bytes::from_static(&CHUNK)).await?;
    }
}

/// Counts what comes by one connection.
pub(crate) async fn receive(endpoint: Endpoint, received: Arc<AtomicU64>) {
    if let Some(incoming) = endpoint.accept().await
        && let Ok(connection) = incoming.await
    {
        while let Ok(mut stream) = connection.accept_uni().await {
            while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, false).await {
                received.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

pub(crate) fn client(controller: &str, seed: u64) -> Result<ClientConfig, Box<dyn Error>> {
    let mut transport = transport();
    transport.congestion_controller_factory(controllers::resolve(controller, seed)?);
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    Ok(config)
}

pub(crate) fn server() -> ServerConfig {
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport()));
    config
}

/// Flow control is never what limits the sender.
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(WINDOW)
        .receive_window(WINDOW)
        .send_window(WINDOW.into_inner());
    transport
}

static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

const WINDOW: VarInt = VarInt::from_u32(1 << 26);
