//! One fault on one path.

use std::net::SocketAddr;
use std::time::Duration;

use kneepoint_emulator::host::{Distribution, HostConfig, OtherWork};
use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::{NetworkError, Rebinding, Topology};
use serde::Serialize;

use super::fault::Fault;
use crate::frontier::Path;
use crate::trial::{Dialer, client_address, receiver_address, server_address};
use crate::workload::{Load, Phase};

/// A path, a fault on it, and what the sender has to send.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// The kind of fault.
    pub fault: Fault,
    /// The name, which is unique among the faults of the kind.
    pub name: String,
    /// The bottleneck.
    pub path: Path,
    /// What happens beside what the path does by itself.
    pub change: Change,
    /// Who connects.
    pub dialer: Dialer,
    /// What the sender does.
    pub application: Vec<Phase>,
    /// When the fault is over: recovery counts from here, and so do the queue and the losses.
    pub over: Duration,
    /// When the run ends.
    pub duration: Duration,
    /// What a controller must keep to, if the fault has a bound.
    pub bound: Option<Bound>,
}

/// What happens to a connection when the fault is over, beside what its path does by itself.
#[derive(Debug, Clone, Serialize)]
pub enum Change {
    /// Nothing.
    None,
    /// Packets take this path from then on. What is on its way arrives.
    Route(Path),
    /// The one who connected moves to another network, to which this path leads.
    Migration(Path),
    /// A translator gives the one who connected this address, and neither end is told.
    Rebinding(SocketAddr),
    /// Until then the host at this node was stopped for a second, and is again as long after as it had run before.
    Pause(&'static str),
}

/// What a controller must keep to after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Bound {
    /// 90 % of the link so long after the first packet that gets through.
    Regain(Duration),
    /// A queue shorter than [`CALM`] base RTTs, so many base RTTs after the link could have sent what was on its way.
    Calm(f64),
}

/// In base RTTs: a queue below is short.
pub const CALM: f64 = 2.0;

impl Case {
    /// Bulk data from beginning to end, for so long beyond the fault.
    pub(super) fn bulk(
        fault: Fault,
        name: impl Into<String>,
        path: Path,
        over: Duration,
        rest: Duration,
    ) -> Self {
        let duration = over + rest;
        Self {
            fault,
            name: name.into(),
            path,
            change: Change::None,
            dialer: Dialer::Sender,
            application: vec![Load::Greedy.until(duration)],
            over,
            duration,
            bound: None,
        }
    }

    /// The same with a bound.
    pub(super) fn bound(self, bound: Bound) -> Self {
        Self {
            bound: Some(bound),
            ..self
        }
    }

    /// The same with a change.
    pub(super) fn change(self, change: Change) -> Self {
        Self { change, ..self }
    }

    /// The same as a download: the receiver connects.
    pub(super) fn download(self) -> Self {
        Self {
            dialer: Dialer::Receiver,
            ..self
        }
    }

    /// The network, whose data links keep logs.
    ///
    /// # Errors
    /// Those of a network.
    pub fn topology(&self, host: &HostConfig) -> Result<Topology, NetworkError> {
        let logged = |path: &Path| LinkConfig {
            log: true,
            ..path.forward.clone()
        };
        let mut duplex = self.path.duplex();
        duplex.forward = logged(&self.path);
        let mut topology = Topology::point_to_point(duplex);
        let (mut left, mut right) = (topology.node("left"), topology.node("right"));
        match &self.change {
            Change::None => {}
            Change::Route(path) => {
                let (sender, receiver) = (client_address(0), server_address(0));
                let ways = [
                    (SECOND_LINK, left, right, logged(path), sender, receiver),
                    (
                        "reverse-2",
                        right,
                        left,
                        path.reverse.clone(),
                        receiver,
                        sender,
                    ),
                ];
                for (name, from, to, link, source, destination) in ways {
                    let link = topology.link(name, from, to, link);
                    topology.path_from(self.over.into(), source, destination, vec![link]);
                }
            }
            Change::Migration(path) => {
                let moved = topology.node(MOVED);
                match self.dialer {
                    Dialer::Sender => left = moved,
                    Dialer::Receiver => right = moved,
                }
                topology.link(SECOND_LINK, left, right, logged(path));
                topology.link("reverse-2", right, left, path.reverse.clone());
            }
            Change::Rebinding(outside) => topology.rebind(Rebinding {
                at: self.over.into(),
                inside: match self.dialer {
                    Dialer::Sender => client_address(0),
                    Dialer::Receiver => receiver_address(0),
                },
                outside: *outside,
            }),
            Change::Pause(node) => {
                let mut host = host.clone();
                host.processor.others = Some(OtherWork {
                    gap: Distribution::Fixed(self.over.saturating_sub(STOPPED).into()),
                    slice: Distribution::Fixed(STOPPED.into()),
                });
                topology.hosts_at(node, host)?;
            }
        }
        Ok(topology)
    }

    /// When the one who connected moves, and where to.
    pub(super) fn migration(&self) -> Option<(Duration, String)> {
        matches!(self.change, Change::Migration(_)).then(|| (self.over, MOVED.to_owned()))
    }

    /// The path after the fault, and its data link.
    pub fn last_path(&self) -> (&Path, &'static str) {
        match &self.change {
            Change::Route(path) | Change::Migration(path) => (path, SECOND_LINK),
            _ => (&self.path, "forward"),
        }
    }

    /// The empty path's round-trip time after the fault.
    pub fn base_rtt(&self) -> Duration {
        self.last_path().0.base_rtt(self.over, self.duration)
    }

    /// About how many bytes its run moves.
    pub fn weight(&self) -> f64 {
        self.path.capacity(Duration::ZERO, self.duration)
    }
}

/// Where one is who has moved.
const MOVED: &str = "moved";

/// The data link of the path after the fault.
const SECOND_LINK: &str = "forward-2";

/// For how long a host is stopped.
const STOPPED: Duration = Duration::from_secs(1);
