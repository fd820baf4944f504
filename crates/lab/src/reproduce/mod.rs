//! The papers' experiments: run, tabulated, and held against what the papers report.
//!
//! A [`Reproduction`] is one experiment: cases, the run of a case, and the section of the report that comes of the results. The
//! cases of all of them run in parallel. What a case gives is kept as one line of JSON in the output folder, under a key
//! that holds all its parameters, so that an interrupted run goes on where it stopped.

mod catalogue;
mod delayed_oracle;
mod grid;
pub mod report;
mod reproduction;
mod setup;
mod store;
mod summary;
mod trace_runs;

mod bbr;
mod bbr_s;
mod bbr_sampled;
mod ebcc;
mod extra;
mod fair_share;

use kneepoint_controllers::ConfigError;
use rayon::prelude::*;
use thiserror::Error;

pub use self::catalogue::{Paper, experiments};
pub use self::grid::Runs;
pub use self::reproduction::{About, Experiment, Job, Reproduction, Scale};
pub use self::store::{Store, StoreError};

use self::report::Section;
use crate::controllers::UnknownController;
use crate::run::RunError;

/// Why an experiment has no result.
#[derive(Debug, Error)]
pub enum ReproduceError {
    /// A case could not be run.
    #[error("{case}: {source}")]
    Run {
        /// The case's key.
        case: String,
        /// What happened.
        source: CaseError,
    },
    /// The results could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A result that was kept does not have the form it should have.
    #[error(
        "{key}: the result that was kept is not of this version ({source}): start afresh with --fresh"
    )]
    Result {
        /// The case's key.
        key: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Why a case has no result.
#[derive(Debug, Error)]
pub enum CaseError {
    /// The scenario could not be run to its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It names a controller that does not exist.
    #[error(transparent)]
    Controller(#[from] UnknownController),
    /// It gives a controller a value out of its range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its result cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Runs what the store does not have yet, in parallel, and makes the sections in their order.
///
/// `progress` is told the share of the work that has been done since it was last told.
///
/// # Errors
/// The first case that failed, or results that cannot be kept.
pub fn reproduce(
    experiments: &[&dyn Experiment],
    scale: Scale,
    store: &Store,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<Section>, ReproduceError> {
    let mut jobs: Vec<Job<'_>> = experiments
        .iter()
        .flat_map(|experiment| experiment.jobs(scale))
        .collect();
    let total: f64 = jobs.iter().map(|job| job.weight).sum();
    // The longest first: the last ones to end should be short.
    jobs.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    // A bridge hands them out one by one in this order, to whichever core is free.
    jobs.into_iter().par_bridge().try_for_each(|job| {
        let share = job.weight / total;
        if !store.has(&job.key) {
            let result = (job.run)().map_err(|source| ReproduceError::Run {
                case: job.key.clone(),
                source,
            })?;
            store.keep(&job.key, result)?;
        }
        progress(share);
        Ok::<_, ReproduceError>(())
    })?;
    experiments
        .iter()
        .map(|experiment| experiment.section(scale, store))
        .collect()
}
