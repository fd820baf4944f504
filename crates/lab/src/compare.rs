//! Every controller on every link, side by side.

use std::collections::btree_map::{BTreeMap, Entry};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kneepoint_emulator::network::NetworkFileError;
use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::controllers::{Candidate, Stack, UnknownController, candidate};
use crate::metrics::{Row, Timeline};
use crate::output::Object;
use crate::plots::file_name;
use crate::run::{Flow, RunError, check, run};
use crate::scenario::Scenario;
use crate::sweep::{self, Key};
use crate::trial::LinkOutcome;
use crate::workload::Workload;

/// One cell of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The numbers.
    pub row: Row,
    /// The time series of the run.
    pub timeline: Timeline,
    /// Each flow's congestion window in bytes over time.
    pub windows: Vec<Vec<(Duration, u64)>>,
}

impl Outcome {
    /// What the run is called in names of files, among the runs on its link.
    pub fn name(&self, link: &[Self]) -> String {
        let Row {
            trace,
            controller,
            seed,
            ..
        } = &self.row;
        let several = link.iter().any(|other| other.row.seed != *seed);
        let seed = if several {
            format!("-seed{seed}")
        } else {
            String::new()
        };
        format!("{trace}-{controller}{seed}")
    }
}

/// Competitors on the link of every run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Against {
    /// Their controller's name.
    pub controller: String,
    /// How many there are.
    pub flows: u32,
    /// What each one's application does; what those of the other flows do if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// Whether they start before the other flows, if there is a gap between starts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.controller, self.flows)
    }
}

/// What accompanies the runs of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// The competitors; none in a mix.
    pub against: Option<Against>,
    /// An existing directory into which every flow on quinn writes what its sender does: a qlog file each.
    pub qlog: Option<PathBuf>,
}

/// Why a comparison has no result.
#[derive(Debug, Error)]
pub enum CompareError {
    /// One of the controllers does not exist.
    #[error(transparent)]
    Controller(#[from] UnknownController),
    /// A link's file is at odds with the hosts of the flows.
    #[error(transparent)]
    File(#[from] NetworkFileError),
    /// One of the runs did not reach its deadline.
    #[error("{controller} on {link}: {source}")]
    Run {
        /// The controller of the run.
        controller: String,
        /// The link of the run.
        link: String,
        /// The cause.
        source: RunError,
    },
}

/// One run of a comparison: all that determines it.
#[derive(Debug, Clone, Serialize)]
pub struct Job<'a> {
    /// The link and the traffic over it.
    pub scenario: &'a Scenario,
    /// The controller of all flows, or the names of a mix.
    pub controller: String,
    /// The flows' controllers, if each has its own; empty if all have one.
    pub mix: &'a [String],
    /// The competitors; none in a mix.
    pub against: Option<&'a Against>,
    /// An existing directory for qlog files. It determines nothing.
    #[serde(skip)]
    pub qlog: Option<&'a Path>,
}

impl Job<'_> {
    /// Carries it out.
    ///
    /// `progress` is told how much virtual time has passed since it was last told.
    ///
    /// # Errors
    /// An unknown controller, or a run that did not reach its deadline.
    pub fn run(&self, progress: &(dyn Fn(Duration) + Sync)) -> Result<Outcome, CompareError> {
        let Self {
            scenario,
            controller,
            ..
        } = self;
        let link = scenario.link.name();
        let qlog = self.qlog.map(|directory| {
            let name = format!("{link}-{controller}-seed{}", scenario.seed);
            directory.join(file_name(&name))
        });
        let (names, flows) = self.flows()?;
        let seen = run(scenario, &flows, qlog.as_deref(), progress);
        let mut seen = seen.map_err(|source| CompareError::Run {
            controller: controller.clone(),
            link: link.to_owned(),
            source,
        })?;
        let row = Row::new(scenario, controller, &names, self.against, &seen);
        let LinkOutcome { records, .. } = seen.links.remove("forward").unwrap_or_default();
        Ok(Outcome {
            row,
            timeline: Timeline::new(scenario, &records),
            windows: seen.flows.into_iter().map(|flow| flow.windows).collect(),
        })
    }

    /// Finds out whether the network of the scenario's file, if it has one, can be emulated with the hosts of all flows.
    ///
    /// # Errors
    /// An unknown controller, or a file that is at odds with these hosts.
    pub fn check(&self) -> Result<(), CompareError> {
        let Some(file) = self.scenario.link.described() else {
            return Ok(());
        };
        let (_, flows) = self.flows()?;
        check(self.scenario, &flows).map_err(|error| file.blame(error).into())
    }

    /// Whether one of its flows is on quinn.
    ///
    /// # Errors
    /// An unknown controller.
    pub fn is_on_quinn(&self) -> Result<bool, UnknownController> {
        let (_, flows) = self.flows()?;
        Ok(flows
            .iter()
            .any(|flow| flow.controller.stack() == Stack::Quinn))
    }

    /// The flows, and the names of their controllers.
    fn flows(&self) -> Result<(Vec<String>, Vec<Flow>), UnknownController> {
        let (seed, workload) = (self.scenario.seed, self.scenario.workload);
        let flow = |controller, turn| Flow {
            controller,
            workload,
            turn,
        };
        let of = |flows: u32| usize::try_from(flows).unwrap_or(usize::MAX);
        if self.mix.is_empty() {
            let (flows, others) = (self.scenario.flows, self.against.map_or(0, |it| it.flows));
            let first = self.against.is_some_and(|against| against.first);
            let (before, others_before) = if first { (others, 0) } else { (0, flows) };
            let mut names = vec![self.controller.clone(); of(flows)];
            let own = candidate(&self.controller, seed)?;
            let mut flows: Vec<Flow> = (0..flows)
                .map(|index| flow(own.clone(), before.saturating_add(index)))
                .collect();
            if let Some(against) = self.against {
                // Those of the same name draw from their factory as the first flows would.
                let other = candidate(&against.controller, seed ^ AGAINST)?;
                names.extend(vec![against.controller.clone(); of(others)]);
                flows.extend((0..others).map(|index| Flow {
                    controller: other.clone(),
                    workload: against.workload.unwrap_or(workload),
                    turn: others_before.saturating_add(index),
                }));
            }
            return Ok((names, flows));
        }
        // Flows of one name share what makes their controllers, which are numbered: no two draw the same.
        let mut named: BTreeMap<&str, Candidate> = BTreeMap::new();
        let mut flows = Vec::new();
        for (turn, name) in (0..).zip(self.mix) {
            let candidate = match named.entry(name) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(candidate(name, seed)?),
            };
            flows.push(flow(candidate.clone(), turn));
        }
        Ok((self.mix.to_vec(), flows))
    }
}

impl sweep::Run for Job<'_> {
    type Result = Object;
    type Error = CompareError;

    fn key(&self) -> Result<Key, serde_json::Error> {
        let Scenario { link, seed, .. } = self.scenario;
        let name = [link.name().into(), self.controller.as_str().into()];
        Key::new("compare", name.into_iter().chain([(*seed).into()]), self)
    }

    /// About the bytes that the link can carry.
    fn weight(&self) -> f64 {
        let Scenario { link, duration, .. } = self.scenario;
        link.capacity(Duration::ZERO, *duration)
    }

    fn make(&self) -> Result<Object, CompareError> {
        Ok(self.run(&|_| ())?.row.into())
    }
}

/// A run for each scenario and controller, in this order.
pub fn runs<'a>(
    scenarios: &'a [Scenario],
    controllers: &[String],
    extras: &'a Extras,
) -> Vec<Job<'a>> {
    let job = |scenario, controller: &String| Job {
        scenario,
        controller: controller.clone(),
        mix: &[],
        against: extras.against.as_ref(),
        qlog: extras.qlog.as_deref(),
    };
    scenarios
        .iter()
        .flat_map(|scenario| controllers.iter().map(move |name| job(scenario, name)))
        .collect()
}

/// A run for each scenario, with one flow for each controller of `mix`.
pub fn mixed_runs<'a>(
    scenarios: &'a [Scenario],
    mix: &'a [String],
    extras: &'a Extras,
) -> Vec<Job<'a>> {
    let job = |scenario| Job {
        scenario,
        controller: mix.join(","),
        mix,
        against: None,
        qlog: extras.qlog.as_deref(),
    };
    scenarios.iter().map(job).collect()
}

/// Runs every controller in every scenario, in parallel on the cores. The outcomes are ordered by scenario, then by
/// controller, as given.
///
/// `progress` is told how much virtual time has passed since it was last told; all runs together take the product of
/// scenarios, controllers and durations.
///
/// # Errors
/// An unknown controller, or the first run in order that did not reach its deadline.
pub fn compare(
    scenarios: &[Scenario],
    controllers: &[String],
    extras: &Extras,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Vec<Outcome>, CompareError> {
    outcomes(&runs(scenarios, controllers, extras), progress)
        .into_iter()
        .collect()
}

/// Runs one flow for each controller of `mix` in every scenario, whatever [`Scenario::flows`] says: one outcome for each
/// scenario, in order. The flows start in the order of the mix.
///
/// `progress` is told how much virtual time has passed since it was last told; all runs together take the product of
/// scenarios and durations.
///
/// # Errors
/// An unknown controller, or the first run in order that did not reach its deadline.
pub fn compare_mix(
    scenarios: &[Scenario],
    mix: &[String],
    extras: &Extras,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Vec<Outcome>, CompareError> {
    outcomes(&mixed_runs(scenarios, mix, extras), progress)
        .into_iter()
        .collect()
}

/// Carries out all runs, in parallel on the cores. The outcomes are in their order: one that fails does not end the others.
///
/// `progress` is told how much virtual time has passed since it was last told.
pub fn outcomes(
    jobs: &[Job<'_>],
    progress: &(dyn Fn(Duration) + Sync),
) -> Vec<Result<Outcome, CompareError>> {
    jobs.par_iter().map(|job| job.run(progress)).collect()
}

/// What sets the seed of competitors apart from that of the flows they compete with.
const AGAINST: u64 = 1 << 63;
