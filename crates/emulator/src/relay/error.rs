//! Why a relay does not start.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

use crate::link::ConfigError;
use crate::network::Direction;

/// Why a relay did not start.
#[derive(Error)]
#[non_exhaustive]
pub enum RelayError {
    /// Other machines could send to the relay, and the configuration does not allow it.
    #[error("{0} is not a loopback address: other machines could reach it")]
    Remote(SocketAddr),
    /// The relay would send to itself.
    #[error("{0} is the address the relay listens at")]
    Loop(SocketAddr),
    /// A limit allows nothing.
    #[error("{0} must be positive")]
    Zero(&'static str),
    /// A link's configuration is not valid.
    #[error("{}: {error}", match direction { Direction::Forward => "up", Direction::Reverse => "down" })]
    Link {
        /// The link: forward is up.
        direction: Direction,
        /// The error.
        error: ConfigError,
    },
    /// The address could not be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The operating system refused something else.
    #[error("cannot start the relay: {0}")]
    Io(#[from] io::Error),
}

debug_as_display!(RelayError);
