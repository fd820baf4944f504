//! The frontier of utilization and delay: controllers over a suite of scenarios, and the runs in which they collapse.
//!
//! A [`Case`] is one scenario: a path, its end hosts, and the flows over it. [`cases`] makes the suite for a seed, family by
//! family. A [`Job`] is one case under one controller; its run is condensed to a [`Record`].
//! [`judge`] compares the records of one case and seed, and [`report`] prints the tables.

mod case;
mod families;
mod family;
mod informed;
pub(crate) mod path;
mod record;
pub mod report;
mod scatter;
mod verdict;

use std::time::Duration;

use thiserror::Error;

pub use self::case::{Case, Sender, Under};
pub(crate) use self::families::rate_name;
pub use self::families::{RecordedTrace, cases};
pub use self::family::{Family, UnknownFamily};
pub use self::informed::informed;
pub use self::path::Path;
pub use self::record::Record;
pub use self::scatter::chart;
pub use self::verdict::{Collapse, judge};
pub(crate) use self::verdict::{LARGE_INITIAL_WINDOW, key};

use crate::controllers::{UnknownController, candidate};
use crate::run::RunError;
use crate::sweep::{self, Key};
use crate::trial::{FlowPlan, Trial};

/// Why a case has no record.
#[derive(Debug, Error)]
pub enum FrontierError {
    /// One of the controllers does not exist.
    #[error(transparent)]
    Controller(#[from] UnknownController),
    /// The case could not be set up.
    #[error("{scenario}: {source}")]
    Run {
        /// The case's family and name.
        scenario: String,
        /// What happened.
        source: RunError,
    },
}

/// One run to do.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The scenario.
    pub case: &'a Case,
    /// The controller under test, by name.
    pub controller: &'a str,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Job<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// An unknown controller, or a case that cannot be set up. A simulation that stops early is a result.
    pub fn run(&self) -> Result<Record, FrontierError> {
        let case = self.case;
        let tested = candidate(self.controller, self.seed)?;
        let mut flows = Vec::new();
        for (index, sender) in case.senders.iter().enumerate() {
            let controller = match sender.under {
                Under::Test => tested.clone(),
                Under::Named(name) => candidate(name, self.seed)?,
            };
            let node = case.sender_node(index);
            let flow = FlowPlan::greedy(controller, sender.start, case.duration);
            flows.push(FlowPlan {
                application: sender.application.clone(),
                ..flow.between(node, "right")
            });
        }
        let trial = Trial {
            topology: case.topology(),
            flows,
            duration: case.duration,
            interval: None,
            seed: self.seed,
        };
        match trial.run_on(&case.host, &|_| ()) {
            Ok(outcome) => Ok(Record::new(case, self.controller, self.seed, &outcome)),
            Err(RunError::Simulation(error)) => {
                Ok(Record::stopped(case, self.controller, self.seed, &error))
            }
            Err(source) => Err(FrontierError::Run {
                scenario: format!("{}/{}", case.family, case.name),
                source,
            }),
        }
    }
}

impl sweep::Run for Job<'_> {
    type Result = Record;
    type Error = FrontierError;

    fn key(&self) -> Result<Key, serde_json::Error> {
        let Self {
            case,
            controller,
            seed,
        } = *self;
        let name = [case.family.name().into(), case.name.as_str().into()];
        let name = name.into_iter().chain([controller.into(), seed.into()]);
        Key::new(COMMAND, name, &(case, controller, seed))
    }

    fn weight(&self) -> f64 {
        self.case.weight()
    }

    fn make(&self) -> Result<Record, FrontierError> {
        self.run()
    }
}

/// The command of the runs' keys. `tune` makes the same runs.
pub(crate) const COMMAND: &str = "frontier";

/// Whole milliseconds.
pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A time in milliseconds.
pub(crate) fn millis(millis: f64) -> Duration {
    Duration::from_secs_f64(millis.max(0.0) / 1e3)
}

/// A time in seconds.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0))
}
