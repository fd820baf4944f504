//! Access to a simulation from anywhere.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use quinn::{Endpoint, EndpointConfig, ServerConfig};

use super::error::Elapsed;
use super::hosts::Hosts;
use super::join::{self, JoinHandle};
use super::lock;
use super::runtime::Runtime;
use super::seed::VirtualTime;
use super::shared::Shared;
use super::sleep::Sleep;
use super::socket::Socket;
use super::task::{Identity, TaskName};
use crate::network::{Network, NodeId, Side};
use crate::time::Nanos;

/// A handle to a [`Simulation`](super::Simulation): its clock, its tasks and its network.
///
/// Cheap to clone and to send. It keeps nothing running: once the simulation is dropped its time
/// stands still, and what is spawned is dropped.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Shared>);

impl Handle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// The virtual time.
    pub fn now(&self) -> Nanos {
        self.0.clock.now()
    }

    /// The virtual time as quinn sees it.
    pub fn instant(&self) -> Instant {
        self.instant_at(self.now())
    }

    /// `time` as quinn sees it.
    pub fn instant_at(&self, time: Nanos) -> Instant {
        self.0.clock.instant(time)
    }

    /// The virtual time of an `Instant` that came from this simulation.
    pub fn time_of(&self, instant: Instant) -> Nanos {
        self.0.clock.nanos(instant)
    }

    /// Completes `duration` from now.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(self.now() + duration.into())
    }

    /// Completes at `deadline`, at once if that has passed.
    pub fn sleep_until(&self, deadline: Nanos) -> Sleep {
        Sleep::new(Arc::clone(&self.0), deadline)
    }

    /// The output of `future`, if it completes within `duration` from now.
    pub fn timeout<F: Future>(
        &self,
        duration: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Elapsed>> + use<F> {
        let mut sleep = self.sleep(duration);
        async move {
            let mut future = pin!(future);
            poll_fn(|cx| {
                if let Poll::Ready(output) = future.as_mut().poll(cx) {
                    return Poll::Ready(Ok(output));
                }
                let at = sleep.deadline();
                Pin::new(&mut sleep).poll(cx).map(|()| Err(Elapsed { at }))
            })
            .await
        }
    }

    /// Runs `future` as a task of its own, from the next time the simulation runs. Errors know it by the place of this
    /// call.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let at = Location::caller();
        self.spawn_as(TaskName::Spawned { name: None, at }, future)
    }

    /// As [`spawn`](Self::spawn), with a name for errors.
    #[track_caller]
    pub fn spawn_named<F>(&self, name: impl Into<String>, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (name, at) = (Some(name.into()), Location::caller());
        self.spawn_as(TaskName::Spawned { name, at }, future)
    }

    fn spawn_as<F>(&self, name: TaskName, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let identity = Identity::new(name);
        let (task, handle) = join::split(future, Arc::clone(&identity));
        self.0.spawn_as(Box::pin(task), identity);
        handle
    }

    /// Reads or changes the network: its statistics, its links.
    ///
    /// The network is locked meanwhile: `f` must use neither this handle nor anything that sends.
    pub fn with_network<T>(&self, f: impl FnOnce(&mut Network) -> T) -> T {
        f(&mut lock(&self.0.wire).network)
    }

    /// Binds a socket to `address`, on one side of the network. Port 0 stands for the lowest free
    /// port from 49152 on.
    ///
    /// # Errors
    ///
    /// The address is in use, or not the address of one host; or the host's model is not valid.
    pub fn bind(&self, side: Side, address: SocketAddr) -> io::Result<Arc<Socket>> {
        self.bind_with(address, |network, address| {
            network.attach(side, address);
            Ok(())
        })
    }

    /// Binds a socket to `address`, at a node of the network, as [`bind`](Self::bind) does on a side.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind), or the node is another network's.
    pub fn bind_at(&self, node: NodeId, address: SocketAddr) -> io::Result<Arc<Socket>> {
        self.bind_with(address, |network, address| {
            let attached = network.attach_at(node, address);
            attached.map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))
        })
    }

    /// Binds a socket to an address that a [`Topology`](crate::network::Topology) attached to one of its nodes.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind), or the address is not attached.
    pub fn bind_attached(&self, address: SocketAddr) -> io::Result<Arc<Socket>> {
        self.bind_with(address, |network, address| {
            if network.is_attached(address) {
                return Ok(());
            }
            Err(io::Error::new(
                io::ErrorKind::AddrNotAvailable,
                format!("{address} is not attached to the network"),
            ))
        })
    }

    fn bind_with(
        &self,
        mut address: SocketAddr,
        attach: impl FnOnce(&mut Network, SocketAddr) -> io::Result<()>,
    ) -> io::Result<Arc<Socket>> {
        if address.ip().is_unspecified() || address.ip().is_multicast() {
            return Err(io::Error::new(
                io::ErrorKind::AddrNotAvailable,
                format!("{address} is not the address of a host"),
            ));
        }
        let mut wire = lock(&self.0.wire);
        let mut inboxes = lock(&self.0.inboxes);
        if address.port() == 0 {
            let free = (FIRST_EPHEMERAL_PORT..=u16::MAX)
                .find(|&port| !inboxes.is_open(SocketAddr::new(address.ip(), port)));
            address.set_port(free.unwrap_or(FIRST_EPHEMERAL_PORT));
        }
        if inboxes.is_open(address) {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("{address} is in use"),
            ));
        }
        attach(&mut wire.network, address)?;
        let model = wire.network.host_model(address);
        if let Some(Err(error)) = model.as_ref().map(|model| model.validate()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let inbox = inboxes.open(address);
        drop(inboxes);
        let host = model.map(|model| {
            let hosts = || Mutex::new(Hosts::new(wire.network.seed()));
            lock(self.0.hosts.get_or_init(hosts)).open(address, model)
        });
        let shared = Arc::clone(&self.0);
        Ok(Arc::new(Socket::new(address, inbox, shared, host)))
    }

    /// Opens a quinn endpoint on a socket bound to `address`, for incoming connections too if there
    /// is a `server` configuration; its time source is replaced by the virtual clock.
    ///
    /// Take the `config` from [`endpoint_config`](super::endpoint_config), or the packets differ
    /// from run to run.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind).
    pub fn endpoint(
        &self,
        side: Side,
        address: SocketAddr,
        config: EndpointConfig,
        server: Option<ServerConfig>,
    ) -> io::Result<Endpoint> {
        self.endpoint_on(self.bind(side, address)?, config, server)
    }

    /// Opens a quinn endpoint on a socket of this simulation, as [`endpoint`](Self::endpoint) does on one of its own.
    ///
    /// # Errors
    ///
    /// Those of quinn.
    pub fn endpoint_on(
        &self,
        socket: Arc<Socket>,
        config: EndpointConfig,
        mut server: Option<ServerConfig>,
    ) -> io::Result<Endpoint> {
        if let Some(server) = &mut server {
            server.time_source(Arc::new(VirtualTime::new(self.clone())));
        }
        let runtime = Runtime::new(Arc::clone(&self.0), socket.host_view());
        Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(runtime))
    }

    /// The runtime of ideal hosts, to open quinn endpoints with. [`endpoint_on`](Self::endpoint_on) uses that of the socket's
    /// host.
    pub fn runtime(&self) -> Arc<dyn quinn::Runtime> {
        Arc::new(Runtime::new(Arc::clone(&self.0), None))
    }

    #[cfg(feature = "noq")]
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

/// The first of the dynamic ports (RFC 6335, section 6).
const FIRST_EPHEMERAL_PORT: u16 = 49152;
