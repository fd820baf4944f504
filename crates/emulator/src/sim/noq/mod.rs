//! The same simulation for unmodified [noq](https://docs.rs/noq) applications.
//!
//! A [`Simulation`](super::Simulation) runs both stacks: its clock, tasks, sockets and network are the same, and only the
//! endpoints differ. Here are noq's.
//!
//! ```
//! use kneepoint_emulator::link::{LinkConfig, Shaper};
//! use kneepoint_emulator::network::{Network, NetworkConfig, Side};
//! use kneepoint_emulator::sim::Simulation;
//! use kneepoint_emulator::sim::noq::{endpoint, endpoint_config, tls};
//! use kneepoint_emulator::time::Nanos;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let line = Shaper::ConstantRate { bytes_per_second: 1_250_000 };
//! let link = LinkConfig { delay: Nanos::from_millis(20).into(), ..LinkConfig::new(line) };
//! let config = NetworkConfig { forward: link.clone(), reverse: link, seed: 1 };
//! let sim = Simulation::new(Network::new(config)?);
//!
//! let (handle, left, right) = (sim.handle(), "10.0.0.1:0".parse()?, "10.0.0.2:4433".parse()?);
//! let server = endpoint(&handle, Side::Right, right, endpoint_config(1), Some(tls::server_config()))?;
//! let client = endpoint(&handle, Side::Left, left, endpoint_config(2), None)?;
//! handle.spawn(async move {
//!     let connection = server.accept().await?.await.ok()?;
//!     connection.accept_uni().await.ok()?.read_to_end(2_000_000).await.ok()
//! });
//! sim.block_on(async {
//!     let connecting = client.connect_with(tls::client_config(), right, tls::SERVER_NAME)?;
//!     let connection = connecting.await?;
//!     let mut stream = connection.open_uni().await?;
//!     stream.write_all(&[7; 1_000_000]).await?;
//!     stream.finish()?;
//!     stream.stopped().await?;
//!     Ok::<_, Box<dyn std::error::Error>>(())
//! })??;
//! // At 10 Mb/s a megabyte takes 0.8 s, and some time to get going.
//! assert!(sim.now() > Nanos::from_millis(800) && sim.now() < Nanos::from_millis(1200));
//! # Ok(())
//! # }
//! ```

mod runtime;
mod seed;
mod socket;
pub mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use ::noq::{Endpoint, EndpointConfig, ServerConfig};

use super::handle::Handle;
use super::seed::VirtualTime;
use super::socket::Socket;
use crate::network::Side;

pub use runtime::Runtime;
pub use seed::endpoint_config;
pub use socket::NoqSocket;

/// Opens a noq endpoint on a socket bound to `address`, for incoming connections too if there is a `server`
/// configuration; its time source is replaced by the virtual clock.
///
/// Take the `config` from [`endpoint_config`], or the packets differ from run to run.
///
/// # Errors
///
/// As [`Handle::bind`].
pub fn endpoint(
    handle: &Handle,
    side: Side,
    address: SocketAddr,
    config: EndpointConfig,
    server: Option<ServerConfig>,
) -> io::Result<Endpoint> {
    endpoint_on(handle, handle.bind(side, address)?, config, server)
}

/// Opens a noq endpoint on a socket of the simulation, as [`endpoint`] does on one of its own.
///
/// # Errors
///
/// Those of noq.
pub fn endpoint_on(
    handle: &Handle,
    socket: Arc<Socket>,
    config: EndpointConfig,
    mut server: Option<ServerConfig>,
) -> io::Result<Endpoint> {
    if let Some(server) = &mut server {
        server.time_source(Arc::new(VirtualTime::new(handle.clone())));
    }
    let runtime = Runtime::new(handle.clone(), socket.host_view());
    let socket = Box::new(NoqSocket::new(socket));
    Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(runtime))
}

/// The runtime to open noq endpoints with.
pub fn runtime(handle: &Handle) -> Arc<dyn ::noq::Runtime> {
    Arc::new(Runtime::new(handle.clone(), None))
}
