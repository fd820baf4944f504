//! Runs a scenario with one controller over real QUIC connections, in virtual time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::link::{ConfigError, Fate, Record};
use kneepoint_emulator::network::{Direction, Network, NetworkError};
use kneepoint_emulator::sim::{SimError, Simulation};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use thiserror::Error;

use crate::bulk::{End, Flow, send, serve};
use crate::controllers::Contestant;
use crate::metrics::{Delivery, Observation, Timeline};
use crate::scenario::{START_SPREAD, Scenario};

/// Why a scenario could not be run to its deadline. A connection that closes is no such reason: it is a result.
#[derive(Debug, Error)]
pub enum RunError {
    /// The emulator refused the link.
    #[error("cannot emulate this link: {0}")]
    Link(#[from] ConfigError),
    /// The emulator refused the network.
    #[error("cannot emulate this network: {0}")]
    Network(#[source] Box<NetworkError>),
    /// A socket could not be bound in the simulation.
    #[error("cannot open a simulated socket: {0}")]
    Socket(#[from] io::Error),
    /// An application that only one stack has.
    #[error("flow {flow}: over noq there are only greedy and silent applications")]
    Application {
        /// The flow's place among the flows, from 0.
        flow: usize,
    },
    /// The simulation stopped before the deadline.
    #[error("the simulation stopped early: {0}")]
    Simulation(#[from] SimError),
}

impl From<NetworkError> for RunError {
    fn from(error: NetworkError) -> Self {
        // It is far larger than the others, and rare.
        Self::Network(Box::new(error))
    }
}

/// Runs `scenario` with every sender under `contestant`'s controllers, and both ends on its QUIC stack.
///
/// `progress` is told, about once per virtual second, how much virtual time has passed since it was last told.
///
/// # Errors
/// When the scenario cannot be set up, or the simulation stops before the deadline.
pub fn run(
    scenario: &Scenario,
    contestant: &Contestant,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Observation, RunError> {
    let hosts = Simulation::builder().hosts(scenario.host.clone());
    let simulation = hosts.build(Network::new(scenario.network())?);
    let mut seeds = Pcg64::seed_from_u64(scenario.seed);
    let flows: Vec<Flow> = (0..scenario.flows)
        .map(|_| Flow::new(&simulation))
        .collect();

    let server = End {
        address: SERVER,
        seed: seeds.next_u64(),
    };
    let goodputs = (0..)
        .zip(&flows)
        .map(|(index, flow)| (client_address(index), Arc::clone(&flow.goodput)))
        .collect();
    serve(&simulation, contestant, server, goodputs)?;

    for (index, flow) in (0..).zip(&flows) {
        let start = match scenario.flows {
            1 => Duration::ZERO,
            _ => START_SPREAD.mul_f64(seeds.random::<f64>()),
        };
        let client = End {
            address: client_address(index),
            seed: seeds.next_u64(),
        };
        send(&simulation, contestant, flow, client, start, SERVER)?;
    }

    let mut reached = Duration::ZERO;
    while reached < scenario.duration {
        let step = PROGRESS_STEP.min(scenario.duration - reached);
        reached += step;
        simulation.run_until(reached.into())?;
        progress(step);
    }
    Ok(observe(scenario, &simulation, &flows))
}

/// What was measured, up to the deadline and no further.
fn observe(scenario: &Scenario, simulation: &Simulation, flows: &[Flow]) -> Observation {
    let mut observation = Observation {
        duration: scenario.duration,
        capacity: Timeline::bin_borders(scenario.duration)
            .windows(2)
            .map(|border| scenario.link.capacity(border[0], border[1]))
            .collect(),
        ..Observation::default()
    };
    for flow in flows {
        let (flow, rtts) = flow.observe();
        observation.flows.push(flow);
        observation.rtts.extend(rtts);
    }
    simulation.with_network(|network| {
        let link = network.link(Direction::Forward);
        let statistics = link.statistics();
        observation.offered = statistics.offered.packets;
        observation.dropped = statistics.lost.packets + statistics.queue_full.packets;
        observation.deliveries = link
            .log()
            .map_or(&[][..], |log| log.records())
            .iter()
            .filter_map(|record| delivery(record, scenario.duration))
            .collect();
    });
    observation
}

/// A packet that the data link served by the deadline.
fn delivery(record: &Record, deadline: Duration) -> Option<Delivery> {
    let Fate::Sent { departure, .. } = record.fate else {
        return None;
    };
    let departure = Duration::from(departure);
    (departure <= deadline).then(|| Delivery {
        arrival: record.arrival.into(),
        departure,
        wire_bytes: record.size,
    })
}

fn client_address(flow: u16) -> SocketAddr {
    SocketAddr::new(CLIENT_HOST.into(), FIRST_CLIENT_PORT + flow)
}

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1)), 4433);
const CLIENT_HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FIRST_CLIENT_PORT: u16 = 10_000;

/// How often progress is reported, in virtual time.
const PROGRESS_STEP: Duration = Duration::from_secs(1);
