//! noq's view of the simulation.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use noq::{AsyncTimer, AsyncUdpSocket};

use crate::sim::handle::Handle;
use crate::sim::ready::BoxFuture;
use crate::sim::sleep::Sleep;

/// A [`noq::Runtime`] on the virtual clock; see [`runtime`](super::runtime).
#[derive(Debug, Clone)]
pub struct Runtime(Handle);

impl Runtime {
    pub(super) fn new(handle: Handle) -> Self {
        Self(handle)
    }
}

impl noq::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer {
            sleep: self.0.sleep_until(self.0.time_of(deadline)),
            handle: self.0.clone(),
        })
    }

    fn spawn(&self, future: BoxFuture) {
        // The task goes on without the handle to its end.
        drop(self.0.spawn(future));
    }

    fn wrap_udp_socket(&self, _: std::net::UdpSocket) -> io::Result<Box<dyn AsyncUdpSocket>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a simulation has no operating system sockets: bind one with `Handle::bind`",
        ))
    }

    fn now(&self) -> Instant {
        self.0.instant()
    }
}

/// A [`Sleep`] that is told its deadlines as instants.
#[derive(Debug)]
struct Timer {
    sleep: Sleep,
    handle: Handle,
}

impl AsyncTimer for Timer {
    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        let deadline = self.handle.time_of(deadline);
        self.sleep.reset(deadline);
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(Pin::new(&mut self.sleep), cx)
    }
}
