//! `kneepoint frontier`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::options::{known_controller, named_once, write_file};
use super::suite::{self, SuiteOptions};
use super::sweep::SweepOptions;
use super::write_all;
use crate::frontier::report::report;
use crate::frontier::{Case, Family, Job, Record, chart, informed};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Controllers to run, separated by commas, each NAME or NAME:PRESET
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known_controller, default_value = CONTROLLERS)]
    controllers: Vec<String>,

    #[command(flatten)]
    suite: SuiteOptions,

    #[command(flatten)]
    sweep: SweepOptions,

    /// Draw utilization over delay into this file, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Print a line for each run
    #[arg(long)]
    runs: bool,

    /// Compare with senders that are told of the link's rate half a round trip late, over traces
    #[arg(long)]
    informed: bool,

    /// Print the names of the scenarios, and run nothing
    #[arg(long)]
    list: bool,
}

/// Runs what is asked for, and prints the tables.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let suites = arguments.suite.suites()?;
    if arguments.list {
        let cases = suites.first().map_or(&[][..], |(_, cases)| cases);
        let names: String = cases
            .iter()
            .map(|case| format!("{}/{}\n", case.family, case.name))
            .collect();
        return Ok(write_all(out, &names)?);
    }
    suite::require_scenarios(&suites)?;
    named_once(&arguments.controllers)?;
    if arguments.informed && !suites.iter().any(|(_, cases)| has_traces(cases)) {
        let reason = "--informed needs scenarios of the families 'traces' or 'generated'";
        return Err(CliError::Input(reason.to_owned()));
    }
    let mut records = arguments.suite.references()?;
    let known: BTreeSet<(Family, String, String, u64)> = records.iter().map(key).collect();
    let scenarios = suites
        .iter()
        .flat_map(|(seed, cases)| cases.iter().map(move |case| (*seed, case)));
    let jobs: Vec<Job<'_>> = scenarios
        .flat_map(|(seed, case)| {
            let controllers = arguments.controllers.iter();
            controllers.map(move |controller| Job {
                case,
                controller,
                seed,
            })
        })
        .filter(|job| {
            let (family, name) = (job.case.family, job.case.name.clone());
            !known.contains(&(family, name, job.controller.to_owned(), job.seed))
        })
        .collect();
    match arguments.sweep.results(&jobs, out)? {
        Some(new) => records.extend(new),
        None => return Ok(()),
    }
    in_order(&mut records, &suites, &arguments.controllers);
    if let Some(path) = &arguments.svg {
        let drawing = chart(&records).svg().map_err(CliError::failure)?;
        write_file("--svg", path, &drawing)?;
    }
    let mut text = report(&records, arguments.runs);
    if arguments.informed {
        text += &informed(&suites, &records).map_err(CliError::failure)?;
    }
    Ok(write_all(out, &text)?)
}

/// Whether an informed sender has anything to be told of.
fn has_traces(cases: &[Case]) -> bool {
    let traces = [Family::Traces, Family::Generated];
    cases.iter().any(|case| traces.contains(&case.family))
}

/// As the suite and the command have them: references come in another order, and first those of controllers that are not named.
fn in_order(records: &mut [Record], suites: &[(u64, Vec<Case>)], controllers: &[String]) {
    let cases = suites
        .iter()
        .flat_map(|(seed, cases)| cases.iter().map(move |case| (*seed, case)));
    let places: BTreeMap<(u64, Family, &str), usize> = cases
        .zip(0..)
        .map(|((seed, case), place)| ((seed, case.family, case.name.as_str()), place))
        .collect();
    records.sort_by_key(|record| {
        let case = (record.seed, record.family, record.scenario.as_str());
        let controller = controllers
            .iter()
            .position(|name| *name == record.controller);
        (places.get(&case).copied(), controller)
    });
}

fn key(record: &Record) -> (Family, String, String, u64) {
    let (scenario, controller) = (record.scenario.clone(), record.controller.clone());
    (record.family, scenario, controller, record.seed)
}

/// quinn's own, and of ours those that the documentation recommends.
pub(super) const CONTROLLERS: &str = "knee,quinn-cubic,quinn-bbr,cubic,bbr,bbr-s,bbr3,bbr3-s,vegas";
