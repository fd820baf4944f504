//! Errors in a network's configuration.

use std::net::SocketAddr;

use crate::link::ConfigError;

/// Why a network cannot be built.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The network has no link.
    #[error("a network needs at least one link")]
    NoLink,
    /// A link's configuration is not valid.
    #[error("link {name}: {source}")]
    Link {
        /// The link's name.
        name: String,
        /// The error.
        source: ConfigError,
    },
    /// A link leads from a node to itself.
    #[error("link {name} leads from {node} to itself")]
    Loop {
        /// The link's name.
        name: String,
        /// The node.
        node: String,
    },
    /// An identifier or a name is not of this network.
    #[error("there is no {what} {name}")]
    Unknown {
        /// A node or a link.
        what: &'static str,
        /// Which.
        name: String,
    },
    /// Two parts have the same name.
    #[error("there are two {what}s {name}")]
    Twice {
        /// A node, a link or a host.
        what: &'static str,
        /// Which.
        name: String,
    },
    /// An address is not attached to any node.
    #[error("{address} is not attached to a node")]
    NotAttached {
        /// The address.
        address: SocketAddr,
    },
    /// A path's links do not lead from its source to its destination, or one occurs twice.
    #[error("the path from {from} to {to} is broken at link {link}")]
    BrokenPath {
        /// The source.
        from: SocketAddr,
        /// The destination.
        to: SocketAddr,
        /// The first link out of place, or the last one.
        link: String,
    },
    /// The network is more than a link each way between two nodes.
    #[error(
        "one link each way between left and right, forward and reverse, was expected, and not {part}"
    )]
    NotPointToPoint {
        /// What it also has, or lacks.
        part: &'static str,
    },
    /// A source of traffic has a parameter out of its range.
    #[error("traffic from {from}: {what} {value} is not {range}")]
    Traffic {
        /// The traffic's source.
        from: SocketAddr,
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The allowed range.
        range: &'static str,
    },
}

debug_as_display!(NetworkError);
