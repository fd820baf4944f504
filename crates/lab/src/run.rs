//! Runs a scenario with one controller over real QUIC connections, in virtual time.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use kneepoint_emulator::link::{ConfigError, Fate, Record, Statistics};
use kneepoint_emulator::network::{Direction, Duplex, Network, NetworkError, Topology};
use kneepoint_emulator::sim::{SimError, Simulation};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use thiserror::Error;

use crate::bulk::{End, Flow, send, serve};
use crate::controllers::{Contestant, Stack};
use crate::metrics::{Delivery, FlowObservation, Observation, Timeline};
use crate::scenario::{START_SPREAD, Scenario};
use crate::trial::{FlowPlan, LinkOutcome, Packets, Trial};
use crate::workload::Workload;

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
    let flows = usize::try_from(scenario.flows).unwrap_or(usize::MAX);
    run_mix(scenario, &vec![contestant.clone(); flows], progress)
}

/// Runs `scenario` with one sender for each of `contestants`, whatever [`Scenario::flows`] says.
///
/// `progress` is told, about once per virtual second, how much virtual time has passed since it was last told.
///
/// # Errors
/// When the scenario cannot be set up, or the simulation stops before the deadline.
pub fn run_mix(
    scenario: &Scenario,
    contestants: &[Contestant],
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Observation, RunError> {
    match scenario.workload {
        Workload::Bulk => bulk(scenario, contestants, progress),
        workload => applications(scenario, workload, contestants, progress),
    }
}

/// The bulk applications, which have their own code: nothing but the controller limits them.
fn bulk(
    scenario: &Scenario,
    contestants: &[Contestant],
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Observation, RunError> {
    let hosts = Simulation::builder().hosts(scenario.host.clone());
    let simulation = hosts.build(Network::new(scenario.network())?);
    let mut seeds = Pcg64::seed_from_u64(scenario.seed);
    let flows: Vec<Flow> = contestants.iter().map(|_| Flow::new(&simulation)).collect();

    let mut servers: Vec<(Stack, SocketAddr)> = Vec::new();
    for contestant in contestants {
        let stack = contestant.stack();
        if servers.iter().any(|&(other, _)| other == stack) {
            continue;
        }
        let address = server_address(servers.len());
        servers.push((stack, address));
        let seed = seeds.next_u64();
        let received = (0..)
            .zip(&flows)
            .map(|(index, flow)| (client_address(index), flow.received.clone()))
            .collect();
        serve(&simulation, contestant, End { address, seed }, received)?;
    }

    for (index, (flow, contestant)) in (0..).zip(flows.iter().zip(contestants)) {
        let start = start(scenario, contestants.len(), index.into(), &mut seeds);
        let client = End {
            address: client_address(index),
            seed: seeds.next_u64(),
        };
        let server = servers
            .iter()
            .find(|(stack, _)| *stack == contestant.stack());
        let server = server.map_or(SERVER, |&(_, address)| address);
        send(&simulation, contestant, flow, client, start, server)?;
    }

    run_in_steps(&simulation, scenario.duration, progress)?;
    let mut observed: Vec<_> = flows
        .iter()
        .map(|flow| flow.observe(scenario.duration))
        .collect();
    Ok(simulation.with_network(|network| {
        let link = network.link(Direction::Forward);
        let log = link.log();
        let sources = log.map_or_else(BTreeMap::new, Packets::by_source);
        for (index, (flow, _)) in (0..).zip(&mut observed) {
            let packets = sources.get(&client_address(index));
            flow.packets = packets.copied().unwrap_or_default();
        }
        let records = log.map_or(&[][..], |log| log.records());
        observation(scenario, observed, records, link.statistics())
    }))
}

/// All other applications: those of a trial over the scenario's network.
fn applications(
    scenario: &Scenario,
    workload: Workload,
    contestants: &[Contestant],
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Observation, RunError> {
    let network = scenario.network();
    let end = scenario.duration;
    let mut seeds = Pcg64::seed_from_u64(scenario.seed);
    let flows = (0..).zip(contestants).map(|(index, contestant)| {
        let start = start(scenario, contestants.len(), index, &mut seeds);
        FlowPlan {
            application: workload.phases(start, end),
            ..FlowPlan::greedy(contestant.clone(), start, end)
        }
    });
    let trial = Trial {
        flows: flows.collect(),
        topology: Topology::point_to_point(Duplex {
            forward: network.forward,
            reverse: network.reverse,
        }),
        duration: end,
        interval: None,
        seed: scenario.seed,
    };
    let outcome = trial.run_on(&scenario.host, progress)?;
    let nothing = LinkOutcome::default();
    let link = outcome.links.get("forward").unwrap_or(&nothing);
    let observed = outcome.flows.into_iter().map(|flow| {
        let packets = flow.address.and_then(|address| link.sources.get(&address));
        let packets = packets.copied().unwrap_or_default();
        flow.observation(end, packets)
    });
    let observed = observed.collect();
    Ok(observation(
        scenario,
        observed,
        &link.records,
        &link.statistics,
    ))
}

/// When a flow starts.
fn start(scenario: &Scenario, flows: usize, index: u32, seeds: &mut Pcg64) -> Duration {
    match flows {
        1 => Duration::ZERO,
        _ if scenario.start_gap > Duration::ZERO => scenario.start_gap.saturating_mul(index),
        _ => START_SPREAD.mul_f64(seeds.random::<f64>()),
    }
}

/// Runs a simulation until a time, and tells `progress` of each step.
pub(crate) fn run_in_steps(
    simulation: &Simulation,
    duration: Duration,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<(), SimError> {
    let mut reached = Duration::ZERO;
    while reached < duration {
        let step = PROGRESS_STEP.min(duration - reached);
        reached += step;
        simulation.run_until(reached.into())?;
        progress(step);
    }
    Ok(())
}

/// What was measured, up to the deadline and no further.
fn observation(
    scenario: &Scenario,
    flows: Vec<(FlowObservation, Vec<u64>)>,
    records: &[Record],
    statistics: &Statistics,
) -> Observation {
    let mut observation = Observation {
        duration: scenario.duration,
        offered: statistics.offered.packets,
        dropped: statistics.lost.packets + statistics.queue_full.packets,
        deliveries: records
            .iter()
            .filter_map(|record| delivery(record, scenario.duration))
            .collect(),
        capacity: Timeline::bin_borders(scenario.duration)
            .windows(2)
            .map(|border| scenario.link.capacity(border[0], border[1]))
            .collect(),
        ..Observation::default()
    };
    for (flow, rtts) in flows {
        observation.flows.push(flow);
        observation.rtts.extend(rtts);
    }
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

/// Each stack has a server.
fn server_address(number: usize) -> SocketAddr {
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    SocketAddr::new(SERVER.ip(), SERVER.port().saturating_add(number))
}

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1)), 4433);
const CLIENT_HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FIRST_CLIENT_PORT: u16 = 10_000;

/// How often progress is reported, in virtual time.
const PROGRESS_STEP: Duration = Duration::from_secs(1);
