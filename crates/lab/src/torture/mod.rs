//! Faults in the middle of a connection: how long controllers take to recover, and what it costs.
//!
//! A [`Case`] is one fault on one path. [`cases`] makes all of them. A [`Job`] is a case under a controller and on end hosts; its
//! run is condensed to a [`Record`]. [`report`] prints the tables.

mod case;
mod fault;
mod faults;
pub mod pairs;
mod record;
pub mod report;
pub mod transfers;

use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use serde::Serialize;

pub use self::case::{Bound, CALM, Case, Change};
pub use self::fault::{Fault, UnknownFault};
pub use self::faults::cases;
pub use self::record::{Record, WINDOW};
use crate::controllers::candidate;
use crate::frontier::FrontierError;
use crate::run::RunError;
use crate::sweep::{self, Key, Part};
use crate::trial::{FlowPlan, Trial};

/// One run to do.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Job<'a> {
    /// The fault.
    pub case: &'a Case,
    /// Both end hosts.
    pub host: &'a HostConfig,
    /// The controller, by name.
    pub controller: &'a str,
}

impl Job<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// An unknown controller, or a case that cannot be set up.
    pub fn run(&self) -> Result<Record, FrontierError> {
        let Self {
            case,
            host,
            controller,
        } = self;
        let flow = FlowPlan {
            application: case.application.clone(),
            dialer: case.dialer,
            migration: case.migration(),
            ..FlowPlan::greedy(candidate(controller, SEED)?, Duration::ZERO, case.duration)
        };
        let outcome = case
            .topology(host)
            .map_err(RunError::from)
            .and_then(|topology| {
                Trial::new(topology, vec![flow], case.duration).run_on(host, &|_| ())
            });
        let outcome = outcome.map_err(|source| FrontierError::Run {
            scenario: format!("{}/{}", case.fault, case.name),
            source,
        })?;
        Ok(Record::new(case, &host.name, controller, &outcome))
    }
}

impl sweep::Run for Job<'_> {
    type Result = Record;
    type Error = FrontierError;

    fn key(&self) -> Result<Key, serde_json::Error> {
        let Self {
            case,
            host,
            controller,
        } = self;
        let name = [case.fault.name(), &case.name, &host.name, controller];
        Key::new("torture", name.map(Part::from), &(self, SEED))
    }

    fn weight(&self) -> f64 {
        self.case.weight()
    }

    fn make(&self) -> Result<Record, FrontierError> {
        self.run()
    }
}

/// Of all randomness.
const SEED: u64 = 1;
