//! A scenario of the suite.

use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::{Duplex, Topology};
use serde::Serialize;

use super::family::Family;
use super::path::{FAST_MBPS, Path, rate};
use crate::workload::{Load, Phase};

/// A scenario: a path, its end hosts, and the flows over it.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// The family.
    pub family: Family,
    /// The name, which is unique in the family.
    pub name: String,
    /// The bottleneck.
    pub path: Path,
    /// What time the end hosts take.
    pub host: HostConfig,
    /// The flows, in order.
    pub senders: Vec<Sender>,
    /// When the run ends.
    pub duration: Duration,
}

/// A flow.
#[derive(Debug, Clone, Serialize)]
pub struct Sender {
    /// Its controller.
    pub under: Under,
    /// When it connects.
    pub start: Duration,
    /// What it does then.
    pub application: Vec<Phase>,
    /// What its access link adds to the round-trip time.
    pub access_rtt: Duration,
}

/// A flow's controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Under {
    /// The controller under test.
    Test,
    /// The controller of this name, whatever is tested.
    Named(&'static str),
}

impl Sender {
    /// A flow of the controller under test that sends bulk data.
    pub(super) fn bulk(start: Duration, end: Duration) -> Self {
        Self::doing(vec![Phase {
            until: end,
            load: Load::Greedy,
        }])
        .from(start)
    }

    /// A flow of the controller under test with this application.
    pub(super) fn doing(application: Vec<Phase>) -> Self {
        Self {
            under: Under::Test,
            start: Duration::ZERO,
            application,
            access_rtt: Duration::ZERO,
        }
    }

    /// A flow of the controller under test that answers one request with so many bytes.
    pub(super) fn transfer(bytes: u64, start: Duration, end: Duration) -> Self {
        let load = Load::Calls {
            bytes,
            interval: end.max(MIN_INTERVAL),
            count: Some(1),
        };
        Self::doing(vec![Phase { until: end, load }]).from(start)
    }

    /// The same from a later time on.
    pub(super) fn from(mut self, start: Duration) -> Self {
        self.start = start;
        self
    }

    /// The same under another controller.
    pub(super) fn under(mut self, name: &'static str) -> Self {
        self.under = Under::Named(name);
        self
    }

    /// The same with an access link.
    pub(super) fn access_rtt(mut self, rtt: Duration) -> Self {
        self.access_rtt = rtt;
        self
    }

    /// When its application ends.
    pub(super) fn end(&self) -> Duration {
        let last = self.application.last();
        last.map_or(self.start, |phase| phase.until)
    }

    /// Whether it sends bulk data, rather than messages of which each one counts.
    pub(super) fn is_bulk(&self) -> bool {
        let bulk = |phase: &Phase| matches!(phase.load, Load::Greedy | Load::Silent);
        self.application.iter().all(bulk)
    }
}

impl Case {
    /// One flow of bulk data from beginning to end.
    pub(super) fn bulk(
        family: Family,
        name: impl Into<String>,
        path: Path,
        duration: Duration,
    ) -> Self {
        Self {
            family,
            name: name.into(),
            path,
            host: HostConfig::ideal(),
            senders: vec![Sender::bulk(Duration::ZERO, duration)],
            duration,
        }
    }

    /// The same with other flows.
    pub(super) fn senders(mut self, senders: Vec<Sender>) -> Self {
        self.senders = senders;
        self
    }

    /// The same with other hosts.
    pub(super) fn host(mut self, host: HostConfig) -> Self {
        self.host = host;
        self
    }

    /// About how many bytes its run moves.
    pub fn weight(&self) -> f64 {
        let capacity = self.path.capacity(Duration::ZERO, self.duration);
        if self.is_bulk() {
            capacity
        } else {
            capacity.min(MESSAGES)
        }
    }

    /// Whether all that is tested is bulk data.
    pub(super) fn is_bulk(&self) -> bool {
        let tested = |sender: &&Sender| sender.under == Under::Test;
        self.senders.iter().filter(tested).all(Sender::is_bulk)
    }

    /// The node at which a flow's sender is.
    pub(super) fn sender_node(&self, index: usize) -> String {
        if self.has_access_links() {
            format!("left-{}", index + 1)
        } else {
            "left".to_owned()
        }
    }

    /// The network: one link each way, and access links if the flows differ in their round-trip times.
    pub(super) fn topology(&self) -> Topology {
        let duplex = self.path.duplex();
        if !self.has_access_links() {
            return Topology::point_to_point(duplex);
        }
        let access: Vec<Duplex> = self
            .senders
            .iter()
            .map(|sender| {
                Duplex::both(LinkConfig {
                    delay: (sender.access_rtt / 2).into(),
                    ..LinkConfig::new(rate(FAST_MBPS))
                })
            })
            .collect();
        Topology::dumbbell(duplex, &access, &[])
    }

    fn has_access_links(&self) -> bool {
        let far = |sender: &Sender| !sender.access_rtt.is_zero();
        self.senders.iter().any(far)
    }
}

/// Requests need an interval, also if there is only one.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// What applications with messages move at most, about.
const MESSAGES: f64 = 20e6;
