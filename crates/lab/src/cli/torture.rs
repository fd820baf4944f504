//! `kneepoint torture`.

use std::io::Write;

use clap::Args;
use kneepoint_emulator::host::HostConfig;

use super::error::CliError;
use super::options::{controllers, known_controller, refuse_repeated};
use super::sweep::SweepOptions;
use super::write_all;
use crate::torture::pairs::{matrix, pair_names, pairs};
use crate::torture::report::report;
use crate::torture::transfers::{arrivals, transfers};
use crate::torture::{Fault, Job, cases};

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

    #[command(flatten)]
    sweep: SweepOptions,

    /// Instead of faults: each two controllers of ours, and each one beside stock CUBIC, for 60 s on one link
    #[arg(long, conflicts_with_all = ["faults", "scenario", "host"])]
    pairs: bool,

    /// Instead of faults: transfers over many paths, with the stacks' flow control and with large windows
    #[arg(long, conflicts_with_all = ["faults", "pairs", "host"])]
    transfers: bool,
}

/// Runs what is asked for, and prints the tables.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let text = if arguments.pairs {
        pairs_of(arguments, out)?
    } else if arguments.transfers {
        transfers_of(arguments, out)?
    } else {
        faults_of(arguments, out)?
    };
    match text {
        Some(text) => Ok(write_all(out, &text)?),
        // Of a shard there are no tables.
        None => Ok(()),
    }
}

fn pairs_of(arguments: &Arguments, out: &mut dyn Write) -> Result<Option<String>, CliError> {
    let names = match &arguments.controllers[..] {
        [] => pair_names(),
        named => controllers(named)?,
    };
    let records = arguments.sweep.results(&pairs(&names), out)?;
    Ok(records.map(|records| matrix(&names, &records)))
}

fn transfers_of(arguments: &Arguments, out: &mut dyn Write) -> Result<Option<String>, CliError> {
    let controllers = controllers(&arguments.controllers)?;
    let transfers = transfers().into_iter();
    let transfers = transfers.filter(|transfer| transfer.name().contains(&arguments.scenario));
    let jobs: Vec<_> = transfers
        .flat_map(|transfer| {
            controllers
                .iter()
                .map(move |name| (transfer, name.as_str()))
        })
        .collect();
    require(!jobs.is_empty())?;
    let records = arguments.sweep.results(&jobs, out)?;
    Ok(records.map(|records| arrivals(&records)))
}

/// Refuses a choice without any case.
fn require(any: bool) -> Result<(), CliError> {
    if any {
        return Ok(());
    }
    Err(CliError::input("--scenario", "no case is left"))
}

fn faults_of(arguments: &Arguments, out: &mut dyn Write) -> Result<Option<String>, CliError> {
    let controllers = controllers(&arguments.controllers)?;
    refuse_repeated("--host", &arguments.host, |host| host.name.clone())?;
    let mut cases = cases();
    cases.retain(|case| {
        (arguments.faults.is_empty() || arguments.faults.contains(&case.fault))
            && case.name.contains(&arguments.scenario)
    });
    require(!cases.is_empty())?;
    let runs = cases
        .iter()
        .flat_map(|case| arguments.host.iter().map(move |host| (case, host)));
    let jobs: Vec<Job<'_>> = runs
        .flat_map(|(case, host)| {
            controllers.iter().map(move |controller| Job {
                case,
                host,
                controller,
            })
        })
        .collect();
    let records = arguments.sweep.results(&jobs, out)?;
    Ok(records.map(|records| report(&records)))
}
