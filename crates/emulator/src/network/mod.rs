//! Hosts, and the links between them.
//!
//! A [`Network`] of two links comes from a [`NetworkConfig`]. A [`Topology`] describes any other: nodes and links between
//! them, hosts at the nodes, paths of single flows, traffic from nowhere and changes of addresses. With the feature
//! `serde` it can be read from a file.

mod address;
mod error;
#[cfg(feature = "serde")]
mod file;
mod hosts;
mod routes;
pub(crate) mod schedule;
mod shapes;
mod topology;
mod traffic;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
#[cfg(feature = "quinn")]
use std::sync::Arc;

pub use address::Rebinding;
pub use error::{NetworkError, PathFault};
#[cfg(feature = "serde")]
pub use file::NetworkFileError;
pub use shapes::{Direction, Duplex, NetworkConfig, Side};
pub use topology::{LinkId, NodeId, Topology};
pub use traffic::{CrossTraffic, MAX_PAYLOAD, Pattern};

use self::address::Translations;
use self::hosts::HostModels;
use self::routes::Routes;
use self::schedule::Schedule;
use self::traffic::Source;
use crate::addresses::AddressMap;
use crate::host::HostConfig;
use crate::link::{ConfigError, Count, Link};
use crate::packet::Packet;
use crate::time::Nanos;

/// The links that flows take, and since when; in the order of time.
type Paths = BTreeMap<(SocketAddr, SocketAddr), Vec<(Nanos, Vec<usize>)>>;

/// Links that join hosts.
///
/// A packet takes the path with the fewest links to the node of its destination, unless its flow has a path of its own. A packet is dropped
/// as unroutable if its destination is not attached, or is attached to the node of its source: the hosts of one node are not connected.
/// Between two nodes the source need not be attached.
#[derive(Debug)]
pub struct Network {
    links: Vec<Link>,
    link_names: Vec<String>,
    /// Where each link leads.
    ends: Vec<usize>,
    nodes: Vec<String>,
    routes: Routes,
    hosts: AddressMap<usize>,
    /// Of the flows that have a path of their own.
    paths: Paths,
    translations: Translations,
    sources: Vec<Source>,
    /// The bytes and packets that reached the destinations of cross traffic.
    sinks: BTreeMap<SocketAddr, Count>,
    /// The links' events, then the sources'.
    schedule: Schedule,
    /// Arrivals that a send found due before it.
    arrived: VecDeque<(Nanos, Packet)>,
    unroutable: u64,
    /// Its configuration.
    #[cfg_attr(
        not(feature = "quinn"),
        allow(dead_code, reason = "it seeds the hosts of simulations")
    )]
    seed: u64,
    models: HostModels,
}

impl Network {
    /// Makes a network of two links, without hosts.
    ///
    /// # Errors
    /// A link's configuration is not valid.
    pub fn new(config: NetworkConfig) -> Result<Self, ConfigError> {
        let mut topology = Topology::new();
        let (left, right) = (topology.node("left"), topology.node("right"));
        topology.link("forward", left, right, config.forward);
        topology.link("reverse", right, left, config.reverse);
        topology
            .build_links(config.seed)
            .map_err(|(_, error)| error)
    }

    /// Adds a host to the left or the right node. An address that is attached already moves there.
    pub fn attach(&mut self, side: Side, address: SocketAddr) {
        let node = match side {
            Side::Left => 0,
            Side::Right => 1,
        };
        self.hosts.insert(address, node);
    }

    /// Adds a host, or another address of one: a client that migrates has one at each of two nodes. An address that is
    /// attached already moves.
    ///
    /// # Errors
    /// The node is another network's.
    pub fn attach_at(&mut self, node: NodeId, address: SocketAddr) -> Result<(), NetworkError> {
        if node.0 >= self.nodes.len() {
            return Err(NetworkError::Unknown {
                what: "node",
                name: node.0.to_string(),
            });
        }
        self.hosts.insert(address, node.0);
        Ok(())
    }

    /// Sets the model of the hosts that have none of their own. It holds for sockets of a simulation that are opened from then on.
    pub fn set_hosts(&mut self, config: HostConfig) {
        self.models.set_all(config);
    }

    /// Sets the model of the hosts at the node of this name. The nodes of a [`NetworkConfig`] are `left` and `right`.
    ///
    /// # Errors
    /// The node does not exist.
    pub fn set_hosts_at(&mut self, node: &str, config: HostConfig) -> Result<(), NetworkError> {
        let NodeId(place) = self.node(node).ok_or_else(|| NetworkError::Unknown {
            what: "node",
            name: node.to_owned(),
        })?;
        self.models.set_node(place, config);
        Ok(())
    }

    /// The model of the host that has an address; `None` if it is ideal.
    #[cfg(feature = "quinn")]
    pub(crate) fn host_model(&self, address: SocketAddr) -> Option<Arc<HostConfig>> {
        self.models.of(self.hosts.get(&address).copied())
    }

    /// The seed of all randomness that belongs to the network.
    #[cfg(feature = "quinn")]
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether an address is attached.
    pub fn is_attached(&self, address: SocketAddr) -> bool {
        self.hosts.contains_key(&address)
    }

    /// Whether any port of an address is attached.
    pub fn has_host(&self, address: IpAddr) -> bool {
        self.hosts.keys().any(|host| host.ip() == address)
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes
            .iter()
            .position(|known| known == name)
            .map(NodeId)
    }

    /// Sends a packet. Its outcome shows in the links' statistics, or in [`unroutable`](Self::unroutable).
    pub fn send(&mut self, now: Nanos, packet: Packet) {
        // Between two nodes, links lead nowhere but to hosts: nothing that is due can reach the link before this packet.
        if self.nodes.len() > 2 || !self.sources.is_empty() {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.run(now, &mut |time, packet| arrived.push_back((time, packet)));
            self.arrived = arrived;
        }
        self.enter(now, packet);
    }

    /// When to poll next; `None` while no packet is on its way and no source will send. Never later than the next
    /// delivery.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        match self.arrived.front() {
            Some((time, _)) => Some(*time),
            None => self.schedule.next(),
        }
    }

    /// Hands over every packet due by `now` with the time it was due, in the order of these times. At equal times
    /// the packets of the link that was added first come first, and each link's in the order they were sent.
    pub fn poll(&mut self, now: Nanos, deliver: &mut dyn FnMut(Nanos, Packet)) {
        while let Some((time, packet)) = self.arrived.pop_front() {
            deliver(time, packet);
        }
        self.run(now, deliver);
    }

    /// One of the first two links, for its statistics and its log. In a network of one link both directions give that link.
    pub fn link(&self, direction: Direction) -> &Link {
        match direction {
            Direction::Reverse if self.links.len() > 1 => &self.links[1],
            _ => &self.links[0],
        }
    }

    /// All links and their names, in the order in which they were added.
    pub fn links(&self) -> impl Iterator<Item = (&str, &Link)> {
        let names = self.link_names.iter().map(String::as_str);
        names.zip(&self.links)
    }

    /// The link of a name.
    pub fn link_named(&self, name: &str) -> Option<&Link> {
        self.links()
            .find(|(known, _)| *known == name)
            .map(|(_, link)| link)
    }

    /// The cross traffic delivered to an address, in payload bytes; `None` if the address is not a sink.
    pub fn received(&self, sink: SocketAddr) -> Option<Count> {
        self.sinks.get(&sink).copied()
    }

    /// How many packets the sources of traffic have sent.
    pub fn generated(&self) -> u64 {
        self.sources.iter().map(Source::sent).sum()
    }

    /// The number of packets to addresses that are not attached, or whose translation has expired.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// The number of packets that are on a link, as of the latest call.
    pub fn in_transit(&self) -> u64 {
        let links = self.links.iter().map(Link::in_transit);
        links.fold(self.arrived.len() as u64, u64::saturating_add)
    }

    /// Lets everything happen that is due by `now`.
    fn run(&mut self, now: Nanos, deliver: &mut dyn FnMut(Nanos, Packet)) {
        while let Some((place, time)) = self.schedule.due(now) {
            if place < self.links.len() {
                self.links[place].advance(time);
                while let Some((_, packet)) = self.links[place].deliver(time) {
                    self.arrive(place, time, packet, deliver);
                }
                self.schedule.set(place, self.links[place].next_event());
            } else {
                let source = &mut self.sources[place - self.links.len()];
                let packet = source.emit();
                self.schedule.set(place, source.next());
                self.enter(time, packet);
            }
        }
    }

    /// Takes a packet from its host to the first link.
    fn enter(&mut self, now: Nanos, mut packet: Packet) {
        if !self.translations.is_empty() {
            packet.source = self.translations.outside(now, packet.source);
        }
        let link = self.first_link(now, &packet);
        self.offer(now, link, packet);
    }

    /// Takes a packet from a link's end to the next link, or to its host.
    fn arrive(
        &mut self,
        link: usize,
        now: Nanos,
        packet: Packet,
        deliver: &mut dyn FnMut(Nanos, Packet),
    ) {
        // The latest path that has the link: the packet may be on one that holds no more.
        let path = self.paths_of(now, &packet).find_map(|path| {
            let place = path.iter().position(|hop| *hop == link)?;
            Some(path.get(place + 1).copied())
        });
        let next = match path {
            Some(next) => next,
            None => {
                let node = self.hosts.get(&packet.destination);
                match node.filter(|node| **node != self.ends[link]) {
                    Some(node) => match self.routes.next(self.ends[link], *node) {
                        None => return self.offer(now, None, packet),
                        next => next,
                    },
                    None => None,
                }
            }
        };
        match next {
            Some(next) => self.offer(now, Some(next), packet),
            None => self.hand_over(now, packet, deliver),
        }
    }

    fn hand_over(
        &mut self,
        now: Nanos,
        mut packet: Packet,
        deliver: &mut dyn FnMut(Nanos, Packet),
    ) {
        if let Some(count) = self.sinks.get_mut(&packet.destination) {
            count.packets = count.packets.saturating_add(1);
            count.bytes = count.bytes.saturating_add(packet.payload.len() as u64);
            return;
        }
        if !self.translations.is_empty() {
            match self.translations.inside(now, packet.destination) {
                Some(inside) => packet.destination = inside,
                None => return self.offer(now, None, packet),
            }
        }
        deliver(now, packet);
    }

    /// Puts a packet onto a link; it is unroutable without one.
    fn offer(&mut self, now: Nanos, link: Option<usize>, packet: Packet) {
        let Some(link) = link else {
            self.unroutable = self.unroutable.saturating_add(1);
            return;
        };
        self.links[link].offer(now, packet);
        self.schedule.set(link, self.links[link].next_event());
    }

    fn first_link(&self, now: Nanos, packet: &Packet) -> Option<usize> {
        let to = *self.hosts.get(&packet.destination)?;
        if let Some(path) = self.paths_of(now, packet).next() {
            return path.first().copied();
        }
        let from = match self.hosts.get(&packet.source) {
            Some(from) => *from,
            None if self.nodes.len() == 2 => 1 - to,
            None => return None,
        };
        self.routes.next(from, to)
    }

    /// The paths of a flow that has some of its own, whatever its addresses are at present: those that have begun, the latest
    /// first.
    fn paths_of(&self, now: Nanos, packet: &Packet) -> impl Iterator<Item = &[usize]> {
        let changes = if self.paths.is_empty() {
            None
        } else {
            let ends = [packet.source, packet.destination];
            let [from, to] = ends.map(|end| self.translations.host(end));
            self.paths.get(&(from, to))
        };
        let changes = changes.into_iter().flatten().rev();
        let begun = changes.filter(move |(at, _)| *at <= now);
        begun.map(|(_, path)| path.as_slice())
    }
}
