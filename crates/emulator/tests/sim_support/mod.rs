//! What the tests of the simulation share.
#![allow(dead_code, reason = "no test file uses all of it")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

#[cfg(feature = "noq")]
pub(crate) mod over_noq;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{Handle, Simulation, endpoint_config, tls};
use kneepoint_emulator::time::Nanos;
use quinn::{ClientConfig, Connection, Endpoint, TransportConfig};

/// 10 Mb/s.
pub(crate) const RATE: u64 = 1_250_000;
/// One way.
pub(crate) const DELAY: Duration = Duration::from_millis(20);

pub(crate) fn link() -> LinkConfig {
    LinkConfig {
        delay: DELAY.into(),
        queue: Queue::DropTail(Limit::bytes(100_000)),
        log: true,
        ..LinkConfig::constant(RATE)
    }
}

pub(crate) fn network(forward: LinkConfig) -> Network {
    let config = NetworkConfig {
        forward,
        reverse: link(),
        seed: 7,
    };
    Network::new(config).unwrap()
}

pub(crate) fn simulation() -> Simulation {
    Simulation::new(network(link()))
}

pub(crate) fn server_address() -> SocketAddr {
    "10.0.1.1:4433".parse().unwrap()
}

/// Runs a server that hands every connection to `serve`, as a task of its own.
pub(crate) fn serve<F>(sim: &Simulation, serve: impl Fn(Connection) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    let handle = sim.handle();
    let server = sim
        .endpoint(
            Side::Right,
            server_address(),
            endpoint_config(1),
            Some(tls::server_config()),
        )
        .unwrap();
    handle.clone().spawn(async move {
        while let Some(incoming) = server.accept().await {
            let connection = incoming.await.unwrap();
            handle.spawn(serve(connection));
        }
    });
}

/// The `n`-th client's endpoint.
pub(crate) fn client(handle: &Handle, n: u8) -> Endpoint {
    let address = SocketAddr::from(([10, 0, 0, n], 0));
    let config = endpoint_config(100 + u64::from(n));
    let mut endpoint = handle.endpoint(Side::Left, address, config, None).unwrap();
    endpoint.set_default_client_config(tls::client_config());
    endpoint
}

/// A client configuration with other transport parameters.
pub(crate) fn client_config(transport: TransportConfig) -> ClientConfig {
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    config
}

pub(crate) async fn connect(endpoint: &Endpoint) -> Connection {
    let connecting = endpoint
        .connect(server_address(), tls::SERVER_NAME)
        .unwrap();
    connecting.await.unwrap()
}

/// Sends `data` on a stream of its own; returns once it is acknowledged.
pub(crate) async fn upload(connection: &Connection, data: &[u8]) {
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(data).await.unwrap();
    stream.finish().unwrap();
    assert_eq!(stream.stopped().await, Ok(None));
}

/// Reads every stream to its end and forgets it.
pub(crate) async fn discard(connection: Connection) {
    while let Ok(mut stream) = connection.accept_uni().await {
        while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
    }
}

/// Bytes without a pattern.
pub(crate) fn bytes(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

pub(crate) fn seconds(seconds: u64) -> Nanos {
    Duration::from_secs(seconds).into()
}
