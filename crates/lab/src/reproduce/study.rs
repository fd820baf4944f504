//! What an experiment is.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::catalogue::Paper;
use super::grid::Runs;
use super::report::Section;
use super::scale::Scale;
use super::store::Store;
use super::{CaseError, ReproduceError};

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

/// One experiment.
pub trait Study: Sync {
    /// The parameters of one run.
    type Case: Serialize + Clone + Send + Sync;
    /// What a run gives.
    type Result: Serialize + DeserializeOwned + Send;

    /// What it is about.
    fn about(&self) -> About;

    /// The runs.
    fn cases(&self, scale: Scale) -> Vec<Self::Case>;

    /// About how many megabits a run transfers: the longest are begun first.
    fn weight(&self, case: &Self::Case) -> f64;

    /// Carries out a run.
    ///
    /// # Errors
    /// When it cannot be carried out to its end.
    fn run(&self, case: &Self::Case) -> Result<Self::Result, CaseError>;

    /// What the report has of it, added to a section that is empty.
    fn report(
        &self,
        scale: Scale,
        runs: &Runs<'_, Self::Case, Self::Result>,
        section: Section,
    ) -> Section;
}

/// A [`Study`] of which only the work and the section matter.
pub trait Experiment: Sync {
    /// What it is about.
    fn about(&self) -> About;

    /// What there is to do.
    fn jobs(&self, scale: Scale) -> Vec<Job<'_>>;

    /// The section of the report, once every job's result is in the store.
    ///
    /// # Errors
    /// A result is missing or of another form.
    fn section(&self, scale: Scale, store: &Store) -> Result<Section, ReproduceError>;
}

/// One run.
#[expect(missing_debug_implementations, reason = "it is a closure")]
pub struct Job<'a> {
    /// Its name and all its parameters.
    pub key: String,
    /// About how much work it is.
    pub weight: f64,
    /// Does it.
    pub run: Box<dyn Fn() -> Result<Value, CaseError> + Send + Sync + 'a>,
}

impl<S: Study> Experiment for S {
    fn about(&self) -> About {
        Study::about(self)
    }

    fn jobs(&self, scale: Scale) -> Vec<Job<'_>> {
        self.cases(scale)
            .into_iter()
            .map(|case| Job {
                key: key(self, &case),
                weight: self.weight(&case),
                run: Box::new(move || {
                    let value = serde_json::to_value(self.run(&case)?)?;
                    // What cannot be read again, such as a number that is none, must not be kept.
                    serde_json::from_value::<S::Result>(value.clone())?;
                    Ok(value)
                }),
            })
            .collect()
    }

    fn section(&self, scale: Scale, store: &Store) -> Result<Section, ReproduceError> {
        let results: Result<Vec<_>, ReproduceError> = self
            .cases(scale)
            .into_iter()
            .map(|case| {
                let key = key(self, &case);
                // An absent result reads as JSON's null, which is refused with the key.
                let value = store.get(&key).unwrap_or(Value::Null);
                let result = serde_json::from_value(value);
                let result = result.map_err(|source| ReproduceError::Result { key, source })?;
                Ok((case, result))
            })
            .collect();
        let section = Section::new(Study::about(self));
        Ok(self.report(scale, &Runs::of(&results?), section))
    }
}

/// A case's name. Parameters that cannot be written are a mistake in the program, and then so is the name.
fn key<S: Study>(study: &S, case: &S::Case) -> String {
    let parameters = serde_json::to_string(case).unwrap_or_default();
    format!("{} {parameters}", Study::about(study).id)
}
