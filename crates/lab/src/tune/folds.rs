//! Leave one family out: values chosen on all other families, and what they reach on this one.

use kneepoint_controllers::ControllerSpec;

use super::pass::{Bench, Pass};
use super::search::choose;
use super::values::Change;
use crate::frontier::Family;
use crate::output::table::markdown;

/// What three sets of values reach on one family, or on all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold {
    /// The family that is left out; `None` stands for all runs, each under the values that were chosen without its family.
    pub family: Option<Family>,
    /// How many runs there are.
    pub runs: usize,
    /// The values of the start.
    pub start: Reached,
    /// The values that were chosen on all families, this one included.
    pub in_sample: Reached,
    /// The values that were chosen without the family.
    pub held_out: Reached,
    /// These values; for all runs, those that were chosen on all families.
    pub chosen: ControllerSpec,
}

/// What values reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reached {
    /// The score.
    pub score: f64,
    /// The share of the runs without a collapse.
    pub held: f64,
}

/// A row for each family, and one for all.
///
/// # Errors
/// A run that failed.
pub fn leave_one_out<E>(
    bench: &mut Bench<'_, E>,
    start: &ControllerSpec,
    changes: &[Change],
    budget: usize,
) -> Result<Vec<Fold>, E> {
    let families = bench.pass(start)?.families();
    let all = choose(start, changes, budget, |spec| {
        Ok(bench.pass(spec)?.score(|_| true))
    })?;
    let mut folds = Vec::new();
    for (&family, &runs) in &families {
        let chosen = choose(start, changes, budget, |spec| {
            Ok(bench.pass(spec)?.score(|other| other != family))
        })?;
        let mut reached = |spec| Ok(Reached::of(bench.pass(spec)?, |it| it == family));
        folds.push(Fold {
            family: Some(family),
            runs,
            start: reached(start)?,
            in_sample: reached(&all)?,
            held_out: reached(&chosen)?,
            chosen,
        });
    }
    let runs = families.values().sum();
    let mean = |value: fn(&Reached) -> f64| {
        let parts = folds
            .iter()
            .map(|fold| fold.runs as f64 * value(&fold.held_out));
        parts.sum::<f64>() / runs as f64
    };
    let held_out = Reached {
        score: mean(|reached| reached.score.ln()).exp(),
        held: mean(|reached| reached.held),
    };
    folds.push(Fold {
        family: None,
        runs,
        start: Reached::of(bench.pass(start)?, |_| true),
        in_sample: Reached::of(bench.pass(&all)?, |_| true),
        held_out,
        chosen: all,
    });
    Ok(folds)
}

impl Reached {
    fn of(pass: &Pass, family: impl Fn(Family) -> bool + Copy) -> Self {
        Self {
            score: pass.score(family),
            held: pass.held(family),
        }
    }
}

/// The rows as a table.
pub fn report(folds: &[Fold]) -> String {
    let titles = [
        "family",
        "runs",
        "start",
        "in-sample",
        "held-out",
        "loss %",
        "held % at start",
        "held % held-out",
        "values chosen without the family",
    ];
    let rows = folds.iter().map(|fold| {
        let name = fold.family.map(|family| family.to_string());
        let score = |reached: Reached| format!("{:.4}", reached.score);
        let held = |reached: Reached| format!("{:.1}", 100.0 * reached.held);
        vec![
            name.unwrap_or_else(|| "all; values of all".to_owned()),
            fold.runs.to_string(),
            score(fold.start),
            score(fold.in_sample),
            score(fold.held_out),
            percent(-change(fold.in_sample.score, fold.held_out.score)),
            held(fold.start),
            held(fold.held_out),
            settings(&fold.chosen),
        ]
    });
    markdown(titles, rows)
}

/// The values that are not those of the preset.
fn settings(spec: &ControllerSpec) -> String {
    let settings = spec
        .settings()
        .map(|(name, value)| format!("{name}={value}"));
    let settings: Vec<String> = settings.collect();
    match settings.as_slice() {
        [] => "preset".to_owned(),
        settings => settings.join(" "),
    }
}

/// From one score to the other, as a share of the first.
pub(super) fn change(from: f64, to: f64) -> f64 {
    to / from - 1.0
}

/// One decimal, and no minus before zero.
pub(super) fn percent(share: f64) -> String {
    let tenths = (1000.0 * share).round();
    format!("{:.1}", if tenths == 0.0 { 0.0 } else { tenths / 10.0 })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::super::values::parameters;
    use super::*;
    use crate::frontier::{Case, Job, Record, cases};

    fn suites() -> Vec<(u64, Vec<Case>)> {
        let mut cases = cases(1, &[], 0);
        let families = [Family::Loss, Family::Jitter, Family::Acks];
        cases.retain(|case| families.contains(&case.family));
        vec![(1, cases), (2, Vec::new())]
    }

    /// A run with this power.
    fn record(job: &Job<'_>, power: f64) -> Record {
        let record = serde_json::json!({
            "family": job.case.family, "scenario": job.case.name, "controller": job.controller,
            "seed": job.seed, "bulk": true, "utilization": 0.9, "loss": 0.0, "base_rtt_ms": 40.0,
            "power": power, "shares": [],
        });
        serde_json::from_value(record).unwrap()
    }

    /// The folds, and how often each controller was run. `jitter` is the power in that family of a larger `c`.
    fn folds(jitter: f64) -> (Vec<Fold>, BTreeMap<String, usize>) {
        let start: ControllerSpec = "cubic".parse().unwrap();
        let changes: Vec<Change> = parameters(&start)
            .iter()
            .filter(|parameter| ["beta_cubic", "c"].contains(&parameter.name.as_str()))
            .filter_map(|parameter| parameter.scaled(&start, 1.2))
            .collect();
        let mut passes = BTreeMap::new();
        let mut run = |controller: &str, jobs: &[Job<'_>]| {
            *passes.entry(controller.to_owned()).or_default() += 1;
            let power = |job: &Job<'_>| match (job.case.family, controller.contains(":c=")) {
                (Family::Jitter, true) => jitter,
                (_, true) => 0.6,
                (_, false) => 0.5,
            };
            Ok::<_, Infallible>(jobs.iter().map(|job| record(job, power(job))).collect())
        };
        let suites = suites();
        let mut bench = Bench::new(&suites, Vec::new(), &mut run);
        let Ok(folds) = leave_one_out(&mut bench, &start, &changes, 10);
        (folds, passes)
    }

    #[test]
    fn runs_of_the_family_that_is_left_out_do_not_choose() {
        let of_jitter = |folds: &[Fold]| {
            let fold = folds
                .iter()
                .find(|fold| fold.family == Some(Family::Jitter));
            fold.unwrap().clone()
        };
        let (good, _) = folds(0.7);
        let (bad, _) = folds(0.02);
        let (all_good, all_bad) = (good.last().unwrap(), bad.last().unwrap());
        assert_eq!(all_good.chosen.to_string(), "cubic:c=0.48");
        assert_eq!(all_bad.chosen.to_string(), "cubic");
        // The same values are chosen without the family, and they do badly on it.
        let (good, bad) = (of_jitter(&good), of_jitter(&bad));
        assert_eq!(good.chosen, bad.chosen);
        assert_eq!(bad.chosen.to_string(), "cubic:c=0.48");
        let near = |reached: Reached, power: f64| (reached.score - power).abs() < 1e-9;
        assert!(near(good.held_out, 0.7) && near(bad.held_out, 0.02));
        assert!(near(bad.in_sample, 0.5) && near(bad.start, 0.5));
        assert!(all_bad.held_out.score < all_bad.in_sample.score);
    }

    #[test]
    fn every_set_of_values_is_run_once() {
        let (folds, passes) = folds(0.7);
        assert_eq!(folds.len(), 4);
        let expected = ["cubic", "cubic:beta_cubic=0.84", "cubic:c=0.48"];
        assert!(passes.keys().eq(expected), "{passes:?}");
        assert!(passes.values().all(|times| *times == 1), "{passes:?}");
    }

    #[test]
    fn a_percentage_has_one_decimal() {
        let written = [-0.0001, 0.0123, -0.25].map(percent);
        assert_eq!(written, ["0.0", "1.2", "-25.0"]);
    }
}
