//! A network, and the flows over it.

use std::net::SocketAddr;
use std::sync::Arc;

use kneepoint::ControllerSpec;
use kneepoint::emulator::link::{Interval, LinkConfig, Loss, Queue, RateStep, Shaper};
use kneepoint::emulator::network::{CrossTraffic, Duplex, Network, Pattern, Topology};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::Factory;
use quinn::TransportConfig;
use quinn::congestion::{CubicConfig, NewRenoConfig};

#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) shape: Shape,
    /// The bottlenecks: one, or those of a parking lot.
    pub(crate) hops: Vec<Duplex>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) cross: Option<Pattern>,
    pub(crate) seed: u64,
    pub(crate) duration: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    PointToPoint,
    Dumbbell,
    ParkingLot,
}

/// A connection that carries so many bytes in either direction.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) controller: Controller,
    pub(crate) up: u64,
    pub(crate) down: u64,
    pub(crate) start: Nanos,
    /// In a parking lot: the bottlenecks before the one where it joins, and behind the one where it leaves.
    pub(crate) skips: (usize, usize),
}

#[derive(Debug, Clone)]
pub(crate) enum Controller {
    Ours(ControllerSpec),
    QuinnCubic,
    QuinnNewReno,
}

impl Scenario {
    pub(crate) fn network(&self) -> Network {
        let bottleneck = self.hops[0].clone();
        let mut topology = match self.shape {
            Shape::PointToPoint => Topology::point_to_point(bottleneck),
            Shape::Dumbbell => {
                let access = vec![access(); self.flows.len() + 1];
                Topology::dumbbell(bottleneck, &access, &access)
            }
            Shape::ParkingLot => Topology::parking_lot(&self.hops),
        };
        if let Some(pattern) = self.cross {
            let (from, to) = self.ends(self.flows.len(), (0, 0));
            let [source, sink] = [1, 2].map(|last| SocketAddr::from(([192, 0, 2, last], 1)));
            topology.host(&from, source).unwrap();
            topology.host(&to, sink).unwrap();
            topology.traffic(CrossTraffic {
                from: source,
                to: sink,
                pattern,
                // A quarter of the slowest bottleneck: half of it in the bursts of an on-off source.
                bytes_per_second: self.slowest() / 4,
                payload: 1200,
                ecn: None,
                start: Nanos::from_millis(500),
                stop: None,
            });
        }
        topology.build(self.seed).unwrap()
    }

    /// The nodes of the flow of that number.
    pub(crate) fn ends(&self, flow: usize, skips: (usize, usize)) -> (String, String) {
        match self.shape {
            Shape::PointToPoint => ("left".to_owned(), "right".to_owned()),
            Shape::Dumbbell => (format!("left-{}", flow + 1), format!("right-{}", flow + 1)),
            Shape::ParkingLot => {
                let first = skips.0 % self.hops.len();
                let last = self.hops.len() - skips.1 % (self.hops.len() - first);
                (format!("node-{first}"), format!("node-{last}"))
            }
        }
    }

    /// When nothing passes some of the links.
    pub(crate) fn outages(&self) -> Vec<Interval> {
        self.links().flat_map(outages).collect()
    }

    /// What a packet may need from end to end, and the others before it in the queues.
    pub(crate) fn max_trip(&self) -> Nanos {
        let trips = self.links().map(|link| {
            let held = match link.queue {
                Queue::DropTail(limit) | Queue::DropHead(limit) => {
                    limit.bytes.or(limit.packets.map(|packets| packets * 1500))
                }
                _ => None,
            };
            let held = held.unwrap_or(self.flows.len() as u64 * RECEIVE_WINDOW);
            Nanos(held * 1_000_000_000 / slowest(link)) + MAX_DELAY
        });
        trips.fold(Nanos::ZERO, |sum, trip| sum + trip)
    }

    fn slowest(&self) -> u64 {
        self.links().map(slowest).min().unwrap()
    }

    fn links(&self) -> impl Iterator<Item = &LinkConfig> {
        let pairs = self.hops.iter();
        pairs.flat_map(|pair| [&pair.forward, &pair.reverse])
    }
}

impl Controller {
    pub(crate) fn transport(&self, seed: u64) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        match self {
            Self::Ours(spec) => {
                let factory = Factory::from(spec.clone()).seed(seed);
                transport.congestion_controller_factory(Arc::new(factory));
            }
            Self::QuinnCubic => {
                transport.congestion_controller_factory(Arc::new(CubicConfig::default()));
            }
            Self::QuinnNewReno => {
                transport.congestion_controller_factory(Arc::new(NewRenoConfig::default()));
            }
        }
        let window = u32::try_from(RECEIVE_WINDOW).unwrap();
        transport.receive_window(window.into());
        transport.stream_receive_window(window.into());
        Arc::new(transport)
    }
}

/// Fast enough not to matter.
fn access() -> Duplex {
    Duplex::both(LinkConfig {
        delay: Nanos::from_millis(2).into(),
        ..LinkConfig::constant(12_500_000)
    })
}

/// The least rate at which a link carries anything, in bytes per second.
fn slowest(link: &LinkConfig) -> u64 {
    let rate = match &link.shaper {
        Shaper::ConstantRate { bytes_per_second }
        | Shaper::TokenBucket {
            bytes_per_second, ..
        } => *bytes_per_second,
        Shaper::Trace(trace) => trace.mean_rate() as u64,
        Shaper::Schedule(steps) => {
            let rates = steps.iter().map(|step| step.bytes_per_second);
            rates.filter(|rate| *rate > 0).min().unwrap()
        }
        shaper => panic!("{shaper:?} is not among the scenarios"),
    };
    let policed = link.policer.map(|policer| policer.bytes_per_second);
    policed.map_or(rate, |policed| rate.min(policed))
}

fn outages(link: &LinkConfig) -> Vec<Interval> {
    let mut outages = link.impairments.blackouts.clone();
    if let Loss::Intervals(intervals) = &link.loss {
        outages.extend(intervals);
    }
    if let Shaper::Schedule(steps) = &link.shaper {
        let pairs = steps.windows(2).map(|pair| (pair[0], pair[1].from));
        let dead = pairs.filter(|(step, _)| step.bytes_per_second == 0);
        outages.extend(dead.map(|(RateStep { from, .. }, to)| Interval { from, to }));
    }
    outages
}

/// What a receiver lets its peer send ahead, in bytes: what a queue without a limit holds of a flow.
const RECEIVE_WINDOW: u64 = 150_000;
/// Propagation, jitter, reordering and aggregation of a link.
const MAX_DELAY: Nanos = Nanos::from_millis(250);
