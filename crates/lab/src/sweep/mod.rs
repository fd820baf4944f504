//! Many runs, over several processes and machines, and again after an interruption.
//!
//! A [`Run`] has a [`Key`], which holds all that determines its result. [`Results`] are the finished runs of a directory, one
//! line of JSON each. [`make_missing`] makes the runs of a [`Shard`] that the directory does not have, in parallel, and
//! [`collect`] reads the results of all. [`merge()`] joins the files that the shards of a sweep have written.

mod key;
mod lines;
mod locked;
mod merge;
mod parallel;
mod results;
mod shard;

use std::collections::HashSet;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

pub(crate) use self::key::digest_of;
pub use self::key::{Key, Part};
pub use self::merge::{Merged, merge};
use self::parallel::{in_order, in_parallel, total};
pub use self::results::{Results, read};
pub use self::shard::{Shard, ShardError};

/// A run: what determines it, and how it is made.
pub trait Run: Sync {
    /// What is kept of it.
    type Result: Serialize + DeserializeOwned;
    /// Why it has no result.
    type Error: std::error::Error + Send;

    /// What determines it.
    ///
    /// # Errors
    /// A parameter cannot be written as JSON.
    fn key(&self) -> Result<Key, serde_json::Error>;

    /// About how much work it is, in a unit that all runs of a sweep share.
    fn weight(&self) -> f64;

    /// Makes it.
    ///
    /// # Errors
    /// It has no result.
    fn make(&self) -> Result<Self::Result, Self::Error>;
}

/// Why a sweep stopped. Results of runs that had ended are kept.
#[derive(Debug, Error)]
pub enum SweepError<E: std::error::Error> {
    /// A run has no result.
    #[error("{0}")]
    Run(E),
    /// Results could not be kept.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A parameter or a result of this run cannot be written as JSON, or not be read again.
    #[error("{run}: {source}")]
    Json {
        /// The run.
        run: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// There is no result of a run.
    #[error("{run}: this run has not been made")]
    Missing {
        /// The run.
        run: String,
    },
}

/// Why results cannot be read or kept.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The system refused.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was to be done.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A line is something else than a result.
    #[error("{path}:{line}: not the result of a run: {source}, at '{start}'", path = path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// How the line starts.
        start: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Two lines have different results of one run: they are not of the same code, or the run does not repeat.
    #[error("{path}:{line}: the run '{run}' has another result than in {other}:{other_line}", path = path.display(), other = other.display())]
    Conflict {
        /// The file of the second line.
        path: PathBuf,
        /// The second line's number, from 1.
        line: usize,
        /// The run.
        run: String,
        /// The file of the first line.
        other: PathBuf,
        /// The first line's number, from 1.
        other_line: usize,
    },
    /// Another process writes the same file.
    #[error("another process is writing {path}", path = path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// Makes all runs, in parallel on the cores, and keeps them nowhere. The results are in the order of the runs.
///
/// `progress` is told the share of the work that has been done since it was last told.
///
/// # Errors
/// The first run in order that failed.
pub fn make_all<R: Run>(
    runs: &[R],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<R::Result>, R::Error>
where
    R::Result: Send,
{
    in_parallel(runs, R::weight, R::make, progress)
}

/// How many runs of a sweep there were to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// The runs of the shard.
    pub runs: usize,
    /// Those of them that have been made now, because the directory did not have them.
    pub new: usize,
}

/// Makes the runs of a shard that there is no result of, in parallel on the cores, those of much weight first.
///
/// `progress` is told the share of the shard that has been done since it was last told.
///
/// # Errors
/// A run that failed, after which no other is begun, or results that cannot be kept.
pub fn make_missing<R: Run>(
    runs: &[R],
    shard: Shard,
    results: &Results,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Made, SweepError<R::Error>> {
    let mut seen = HashSet::new();
    let mut own = keys(runs)?;
    own.retain(|(_, key)| shard.has(key) && seen.insert(key.clone()));
    let count = own.len();
    let total = total(own.iter().map(|(run, _)| run.weight()));
    own.retain(|(run, key)| {
        let missing = !results.has(key);
        if !missing {
            progress(run.weight() / total);
        }
        missing
    });
    let new = own.len();
    in_order(own, |(run, _)| run.weight()).try_for_each(|(run, key)| {
        let result = run.make().map_err(SweepError::Run)?;
        results.keep::<R>(&key, &result)?;
        progress(run.weight() / total);
        Ok::<_, SweepError<R::Error>>(())
    })?;
    Ok(Made { runs: count, new })
}

/// The results of all runs, in order.
///
/// # Errors
/// A run that has not been made, or whose result has another form.
pub fn collect<R: Run>(
    runs: &[R],
    results: &Results,
) -> Result<Vec<R::Result>, SweepError<R::Error>> {
    let keys = keys(runs)?.into_iter();
    keys.map(|(_, key)| results.read::<R>(&key)).collect()
}

/// The runs and their keys. To compute a key can mean to read a whole trace.
fn keys<R: Run>(runs: &[R]) -> Result<Vec<(&R, Key)>, SweepError<R::Error>> {
    let keys: Vec<_> = runs.par_iter().map(|run| (run, run.key())).collect();
    let key = |(run, key): (_, Result<Key, serde_json::Error>)| match key {
        Ok(key) => Ok((run, key)),
        Err(source) => Err(SweepError::Json {
            run: "the parameters of a run".to_owned(),
            source,
        }),
    };
    keys.into_iter().map(key).collect()
}
