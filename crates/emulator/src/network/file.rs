//! Networks described in TOML.

mod culprit;
mod delay;
mod error;
mod link;
mod loss;
mod queue;
mod shaper;
mod source;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

pub use self::error::NetworkFileError;
use self::link::LinkTable;
use self::source::{Number, Source, Span};
use super::{CrossTraffic, Network, NetworkError, Pattern, Rebinding, Topology};
use crate::file::{self, MAX_TOML_BYTES};
use crate::host::{HostConfig, HostError};
use crate::link::{FQ_CODEL_FLOWS, Queue};
use crate::time::Nanos;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    seed: Option<u64>,
    #[serde(default)]
    link: Vec<Spanned<LinkTable>>,
    #[serde(default)]
    host: Vec<HostTable>,
    #[serde(default)]
    path: Vec<PathTable>,
    #[serde(default)]
    traffic: Vec<Spanned<TrafficTable>>,
    #[serde(default)]
    rebind: Vec<RebindTable>,
    #[serde(default)]
    hosts: BTreeMap<String, Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostTable {
    address: SocketAddr,
    node: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathTable {
    from: SocketAddr,
    to: SocketAddr,
    links: Vec<Spanned<String>>,
    /// From when on; from the start unless it is given.
    at_ms: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrafficTable {
    from: SocketAddr,
    to: SocketAddr,
    pattern: PatternName,
    rate_mbps: Number,
    payload_bytes: Spanned<usize>,
    on_ms: Option<Number>,
    off_ms: Option<Number>,
    start_ms: Option<Number>,
    stop_ms: Option<Number>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PatternName {
    Constant,
    OnOff,
    Poisson,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RebindTable {
    at_ms: Number,
    inside: SocketAddr,
    outside: SocketAddr,
}

impl Network {
    /// Makes the network that a text in TOML describes. The name identifies the text in errors; files of traces are
    /// looked for in `folder`, and so are those of hosts.
    ///
    /// ```
    /// # use kneepoint_emulator::network::Network;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = r#"
    ///     seed = 1
    ///     link = [
    ///         { name = "up", from = "home", to = "office", rate_mbps = 10.0, delay_ms = 20.0, queue_packets = 100 },
    ///         { name = "down", from = "office", to = "home", rate_mbps = 50.0, delay_ms = 20.0, queue = "codel" },
    ///     ]
    ///     host = [
    ///         { node = "home", address = "10.0.0.1:5000" },
    ///         { node = "office", address = "10.0.1.1:4433" },
    ///     ]
    ///     rebind = [{ at_ms = 500.0, inside = "10.0.0.1:5000", outside = "10.0.0.1:6000" }]
    ///     ## Models of hosts: presets, or files in the same folder. All hosts are ideal but for those at these nodes.
    ///     hosts = { all = "ideal", home = "phone", office = "server" }
    /// "#;
    /// let network = Network::parse(text, "example", ".".as_ref())?;
    /// assert_eq!(network.links().map(|(name, _)| name).collect::<Vec<_>>(), ["up", "down"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The text is not TOML, is larger than 600 KiB, or does not describe a network of at most 256 links.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, NetworkFileError> {
        let source = Source { name, text, folder };
        let (topology, seed) = File::read(source)?;
        let seed = seed.ok_or_else(|| NetworkFileError::NoSeed {
            name: name.to_owned(),
        })?;
        let network = topology.build(seed);
        network.map_err(|error| source.whole(error))
    }

    /// Reads the network that a file in TOML describes, see [`parse`](Self::parse). Files of traces are looked for in
    /// the file's own folder.
    ///
    /// # Errors
    /// The file cannot be read, or does not describe a network.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, NetworkFileError> {
        load(path.as_ref(), Self::parse)
    }
}

impl Topology {
    /// The network that a text in TOML describes, as [`Network::parse`] reads it, and the seed if it names one. Paths may be of
    /// addresses that are attached later.
    ///
    /// # Errors
    /// The text is not TOML, is larger than 600 KiB, or does not describe a network of at most 256 links.
    pub fn parse(
        text: &str,
        name: &str,
        folder: &Path,
    ) -> Result<(Self, Option<u64>), NetworkFileError> {
        let source = Source { name, text, folder };
        let (topology, seed) = File::read(source)?;
        // What is wrong should be known by its line.
        let whole = topology.clone().with_ends_of_paths().build(0);
        whole.map_err(|error| source.whole(error))?;
        Ok((topology, seed))
    }

    /// Reads the network that a file in TOML describes, see [`parse`](Self::parse). Files of traces and of hosts are looked for
    /// in the file's own folder.
    ///
    /// # Errors
    /// The file cannot be read, or does not describe a network.
    pub fn load(path: impl AsRef<Path>) -> Result<(Self, Option<u64>), NetworkFileError> {
        load(path.as_ref(), Self::parse)
    }
}

fn load<T>(
    path: &Path,
    parse: impl FnOnce(&str, &str, &Path) -> Result<T, NetworkFileError>,
) -> Result<T, NetworkFileError> {
    let text = file::read_text(path, MAX_TOML_BYTES).map_err(|source| NetworkFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, &path.display().to_string(), folder)
}

impl File {
    /// What a text describes, and its seed.
    fn read(source: Source<'_>) -> Result<(Topology, Option<u64>), NetworkFileError> {
        file::within(source.text.as_bytes(), MAX_TOML_BYTES).map_err(|error| {
            NetworkFileError::Read {
                path: source.name.into(),
                source: error,
            }
        })?;
        let file: Self = toml::from_str(source.text).map_err(|error| source.syntax(&error))?;
        let seed = file.seed;
        Ok((file.topology(source)?, seed))
    }

    fn topology(self, source: Source<'_>) -> Result<Topology, NetworkFileError> {
        if self.link.len() > MAX_LINKS {
            return Err(NetworkFileError::Number {
                name: source.name.to_owned(),
                line: source.line(&self.link[MAX_LINKS].span()),
                key: "the number of links",
                value: self.link.len() as f64,
                range: "at most 256",
            });
        }
        let mut topology = Topology::new();
        let mut queues = 0_u64;
        for link in self.link {
            let (span, link) = (link.span(), link.into_inner());
            let (from, to) = (topology.node(&link.from), topology.node(&link.to));
            let config = link.config(source, &span)?;
            if let Queue::FqCoDel(fair) = config.queue {
                queues += u64::from(fair.flows);
            }
            if queues > MAX_QUEUES {
                return Err(NetworkFileError::Number {
                    name: source.name.to_owned(),
                    line: source.line(&span),
                    key: "the number of fq-codel's queues",
                    value: queues as f64,
                    range: "at most 262144 in all",
                });
            }
            topology.link(&link.name, from, to, config);
        }
        for HostTable { address, node } in self.host {
            let attached = topology.host(node.get_ref(), address);
            attached.map_err(|error| source.network(&node.span(), error))?;
        }
        for path in self.path {
            let link = |link: &Spanned<String>| {
                let known = topology.link_named(link.get_ref());
                known.map_err(|error| source.network(&link.span(), error))
            };
            let links = path.links.iter().map(link).collect::<Result<_, _>>()?;
            let at = time(source, "at_ms", path.at_ms.as_ref())?;
            topology.path_from(at, path.from, path.to, links);
        }
        for traffic in self.traffic {
            let (span, traffic) = (traffic.span(), traffic.into_inner());
            topology.traffic(traffic.traffic(source, span)?);
        }
        for RebindTable {
            at_ms,
            inside,
            outside,
        } in self.rebind
        {
            let at = source.millis("at_ms", &at_ms)?;
            topology.rebind(Rebinding {
                at,
                inside,
                outside,
            });
        }
        for (node, model) in self.hosts {
            let (span, model) = (model.span(), model.into_inner());
            let model = host_model(source, &span, &model)?;
            if node == ALL_HOSTS {
                topology.hosts(model);
            } else {
                let known = topology.hosts_at(&node, model);
                known.map_err(|error| source.network(&span, error))?;
            }
        }
        Ok(topology)
    }
}

impl TrafficTable {
    /// The traffic of the table, which is at `span`.
    fn traffic(self, source: Source<'_>, span: Span) -> Result<CrossTraffic, NetworkFileError> {
        let pattern = match self.pattern {
            PatternName::Constant => Pattern::Constant,
            PatternName::Poisson => Pattern::Poisson,
            PatternName::OnOff => Pattern::OnOff {
                on: time(source, "on_ms", self.on_ms.as_ref())?,
                off: time(source, "off_ms", self.off_ms.as_ref())?,
            },
        };
        let stop = self.stop_ms.as_ref();
        let stop = stop.map(|stop| source.millis("stop_ms", stop));
        let traffic = CrossTraffic {
            from: self.from,
            to: self.to,
            pattern,
            bytes_per_second: source.rate("rate_mbps", &self.rate_mbps)?,
            payload: *self.payload_bytes.get_ref(),
            ecn: None,
            start: time(source, "start_ms", self.start_ms.as_ref())?,
            stop: stop.transpose()?,
        };
        traffic.validate().map_err(|error| {
            let place = match &error {
                NetworkError::Traffic {
                    what: "payload", ..
                } => self.payload_bytes.span(),
                NetworkError::Traffic { what: "rate", .. } => self.rate_mbps.span(),
                _ => self.on_ms.as_ref().map_or(span, Spanned::span),
            };
            source.network(&place, error)
        })?;
        Ok(traffic)
    }
}

/// A preset, or the model in a file of the folder.
fn host_model(
    source: Source<'_>,
    span: &Span,
    model: &str,
) -> Result<HostConfig, NetworkFileError> {
    let host = match HostConfig::preset(model) {
        Err(HostError::UnknownPreset { .. }) if model.contains('.') => {
            HostConfig::load(source.folder.join(model))
        }
        result => result,
    };
    host.map_err(|error| NetworkFileError::Host {
        name: source.name.to_owned(),
        line: source.line(span),
        source: Box::new(error),
    })
}

/// A time, zero unless it is given.
fn time(
    source: Source<'_>,
    key: &'static str,
    given: Option<&Number>,
) -> Result<Nanos, NetworkFileError> {
    given.map_or(Ok(Nanos::ZERO), |given| source.millis(key, given))
}

/// The key of values for all hosts.
const ALL_HOSTS: &str = "all";

/// The most links of a file: there is a route from each node to each other one.
const MAX_LINKS: usize = 256;

/// The most queues of all links with FQ-CoDel, which are there before any flow is: RFC 8290's for as many links as there may be.
const MAX_QUEUES: u64 = 256 * FQ_CODEL_FLOWS as u64;
