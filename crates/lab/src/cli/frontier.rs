//! `kneepoint frontier`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::options::{known_controller, write_file};
use super::progress::Progress;
use super::suite::{self, SuiteOptions};
use super::write_all;
use crate::frontier::report::report;
use crate::frontier::{Family, Job, Record, Shard, chart, run as run_jobs};
use crate::output::json_lines;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Controllers to run, separated by commas, each NAME or NAME:PRESET
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known_controller, default_value = CONTROLLERS)]
    controllers: Vec<String>,

    #[command(flatten)]
    suite: SuiteOptions,

    /// Only one of several equal parts of the runs, such as 1/4; --reference puts the records of all parts together
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Write a record of each run into this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Draw utilization over delay into this file, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Print a line for each run
    #[arg(long)]
    runs: bool,

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
    let mut records = arguments.suite.references()?;
    let known: BTreeSet<(Family, String, String, u64)> = records.iter().map(key).collect();
    // Runs that are compared with each other belong to one shard.
    let shard = arguments.shard.unwrap_or(Shard::ALL);
    let scenarios = suites
        .iter()
        .flat_map(|(seed, cases)| cases.iter().map(move |case| (*seed, case)))
        .enumerate()
        .filter(|(place, _)| shard.has(*place));
    let jobs: Vec<Job<'_>> = scenarios
        .flat_map(|(_, (seed, case))| {
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
    let progress = Progress::of_shares();
    let new = run_jobs(&jobs, &|share| progress.advance_share(share));
    progress.finish();
    let new = new.map_err(CliError::failure)?;
    if let Some(path) = &arguments.json {
        let lines = json_lines(&new).map_err(CliError::failure)?;
        write_file("--json", path, &lines)?;
    }
    records.extend(new);
    if let Some(path) = &arguments.svg {
        let drawing = chart(&records).svg().map_err(CliError::failure)?;
        write_file("--svg", path, &drawing)?;
    }
    Ok(write_all(out, &report(&records, arguments.runs))?)
}

fn key(record: &Record) -> (Family, String, String, u64) {
    let (scenario, controller) = (record.scenario.clone(), record.controller.clone());
    (record.family, scenario, controller, record.seed)
}

/// quinn's own, and of ours those that the documentation recommends.
pub(super) const CONTROLLERS: &str = "knee,quinn-cubic,quinn-bbr,cubic,bbr,bbr-s,bbr3,bbr3-s,vegas";
