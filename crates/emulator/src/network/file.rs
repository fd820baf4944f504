//! Networks described in TOML.

mod link;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use self::link::LinkTable;
use super::{CrossTraffic, Network, NetworkError, Pattern, Rebinding, Topology};
use crate::file::{self, MAX_TOML_BYTES};
use crate::host::{HostConfig, HostError};
use crate::time::Nanos;
use crate::trace::TraceError;

/// Why a file does not describe a network.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFileError {
    /// The file could not be read.
    #[error("cannot read network {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is not TOML, or has an unknown key or value. Lines are numbered from 1.
    #[error("{name}:{line}: {reason}, at {value:?}")]
    Syntax {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// What is wrong.
        reason: String,
        /// The text in question, cut short if it is long.
        value: String,
    },
    /// A link's table is contradictory or incomplete.
    #[error("{name}: link {link}: {reason}")]
    Link {
        /// The network's name.
        name: String,
        /// The link's name.
        link: String,
        /// What is wrong.
        reason: String,
    },
    /// A number is out of its range.
    #[error("{name}: {key} {value} is not {range}")]
    Number {
        /// The network's name.
        name: String,
        /// The number's key.
        key: &'static str,
        /// The number.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// A link's trace could not be read.
    #[error("{name}: {source}")]
    Trace {
        /// The network's name.
        name: String,
        /// Why.
        source: TraceError,
    },
    /// A host's model could not be read.
    #[error("{name}: hosts: {source}")]
    Host {
        /// The network's name.
        name: String,
        /// Why.
        source: HostError,
    },
    /// The parts do not make a network.
    #[error("{name}: {source}")]
    Network {
        /// The network's name.
        name: String,
        /// Why.
        source: NetworkError,
    },
}

debug_as_display!(NetworkFileError);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    seed: u64,
    #[serde(default)]
    link: Vec<LinkTable>,
    #[serde(default)]
    host: Vec<HostTable>,
    #[serde(default)]
    path: Vec<PathTable>,
    #[serde(default)]
    traffic: Vec<TrafficTable>,
    #[serde(default)]
    rebind: Vec<RebindTable>,
    #[serde(default)]
    hosts: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostTable {
    address: SocketAddr,
    node: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathTable {
    from: SocketAddr,
    to: SocketAddr,
    links: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrafficTable {
    from: SocketAddr,
    to: SocketAddr,
    pattern: PatternName,
    rate_mbps: f64,
    payload_bytes: usize,
    on_ms: Option<f64>,
    off_ms: Option<f64>,
    #[serde(default)]
    start_ms: f64,
    stop_ms: Option<f64>,
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
    at_ms: f64,
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
        file::within(text.as_bytes(), MAX_TOML_BYTES).map_err(|source| NetworkFileError::Read {
            path: name.into(),
            source,
        })?;
        let file: File = toml::from_str(text).map_err(|error| syntax(text, name, &error))?;
        let (topology, seed) = file.topology(name, folder)?;
        topology.build(seed).map_err(|source| network(name, source))
    }

    /// Reads the network that a file in TOML describes, see [`parse`](Self::parse). Files of traces are looked for in
    /// the file's own folder.
    ///
    /// # Errors
    /// The file cannot be read, or does not describe a network.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, NetworkFileError> {
        let path = path.as_ref();
        let text =
            file::read_text(path, MAX_TOML_BYTES).map_err(|source| NetworkFileError::Read {
                path: path.to_owned(),
                source,
            })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, &path.display().to_string(), folder)
    }
}

impl File {
    fn topology(self, name: &str, folder: &Path) -> Result<(Topology, u64), NetworkFileError> {
        let blame = |source| network(name, source);
        if self.link.len() > MAX_LINKS {
            return Err(NetworkFileError::Number {
                name: name.to_owned(),
                key: "the number of links",
                value: self.link.len() as f64,
                range: "at most 256",
            });
        }
        let mut topology = Topology::new();
        for link in self.link {
            let (from, to) = (topology.node(&link.from), topology.node(&link.to));
            let config = link.config(name, folder)?;
            topology.link(&link.name, from, to, config);
        }
        for HostTable { address, node } in self.host {
            topology.host(&node, address).map_err(blame)?;
        }
        for PathTable { from, to, links } in self.path {
            let links = links.iter().map(|link| topology.link_named(link));
            let links = links.collect::<Result<_, _>>().map_err(blame)?;
            topology.path(from, to, links);
        }
        for traffic in self.traffic {
            topology.traffic(traffic.traffic(name)?);
        }
        for RebindTable {
            at_ms,
            inside,
            outside,
        } in self.rebind
        {
            let at = millis(name, "at_ms", at_ms)?;
            topology.rebind(Rebinding {
                at,
                inside,
                outside,
            });
        }
        for (node, model) in self.hosts {
            let model = host_model(name, &model, folder)?;
            if node == ALL_HOSTS {
                topology.hosts(model);
            } else {
                topology.hosts_at(&node, model).map_err(blame)?;
            }
        }
        Ok((topology, self.seed))
    }
}

impl TrafficTable {
    fn traffic(self, name: &str) -> Result<CrossTraffic, NetworkFileError> {
        let pattern = match self.pattern {
            PatternName::Constant => Pattern::Constant,
            PatternName::Poisson => Pattern::Poisson,
            PatternName::OnOff => Pattern::OnOff {
                on: millis(name, "on_ms", self.on_ms.unwrap_or(0.0))?,
                off: millis(name, "off_ms", self.off_ms.unwrap_or(0.0))?,
            },
        };
        let stop = self.stop_ms.map(|stop| millis(name, "stop_ms", stop));
        Ok(CrossTraffic {
            from: self.from,
            to: self.to,
            pattern,
            bytes_per_second: rate(name, self.rate_mbps)?,
            payload: self.payload_bytes,
            ecn: None,
            start: millis(name, "start_ms", self.start_ms)?,
            stop: stop.transpose()?,
        })
    }
}

/// A preset, or the model in a file of the folder.
fn host_model(name: &str, model: &str, folder: &Path) -> Result<HostConfig, NetworkFileError> {
    let host = match HostConfig::preset(model) {
        Err(HostError::UnknownPreset { .. }) if model.contains('.') => {
            HostConfig::load(folder.join(model))
        }
        result => result,
    };
    host.map_err(|source| NetworkFileError::Host {
        name: name.to_owned(),
        source,
    })
}

fn network(name: &str, source: NetworkError) -> NetworkFileError {
    NetworkFileError::Network {
        name: name.to_owned(),
        source,
    }
}

fn syntax(text: &str, name: &str, error: &toml::de::Error) -> NetworkFileError {
    let span = error.span().unwrap_or(0..0);
    let before = text.get(..span.start).unwrap_or(text);
    let value = text.get(span).unwrap_or("");
    NetworkFileError::Syntax {
        name: name.to_owned(),
        line: before.matches('\n').count() + 1,
        // Some of the library's messages have several lines.
        reason: error.message().replace('\n', " "),
        value: value.chars().take(EXCERPT_CHARS).collect(),
    }
}

/// Milliseconds, to the nanosecond.
fn millis(name: &str, key: &'static str, value: f64) -> Result<Nanos, NetworkFileError> {
    if !(0.0..=1e12).contains(&value) {
        return Err(NetworkFileError::Number {
            name: name.to_owned(),
            key,
            value,
            range: "between 0 and 10^12",
        });
    }
    Ok(Nanos((value * 1e6).round() as u64))
}

/// Bytes per second of a rate in Mb/s.
fn rate(name: &str, mbps: f64) -> Result<u64, NetworkFileError> {
    if !(8e-6..=1e9).contains(&mbps) {
        return Err(NetworkFileError::Number {
            name: name.to_owned(),
            key: "rate_mbps",
            value: mbps,
            range: "between 0.000008 and 10^9",
        });
    }
    Ok((mbps * 125_000.0).round() as u64)
}

/// The key of values for all hosts.
const ALL_HOSTS: &str = "all";

/// How much of an offending text an error repeats.
const EXCERPT_CHARS: usize = 40;

/// The most links of a file: there is a route from each node to each other one, and a thousand queues for a link with FQ-CoDel.
const MAX_LINKS: usize = 256;
