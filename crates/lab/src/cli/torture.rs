//! `kneepoint torture`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use kneepoint_emulator::host::HostConfig;
use serde::Serialize;

use super::error::CliError;
use super::options::{controllers, known_controller, write_file};
use super::progress::Progress;
use super::write_all;
use crate::frontier::{FrontierError, Shard};
use crate::output::json_lines;
use crate::torture::pairs::{matrix, pair_names, pairs, run_pairs};
use crate::torture::report::report;
use crate::torture::transfers::{arrivals, run_transfers, transfers};
use crate::torture::{Fault, Job, cases, run as run_jobs};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Controllers to run, separated by commas, each NAME or NAME:PRESET [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known_controller)]
    controllers: Vec<String>,

    /// Only these faults, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    faults: Vec<Fault>,

    /// Only the cases that have this text in their names
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    scenario: String,

    /// Models of the end hosts, separated by commas: ideal, server, busy, phone, or host files
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', default_value = "ideal,busy", value_parser = HostConfig::named)]
    host: Vec<HostConfig>,

    /// Only one of several equal parts of the runs, such as 1/4
    #[arg(
        long,
        value_name = "I/N",
        default_value = "1/1",
        hide_default_value = true
    )]
    shard: Shard,

    /// Write a record of each run into this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Instead of faults: each two controllers of ours, and each one beside stock CUBIC, for 60 s on one link
    #[arg(long, conflicts_with_all = ["faults", "scenario", "shard", "host"])]
    pairs: bool,

    /// Instead of faults: transfers over many paths, with the stacks' flow control and with large windows
    #[arg(long, conflicts_with_all = ["faults", "pairs", "host"])]
    transfers: bool,
}

/// Runs what is asked for, and prints the tables.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let text = if arguments.pairs {
        pairs_of(arguments)?
    } else if arguments.transfers {
        transfers_of(arguments)?
    } else {
        faults_of(arguments)?
    };
    Ok(write_all(out, &text)?)
}

fn pairs_of(arguments: &Arguments) -> Result<String, CliError> {
    let names = match &arguments.controllers[..] {
        [] => pair_names(),
        named => controllers(named)?,
    };
    let records = carry_out(arguments, |progress| run_pairs(&pairs(&names), progress))?;
    Ok(matrix(&names, &records))
}

fn transfers_of(arguments: &Arguments) -> Result<String, CliError> {
    let controllers = controllers(&arguments.controllers)?;
    let transfers = transfers().into_iter();
    let transfers = transfers.filter(|transfer| transfer.name().contains(&arguments.scenario));
    let transfers = transfers
        .enumerate()
        .filter(|(place, _)| arguments.shard.has(*place));
    let jobs: Vec<_> = transfers
        .flat_map(|(_, transfer)| {
            controllers
                .iter()
                .map(move |name| (transfer, name.as_str()))
        })
        .collect();
    require(!jobs.is_empty())?;
    let records = carry_out(arguments, |progress| run_transfers(&jobs, progress))?;
    Ok(arrivals(&records))
}

/// Refuses a choice without any case.
fn require(any: bool) -> Result<(), CliError> {
    if any {
        return Ok(());
    }
    Err(CliError::input("--scenario", "no case is left"))
}

fn faults_of(arguments: &Arguments) -> Result<String, CliError> {
    let controllers = controllers(&arguments.controllers)?;
    let mut cases = cases();
    cases.retain(|case| {
        (arguments.faults.is_empty() || arguments.faults.contains(&case.fault))
            && case.name.contains(&arguments.scenario)
    });
    require(!cases.is_empty())?;
    let runs = cases
        .iter()
        .flat_map(|case| arguments.host.iter().map(move |host| (case, host)));
    // Runs that are compared with each other belong to one shard.
    let runs = runs
        .enumerate()
        .filter(|(place, _)| arguments.shard.has(*place));
    let jobs: Vec<Job<'_>> = runs
        .flat_map(|(_, (case, host))| {
            controllers.iter().map(move |controller| Job {
                case,
                host,
                controller,
            })
        })
        .collect();
    let records = carry_out(arguments, |progress| run_jobs(&jobs, progress))?;
    Ok(report(&records))
}

/// Runs all jobs under a progress bar, and writes the records into the file of --json, if there is one.
fn carry_out<R: Serialize>(
    arguments: &Arguments,
    run: impl FnOnce(&(dyn Fn(f64) + Sync)) -> Result<Vec<R>, FrontierError>,
) -> Result<Vec<R>, CliError> {
    let progress = Progress::of_shares();
    let records = run(&|share| progress.advance_share(share));
    progress.finish();
    let records = records.map_err(CliError::failure)?;
    if let Some(path) = &arguments.json {
        let lines = json_lines(&records).map_err(CliError::failure)?;
        write_file("--json", path, &lines)?;
    }
    Ok(records)
}
