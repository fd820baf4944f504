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
    /// A path's links do not lead from its source to its destination.
    #[error("the path from {from} to {to} {fault}")]
    BrokenPath {
        /// The source.
        from: SocketAddr,
        /// The destination.
        to: SocketAddr,
        /// Which of all paths, in the order in which they were given.
        path: usize,
        /// What is wrong with it.
        fault: PathFault,
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

/// What is wrong with a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// It has no links.
    #[error("has no links")]
    Empty,
    /// This link begins elsewhere than where the path has led so far, or ends elsewhere than the path.
    #[error("is broken at link {0}")]
    At(String),
    /// It takes this link a second time.
    #[error("takes link {0} twice, and may take each link once")]
    Twice(String),
}
