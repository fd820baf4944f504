//! noq's view of the simulation.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use noq::{AsyncTimer, AsyncUdpSocket};

use crate::sim::handle::Handle;
use crate::sim::host_view::HostView;
use crate::sim::ready::BoxFuture;
use crate::sim::sleep::Sleep;
use crate::time::Nanos;

/// A [`noq::Runtime`] on the virtual clock; see [`runtime`](super::runtime).
#[derive(Debug, Clone)]
pub struct Runtime {
    handle: Handle,
    /// The host of the endpoint that it is for, if that takes time.
    host: Option<Arc<HostView>>,
}

impl Runtime {
    pub(super) fn new(handle: Handle, host: Option<Arc<HostView>>) -> Self {
        Self { handle, host }
    }
}

impl noq::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        let deadline = expiry(&self.handle, self.host.as_deref(), deadline);
        Box::pin(Timer {
            sleep: self.handle.sleep_until(deadline),
            handle: self.handle.clone(),
            host: self.host.clone(),
        })
    }

    fn spawn(&self, future: BoxFuture) {
        let future = match &self.host {
            None => future,
            Some(host) => host.wrap(self.handle.shared(), future),
        };
        // The task goes on without the handle to its end.
        drop(self.handle.spawn(future));
    }

    fn wrap_udp_socket(&self, _: std::net::UdpSocket) -> io::Result<Box<dyn AsyncUdpSocket>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a simulation has no operating system sockets: bind one with `Handle::bind`",
        ))
    }

    fn now(&self) -> Instant {
        match &self.host {
            None => self.handle.instant(),
            Some(host) => self.handle.instant_at(host.now(self.handle.shared())),
        }
    }
}

/// A [`Sleep`] that is told its deadlines as instants.
#[derive(Debug)]
struct Timer {
    sleep: Sleep,
    handle: Handle,
    host: Option<Arc<HostView>>,
}

fn expiry(handle: &Handle, host: Option<&HostView>, deadline: Instant) -> Nanos {
    let deadline = handle.time_of(deadline);
    host.map_or(deadline, |host| host.expiry(deadline))
}

impl AsyncTimer for Timer {
    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        let deadline = expiry(&self.handle, self.host.as_deref(), deadline);
        self.sleep.reset(deadline);
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(Pin::new(&mut self.sleep), cx)
    }
}
