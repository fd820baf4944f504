//! Several connections over one network, each with a controller, a start and an application of its own.

mod ends;
mod outcome;

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::network::{Network, NetworkError, Topology};
use kneepoint_emulator::sim::Simulation;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::Serialize;

use self::ends::{Dialing, Observer, Sender, begin, serve};
pub use self::outcome::{FlowOutcome, LinkOutcome, Outcome, Packets, RttSample};
use crate::controllers::{Candidate, Stack};
use crate::probe::Recorder;
use crate::qlog::{Failure, ForQvis, Watched};
use crate::replace::Replacement;
use crate::run::{RunError, run_in_steps};
use crate::stack::{Connection, Limits, Windows};
use crate::watch::Sample;
use crate::workload::{Clock, Load, Phase, Received};

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
    /// Flow control.
    pub windows: Windows,
    /// Who connects.
    pub dialer: Dialer,
    /// When the one who connects moves, if it does, and to which node: it gets another address there.
    pub migration: Option<(Duration, String)>,
    /// Where the sender's qlog goes, if it runs on quinn. Until the run has ended the file has another name, which ends in `.part`.
    pub qlog: Option<PathBuf>,
}

/// Who connects. In QUIC only this end may move to another address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Dialer {
    /// The sender: an upload.
    Sender,
    /// The receiver: a download.
    Receiver,
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
            windows: LIMITS.windows,
            dialer: Dialer::Sender,
            migration: None,
            qlog: None,
        }
    }

    /// What observes its controller, and writes its qlog into `log`.
    fn recorder(&self, epoch: Instant, log: &Log) -> Result<Recorder, RunError> {
        let recorder = Recorder::new(epoch);
        let (Some(path), Candidate::Quinn(_)) = (&self.qlog, &self.controller) else {
            return Ok(recorder);
        };
        let file = log.begin(path).map_err(|source| RunError::Qlog {
            path: path.clone(),
            source,
        })?;
        let title = path.file_stem().unwrap_or(path.as_os_str());
        let title = title.to_string_lossy().into_owned();
        let file = Watched::new(BufWriter::new(file), log.failure.clone());
        Ok(recorder.with_qlog(title, Box::new(ForQvis::new(file))))
    }

    /// Silence closes a connection only if its application is never silent.
    fn limits(&self) -> Limits {
        let greedy = |phase: &Phase| phase.load == Load::Greedy;
        Limits {
            windows: self.windows,
            idle_timeout: self.application.iter().all(greedy),
        }
    }

    /// The endpoint that waits for the sender; `None` if the sender waits.
    fn server(&self) -> Option<ServerKey> {
        let key = (self.receiver.clone(), self.controller.stack(), self.windows);
        (self.dialer == Dialer::Sender).then_some(key)
    }

    /// The same between other nodes.
    #[must_use]
    pub fn between(mut self, sender: impl Into<String>, receiver: impl Into<String>) -> Self {
        self.sender = sender.into();
        self.receiver = receiver.into();
        self
    }
}

/// The qlog of a flow. Its file has its name only once it is complete: what an interrupted run has left cannot be taken for a whole one.
#[derive(Debug, Default)]
struct Log {
    file: Mutex<Option<Replacement>>,
    /// Why it could not be written, if it could not.
    failure: Failure,
}

impl Log {
    /// Makes the file.
    fn begin(&self, path: &Path) -> io::Result<File> {
        let (file, replacement) = Replacement::begin(path)?;
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(replacement);
        Ok(file)
    }

    /// Gives the file its name, if there is one and all of it was written.
    fn end(self) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let file = self.file.into_inner();
        let file = file.unwrap_or_else(PoisonError::into_inner);
        file.map_or(Ok(()), Replacement::keep)
    }
}

/// The node of an endpoint that waits, its stack and its flow control.
type ServerKey = (String, Stack, Windows);

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
        let logs: Vec<Log> = self.flows.iter().map(|_| Log::default()).collect();
        let outcome = self.simulate(simulation, &logs, progress)?;
        // The connections are gone, and have written what they had to write.
        for (flow, log) in self.flows.iter().zip(logs) {
            if let (Some(path), Err(source)) = (&flow.qlog, log.end()) {
                let path = path.clone();
                return Err(RunError::Qlog { path, source });
            }
        }
        Ok(outcome)
    }

    fn simulate(
        &self,
        simulation: impl FnOnce(Network) -> Simulation,
        logs: &[Log],
        progress: &(dyn Fn(Duration) + Sync),
    ) -> Result<Outcome, RunError> {
        let mut topology = self.topology.clone();
        let servers = self.attach(&mut topology)?;
        let simulation = simulation(topology.build(self.seed)?);
        let handle = simulation.handle();
        let clock = Clock::new(handle.runtime());
        let mut seeds = Pcg64::seed_from_u64(self.seed);

        let observers = self.flows.iter().zip(logs).map(|(flow, log)| {
            Ok(Observer {
                recorder: flow.recorder(handle.instant(), log)?,
                received: Received::expecting(&flow.application),
                samples: Arc::default(),
                closed: Arc::default(),
            })
        });
        let observers: Vec<Observer> = observers.collect::<Result<_, RunError>>()?;
        for (key, address) in &servers {
            let socket = handle.bind_attached(*address)?;
            let seed = seeds.next_u64();
            let senders: HashMap<SocketAddr, Received> = (0..)
                .zip(self.flows.iter().zip(&observers))
                .filter(|(_, (flow, _))| flow.server().as_ref() == Some(key))
                .map(|(index, (_, observer))| (client_address(index), observer.received.clone()))
                .collect();
            let (_, stack, windows) = key;
            let limits = Limits {
                windows: *windows,
                ..LIMITS
            };
            let serve = match stack {
                Stack::Quinn => serve::<quinn::Endpoint>,
                Stack::Noq => serve::<noq::Endpoint>,
            };
            serve(&handle, &clock, socket, seed, limits, senders)?;
        }
        for (index, (flow, observer)) in (0..).zip(self.flows.iter().zip(&observers)) {
            let sender = Sender {
                limits: flow.limits(),
                clock: clock.clone(),
                start: flow.start,
                application: flow.application.clone(),
                observer: observer.clone(),
                interval: self.interval,
            };
            let socket = handle.bind_attached(client_address(index))?;
            let seed = seeds.next_u64();
            let server = flow.server().and_then(|key| servers.get(&key).copied());
            let dialing = match server {
                Some(server) => Dialing::Sender(server),
                None => Dialing::Receiver {
                    sender: client_address(index),
                    socket: handle.bind_attached(receiver_address(index))?,
                    seed: seeds.next_u64(),
                },
            };
            let moves = match &flow.migration {
                Some((at, _)) => Some((*at, handle.bind_attached(moved_address(index))?)),
                None => None,
            };
            match &flow.controller {
                Candidate::Quinn(factory) => {
                    let factory = Arc::clone(factory);
                    begin::<quinn::Endpoint>(
                        &handle, socket, seed, sender, factory, dialing, moves,
                    )?;
                }
                Candidate::Noq(factory) => {
                    let factory = Arc::clone(factory);
                    begin::<noq::Endpoint>(&handle, socket, seed, sender, factory, dialing, moves)?;
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

    /// Finds out whether the network can be emulated with the hosts of all flows.
    pub(crate) fn check(&self) -> Result<(), NetworkError> {
        let mut topology = self.topology.clone();
        self.attach(&mut topology)?;
        topology.build(self.seed).map(drop)
    }

    /// Attaches every sender, to each node that has receivers one for each stack and flow control, and what moves.
    fn attach(
        &self,
        topology: &mut Topology,
    ) -> Result<BTreeMap<ServerKey, SocketAddr>, NetworkError> {
        let mut servers = BTreeMap::new();
        for (index, flow) in (0..).zip(&self.flows) {
            topology.host(&flow.sender, client_address(index))?;
            if let Some((_, node)) = &flow.migration {
                topology.host(node, moved_address(index))?;
            }
            let Some(key) = flow.server() else {
                topology.host(&flow.receiver, receiver_address(index))?;
                continue;
            };
            let number = u16::try_from(servers.len()).unwrap_or(u16::MAX);
            if let Entry::Vacant(server) = servers.entry(key) {
                let address = server_address(number);
                topology.host(&flow.receiver, address)?;
                server.insert(address);
            }
        }
        Ok(servers)
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
    windows: Windows::UNLIMITED,
    idle_timeout: false,
};

/// Where a flow's sender is.
pub(crate) fn client_address(flow: u16) -> SocketAddr {
    SocketAddr::new(CLIENT_HOST, FIRST_CLIENT_PORT.saturating_add(flow))
}

pub(crate) fn server_address(number: u16) -> SocketAddr {
    SocketAddr::new(SERVER_HOST, FIRST_SERVER_PORT.saturating_add(number))
}

/// Where the receiver of a download is.
pub(crate) fn receiver_address(flow: u16) -> SocketAddr {
    SocketAddr::new(SERVER_HOST, FIRST_CLIENT_PORT.saturating_add(flow))
}

/// Where one is who has moved.
fn moved_address(flow: u16) -> SocketAddr {
    SocketAddr::new(MOVED_HOST, FIRST_CLIENT_PORT.saturating_add(flow))
}

const CLIENT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1));
const MOVED_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 2, 1));
const FIRST_CLIENT_PORT: u16 = 10_000;
const FIRST_SERVER_PORT: u16 = 4433;

#[cfg(test)]
mod tests;
