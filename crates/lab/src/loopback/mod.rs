//! Bulk transfers over real sockets of this machine, with many controllers, in turns.
//!
//! A [`Plan`] names the controllers, the size of a transfer and the paths. A path without a round-trip time and without a
//! rate is 127.0.0.1 itself; every other path leads through a relay, whose link adds them. [`measure`] carries a plan out
//! and condenses the runs of each controller over each path to a [`Row`].
//!
//! Sender and receiver each have a thread with a tokio runtime of its own, in one process or in two. Runs of different
//! controllers alternate, so that a machine that becomes slower does not make one controller slower than another.

use std::io;

use kneepoint_emulator::relay::RelayError;
use thiserror::Error;

use crate::controllers::UnknownController;

mod machine;
mod measure;
mod path;
mod plan;
mod receiver;
mod row;
mod run;
mod sides;

pub use machine::Machine;
pub use measure::{Measured, measure};
pub use path::Path;
pub use plan::{Plan, Processes};
pub(crate) use receiver::RECEIVER_COMMAND;
pub use receiver::receive;
pub use row::Row;
pub use run::{End, Run};

/// Why a measurement over real sockets fails. A transfer that does not finish is a result, not an error.
#[derive(Debug, Error)]
pub enum LoopbackError {
    /// No such controller.
    #[error(transparent)]
    Controller(#[from] UnknownController),
    /// The system refuses a socket, a runtime or a thread.
    #[error("cannot {attempt}: {error}")]
    System {
        /// The failed operation.
        attempt: &'static str,
        /// Why it failed.
        error: io::Error,
    },
    /// The relay does not start, or has failed.
    #[error("the relay failed: {0}")]
    Relay(#[from] RelayError),
    /// The process of the receiver does not answer as it should.
    #[error("the receiver's process failed: {0}")]
    Receiver(String),
    /// A QUIC stack refuses its configuration.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// A thread has panicked.
    #[error("the thread of the {0} has panicked")]
    Panicked(&'static str),
    /// A transfer neither finished nor timed out.
    #[error(
        "{controller} keeps its thread busy and does not answer, {seconds} s after its time was up"
    )]
    Stuck {
        /// The sender's controller.
        controller: String,
        /// How long was waited.
        seconds: u64,
    },
}

impl LoopbackError {
    /// For [`Result::map_err`]: what was tried when the system refused.
    fn system(attempt: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { attempt, error }
    }
}
