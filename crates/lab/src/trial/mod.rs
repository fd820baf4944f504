//! Several connections over one network, each with a controller, a start and an application of its own.

mod outcome;

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::network::{Network, Topology};
use kneepoint_emulator::sim::{Handle, Simulation, Socket};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

pub use self::outcome::{FlowOutcome, LinkOutcome, Outcome, Packets, RttSample};
use crate::controllers::{Candidate, Stack};
use crate::probe::Recorder;
use crate::run::{RunError, run_in_steps};
use crate::stack::{Connection, Endpoint, FLOW_CONTROL_WINDOW, Limits};
use crate::watch::Sample;
use crate::workload::{Clock, Load, Phase, Received, receive, send_noting};

/// Several connections over one network.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct Trial {
    /// Nodes and links. The flows' hosts are attached by the trial.
    pub topology: Topology,
    /// The connections.
    pub flows: Vec<FlowPlan>,
    /// When everything ends.
    pub duration: Duration,
    /// The time between two looks at each controller; nobody looks if absent.
    pub interval: Option<Duration>,
    /// The source of all randomness.
    pub seed: u64,
}

/// One connection.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct FlowPlan {
    /// Makes the sender's controller, and says over which stack it runs. Only flows of one trial may share it: it numbers
    /// their controllers as they connect.
    pub controller: Candidate,
    /// The node at which the sender is.
    pub sender: String,
    /// The node at which the receiver is.
    pub receiver: String,
    /// When the sender connects.
    pub start: Duration,
    /// What it does then, phase by phase.
    pub application: Vec<Phase>,
}

impl FlowPlan {
    /// A flow from `left` to `right` that sends as much as it can, from `start` to `end`.
    pub fn greedy(controller: impl Into<Candidate>, start: Duration, end: Duration) -> Self {
        Self {
            controller: controller.into(),
            sender: "left".to_owned(),
            receiver: "right".to_owned(),
            start,
            application: vec![Load::Greedy.until(end)],
        }
    }

    /// Silence closes a connection only if its application is never silent.
    fn limits(&self) -> Limits {
        let greedy = |phase: &Phase| phase.load == Load::Greedy;
        Limits {
            idle_timeout: self.application.iter().all(greedy),
            ..LIMITS
        }
    }

    /// Where the receiver is, and over which stack.
    fn server(&self) -> (String, Stack) {
        (self.receiver.clone(), self.controller.stack())
    }

    /// The same between other nodes.
    #[must_use]
    pub fn between(mut self, sender: impl Into<String>, receiver: impl Into<String>) -> Self {
        self.sender = sender.into();
        self.receiver = receiver.into();
        self
    }
}

/// What is seen of a flow while it runs.
#[derive(Clone)]
struct Observer {
    recorder: Recorder,
    received: Received,
    samples: Moments,
    closed: Arc<Mutex<Option<String>>>,
}

impl Trial {
    /// Flows over a network, with the seed 1 and nobody who looks at their controllers.
    pub const fn new(topology: Topology, flows: Vec<FlowPlan>, duration: Duration) -> Self {
        Self {
            topology,
            flows,
            duration,
            interval: None,
            seed: 1,
        }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When the network cannot be emulated, or the simulation stops early.
    pub fn run(&self) -> Result<Outcome, RunError> {
        self.carry_out(
            |network| Simulation::builder().tokio(false).build(network),
            &|_| (),
        )
    }

    /// Runs it to its end, on hosts that take time, except where the topology has a host of its own.
    ///
    /// `progress` is told, about once per virtual second, how much virtual time has passed since it was last told.
    ///
    /// # Errors
    /// When the network cannot be emulated, or the simulation stops early.
    pub fn run_on(
        &self,
        hosts: &HostConfig,
        progress: &(dyn Fn(Duration) + Sync),
    ) -> Result<Outcome, RunError> {
        let hosts = Simulation::builder().tokio(false).hosts(hosts.clone());
        self.carry_out(|network| hosts.build(network), progress)
    }

    fn carry_out(
        &self,
        simulation: impl FnOnce(Network) -> Simulation,
        progress: &(dyn Fn(Duration) + Sync),
    ) -> Result<Outcome, RunError> {
        let mut topology = self.topology.clone();
        let servers = self.attach(&mut topology)?;
        let simulation = simulation(topology.build(self.seed)?);
        let handle = simulation.handle();
        let clock = Clock::new(handle.runtime());
        let mut seeds = Pcg64::seed_from_u64(self.seed);

        let observers: Vec<Observer> = self
            .flows
            .iter()
            .map(|flow| Observer {
                recorder: Recorder::new(handle.instant()),
                received: Received::expecting(&flow.application),
                samples: Arc::default(),
                closed: Arc::default(),
            })
            .collect();
        for ((node, stack), address) in &servers {
            let socket = handle.bind_attached(*address)?;
            let seed = seeds.next_u64();
            let senders: HashMap<SocketAddr, Received> = (0..)
                .zip(self.flows.iter().zip(&observers))
                .filter(|(_, (flow, _))| {
                    flow.receiver == *node && flow.controller.stack() == *stack
                })
                .map(|(index, (_, observer))| (client_address(index), observer.received.clone()))
                .collect();
            let serve = match stack {
                Stack::Quinn => serve::<quinn::Endpoint>,
                Stack::Noq => serve::<noq::Endpoint>,
            };
            serve(&handle, &clock, socket, seed, senders)?;
        }
        for (index, (flow, observer)) in (0..).zip(self.flows.iter().zip(&observers)) {
            let socket = handle.bind_attached(client_address(index))?;
            let seed = seeds.next_u64();
            let Some(server) = servers.get(&flow.server()).copied() else {
                continue;
            };
            let sender = Sender {
                limits: flow.limits(),
                clock: clock.clone(),
                start: flow.start,
                application: flow.application.clone(),
                observer: observer.clone(),
                server,
                interval: self.interval,
            };
            match &flow.controller {
                Candidate::Quinn(factory) => {
                    let endpoint = quinn::Endpoint::simulated(&handle, socket, seed, None)?;
                    clock.spawn(sender.live(endpoint, Arc::clone(factory)));
                }
                Candidate::Noq(factory) => {
                    let endpoint = noq::Endpoint::simulated(&handle, socket, seed, None)?;
                    clock.spawn(sender.live(endpoint, Arc::clone(factory)));
                }
            }
        }
        run_in_steps(&simulation, self.duration, progress)?;

        let flows = (0..)
            .zip(&observers)
            .map(|(index, observer)| observer.outcome(client_address(index)))
            .collect();
        let links = simulation.with_network(|network| {
            network
                .links()
                .map(|(name, link)| (name.to_owned(), LinkOutcome::new(link)))
                .collect()
        });
        Ok(Outcome {
            duration: self.duration,
            flows,
            links,
        })
    }

    /// Attaches every sender, and to each node that has receivers one for each stack.
    fn attach(
        &self,
        topology: &mut Topology,
    ) -> Result<BTreeMap<(String, Stack), SocketAddr>, RunError> {
        let mut servers = BTreeMap::new();
        for (index, flow) in (0..).zip(&self.flows) {
            topology.host(&flow.sender, client_address(index))?;
            let number = u16::try_from(servers.len()).unwrap_or(u16::MAX);
            if let Entry::Vacant(server) = servers.entry(flow.server()) {
                let address = server_address(number);
                topology.host(&flow.receiver, address)?;
                server.insert(address);
            }
        }
        Ok(servers)
    }
}

impl Observer {
    /// The sender is done, because its connection closed if there is a reason.
    fn close(&self, reason: Option<String>) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    fn outcome(&self, address: SocketAddr) -> FlowOutcome {
        let recording = self.recorder.take();
        let samples = &mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        FlowOutcome {
            rtts: recording.rtts,
            acked_bytes: recording.acked_bytes,
            lost_bytes: recording.lost_bytes,
            windows: recording.windows,
            received: self.received.bins(),
            messages: self.received.messages(),
            samples: std::mem::take(samples),
            closed: closed.clone(),
            address: Some(address),
            due: self.received.due().series(),
        }
    }
}

/// Reads all that comes to a socket, and sorts it by the address that it comes from.
fn serve<E: Endpoint>(
    handle: &Handle,
    clock: &Clock,
    socket: Arc<Socket>,
    seed: u64,
    senders: HashMap<SocketAddr, Received>,
) -> io::Result<()> {
    let endpoint = E::simulated(handle, socket, seed, Some(LIMITS))?;
    clock.spawn(receive(clock.clone(), endpoint, senders));
    Ok(())
}

/// What a sender needs to know.
struct Sender {
    limits: Limits,
    clock: Clock,
    start: Duration,
    application: Vec<Phase>,
    observer: Observer,
    server: SocketAddr,
    /// Between two looks at the controller.
    interval: Option<Duration>,
}

impl Sender {
    /// From its start to the end of its phases or of its connection.
    async fn live<E: Endpoint>(self, endpoint: E, factory: E::Factory) {
        self.clock.sleep_until(self.start).await;
        let recorder = &self.observer.recorder;
        let reason = match endpoint.connect(self.server, self.limits, &factory, recorder) {
            Err(error) => Some(format!("cannot connect: {error}")),
            Ok(handshake) => match handshake.await {
                Err(error) => Some(format!("handshake failed: {error}")),
                Ok(connection) => {
                    self.perform(&connection).await;
                    connection.close_reason()
                }
            },
        };
        self.observer.close(reason);
    }

    async fn perform<C: Connection>(&self, connection: &C) {
        if let Some(interval) = self.interval {
            look(&self.clock, connection, interval, &self.observer.samples);
        }
        let due = self.observer.received.due();
        send_noting(&self.clock, connection, &self.application, due).await;
    }
}

/// What is seen of a controller.
pub(crate) type Moments = Arc<Mutex<Vec<Sample>>>;

/// Notes the state of a connection's controller at regular moments, until it closes.
pub(crate) fn look<C: Connection>(
    clock: &Clock,
    connection: &C,
    interval: Duration,
    samples: &Moments,
) {
    let (clock_of_task, connection, samples) =
        (clock.clone(), connection.clone(), Arc::clone(samples));
    clock.spawn(async move {
        while connection.close_reason().is_none() {
            // One that is not ours has no state to show.
            if let Some(snapshot) = connection.snapshot() {
                let at = clock_of_task.now();
                let mut samples = samples.lock().unwrap_or_else(PoisonError::into_inner);
                samples.push(Sample { at, snapshot });
            }
            clock_of_task.sleep(interval).await;
        }
    });
}

/// Neither the sender's buffer nor silence ends anything.
pub(crate) const LIMITS: Limits = Limits {
    send_window: FLOW_CONTROL_WINDOW as u64,
    idle_timeout: false,
};

fn client_address(flow: u16) -> SocketAddr {
    SocketAddr::new(CLIENT_HOST, FIRST_CLIENT_PORT.saturating_add(flow))
}

fn server_address(number: u16) -> SocketAddr {
    SocketAddr::new(SERVER_HOST, FIRST_SERVER_PORT.saturating_add(number))
}

const CLIENT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1));
const FIRST_CLIENT_PORT: u16 = 10_000;
const FIRST_SERVER_PORT: u16 = 4433;

#[cfg(test)]
mod tests;
