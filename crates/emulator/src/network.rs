//! Hosts on two sides of a pair of links.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::link::{ConfigError, Link, LinkConfig};
use crate::packet::Packet;
use crate::time::Nanos;

/// A dumbbell: any number of hosts on either side, and one link in each direction that all their packets share.
///
/// A packet takes the link that leads to its destination's side. It is dropped as unroutable if its destination is not
/// attached, or is attached to the same side as its source: a side is a set of hosts, not a network of its own.
/// The source need not be attached.
#[derive(Debug)]
pub struct Network {
    forward: Link,
    reverse: Link,
    sides: BTreeMap<SocketAddr, Side>,
    unroutable: u64,
}

impl Network {
    /// Makes a network without hosts.
    ///
    /// # Errors
    /// A link's configuration is not valid.
    pub fn new(config: NetworkConfig) -> Result<Self, ConfigError> {
        let mut seeds = Pcg64::seed_from_u64(config.seed);
        Ok(Self {
            forward: Link::new(config.forward, seeds.next_u64())?,
            reverse: Link::new(config.reverse, seeds.next_u64())?,
            sides: BTreeMap::new(),
            unroutable: 0,
        })
    }

    /// Adds a host. An address that is attached already moves to the given side.
    pub fn attach(&mut self, side: Side, address: SocketAddr) {
        self.sides.insert(address, side);
    }

    /// Sends a packet. What becomes of it shows in the links' statistics, or in [`unroutable`](Self::unroutable).
    pub fn send(&mut self, now: Nanos, packet: Packet) {
        match self.route(&packet) {
            Some(Direction::Forward) => _ = self.forward.offer(now, packet),
            Some(Direction::Reverse) => _ = self.reverse.offer(now, packet),
            None => self.unroutable = self.unroutable.saturating_add(1),
        }
    }

    /// When to poll next; `None` while no packet is on its way. Never later than the next delivery.
    pub fn next_event(&self) -> Option<Nanos> {
        match (self.forward.next_event(), self.reverse.next_event()) {
            (Some(forward), Some(reverse)) => Some(forward.min(reverse)),
            (forward, reverse) => forward.or(reverse),
        }
    }

    /// Hands over every packet due by `now` with the time it was due, in the order of these times. At equal times
    /// the forward link's packets come first, and each link's in the order they were sent.
    pub fn poll(&mut self, now: Nanos, deliver: &mut dyn FnMut(Nanos, Packet)) {
        self.forward.advance(now);
        self.reverse.advance(now);
        loop {
            let (forward, reverse) = (self.forward.next_delivery(), self.reverse.next_delivery());
            let link = match (forward, reverse) {
                (Some(forward), Some(reverse)) if reverse < forward => &mut self.reverse,
                (Some(_), _) => &mut self.forward,
                (None, _) => &mut self.reverse,
            };
            let Some((time, packet)) = link.deliver(now) else {
                return;
            };
            deliver(time, packet);
        }
    }

    /// One of the links, for its statistics and its log.
    pub fn link(&self, direction: Direction) -> &Link {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// The number of packets sent to nowhere.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    fn route(&self, packet: &Packet) -> Option<Direction> {
        let to = *self.sides.get(&packet.destination)?;
        if self.sides.get(&packet.source) == Some(&to) {
            return None;
        }
        Some(match to {
            Side::Right => Direction::Forward,
            Side::Left => Direction::Reverse,
        })
    }
}

/// What a network is made of.
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
    /// The forward link's sending end.
    Left,
    /// The forward link's receiving end.
    Right,
}

/// One of a network's two links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From left to right.
    Forward,
    /// From right to left.
    Reverse,
}
