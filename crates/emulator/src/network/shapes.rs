//! Networks that many experiments use.

use super::{NodeId, Topology};
use crate::link::LinkConfig;

/// A pair of links, one in each direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Duplex {
    /// The link away from the first node.
    pub forward: LinkConfig,
    /// The link back.
    pub reverse: LinkConfig,
}

impl Duplex {
    /// The same link in both directions.
    pub fn both(link: LinkConfig) -> Self {
        Self {
            forward: link.clone(),
            reverse: link,
        }
    }
}

impl Topology {
    /// Two nodes, `left` and `right`, and the links `forward` and `reverse` between them.
    pub fn point_to_point(links: Duplex) -> Self {
        let mut topology = Self::new();
        let (left, right) = (topology.node("left"), topology.node("right"));
        topology.link("forward", left, right, links.forward);
        topology.link("reverse", right, left, links.reverse);
        topology
    }

    /// Two nodes with the bottleneck `forward` and `reverse` between them, and behind each a node for every host with
    /// access links of its own: `left-1`, `left-2`, and so on, and `right-1` likewise. The links to and from `left-1` are
    /// `left-1-up` and `left-1-down`: up is towards the bottleneck, which is an access link's forward direction.
    pub fn dumbbell(bottleneck: Duplex, left: &[Duplex], right: &[Duplex]) -> Self {
        let mut topology = Self::point_to_point(bottleneck);
        for (side, access) in [("left", left), ("right", right)] {
            let router = topology.node(side);
            for (index, links) in access.iter().enumerate() {
                let name = format!("{side}-{}", index + 1);
                let host = topology.node(&name);
                topology.access(&name, host, router, links);
            }
        }
        topology
    }

    /// A chain of bottlenecks between the nodes `node-0`, `node-1` and so on: the links `forward-1` and `reverse-1` join
    /// the first two. Flows along the whole chain compete with those over a part of it.
    pub fn parking_lot(bottlenecks: &[Duplex]) -> Self {
        let mut topology = Self::new();
        let mut node = topology.node("node-0");
        for (index, links) in bottlenecks.iter().enumerate() {
            let number = index + 1;
            let next = topology.node(&format!("node-{number}"));
            topology.link(
                &format!("forward-{number}"),
                node,
                next,
                links.forward.clone(),
            );
            topology.link(
                &format!("reverse-{number}"),
                next,
                node,
                links.reverse.clone(),
            );
            node = next;
        }
        topology
    }

    fn access(&mut self, name: &str, host: NodeId, router: NodeId, links: &Duplex) {
        self.link(&format!("{name}-up"), host, router, links.forward.clone());
        self.link(&format!("{name}-down"), router, host, links.reverse.clone());
    }
}

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
    /// The forward link's sending end; in a [`Topology`], its first node.
    Left,
    /// The forward link's receiving end; in a [`Topology`], its second node.
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
