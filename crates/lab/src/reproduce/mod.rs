//! The papers' experiments: run, tabulated, and held against what the papers report.
//!
//! A [`Reproduction`] is one experiment: cases, the run of a case, and the section of the report that comes of the results. The
//! cases of all of them run in parallel, as a [sweep](crate::sweep): what a case gives is kept, so that an interrupted run goes on
//! where it stopped.

mod catalogue;
mod delayed_oracle;
mod grid;
pub mod report;
mod reproduction;
mod setup;
mod summary;
mod trace_runs;

mod bbr;
mod bbr_s;
mod bbr_sampled;
mod ebcc;
mod extra;
mod fair_share;

use kneepoint_controllers::ConfigError;
use thiserror::Error;

pub use self::catalogue::{Paper, experiments};
pub use self::grid::Runs;
pub use self::reproduction::{About, Experiment, Job, Reproduction, Scale};

use self::report::Section;
use crate::controllers::UnknownController;
use crate::run::RunError;
use crate::sweep::{Results, SweepError};

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
    /// A result is missing, or has another form.
    #[error(transparent)]
    Sweep(#[from] Box<SweepError<Self>>),
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

/// The runs of all experiments.
pub fn jobs<'a>(experiments: &[&'a dyn Experiment], scale: Scale) -> Vec<Job<'a>> {
    let experiments = experiments.iter();
    experiments
        .flat_map(|experiment| experiment.jobs(scale))
        .collect()
}

/// The sections of the report in their order, from results of all runs.
///
/// # Errors
/// A result that is missing or has another form.
pub fn sections(
    experiments: &[&dyn Experiment],
    scale: Scale,
    results: &Results,
) -> Result<Vec<Section>, ReproduceError> {
    experiments
        .iter()
        .map(|experiment| experiment.section(scale, results))
        .collect()
}
