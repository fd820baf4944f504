//! quinn's view of the simulation.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use quinn::{AsyncTimer, AsyncUdpSocket};

use super::ready::BoxFuture;
use super::shared::Shared;
use super::sleep::Sleep;

/// A [`quinn::Runtime`] on the virtual clock; see [`Handle::runtime`](super::Handle::runtime).
#[derive(Debug, Clone)]
pub struct Runtime(Arc<Shared>);

impl Runtime {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

impl quinn::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        let deadline = self.0.clock.nanos(deadline);
        Box::pin(Sleep::new(Arc::clone(&self.0), deadline))
    }

    fn spawn(&self, future: BoxFuture) {
        self.0.spawn(future);
    }

    fn wrap_udp_socket(&self, _: std::net::UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a simulation has no operating system sockets: bind one with `Handle::bind`",
        ))
    }

    fn now(&self) -> Instant {
        self.0.clock.instant(self.0.clock.now())
    }
}
