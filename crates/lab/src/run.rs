//! Runs a scenario with one controller over real QUIC connections, in virtual time.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kneepoint_emulator::link::ConfigError;
use kneepoint_emulator::network::NetworkError;
use kneepoint_emulator::sim::{SimError, Simulation};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use thiserror::Error;

use crate::controllers::Candidate;
use crate::scenario::{START_SPREAD, Scenario};
use crate::trial::{FlowPlan, Outcome, Trial};
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
    /// A qlog file could not be made, or not be written whole.
    #[error("cannot write qlog {path}: {source}", path = path.display())]
    Qlog {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
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

/// A flow of a run.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct Flow {
    /// Makes the sender's controller.
    pub controller: Candidate,
    /// What the sender's application does.
    pub workload: Workload,
    /// How many flows start before it, if there is a gap between them.
    pub turn: u32,
}

/// Runs `flows` in `scenario`, whatever [`Scenario::flows`] and [`Scenario::workload`] say. If there is a `qlog`, every flow on
/// quinn writes its sender's into a file whose name begins with it: `qlog-flow1.sqlog`.
///
/// `progress` is told, about once per virtual second, how much virtual time has passed since it was last told.
///
/// # Errors
/// When the scenario cannot be set up, a file cannot be written, or the simulation stops before the deadline.
pub fn run(
    scenario: &Scenario,
    flows: &[Flow],
    qlog: Option<&Path>,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Outcome, RunError> {
    trial(scenario, flows, qlog).run_on(&scenario.host, progress)
}

/// Finds out whether the scenario's network can be emulated with the hosts of these flows.
///
/// # Errors
/// What is wrong with it.
pub fn check(scenario: &Scenario, flows: &[Flow]) -> Result<(), NetworkError> {
    trial(scenario, flows, None).check()
}

fn trial(scenario: &Scenario, flows: &[Flow], qlog: Option<&Path>) -> Trial {
    let end = scenario.duration;
    let mut seeds = Pcg64::seed_from_u64(scenario.seed);
    let plans = (1..).zip(flows).map(|(number, flow): (u32, _)| {
        let start = start(scenario, flows.len(), flow.turn, &mut seeds);
        FlowPlan {
            application: flow.workload.phases(start, end),
            windows: scenario.windows,
            qlog: qlog.map(|base| {
                let mut name = base.as_os_str().to_owned();
                name.push(format!("-flow{number}.sqlog"));
                name.into()
            }),
            ..FlowPlan::greedy(flow.controller.clone(), start, end)
        }
    });
    Trial {
        seed: scenario.seed,
        ..Trial::new(scenario.topology(), plans.collect(), end)
    }
}

/// When a flow starts.
fn start(scenario: &Scenario, flows: usize, turn: u32, seeds: &mut Pcg64) -> Duration {
    match flows {
        1 => Duration::ZERO,
        _ if scenario.start_gap > Duration::ZERO => scenario.start_gap.saturating_mul(turn),
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

/// How often progress is reported, in virtual time.
const PROGRESS_STEP: Duration = Duration::from_secs(1);
