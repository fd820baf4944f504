//! What an experiment is.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::catalogue::Paper;
use super::grid::Runs;
use super::report::Section;
use super::{CaseError, ReproduceError};
use crate::sweep::{self, Key, Results};

/// What an experiment is about.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its short name: `A2`.
    pub id: &'static str,
    /// The paper.
    pub paper: Paper,
    /// What is looked at, in a few words.
    pub title: &'static str,
    /// The paper's figure or table.
    pub figure: &'static str,
    /// The set-up, in a sentence or two.
    pub setup: &'static str,
    /// What the paper reports.
    pub claim: &'static str,
}

/// One experiment: `C` has the parameters of one run, `R` is what a run gives.
#[derive(Debug)]
pub struct Reproduction<C, R> {
    /// What it is about.
    pub about: About,
    /// The runs.
    pub cases: fn(Scale) -> Vec<C>,
    /// About how many megabits a run transfers: the longest are begun first.
    pub weight: fn(&C) -> f64,
    /// Carries out a run.
    pub run: fn(&C) -> Result<R, CaseError>,
    /// What the report has of it, added to a section that is empty.
    pub report: fn(Scale, &Runs<'_, C, R>, Section) -> Section,
}

/// A [`Reproduction`] of which only the work and the section matter.
pub trait Experiment: Sync {
    /// What there is to do.
    fn jobs(&self, scale: Scale) -> Vec<Job<'_>>;

    /// The section of the report, once every job has a result.
    ///
    /// # Errors
    /// A result is missing or of another form.
    fn section(&self, scale: Scale, results: &Results) -> Result<Section, ReproduceError>;
}

/// One run.
#[expect(missing_debug_implementations, reason = "it is a closure")]
pub struct Job<'a> {
    /// The experiment's short name.
    pub experiment: &'static str,
    /// All its parameters, as JSON.
    pub case: String,
    /// About how much work it is.
    pub weight: f64,
    /// Does it.
    pub run: Box<dyn Fn() -> Result<Value, CaseError> + Send + Sync + 'a>,
}

impl sweep::Run for Job<'_> {
    type Result = Value;
    type Error = ReproduceError;

    fn key(&self) -> Result<Key, serde_json::Error> {
        let name = [self.experiment.into(), self.case.as_str().into()];
        Key::new("reproduce", name, &(self.experiment, &self.case))
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn make(&self) -> Result<Value, ReproduceError> {
        (self.run)().map_err(|source| ReproduceError::Run {
            case: format!("{} {}", self.experiment, self.case),
            source,
        })
    }
}

impl<C, R> Experiment for Reproduction<C, R>
where
    C: Serialize + Send + Sync,
    R: Serialize + DeserializeOwned,
{
    fn jobs(&self, scale: Scale) -> Vec<Job<'_>> {
        let cases = (self.cases)(scale).into_iter();
        cases.map(|case| self.job(case)).collect()
    }

    fn section(&self, scale: Scale, results: &Results) -> Result<Section, ReproduceError> {
        let jobs = self.jobs(scale);
        let values = sweep::collect(&jobs, results).map_err(Box::new)?;
        let values = values.into_iter().zip(&jobs);
        let read = values.map(|(value, job)| {
            let failed = |source| ReproduceError::Run {
                case: format!("{} {}", job.experiment, job.case),
                source: CaseError::Json(source),
            };
            serde_json::from_value(value).map_err(failed)
        });
        let read = read.collect::<Result<Vec<R>, _>>()?;
        let results: Vec<(C, R)> = (self.cases)(scale).into_iter().zip(read).collect();
        let section = Section::new(self.about);
        Ok((self.report)(scale, &Runs::of(&results), section))
    }
}

impl<C, R> Reproduction<C, R>
where
    C: Serialize + Send + Sync,
    R: Serialize + DeserializeOwned,
{
    fn job(&self, case: C) -> Job<'_> {
        Job {
            experiment: self.about.id,
            // Parameters that cannot be written are a mistake in the program.
            case: serde_json::to_string(&case).unwrap_or_default(),
            weight: (self.weight)(&case),
            run: Box::new(move || {
                let value = serde_json::to_value((self.run)(&case)?)?;
                // What cannot be read again, such as a number that is none, must not be kept.
                serde_json::from_value::<R>(value.clone())?;
                Ok(value)
            }),
        }
    }
}

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Fewer cases, and shorter ones where the experiment allows it: to see that it works, not to quote.
    pub quick: bool,
    /// How many seeds there are, from 1 on, wherever anything is random. At least 1.
    pub seeds: u64,
}

impl Scale {
    /// The seeds.
    pub fn seeds(self) -> impl Iterator<Item = u64> + Clone {
        1..=self.seeds.max(1)
    }

    /// One of two values.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}
