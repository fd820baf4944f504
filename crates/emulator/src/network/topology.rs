//! The topology from which a network is built.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::address::{Rebinding, Translations};
use super::hosts::HostModels;
use super::routes::Routes;
use super::schedule::Schedule;
use super::shapes::Duplex;
use super::traffic::{CrossTraffic, Source};
use super::{Network, NetworkError, PathFault};
use crate::addresses::AddressMap;
use crate::host::HostConfig;
use crate::link::{ConfigError, Count, Link, LinkConfig};
use crate::time::Nanos;

/// The description of a network: nodes and links first, then what uses them.
///
/// ```
/// use kneepoint_emulator::link::{LinkConfig, Shaper};
/// use kneepoint_emulator::network::{CrossTraffic, Duplex, Pattern, Topology};
/// use kneepoint_emulator::time::Nanos;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let line = |bytes_per_second| Duplex::both(LinkConfig::constant(bytes_per_second));
/// let access = [line(12_500_000), line(12_500_000)];
/// let mut topology = Topology::dumbbell(line(1_250_000), &access, &access);
/// let (from, to) = ("10.0.0.1:1".parse()?, "10.0.1.1:1".parse()?);
/// topology.host("left-1", from)?;
/// topology.host("right-1", to)?;
/// topology.traffic(CrossTraffic {
///     from,
///     to,
///     pattern: Pattern::Poisson,
///     bytes_per_second: 625_000,
///     payload: 1200,
///     ecn: None,
///     start: Nanos::ZERO,
///     stop: Some(Nanos::from_millis(1000)),
/// });
/// let mut network = topology.build(1)?;
/// network.poll(Nanos::from_millis(1100), &mut |_, _| {});
/// assert!(network.received(to).is_some_and(|count| count.bytes > 500_000));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use = "a description does nothing until it is built"]
pub struct Topology {
    nodes: Vec<String>,
    links: Vec<Edge>,
    hosts: Vec<(SocketAddr, NodeId)>,
    paths: Vec<Path>,
    traffic: Vec<CrossTraffic>,
    rebindings: Vec<Rebinding>,
    models: HostModels,
}

/// The links of the flow from an address to another one, from a time on.
type Path = (Nanos, SocketAddr, SocketAddr, Vec<LinkId>);

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Edge {
    name: String,
    from: NodeId,
    to: NodeId,
    config: LinkConfig,
}

/// One of a network's nodes, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NodeId(pub(super) usize);

/// One of a network's links, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LinkId(usize);

impl Topology {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The node of this name, which is added if there is none.
    pub fn node(&mut self, name: &str) -> NodeId {
        let known = self.nodes.iter().position(|node| node == name);
        NodeId(known.unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        }))
    }

    /// Adds a link in one direction.
    pub fn link(&mut self, name: &str, from: NodeId, to: NodeId, config: LinkConfig) -> LinkId {
        self.links.push(Edge {
            name: name.to_owned(),
            from,
            to,
            config,
        });
        LinkId(self.links.len() - 1)
    }

    /// The link of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn link_named(&self, name: &str) -> Result<LinkId, NetworkError> {
        let place = self.links.iter().position(|link| link.name == name);
        place.map(LinkId).ok_or_else(|| unknown("link", name))
    }

    /// The name of a link; `None` if it is another network's.
    pub fn link_name(&self, link: LinkId) -> Option<&str> {
        self.links.get(link.0).map(|edge| edge.name.as_str())
    }

    /// The configuration of a link; `None` if it is another network's.
    pub fn config(&self, link: LinkId) -> Option<&LinkConfig> {
        self.links.get(link.0).map(|edge| &edge.config)
    }

    /// The same, to change it.
    pub fn config_mut(&mut self, link: LinkId) -> Option<&mut LinkConfig> {
        self.links.get_mut(link.0).map(|edge| &mut edge.config)
    }

    /// The links that packets take from a node to another one, unless their flow has a path of its own: the fewest. None if
    /// there is no way.
    ///
    /// # Errors
    /// There is no such node.
    pub fn route(&self, from: &str, to: &str) -> Result<Vec<LinkId>, NetworkError> {
        let place = |name: &str| {
            let place = self.nodes.iter().position(|node| node == name);
            place.ok_or_else(|| unknown("node", name))
        };
        let (mut at, to) = (place(from)?, place(to)?);
        let ends = self.links.iter().map(|link| (link.from.0, link.to.0));
        let routes = Routes::new(self.nodes.len(), &ends.collect::<Vec<_>>());
        let mut links = Vec::new();
        while at != to
            && let Some(next) = routes.next(at, to)
        {
            links.push(LinkId(next));
            at = self.links[next].to.0;
        }
        Ok(links)
    }

    /// The two links of a network that is nothing else, as [`point_to_point`](Self::point_to_point) makes it.
    ///
    /// # Errors
    /// It has other links, or anything that uses them.
    pub fn duplex(&self) -> Result<Duplex, NetworkError> {
        let extra = [
            ("more links", self.links.len() > 2),
            ("paths", !self.paths.is_empty()),
            ("traffic", !self.traffic.is_empty()),
            ("changes of addresses", !self.rebindings.is_empty()),
            ("hosts", !self.hosts.is_empty()),
            ("models of hosts", !self.models.is_empty()),
        ];
        let refuse = |part| NetworkError::NotPointToPoint { part };
        if let Some((part, _)) = extra.into_iter().find(|(_, there)| *there) {
            return Err(refuse(part));
        }
        let link = |name: &str, from: &str, to: &str, part| {
            let named = |node: NodeId| self.nodes.get(node.0).map(String::as_str);
            let edge = self.links.iter().find(|edge| {
                edge.name == name && named(edge.from) == Some(from) && named(edge.to) == Some(to)
            });
            edge.map(|edge| edge.config.clone())
                .ok_or_else(|| refuse(part))
        };
        Ok(Duplex {
            forward: link("forward", "left", "right", "others")?,
            reverse: link("reverse", "right", "left", "only one")?,
        })
    }

    /// Attaches an address to the node of this name. A host may have several, at several nodes.
    ///
    /// # Errors
    /// There is no such node.
    pub fn host(&mut self, node: &str, address: SocketAddr) -> Result<(), NetworkError> {
        let place = self.nodes.iter().position(|known| known == node);
        let place = place.ok_or_else(|| unknown("node", node))?;
        self.hosts.push((address, NodeId(place)));
        Ok(())
    }

    /// Gives all hosts a model of the time that they take, except at nodes that have one of their own.
    pub fn hosts(&mut self, config: HostConfig) {
        self.models.set_all(config);
    }

    /// Gives the hosts at the node of this name a model.
    ///
    /// # Errors
    /// There is no such node.
    pub fn hosts_at(&mut self, node: &str, config: HostConfig) -> Result<(), NetworkError> {
        let place = self.nodes.iter().position(|known| known == node);
        let place = place.ok_or_else(|| unknown("node", node))?;
        self.models.set_node(place, config);
        Ok(())
    }

    /// Gives the flow from one address to another its own path.
    pub fn path(&mut self, from: SocketAddr, to: SocketAddr, links: Vec<LinkId>) {
        self.path_from(Nanos::ZERO, from, to, links);
    }

    /// Gives the flow from one address to another its own path from a time on. What is on its way keeps the path that it took.
    pub fn path_from(&mut self, at: Nanos, from: SocketAddr, to: SocketAddr, links: Vec<LinkId>) {
        self.paths.push((at, from, to, links));
    }

    /// Adds a source of traffic.
    pub fn traffic(&mut self, traffic: CrossTraffic) {
        self.traffic.push(traffic);
    }

    /// Changes a host's address. What others send to an address is lost unless it holds when it arrives.
    pub fn rebind(&mut self, rebinding: Rebinding) {
        self.rebindings.push(rebinding);
    }

    /// Makes the network. All its randomness comes from `seed`.
    ///
    /// # Errors
    /// Something is described twice, not at all, or out of its range.
    pub fn build(self, seed: u64) -> Result<Network, NetworkError> {
        self.check_graph()?;
        let mut hosts = AddressMap::default();
        for (address, node) in &self.hosts {
            if hosts.insert(*address, node.0).is_some() {
                return Err(NetworkError::Twice {
                    what: "host",
                    name: address.to_string(),
                });
            }
        }
        let mut translations = Translations::default();
        for rebinding in &self.rebindings {
            let node = *attached(&hosts, rebinding.inside)?;
            hosts.entry(rebinding.outside).or_insert(node);
            translations.add(*rebinding);
        }
        let mut paths: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (place, path) in self.paths.iter().enumerate() {
            let links = self.check_path(&hosts, place, path)?;
            let (at, from, to, _) = path;
            let changes = paths.entry((*from, *to)).or_default();
            let place = changes.partition_point(|(time, _)| time <= at);
            changes.insert(place, (*at, links));
        }
        let mut seeds = Pcg64::seed_from_u64(seed);
        // The links' seeds come first: sources must not draw what a link's stages draw.
        self.links.iter().for_each(|_| _ = seeds.next_u64());
        let (mut sources, mut sinks) = (Vec::new(), BTreeMap::new());
        for traffic in &self.traffic {
            attached(&hosts, traffic.from)?;
            attached(&hosts, traffic.to)?;
            traffic.validate()?;
            sinks.insert(traffic.to, Count::default());
            sources.push(Source::new(traffic.clone(), seeds.next_u64()));
        }
        let names: Vec<String> = self.links.iter().map(|link| link.name.clone()).collect();
        let links = self.build_links(seed);
        let mut network = links.map_err(|(place, source)| NetworkError::Link {
            name: names.get(place).cloned().unwrap_or_default(),
            source,
        })?;
        network.hosts = hosts;
        network.paths = paths;
        network.translations = translations;
        network.sinks = sinks;
        network.schedule = Schedule::new(names.len() + sources.len());
        for (place, source) in sources.iter().enumerate() {
            network.schedule.set(names.len() + place, source.next());
        }
        network.sources = sources;
        Ok(network)
    }

    /// Makes nodes and links, and nothing that uses them. An error comes with the place of its link.
    pub(super) fn build_links(self, seed: u64) -> Result<Network, (usize, ConfigError)> {
        let mut seeds = Pcg64::seed_from_u64(seed);
        let ends: Vec<_> = self
            .links
            .iter()
            .map(|link| (link.from.0, link.to.0))
            .collect();
        let routes = Routes::new(self.nodes.len(), &ends);
        let (mut links, mut names) = (Vec::new(), Vec::new());
        for (place, edge) in self.links.into_iter().enumerate() {
            let link = Link::new(edge.config, seeds.next_u64());
            links.push(link.map_err(|error| (place, error))?);
            names.push(edge.name);
        }
        Ok(Network {
            schedule: Schedule::new(links.len()),
            links,
            link_names: names,
            ends: ends.into_iter().map(|(_, to)| to).collect(),
            nodes: self.nodes,
            routes,
            hosts: AddressMap::default(),
            paths: BTreeMap::new(),
            translations: Translations::default(),
            sources: Vec::new(),
            sinks: BTreeMap::new(),
            arrived: Default::default(),
            unroutable: 0,
            seed,
            models: self.models,
        })
    }

    /// The same with the ends of all paths attached to where these begin and end, and the addresses that change to any node, if
    /// they are not attached.
    #[cfg(feature = "serde")]
    pub(super) fn with_ends_of_paths(mut self) -> Self {
        let mut ends = Vec::new();
        for (_, from, to, links) in &self.paths {
            let edge = |link: Option<&LinkId>| link.and_then(|link| self.links.get(link.0));
            ends.extend(edge(links.first()).map(|edge| (*from, edge.from)));
            ends.extend(edge(links.last()).map(|edge| (*to, edge.to)));
        }
        let changing = self.rebindings.iter();
        ends.extend(changing.map(|rebinding| (rebinding.inside, NodeId(0))));
        for (address, node) in ends {
            if self.hosts.iter().all(|(known, _)| *known != address) {
                self.hosts.push((address, node));
            }
        }
        self
    }

    fn check_graph(&self) -> Result<(), NetworkError> {
        if self.links.is_empty() {
            return Err(NetworkError::NoLink);
        }
        let mut names = BTreeMap::new();
        for Edge { name, from, to, .. } in &self.links {
            let node = |id: &NodeId| {
                let node = self.nodes.get(id.0);
                node.ok_or_else(|| unknown("node", &id.0.to_string()))
            };
            node(to)?;
            let (name, what) = (name.clone(), "link");
            if from == to {
                let node = node(from)?.clone();
                return Err(NetworkError::Loop { name, node });
            }
            node(from)?;
            if names.insert(name.clone(), ()).is_some() {
                return Err(NetworkError::Twice { what, name });
            }
        }
        Ok(())
    }

    /// A path's links lead from its source to its destination, and none occurs twice: a packet's place is known by the
    /// link that it comes from.
    fn check_path(
        &self,
        hosts: &AddressMap<usize>,
        place: usize,
        (_, from, to, ids): &Path,
    ) -> Result<Vec<usize>, NetworkError> {
        let broken = |fault| NetworkError::BrokenPath {
            from: *from,
            to: *to,
            path: place,
            fault,
        };
        if ids.is_empty() {
            return Err(broken(PathFault::Empty));
        }
        let mut node = *attached(hosts, *from)?;
        let end = *attached(hosts, *to)?;
        let mut links = Vec::new();
        for id in ids {
            let link = self.links.get(id.0);
            let link = link.ok_or_else(|| unknown("link", &id.0.to_string()))?;
            if links.contains(&id.0) {
                return Err(broken(PathFault::Twice(link.name.clone())));
            }
            links.push(id.0);
            if link.from.0 != node || links.len() == ids.len() && link.to.0 != end {
                return Err(broken(PathFault::At(link.name.clone())));
            }
            node = link.to.0;
        }
        Ok(links)
    }
}

fn attached(hosts: &AddressMap<usize>, address: SocketAddr) -> Result<&usize, NetworkError> {
    hosts
        .get(&address)
        .ok_or(NetworkError::NotAttached { address })
}

fn unknown(what: &'static str, name: &str) -> NetworkError {
    NetworkError::Unknown {
        what,
        name: name.to_owned(),
    }
}
