//! A network as a test sees it.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quinn::{ClientConfig, Endpoint, ServerConfig};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::handle::Handle;
use super::join::JoinHandle;
use super::socket::Socket;
use super::{Elapsed, Sleep, endpoint_config, lock, tls};
use crate::link::Statistics;
use crate::network::{Direction, Side};
use crate::time::Nanos;

/// A test's handle to its [`Testbed`](super::Testbed): endpoints, tasks, timers and statistics. Cheap to clone, for
/// tasks that need it too.
///
/// Endpoints are seeded in the order in which they are opened, and addresses are given out in that order: open them in
/// the same order in every run.
#[derive(Debug, Clone)]
pub struct Net {
    handle: Handle,
    registry: Arc<Mutex<Registry>>,
}

#[derive(Debug)]
struct Registry {
    seeds: Pcg64,
    /// Addresses given out so far.
    hosts: u32,
}

/// Where an endpoint is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostAddress {
    /// At an end of the network's first link, with an address of the network's choice.
    Side(Side),
    /// At a node of this name, with an address of the network's choice.
    Node(String),
    /// At an address that a [`Topology`](crate::network::Topology) or a file attached to a node.
    Address(SocketAddr),
}

impl From<Side> for HostAddress {
    fn from(side: Side) -> Self {
        Self::Side(side)
    }
}

impl From<&str> for HostAddress {
    fn from(node: &str) -> Self {
        Self::Node(node.to_owned())
    }
}

impl From<SocketAddr> for HostAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Address(address)
    }
}

impl Net {
    pub(super) fn new(handle: Handle, seed: u64) -> Self {
        let registry = Registry {
            seeds: Pcg64::seed_from_u64(seed),
            hosts: 0,
        };
        Self {
            handle,
            registry: Arc::new(Mutex::new(registry)),
        }
    }

    /// Opens a server on the right side that clients of this network trust by the name [`tls::SERVER_NAME`].
    ///
    /// # Errors
    ///
    /// As [`Handle::endpoint`].
    pub fn server(&self) -> io::Result<Endpoint> {
        self.server_at(Side::Right, tls::server_config())
    }

    /// Opens a server at a place of the caller's choice, on port 4433 unless the place has a port.
    ///
    /// # Errors
    ///
    /// The node does not exist, the address is not attached, or it is in use.
    pub fn server_at(
        &self,
        place: impl Into<HostAddress>,
        config: ServerConfig,
    ) -> io::Result<Endpoint> {
        self.open(place.into(), SERVER_PORT, Some(config))
    }

    /// Opens a client on the left side that trusts the servers of this network.
    ///
    /// # Errors
    ///
    /// As [`Handle::endpoint`].
    pub fn client(&self) -> io::Result<Endpoint> {
        self.client_at(Side::Left, tls::client_config())
    }

    /// Opens a client at a place of the caller's choice.
    ///
    /// # Errors
    ///
    /// The node does not exist, the address is not attached, or it is in use.
    pub fn client_at(
        &self,
        place: impl Into<HostAddress>,
        config: ClientConfig,
    ) -> io::Result<Endpoint> {
        let mut endpoint = self.open(place.into(), 0, None)?;
        endpoint.set_default_client_config(config);
        Ok(endpoint)
    }

    /// Runs `future` as a task of its own; see [`Handle::spawn`].
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// As [`spawn`](Self::spawn), with a name for errors.
    #[track_caller]
    pub fn spawn_named<F>(&self, name: impl Into<String>, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.handle.spawn_named(name, future)
    }

    /// The virtual time.
    pub fn now(&self) -> Nanos {
        self.handle.now()
    }

    /// Completes `duration` from now, in virtual time.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.handle.sleep(duration)
    }

    /// The output of `future`; an error if it takes longer than `duration` in virtual time.
    pub fn timeout<F: Future>(
        &self,
        duration: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Elapsed>> + use<F> {
        self.handle.timeout(duration, future)
    }

    /// The statistics of the network's first link in a direction.
    pub fn statistics(&self, direction: Direction) -> Statistics {
        self.handle
            .with_network(|network| *network.link(direction).statistics())
    }

    /// The statistics of the link of this name; `None` if there is no such link.
    pub fn statistics_of(&self, link: &str) -> Option<Statistics> {
        self.handle
            .with_network(|network| network.link_named(link).map(|link| *link.statistics()))
    }

    /// The simulation's handle, for everything else: raw sockets, the network itself.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    fn open(
        &self,
        place: HostAddress,
        port: u16,
        server: Option<ServerConfig>,
    ) -> io::Result<Endpoint> {
        let socket = self.bind(place, port)?;
        let seed = lock(&self.registry).seeds.next_u64();
        self.handle
            .endpoint_on(socket, endpoint_config(seed), server)
    }

    fn bind(&self, place: HostAddress, port: u16) -> io::Result<Arc<Socket>> {
        match place {
            HostAddress::Address(address) => self.handle.bind_attached(address),
            HostAddress::Side(side) => self.handle.bind(side, self.free(port)),
            HostAddress::Node(name) => {
                let node = self.handle.with_network(|network| network.node(&name));
                let node = node.ok_or_else(|| {
                    let reason = format!("the network has no node {name}");
                    io::Error::new(io::ErrorKind::NotFound, reason)
                })?;
                self.handle.bind_at(node, self.free(port))
            }
        }
    }

    /// An address of a host of its own.
    fn free(&self, port: u16) -> SocketAddr {
        self.handle.with_network(|network| {
            let mut registry = lock(&self.registry);
            loop {
                registry.hosts = registry.hosts.wrapping_add(1);
                let [_, high, middle, low] = registry.hosts.to_be_bytes();
                let ip = IpAddr::from([10, high, middle, low]);
                if !network.has_host(ip) {
                    return SocketAddr::new(ip, port);
                }
            }
        })
    }
}

/// quinn's examples have their servers there.
const SERVER_PORT: u16 = 4433;
