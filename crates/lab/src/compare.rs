//! Every controller on every link, side by side.

use std::time::Duration;

use rayon::prelude::*;
use thiserror::Error;

use crate::controllers::{UnknownController, contestant};
use crate::metrics::{Row, Timeline};
use crate::run::{RunError, run};
use crate::scenario::Scenario;

/// One cell of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The numbers.
    pub row: Row,
    /// The course of the run.
    pub timeline: Timeline,
    /// Each flow's congestion window in bytes over time.
    pub windows: Vec<Vec<(Duration, u64)>>,
}

/// Why a comparison has no result.
#[derive(Debug, Error)]
pub enum CompareError {
    /// One of the controllers does not exist.
    #[error(transparent)]
    Controller(#[from] UnknownController),
    /// One of the runs did not reach its deadline.
    #[error("{controller} on {link}: {source}")]
    Run {
        /// The controller of the run.
        controller: String,
        /// The link of the run.
        link: String,
        /// What happened.
        source: RunError,
    },
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
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Vec<Outcome>, CompareError> {
    let pairs: Vec<_> = scenarios
        .iter()
        .flat_map(|scenario| controllers.iter().map(move |name| (scenario, name)))
        .collect();
    let results: Vec<_> = pairs
        .par_iter()
        .map(|(scenario, controller)| {
            let contestant = contestant(controller, scenario.seed)?;
            let observation =
                run(scenario, &contestant, progress).map_err(|source| CompareError::Run {
                    controller: (*controller).clone(),
                    link: scenario.link.name().to_owned(),
                    source,
                })?;
            Ok(Outcome {
                row: Row::new(scenario, controller, &observation),
                timeline: Timeline::new(&observation),
                windows: observation
                    .flows
                    .into_iter()
                    .map(|flow| flow.windows)
                    .collect(),
            })
        })
        .collect();
    results.into_iter().collect()
}
