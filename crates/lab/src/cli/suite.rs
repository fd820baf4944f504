//! What `frontier` and `tune` run: scenarios, and records of earlier runs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint_emulator::trace::Trace;

use super::error::CliError;
use super::options::whole;
use crate::frontier::{COMMAND, Case, Family, Record, RecordedTrace, cases};
use crate::sweep;

#[derive(Debug, Args)]
pub(super) struct SuiteOptions {
    /// Only these families, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    family: Vec<Family>,

    /// Only the scenarios that have this text in their names
    #[arg(long, value_name = "TEXT")]
    scenario: Option<String>,

    /// Also the traces of this directory, in mahimahi's format: every file that ends in .trace
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,

    /// Also so many scenarios that each seed draws: links, difficulties and their sizes
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0, value_parser = whole::<u32>(0..=100_000))]
    drawn: u32,

    /// How many seeds, from 1 on
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 1, value_parser = whole::<u64>(1..=100))]
    seeds: u64,

    /// Compare with the runs of an earlier --out, which are not made again, whatever version made them; repeat for several
    #[arg(long, value_name = "DIR|FILE")]
    reference: Vec<PathBuf>,
}

impl SuiteOptions {
    /// The scenarios of each seed.
    pub(super) fn suites(&self) -> Result<Vec<(u64, Vec<Case>)>, CliError> {
        let traces = self.traces.as_deref().map_or(Ok(Vec::new()), recorded)?;
        let suite = |seed| {
            let mut cases = cases(seed, &traces, self.drawn);
            cases.retain(|case| self.wants(case.family, &case.name));
            (seed, cases)
        };
        Ok((1..=self.seeds).map(suite).collect())
    }

    /// The records of all --reference that belong to these scenarios.
    pub(super) fn references(&self) -> Result<Vec<Record>, CliError> {
        let mut records: Vec<Record> = Vec::new();
        for path in &self.reference {
            let read = sweep::read(path, COMMAND);
            let read = read.map_err(|error| CliError::input("--reference", error))?;
            if read.is_empty() {
                let reason = format_args!("no run of {COMMAND} in {}", path.display());
                return Err(CliError::input("--reference", reason));
            }
            records.extend(read);
        }
        records.retain(|record| {
            record.seed <= self.seeds && self.wants(record.family, &record.scenario)
        });
        Ok(records)
    }

    /// Whether a scenario is asked for.
    fn wants(&self, family: Family, scenario: &str) -> bool {
        let text = self.scenario.as_ref();
        (self.family.is_empty() || self.family.contains(&family))
            && text.is_none_or(|text| scenario.contains(text.as_str()))
    }
}

/// Refuses a choice without any scenario.
pub(super) fn require_scenarios(suites: &[(u64, Vec<Case>)]) -> Result<(), CliError> {
    if suites.iter().any(|(_, cases)| !cases.is_empty()) {
        return Ok(());
    }
    let reason = "no scenario is left: see frontier --list, and --traces for the family 'traces'";
    Err(CliError::Input(reason.to_owned()))
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
