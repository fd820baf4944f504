//! One controller over the whole suite, and its score.

use std::collections::BTreeMap;
use std::fmt;

use kneepoint_controllers::ControllerSpec;

use crate::frontier::report::Row;
use crate::frontier::{Case, Family, Job, LARGE_INITIAL_WINDOW, Record, judge, key};

/// What [`Bench`] keeps of a controller's runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The collapses where quinn-cubic's run is none.
    pub worse: usize,
    /// The runs in which a flow starves.
    pub starving: usize,
    /// The mean utilization of bulk data.
    pub utilization: Option<f64>,
    /// The geometric mean of mean RTT over base RTT.
    pub rtt_ratio: Option<f64>,
    /// The geometric mean of the power of bulk data.
    pub power: Option<f64>,
    runs: Vec<Run>,
}

#[derive(Debug, Clone, PartialEq)]
struct Run {
    family: Family,
    collapses: bool,
    /// Power, or speed beside the fastest reference.
    value: f64,
}

impl Pass {
    /// The score over the runs of these families; 1 without any.
    ///
    /// It is P x exp(-10 C). C is the share of the runs that collapse. P is a geometric mean over all runs: of the power
    /// of bulk data; and of messages, of the mean time that the fastest reference takes over the mean time that they take. A score
    /// thus is the power that is worth as much without any collapse.
    pub fn score(&self, of: impl Fn(Family) -> bool) -> f64 {
        let worth = |run: &Run| run.value.ln() - if run.collapses { COLLAPSE } else { 0.0 };
        let runs = || self.runs.iter().filter(|run| of(run.family));
        (runs().map(worth).sum::<f64>() / runs().count().max(1) as f64).exp()
    }

    /// The share of the runs of these families that do not collapse.
    pub fn held(&self, of: impl Fn(Family) -> bool) -> f64 {
        let runs = || self.runs.iter().filter(|run| of(run.family));
        runs().filter(|run| !run.collapses).count() as f64 / runs().count().max(1) as f64
    }

    /// The families, in order, and how many runs each has.
    pub fn families(&self) -> BTreeMap<Family, usize> {
        let mut families = BTreeMap::new();
        for run in &self.runs {
            *families.entry(run.family).or_default() += 1;
        }
        families
    }
}

/// Runs controllers over a suite, each of them once, and compares each with the same references.
pub struct Bench<'a, E> {
    suites: &'a [(u64, Vec<Case>)],
    /// The runs of other controllers that tell what is a collapse.
    references: Vec<Record>,
    /// The same by controller.
    known: BTreeMap<String, Vec<Record>>,
    run: &'a mut Runner<'a, E>,
    passes: BTreeMap<String, Pass>,
}

/// Runs the jobs of the controller of this name. The records are in the order of the jobs.
pub type Runner<'a, E> = dyn FnMut(&str, &[Job<'_>]) -> Result<Vec<Record>, E> + 'a;

impl<'a, E> Bench<'a, E> {
    /// A suite for each seed, and records with which all are compared, and whose runs need not be made.
    pub fn new(
        suites: &'a [(u64, Vec<Case>)],
        references: Vec<Record>,
        run: &'a mut Runner<'a, E>,
    ) -> Self {
        let mut by_controller: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for record in references.iter().cloned() {
            let records = by_controller.entry(record.controller.clone()).or_default();
            records.push(record);
        }
        Self {
            suites,
            references,
            known: by_controller,
            run,
            passes: BTreeMap::new(),
        }
    }

    /// How many controllers have been compared with the references.
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// Makes a controller one of the references.
    ///
    /// # Errors
    /// A run that failed.
    pub fn refer_to(&mut self, controller: &str) -> Result<(), E> {
        let records = self.records(controller)?;
        self.references
            .retain(|record| record.controller != controller);
        self.references.extend(records);
        Ok(())
    }

    /// The controller's runs, compared with the references'.
    ///
    /// # Errors
    /// A run that failed.
    pub fn pass(&mut self, controller: &ControllerSpec) -> Result<&Pass, E> {
        let name = controller.to_string();
        if !self.passes.contains_key(&name) {
            let records = self.records(&name)?;
            let pass = self.compare(&name, records);
            self.passes.insert(name.clone(), pass);
        }
        Ok(&self.passes[&name])
    }

    /// The records of a controller, in the order of the suite.
    fn records(&mut self, controller: &str) -> Result<Vec<Record>, E> {
        let known = self.known.get(controller).map_or(&[][..], Vec::as_slice);
        let known: BTreeMap<_, _> = known.iter().map(|record| (key(record), record)).collect();
        let jobs = self.suites.iter().flat_map(|(seed, cases)| {
            cases.iter().map(|case| Job {
                case,
                controller,
                seed: *seed,
            })
        });
        let jobs: Vec<(Job<'_>, Option<Record>)> = jobs
            .map(|job| {
                let key = (job.case.family, job.case.name.as_str(), job.seed);
                (job, known.get(&key).map(|record| (*record).clone()))
            })
            .collect();
        let missing = jobs.iter().filter(|(_, record)| record.is_none());
        let missing: Vec<Job<'_>> = missing.map(|(job, _)| *job).collect();
        let mut new = if missing.is_empty() {
            Vec::new().into_iter()
        } else {
            (self.run)(controller, &missing)?.into_iter()
        };
        let records = jobs.into_iter();
        Ok(records
            .filter_map(|(_, record)| record.or_else(|| new.next()))
            .collect())
    }

    fn compare(&self, controller: &str, records: Vec<Record>) -> Pass {
        let mut all = self.references.clone();
        all.extend(records);
        let verdicts = judge(&all);
        let own = all.iter().zip(&verdicts).skip(self.references.len());
        let runs = own.map(|(record, verdict)| Run {
            family: record.family,
            collapses: !verdict.is_empty(),
            value: self.value(record).unwrap_or_default().max(MIN_VALUE),
        });
        let runs = runs.collect();
        let rows = Row::of(&all, &verdicts);
        let row = rows.into_iter().find(|row| row.controller == controller);
        let row = row.unwrap_or_default();
        Pass {
            worse: row.worse(),
            starving: row.starving().unwrap_or_default(),
            utilization: row.utilization(),
            rtt_ratio: row.rtt_ratio(),
            power: row.power(),
            runs,
        }
    }

    /// Power, or how fast messages are beside the fastest reference's.
    fn value(&self, record: &Record) -> Option<f64> {
        if record.bulk {
            return record.power;
        }
        let time = record.message_mean_ms?;
        let references = self.references.iter().filter(|reference| {
            key(reference) == key(record)
                && reference.unfinished.is_none()
                && reference.controller != LARGE_INITIAL_WINDOW
        });
        let times = references.filter_map(|reference| reference.message_mean_ms);
        Some(times.reduce(f64::min).unwrap_or(time) / time.max(f64::MIN_POSITIVE))
    }
}

impl<E> fmt::Debug for Bench<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bench = f.debug_struct("Bench");
        bench.field("passes", &self.passes).finish_non_exhaustive()
    }
}

/// A collapse of one run in a hundred costs as much as a tenth of the power: more than half or twice of a usual value changes the
/// power by. So the share of runs without a collapse comes first.
const COLLAPSE: f64 = 10.0;

/// No run has a lower value: a single one without any power would hide all others.
const MIN_VALUE: f64 = 0.01;
