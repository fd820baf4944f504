//! A test of a few lines over an emulated network.

use super::net::Net;
use super::simulation::Simulation;
use super::{SimError, Unfinished};
use crate::host::HostConfig;
use crate::link::{ConfigError, LinkConfig};
use crate::network::{Network, NetworkConfig, NetworkError};
use crate::time::Nanos;

/// A network to test an application on: runs an async closure in virtual time, and hands it a [`Net`] with endpoints,
/// tasks, timers and the links' statistics.
///
/// Without optimisation a virtual minute takes many seconds. A package whose tests use it should have this in its `Cargo.toml`:
///
/// ```toml
/// [profile.dev.package."*"]
/// opt-level = 3
/// ```
///
/// ```
/// use std::error::Error;
///
/// use kneepoint_emulator::link::{LinkConfig, Shaper};
/// use kneepoint_emulator::sim::{Testbed, tls};
/// use kneepoint_emulator::time::Nanos;
///
/// # fn main() -> Result<(), Box<dyn Error>> {
/// let line = Shaper::ConstantRate { bytes_per_second: 1_250_000 };
/// let link = LinkConfig { delay: Nanos::from_millis(20).into(), ..LinkConfig::new(line) };
/// let reply = Testbed::symmetric(link, 1)?.run(async |net| {
///     let (server, client) = (net.server()?, net.client()?);
///     let connecting = client.connect(server.local_addr()?, tls::SERVER_NAME)?;
///     net.spawn_named("server", async move {
///         let connection = server.accept().await.expect("a client").await.expect("a handshake");
///         while let Ok((mut send, mut recv)) = connection.accept_bi().await {
///             let request = recv.read_to_end(1_000).await.expect("a short request");
///             send.write_all(&request).await.expect("a client that reads");
///             send.finish().expect("an open stream");
///         }
///     });
///     let (mut send, mut recv) = connecting.await?.open_bi().await?;
///     send.write_all(b"Is anybody there?").await?;
///     send.finish()?;
///     Ok::<_, Box<dyn Error>>(recv.read_to_end(1_000).await?)
/// })??;
/// assert_eq!(reply, b"Is anybody there?");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Testbed {
    simulation: Simulation,
    net: Net,
    deadline: Nanos,
}

impl Testbed {
    /// Over any network: from a [`NetworkConfig`], from a [`Topology`](crate::network::Topology), from a file.
    ///
    /// The seed is that of the endpoints; the network has its own.
    pub fn new(network: Network, seed: u64) -> Self {
        Self::with(Simulation::new(network), seed)
    }

    /// Over the same link in both directions.
    ///
    /// # Errors
    ///
    /// The link's configuration is not valid.
    pub fn symmetric(link: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        let network = Network::new(NetworkConfig {
            forward: link.clone(),
            reverse: link,
            seed,
        })?;
        Ok(Self::new(network, seed))
    }

    /// Over a simulation with settings of its own.
    pub fn with(simulation: Simulation, seed: u64) -> Self {
        Self {
            net: Net::new(simulation.handle(), seed),
            simulation,
            deadline: DEADLINE,
        }
    }

    /// Sets the virtual time at which a run ends with [`SimError::Deadline`]; an hour unless set.
    #[must_use]
    pub fn deadline(mut self, deadline: impl Into<Nanos>) -> Self {
        self.deadline = deadline.into();
        self
    }

    /// Sets the model of the hosts that have none of their own, for endpoints that are opened from then on. Without it they are
    /// ideal.
    #[must_use]
    pub fn hosts(self, config: HostConfig) -> Self {
        self.simulation
            .with_network(|network| network.set_hosts(config));
        self
    }

    /// Sets the model of the hosts at a node. A network from a [`NetworkConfig`] has the nodes `left`, with the clients, and `right`, with the
    /// servers.
    ///
    /// # Errors
    ///
    /// The node does not exist.
    pub fn hosts_at(self, node: &str, config: HostConfig) -> Result<Self, NetworkError> {
        self.simulation
            .with_network(|network| network.set_hosts_at(node, config))?;
        Ok(self)
    }

    /// Runs `test` and all tasks until `test` completes, and returns its output. Tasks that are not done by then continue in
    /// the next run, if there is one.
    ///
    /// # Errors
    ///
    /// A task panicked, no event can ever occur again, time stopped, or the deadline passed.
    ///
    /// # Panics
    ///
    /// If `test` itself panics, with that panic.
    pub fn run<T>(&self, test: impl AsyncFnOnce(Net) -> T) -> Result<T, SimError> {
        let net = self.net.clone();
        self.simulation.try_block_on_until(self.deadline, test(net))
    }

    /// The unfinished tasks, and what each waits for: useful after a [`SimError::Deadline`].
    ///
    /// # Errors
    ///
    /// The simulation is running.
    pub fn unfinished(&self) -> Result<Unfinished, SimError> {
        self.simulation.unfinished()
    }

    /// The simulation of the test.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

/// An hour.
const DEADLINE: Nanos = Nanos::from_millis(3_600_000);
