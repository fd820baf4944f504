//! Why a host cannot be measured.

use std::io;

use thiserror::Error;

/// Why a host cannot be measured.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// The system refuses a socket, a runtime or a thread.
    #[error("cannot {attempt}: {error}")]
    System {
        /// The failed operation.
        attempt: &'static str,
        /// Why it failed.
        error: io::Error,
    },
    /// A QUIC connection over loopback fails.
    #[error("a connection over loopback failed: {0}")]
    Connection(String),
    /// A thread has panicked.
    #[error("a thread of the measurement has panicked")]
    Panicked,
    /// The system does not tell how long a thread has had a processor.
    #[error("this system does not tell the processor time of a thread")]
    NoProcessorTime,
    /// The time was too short for a single sample.
    #[error("{what}: nothing was measured in this time")]
    Nothing {
        /// The quantity to be measured.
        what: &'static str,
    },
}

impl CalibrateError {
    /// For [`Result::map_err`]: what was tried when the system refused.
    pub(super) fn system(attempt: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { attempt, error }
    }
}
