//! Links described in the emulator's network files, as the command takes them.
//!
//! Data goes from the node `left` to the node `right`, over the link `forward` if it is measured. What else there is, other
//! nodes, cross traffic or models of hosts, is the file's.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::link::{ConfigError, Limit, Link, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Duplex, LinkId, NetworkError, NetworkFileError, Topology};
use kneepoint_emulator::time::Nanos;
use serde::Serialize;
use thiserror::Error;

use crate::sweep::digest_of;
use crate::units::{format_size, format_time};

/// Why a file is not one of a link to measure.
#[derive(Debug, Error)]
pub enum LinkFileError {
    /// It does not describe a network.
    #[error(transparent)]
    File(#[from] NetworkFileError),
    /// It describes one that has no such way.
    #[error("{name}: {reason}")]
    Unfit {
        /// The file.
        name: String,
        /// What it lacks.
        reason: String,
    },
}

/// A network with a link to measure.
#[derive(Debug, Clone, Serialize)]
pub struct LinkFile {
    #[serde(skip)]
    path: PathBuf,
    #[serde(skip)]
    topology: Topology,
    /// Stands for the topology in a key.
    digest: String,
    seed: Option<u64>,
    #[serde(skip)]
    forward: LinkConfig,
    #[serde(skip)]
    base_rtt: Duration,
    /// Without packets, for its capacity.
    #[serde(skip)]
    empty: Arc<Link>,
}

impl LinkFile {
    /// Reads the file of a network in which data goes from `left` to `right` over the link `forward`.
    ///
    /// # Errors
    /// The file cannot be read, does not describe a network, or one in which there is no way between these nodes, no link
    /// `forward` or no limit to its rate.
    pub fn load(path: &Path) -> Result<Self, LinkFileError> {
        let (mut topology, seed) = Topology::load(path)?;
        let unfit = |reason: String| LinkFileError::Unfit {
            name: path.display().to_string(),
            reason,
        };
        let missing = |error: NetworkError| unfit(error.to_string());
        let measured = topology.link_named(FORWARD).map_err(|error| {
            let route = topology.route(LEFT, RIGHT).unwrap_or_default();
            let names: Vec<_> = route
                .iter()
                .flat_map(|link| topology.link_name(*link))
                .collect();
            unfit(match names.join(", ") {
                names if names.is_empty() => error.to_string(),
                names => format!("{error} (from {LEFT} to {RIGHT} leads {names})"),
            })
        })?;
        let ways = [(LEFT, RIGHT), (RIGHT, LEFT)];
        let mut base_rtt = Nanos::ZERO;
        for (from, to) in ways {
            let route = topology.route(from, to).map_err(missing)?;
            if route.is_empty() {
                return Err(unfit(format!("no links lead from {from} to {to}")));
            }
            for link in &route {
                if let (Some(name), Some(config)) =
                    (topology.link_name(*link), topology.config(*link))
                {
                    passes_a_handshake(path, name, config)?;
                }
            }
            base_rtt = base_rtt + delay(&topology, &route);
        }
        let Some(config) = topology.config_mut(measured) else {
            return Err(unfit(format!("there is no link {FORWARD}")));
        };
        if config.shaper == Shaper::Unlimited {
            let reason = "it is unlimited, and needs a rate to be measured";
            return Err(blame_link(path, FORWARD, "unlimited", reason).into());
        }
        config.log = true;
        let forward = config.clone();
        let empty = Link::new(forward.clone(), 0).map_err(|error| unfit(error.to_string()))?;
        let digest = digest_of(&topology).map_err(|error| unfit(error.to_string()))?;
        Ok(Self {
            path: path.to_owned(),
            topology,
            digest,
            seed,
            forward,
            base_rtt: base_rtt.into(),
            empty: Arc::new(empty),
        })
    }

    /// The two links of a file that has no others: the way of the data, and the way back.
    ///
    /// # Errors
    /// The file cannot be read, does not describe a network, or one that is more than that.
    pub fn load_duplex(path: &Path) -> Result<(Duplex, Option<u64>), LinkFileError> {
        let (topology, seed) = Topology::load(path)?;
        let links = topology.duplex().map_err(|error| LinkFileError::Unfit {
            name: path.display().to_string(),
            reason: error.to_string(),
        })?;
        for (name, config) in [(FORWARD, &links.forward), (REVERSE, &links.reverse)] {
            passes_a_handshake(path, name, config)?;
        }
        Ok((links, seed))
    }

    /// The network. Its link `forward` keeps a log.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Says where the file is at odds with what was added to its network.
    pub(crate) fn blame(&self, error: NetworkError) -> NetworkFileError {
        blame(&self.path, error)
    }

    /// The seed that the file names.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The data link.
    pub fn forward(&self) -> &LinkConfig {
        &self.forward
    }

    /// The shortest round-trip time of an empty path, by propagation alone.
    pub fn base_rtt(&self) -> Duration {
        self.base_rtt
    }

    /// The bytes that the data link can carry after `from` and up to `to`.
    pub fn capacity(&self, from: Duration, to: Duration) -> f64 {
        self.empty.capacity(from.into(), to.into()) as f64
    }
}

/// The propagation delay of some links in a row.
fn delay(topology: &Topology, links: &[LinkId]) -> Nanos {
    let configs = links.iter().filter_map(|link| topology.config(*link));
    configs.fold(Nanos::ZERO, |sum, link| sum + link.delay.min())
}

/// Refuses a queue into which no full packet of QUIC's handshake fits: no connection would ever begin.
fn passes_a_handshake(
    path: &Path,
    name: &str,
    config: &LinkConfig,
) -> Result<(), NetworkFileError> {
    let key = "queue_bytes";
    match limit_of(&config.queue).and_then(|limit| limit.bytes) {
        Some(bytes) if bytes < HANDSHAKE_PACKET_BYTES => {
            let reason = ConfigError::OutOfRange {
                what: key,
                value: bytes as f64,
                range: "at least 1252, as a packet of QUIC's handshake",
            };
            Err(blame_link(path, name, key, reason))
        }
        _ => Ok(()),
    }
}

/// Says where a file is at fault.
fn blame(path: &Path, error: NetworkError) -> NetworkFileError {
    NetworkFileError::of(error, &text(path), &path.display().to_string())
}

/// Says where a link of a file is at fault.
fn blame_link(path: &Path, link: &str, key: &str, reason: impl ToString) -> NetworkFileError {
    let name = path.display().to_string();
    NetworkFileError::of_link(link, key, reason, &text(path), &name)
}

/// A file's text once more. Without it the first line will do.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What bounds a queue.
fn limit_of(queue: &Queue) -> Option<Limit> {
    match queue {
        Queue::DropTail(limit) | Queue::DropHead(limit) => Some(*limit),
        Queue::CoDel(codel) => codel.limit,
        Queue::FqCoDel(fair) => fair.codel.limit,
        Queue::Pie(pie) => pie.limit,
        Queue::Red(red) => red.limit,
        Queue::StepMark(step) => step.limit,
        _ => None,
    }
}

/// A queue in a few words: `3MB`, `codel`, `fq-codel 10240p ecn`.
pub fn queue_label(queue: &Queue) -> String {
    let (name, ecn) = match queue {
        Queue::Infinite => return "inf".to_owned(),
        Queue::DropTail(_) => (None, false),
        Queue::DropHead(_) => (Some("drop-head"), false),
        Queue::CoDel(codel) => (Some("codel"), codel.ecn),
        Queue::FqCoDel(fair) => (Some("fq-codel"), fair.codel.ecn),
        Queue::Pie(pie) => (Some("pie"), pie.ecn),
        Queue::Red(red) => (Some("red"), red.ecn),
        Queue::StepMark(_) => (Some("step-mark"), true),
        _ => (Some("another"), false),
    };
    let limit = limit_of(queue).map(limit_label);
    let parts = [
        name.map(str::to_owned),
        limit,
        ecn.then(|| "ecn".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" ")
}

fn limit_label(limit: Limit) -> String {
    let parts = [
        limit.bytes.map(format_size),
        limit.packets.map(|packets| format!("{packets}p")),
        limit.time.map(|time| format_time(time.into())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The data link.
const FORWARD: &str = "forward";
/// The senders' node.
const LEFT: &str = "left";
/// The receiver's node.
const RIGHT: &str = "right";

/// The link back, in a file of two links.
const REVERSE: &str = "reverse";

/// The least of a datagram that begins a connection ([RFC 9000, section 14.1](https://www.rfc-editor.org/rfc/rfc9000#section-14.1)),
/// with the headers of UDP over IPv6 and a trace's framing.
pub(crate) const HANDSHAKE_PACKET_BYTES: u64 = 1252;

#[cfg(test)]
mod tests {
    use kneepoint_emulator::link::{CoDel, FqCoDel};

    use super::*;

    #[test]
    fn queues_have_short_names() {
        for (queue, label) in [
            (Queue::Infinite, "inf"),
            (Queue::DropTail(Limit::bytes(3_000_000)), "3MB"),
            (Queue::DropHead(Limit::packets(100)), "drop-head 100p"),
            (Queue::CoDel(CoDel::default()), "codel"),
            (Queue::FqCoDel(FqCoDel::default()), "fq-codel 10240p ecn"),
            (Queue::DropTail(Limit::time(Nanos::from_millis(20))), "20ms"),
        ] {
            assert_eq!(queue_label(&queue), label);
        }
    }
}
