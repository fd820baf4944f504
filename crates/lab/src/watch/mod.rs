//! One connection under observation: what its controller thinks, sampled over virtual time.
//!
//! An [`Experiment`] is a network, an application and a controller. Its [`Course`] holds the controller's
//! [`Snapshot`](kneepoint_controllers::Snapshot) at regular moments, and what the data link did with every packet.

mod application;
mod course;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{Simulation, endpoint_config, tls};
use quinn::{ServerConfig, TransportConfig, VarInt};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

pub use self::application::{Load, Phase};
pub use self::course::{Course, Moment};
use crate::probe::SharedFactory;
use crate::run::RunError;

/// One connection from left to right, and how closely to look at it.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct Experiment {
    /// The network.
    pub network: NetworkConfig,
    /// Makes the sender's controller.
    pub controller: SharedFactory,
    /// What the sender's application does, phase by phase.
    pub application: Vec<Phase>,
    /// When the observation ends.
    pub duration: Duration,
    /// The time between two samples of the controller's state.
    pub interval: Duration,
}

impl Experiment {
    /// Runs the connection to the end of the observation.
    ///
    /// # Errors
    /// When the network cannot be emulated, or the simulation stops early.
    pub fn run(&self) -> Result<Course, RunError> {
        let mut seeds = Pcg64::seed_from_u64(self.network.seed);
        let simulation = Simulation::new(Network::new(self.network.clone())?);
        let handle = simulation.handle();

        let server = endpoint_config(seeds.next_u64());
        let server = simulation.endpoint(Side::Right, SERVER, server, Some(server_config()))?;
        handle.spawn(application::receive(handle.clone(), server));

        let client = endpoint_config(seeds.next_u64());
        let mut client = simulation.endpoint(Side::Left, CLIENT, client, None)?;
        let mut transport = transport();
        transport.congestion_controller_factory(Arc::clone(&self.controller));
        let mut config = tls::client_config();
        config.transport_config(Arc::new(transport));
        client.set_default_client_config(config);

        let moments = Arc::new(Mutex::new(Vec::new()));
        handle.spawn(application::connect(
            handle.clone(),
            client,
            SERVER,
            self.application.clone(),
            application::Observer {
                interval: self.interval,
                moments: Arc::clone(&moments),
            },
        ));
        simulation.run_until(self.duration.into())?;

        let moments = std::mem::take(&mut *moments.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(simulation.with_network(|network| {
            let link = network.link(Direction::Forward);
            Course {
                moments,
                records: link
                    .log()
                    .map_or_else(Vec::new, |log| log.records().to_vec()),
                statistics: *link.statistics(),
            }
        }))
    }
}

fn server_config() -> ServerConfig {
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport()));
    config
}

/// Flow control never limits the sender, and silence does not close the connection.
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(FLOW_CONTROL_WINDOW)
        .receive_window(FLOW_CONTROL_WINDOW)
        .send_window(FLOW_CONTROL_WINDOW.into_inner())
        .max_idle_timeout(None);
    transport
}

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1)), 4433);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 10_000);

/// Beyond anything a link emulated here can hold: 1 GiB.
const FLOW_CONTROL_WINDOW: VarInt = VarInt::from_u32(1 << 30);
