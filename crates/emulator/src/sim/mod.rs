//! Runs the unmodified async quinn stack over an emulated network, in virtual time.
//!
//! A [`Simulation`] is a single-threaded executor, a virtual clock and a set of UDP sockets on a
//! [`Network`](crate::network::Network). Time stands still while any task can run and then jumps
//! to the next packet or timer: a minute of traffic takes a fraction of a second, and the same
//! seeds give the same packets at the same nanoseconds, run after run; [`endpoint_config`] says
//! what that takes. tokio's tasks, timers, channels and macros work inside of runs, in virtual time.
//!
//! ```
//! use kneepoint_emulator::link::{LinkConfig, Shaper};
//! use kneepoint_emulator::network::{Network, NetworkConfig, Side};
//! use kneepoint_emulator::sim::{Simulation, endpoint_config, tls};
//! use kneepoint_emulator::time::Nanos;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let line = Shaper::ConstantRate { bytes_per_second: 1_250_000 };
//! let link = LinkConfig { delay: Nanos::from_millis(20).into(), ..LinkConfig::new(line) };
//! let config = NetworkConfig { forward: link.clone(), reverse: link, seed: 1 };
//! let sim = Simulation::new(Network::new(config)?);
//!
//! let (left, right) = ("10.0.0.1:0".parse()?, "10.0.0.2:4433".parse()?);
//! let server = sim.endpoint(Side::Right, right, endpoint_config(1), Some(tls::server_config()))?;
//! let client = sim.endpoint(Side::Left, left, endpoint_config(2), None)?;
//! let received = sim.handle().spawn(async move {
//!     let connection = server.accept().await?.await.ok()?;
//!     let mut stream = connection.accept_uni().await.ok()?;
//!     stream.read_to_end(2_000_000).await.ok()
//! });
//! let received = sim.block_on(async {
//!     let connecting = client.connect_with(tls::client_config(), right, tls::SERVER_NAME)?;
//!     let mut stream = connecting.await?.open_uni().await?;
//!     stream.write_all(&[7; 1_000_000]).await?;
//!     stream.finish()?;
//!     Ok::<_, Box<dyn std::error::Error>>(received.await)
//! })??;
//! assert_eq!(received.map(|data| data.len()), Some(1_000_000));
//! // At 10 Mb/s a megabyte takes 0.8 s, and some time to get going.
//! assert!(sim.now() > Nanos::from_millis(800) && sim.now() < Nanos::from_millis(1200));
//! # Ok(())
//! # }
//! ```

mod clock;
mod error;
mod executor;
mod handle;
mod host_view;
mod hosts;
mod inboxes;
mod join;
mod nested;
mod net;
#[cfg(feature = "noq")]
pub mod noq;
mod ready;
mod runtime;
mod seed;
mod shared;
mod simulation;
mod sleep;
mod socket;
mod task;
mod testbed;
mod timers;
pub mod tls;
mod tokio_runtime;
mod unfinished;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use error::{Elapsed, SimError};
pub use handle::Handle;
pub use join::JoinHandle;
pub use net::{HostAddress, Net};
pub use runtime::Runtime;
pub use seed::endpoint_config;
pub use simulation::{Builder, Simulation};
pub use sleep::Sleep;
pub use socket::Socket;
pub use task::TaskName;
pub use testbed::Testbed;
pub use unfinished::{Unfinished, UnfinishedTask, Wait};

/// Locks, whether or not an earlier holder panicked: only `with_network` runs foreign code under a
/// lock, and each of its calls leaves the network consistent.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
