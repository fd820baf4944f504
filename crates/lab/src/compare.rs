//! Every controller on every link, side by side.

use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Duration;

use rayon::prelude::*;
use thiserror::Error;

use crate::controllers::{Candidate, UnknownController, candidate};
use crate::metrics::{Row, Timeline};
use crate::run::{RunError, run};
use crate::scenario::Scenario;
use crate::trial::LinkOutcome;

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
        /// The cause.
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
            let candidate = candidate(controller, scenario.seed)?;
            let flows = usize::try_from(scenario.flows).unwrap_or(usize::MAX);
            outcome(scenario, controller, &[], &vec![candidate; flows], progress)
        })
        .collect();
    results.into_iter().collect()
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
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Vec<Outcome>, CompareError> {
    let results: Vec<_> = scenarios
        .par_iter()
        .map(|scenario| {
            // Flows of one name share what makes their controllers, which are numbered: no two draw the same.
            let mut named: BTreeMap<&str, Candidate> = BTreeMap::new();
            let mut candidates = Vec::new();
            for name in mix {
                let candidate = match named.entry(name) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(candidate(name, scenario.seed)?),
                };
                candidates.push(candidate.clone());
            }
            outcome(scenario, &mix.join(","), mix, &candidates, progress)
        })
        .collect();
    results.into_iter().collect()
}

/// Runs a scenario with these candidates, all of one name or of a mix.
fn outcome(
    scenario: &Scenario,
    controller: &str,
    mix: &[String],
    candidates: &[Candidate],
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Outcome, CompareError> {
    let mut seen = run(scenario, candidates, progress).map_err(|source| CompareError::Run {
        controller: controller.to_owned(),
        link: scenario.link.name().to_owned(),
        source,
    })?;
    let row = Row::new(scenario, controller, mix, &seen);
    let LinkOutcome { records, .. } = seen.links.remove("forward").unwrap_or_default();
    Ok(Outcome {
        row,
        timeline: Timeline::new(scenario, &records),
        windows: seen.flows.into_iter().map(|flow| flow.windows).collect(),
    })
}
