//! The receiver of one transfer, in this process or in another.

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::child::Child;
use super::sides::{self, Received};
use super::{LoopbackError, Processes};
use crate::controllers::Stack;

/// A receiver at work. It receives one transfer: nothing of it reaches the next.
#[derive(Debug)]
pub(super) enum Receiver {
    /// On a thread of this process.
    Thread {
        address: SocketAddr,
        stop: oneshot::Sender<()>,
        thread: JoinHandle<Result<Received, LoopbackError>>,
    },
    /// In a process of its own.
    Process(Child),
}

impl Receiver {
    pub(super) fn start(
        processes: Processes,
        stack: Stack,
        socket_buffer: Option<usize>,
    ) -> Result<Self, LoopbackError> {
        match processes {
            Processes::One => {
                let socket = sides::bind(socket_buffer)?;
                let address = socket
                    .local_addr()
                    .map_err(LoopbackError::system("open a socket"))?;
                let (stop, stopped) = oneshot::channel();
                let thread = thread::Builder::new()
                    .name("receiver".to_owned())
                    .spawn(move || sides::receive(stack, socket, stopped))
                    .map_err(LoopbackError::system("start a thread"))?;
                Ok(Self::Thread {
                    address,
                    stop,
                    thread,
                })
            }
            Processes::Two => Child::start(stack, socket_buffer).map(Self::Process),
        }
    }

    /// Where it receives.
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Thread { address, .. } => *address,
            Self::Process(child) => child.address(),
        }
    }

    /// Ends it, and tells what it has received.
    pub(super) fn stop(self) -> Result<Received, LoopbackError> {
        match self {
            Self::Thread { stop, thread, .. } => {
                // A thread that is gone already says why.
                let _ = stop.send(());
                let panicked = |_| Err(LoopbackError::Panicked("receiver"));
                thread.join().unwrap_or_else(panicked)
            }
            Self::Process(child) => child.stop(),
        }
    }
}
