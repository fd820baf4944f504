//! `kneepoint frontier`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint_emulator::trace::Trace;

use super::error::CliError;
use super::options::{known_controller, write_file};
use super::progress::Progress;
use super::write_all;
use crate::frontier::report::report;
use crate::frontier::{
    Case, Family, Job, Record, RecordedTrace, Shard, cases, chart, run as run_jobs,
};
use crate::output::json_lines;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Controllers to run, separated by commas, each NAME or NAME:PRESET
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known_controller, default_value = CONTROLLERS)]
    controllers: Vec<String>,

    /// Only these families, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    family: Vec<Family>,

    /// Only the scenarios that have this text in their names
    #[arg(long, value_name = "TEXT")]
    scenario: Option<String>,

    /// Also the traces of this directory, in mahimahi's format: every file that ends in .trace
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,

    /// How many seeds, from 1 on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    seeds: u64,

    /// Only one of several equal parts of the runs, such as 1/4; --reference puts the records of all parts together
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Write a record of each run into this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Draw utilization over delay into this file, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Compare with the records of an earlier --json, which are not run again; repeat for several
    #[arg(long, value_name = "FILE")]
    reference: Vec<PathBuf>,

    /// Print a line for each run
    #[arg(long)]
    runs: bool,

    /// Print the names of the scenarios, and run nothing
    #[arg(long)]
    list: bool,
}

/// Runs what is asked for, and prints the tables.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let traces = arguments
        .traces
        .as_deref()
        .map_or(Ok(Vec::new()), recorded)?;
    let suites: Vec<(u64, Vec<Case>)> = (1..=arguments.seeds)
        .map(|seed| {
            let mut cases = cases(seed, &traces);
            cases.retain(|case| wanted(arguments, case.family, &case.name));
            (seed, cases)
        })
        .collect();
    if arguments.list {
        let cases = suites.first().map_or(&[][..], |(_, cases)| cases);
        let names: String = cases
            .iter()
            .map(|case| format!("{}/{}\n", case.family, case.name))
            .collect();
        return Ok(write_all(out, &names)?);
    }
    if suites.iter().all(|(_, cases)| cases.is_empty()) {
        let reason = "no scenario is left: see --list, and --traces for the family 'traces'";
        return Err(CliError::Input(reason.to_owned()));
    }
    let mut records = Vec::new();
    for file in &arguments.reference {
        records.extend(read(file)?);
    }
    records.retain(|record: &Record| {
        record.seed <= arguments.seeds && wanted(arguments, record.family, &record.scenario)
    });
    let known: BTreeSet<_> = records.iter().map(key).collect();
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
            let name = (job.case.family, job.case.name.clone());
            !known.contains(&(name, job.controller.to_owned(), job.seed))
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

/// Whether a scenario is asked for.
fn wanted(arguments: &Arguments, family: Family, scenario: &str) -> bool {
    let text = arguments.scenario.as_ref();
    (arguments.family.is_empty() || arguments.family.contains(&family))
        && text.is_none_or(|text| scenario.contains(text.as_str()))
}

fn key(record: &Record) -> ((Family, String), String, u64) {
    let name = (record.family, record.scenario.clone());
    (name, record.controller.clone(), record.seed)
}

/// The traces of a directory, by name.
fn recorded(directory: &Path) -> Result<Vec<RecordedTrace>, CliError> {
    let failed = |error: std::io::Error| {
        CliError::input(
            "--traces",
            format_args!("cannot read {}: {error}", directory.display()),
        )
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension() == Some(OsStr::new("trace")) {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        let directory = directory.display();
        return Err(CliError::input(
            "--traces",
            format_args!("no .trace file in {directory}"),
        ));
    }
    let load = |path: &PathBuf| {
        let trace = Trace::load(path).map_err(|error| CliError::input("--traces", error))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(RecordedTrace {
            name: name.into_owned(),
            trace,
        })
    };
    paths.iter().map(load).collect()
}

/// The records of an earlier command.
fn read(path: &Path) -> Result<Vec<Record>, CliError> {
    let text = fs::read_to_string(path).map_err(|error| {
        CliError::input(
            "--reference",
            format_args!("cannot read {}: {error}", path.display()),
        )
    })?;
    let lines = (1_usize..).zip(text.lines());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                let path = path.display();
                CliError::input(
                    "--reference",
                    format_args!("{path}:{number}: no record: {error}"),
                )
            })
        })
        .collect()
}

/// quinn's own, and of ours those that the documentation recommends.
const CONTROLLERS: &str = "knee,quinn-cubic,quinn-bbr,cubic,bbr,bbr-s,bbr3,bbr3-s,vegas";
