//! The same for noq.

use std::future::Future;
use std::net::SocketAddr;

use kneepoint_emulator::network::Side;
use kneepoint_emulator::sim::noq::{endpoint, endpoint_config, tls};
use kneepoint_emulator::sim::{Handle, Simulation};
use noq::{Connection, Endpoint};

use super::server_address;

/// Runs a server that hands every connection to `serve`, as a task of its own.
pub(crate) fn serve<F>(sim: &Simulation, serve: impl Fn(Connection) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    let handle = sim.handle();
    let config = (endpoint_config(1), Some(tls::server_config()));
    let server = endpoint(&handle, Side::Right, server_address(), config.0, config.1).unwrap();
    handle.clone().spawn(async move {
        while let Some(incoming) = server.accept().await {
            let connection = incoming.await.unwrap();
            handle.spawn(serve(connection));
        }
    });
}

pub(crate) fn client(handle: &Handle, address: &str) -> Endpoint {
    let address = address.parse::<SocketAddr>().unwrap();
    let endpoint = endpoint(handle, Side::Left, address, endpoint_config(101), None).unwrap();
    endpoint.set_default_client_config(tls::client_config());
    endpoint
}

pub(crate) async fn connect(endpoint: &Endpoint) -> Connection {
    let connecting = endpoint.connect(server_address(), tls::SERVER_NAME);
    connecting.unwrap().await.unwrap()
}

/// Sends `data` on a stream of its own; returns once it is acknowledged.
pub(crate) async fn upload(connection: &Connection, data: &[u8]) {
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(data).await.unwrap();
    stream.finish().unwrap();
    assert_eq!(stream.stopped().await, Ok(None));
}

/// Reads every stream to its end; `check` is what must have arrived.
pub(crate) async fn receive(connection: Connection, check: Vec<u8>) {
    while let Ok(mut stream) = connection.accept_uni().await {
        let data = stream.read_to_end(usize::MAX).await.unwrap();
        assert!(data == check);
    }
}
