//! quinn's view of the simulation.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use quinn::{AsyncTimer, AsyncUdpSocket};

use super::host_view::HostView;
use super::ready::BoxFuture;
use super::shared::Shared;
use super::sleep::Sleep;

/// A [`quinn::Runtime`] on the virtual clock; see [`Handle::runtime`](super::Handle::runtime).
#[derive(Debug, Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
    /// The host of the endpoint that it is for, if that takes time.
    host: Option<Arc<HostView>>,
}

impl Runtime {
    pub(super) fn new(shared: Arc<Shared>, host: Option<Arc<HostView>>) -> Self {
        Self { shared, host }
    }
}

impl quinn::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        let deadline = self.shared.clock.nanos(deadline);
        let shared = Arc::clone(&self.shared);
        match &self.host {
            None => Box::pin(Sleep::new(shared, deadline)),
            Some(host) => Box::pin(HostTimer {
                sleep: Sleep::new(shared, host.expiry(deadline)),
                shared: Arc::clone(&self.shared),
                host: Arc::clone(host),
            }),
        }
    }

    fn spawn(&self, future: BoxFuture) {
        match &self.host {
            None => self.shared.spawn(future),
            Some(host) => self.shared.spawn(host.wrap(&self.shared, future)),
        }
    }

    fn wrap_udp_socket(&self, _: std::net::UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a simulation has no operating system sockets: bind one with `Handle::bind`",
        ))
    }

    fn now(&self) -> Instant {
        let now = match &self.host {
            None => self.shared.clock.now(),
            Some(host) => host.now(&self.shared),
        };
        self.shared.clock.instant(now)
    }
}

/// A [`Sleep`] that ends when its host's timers expire.
#[derive(Debug)]
struct HostTimer {
    sleep: Sleep,
    shared: Arc<Shared>,
    host: Arc<HostView>,
}

impl AsyncTimer for HostTimer {
    fn reset(mut self: Pin<&mut Self>, instant: Instant) {
        let expiry = self.host.expiry(self.shared.clock.nanos(instant));
        self.sleep.reset(expiry);
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(Pin::new(&mut self.sleep), cx)
    }
}
