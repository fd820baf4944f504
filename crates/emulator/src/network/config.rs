//! A network of two links, for most uses.

use crate::link::LinkConfig;

/// The configuration of a network of two links.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkConfig {
    /// The link from left to right.
    pub forward: LinkConfig,
    /// The link from right to left.
    pub reverse: LinkConfig,
    /// The source of all randomness.
    pub seed: u64,
}

/// An end of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The forward link's sending end; in a [`Topology`](super::Topology), its first node.
    Left,
    /// The forward link's receiving end; in a [`Topology`](super::Topology), its second node.
    Right,
}

/// One of a network's two first links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From left to right.
    Forward,
    /// From right to left.
    Reverse,
}
