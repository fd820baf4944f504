//! `kneepoint tune`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use kneepoint_controllers::ControllerSpec;

use super::error::CliError;
use super::frontier::CONTROLLERS;
use super::options::known_controller;
use super::progress::Progress;
use super::suite::{self, SuiteOptions};
use super::sweep::{Sweep, make_under};
use super::write_all;
use crate::frontier::{Case, Family, Job, Record};
use crate::tune::{
    Bench, Change, Parameter, ablation, leave_one_out, parameters, report, variations,
};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The controller, NAME or NAME:FIELD=VALUE: the search starts from its values
    #[arg(long, value_name = "NAME", default_value = "knee")]
    controller: ControllerSpec,

    /// Only these values, separated by commas [default: all]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    parameters: Vec<String>,

    /// What the search multiplies values by, separated by commas
    #[arg(long, value_name = "FACTORS", allow_hyphen_values = true, value_delimiter = ',', value_parser = factor, default_value = "0.5,2", conflicts_with = "ablation")]
    factors: Vec<f64>,

    /// How many passes each choice may look at; choices share passes
    #[arg(
        long,
        value_name = "PASSES",
        allow_hyphen_values = true,
        default_value = "40",
        value_parser = budget,
        conflicts_with = "ablation"
    )]
    budget: usize,

    /// Show what each value does, and choose nothing
    #[arg(long)]
    ablation: bool,

    #[command(flatten)]
    suite: SuiteOptions,

    /// Controllers that tell what is a collapse, separated by commas; those with records are not run again
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known_controller, default_value = CONTROLLERS)]
    against: Vec<String>,

    /// Keep the result of each run in this directory, and make no run again that it has: a command that was stopped goes on.
    /// Take another directory when a controller's code changes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the passes, and prints the table.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let start = &arguments.controller;
    let mut parameters = parameters(start);
    let wanted = &arguments.parameters;
    let has = |name: &&String| parameters.iter().any(|parameter| parameter.name == **name);
    if let Some(name) = wanted.iter().find(|name| !has(name)) {
        let reason = format_args!("'{start}' has no value '{name}'");
        return Err(CliError::input("--parameters", reason));
    }
    parameters.retain(|parameter| wanted.is_empty() || wanted.contains(&parameter.name));
    let changes = if arguments.ablation {
        variations(start, &parameters)
    } else {
        scaled(arguments, &parameters)
    };
    let suites = arguments.suite.suites()?;
    suite::require_scenarios(&suites)?;
    // Another version of the controller is no reference for it.
    let own = start.algorithm().name();
    let foreign = |name: &str| name.split(':').next() != Some(own);
    let mut references = arguments.suite.references()?;
    references.retain(|record| foreign(&record.controller));
    let against: Vec<&String> = arguments.against.iter().filter(|it| foreign(it)).collect();
    let sweep = arguments.out.as_deref().map(Sweep::of_all).transpose()?;
    let passes = passes(arguments, &suites, parameters.len(), &changes)?;
    let runs: usize = suites.iter().map(|(_, cases)| cases.len()).sum();
    let (values, others) = (parameters.len(), against.len());
    let cost = format!(
        "{start}: {values} values, {passes} passes of {runs} runs; to compare with, {others} passes of other controllers\n\
         Runs that have records are not repeated.\n\n"
    );
    write_all(out, &cost)?;
    let mut number = 0;
    let mut runner = |controller: &str, jobs: &[Job<'_>]| -> Result<Vec<Record>, CliError> {
        number += 1;
        let progress = Progress::of_part(format!("{number}: {controller}"));
        match &sweep {
            Some(sweep) => sweep.results_of_part(jobs, progress),
            None => make_under(jobs, progress),
        }
    };
    let mut bench = Bench::new(&suites, references, &mut runner);
    for controller in against {
        bench.refer_to(controller)?;
    }
    let table = if arguments.ablation {
        ablation(&mut bench, start, &parameters, &changes)?
    } else {
        let folds = leave_one_out(&mut bench, start, &changes, arguments.budget)?;
        format!("{}\npasses: {}\n", report(&folds), bench.passes())
    };
    sweep.map_or(Ok(()), Sweep::merge)?;
    Ok(write_all(out, &table)?)
}

/// Each value times each factor.
fn scaled(arguments: &Arguments, parameters: &[Parameter]) -> Vec<Change> {
    let start = &arguments.controller;
    let factors = || arguments.factors.iter();
    let changes = parameters
        .iter()
        .flat_map(|parameter| factors().filter_map(|factor| parameter.scaled(start, *factor)));
    changes.filter(|change| change.spec != *start).collect()
}

/// How many passes there are, at least and at most.
fn passes(
    arguments: &Arguments,
    suites: &[(u64, Vec<Case>)],
    values: usize,
    changes: &[Change],
) -> Result<String, CliError> {
    let changed = |change: &&Change| change.spec != arguments.controller;
    let alone = 1 + changes.iter().filter(changed).count();
    if arguments.ablation {
        return Ok(alone.to_string());
    }
    let cases = suites.iter().flat_map(|(_, cases)| cases);
    let families: BTreeSet<Family> = cases.map(|case| case.family).collect();
    if families.len() < 2 {
        let reason =
            "the search leaves out one family after the other: name two families, or --ablation";
        return Err(CliError::input("--family", reason));
    }
    let alone = alone.min(arguments.budget);
    let together = (arguments.budget - alone).min(values.saturating_sub(1));
    let most = alone + together * (1 + families.len());
    Ok(match together {
        0 => alone.to_string(),
        _ => format!("{alone} to {most}"),
    })
}

fn budget(text: &str) -> Result<usize, String> {
    let budget = text.parse().ok().filter(|budget| *budget > 0);
    budget.ok_or_else(|| "expected a whole number above 0".to_owned())
}

/// A factor above 0.
fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok();
    let factor = factor.filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    factor.ok_or_else(|| "expected a number above 0".to_owned())
}
