//! `kneepoint trace`.

mod convert;
mod stats;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use kneepoint_emulator::generate::{self, BUNDLED_SEED, MAX_DURATION, Profile};
use kneepoint_emulator::trace::Trace;

use super::error::CliError;
use super::inspect::{PlotArguments, StatsArguments, prepare_plot, stem};
use super::options::{cannot_write, parse_seed};
use crate::plots;
use crate::replace::replace;
use crate::units::{format_time, parse_time};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Generate a trace from a statistical model of a link
    Generate(GenerateArguments),
    /// Print a trace's length, rates, outages and the seam where it repeats
    Stats(StatsArguments),
    /// Make a trace of a CSV file of rates, or scale and cut one
    Convert(convert::Arguments),
    /// Draw a trace's rate over one cycle
    Plot(PlotArguments),
}

pub(super) fn run(command: &Command, out: &mut dyn Write) -> Result<(), CliError> {
    match command {
        Command::Generate(arguments) => generate(arguments),
        Command::Stats(arguments) => stats::run(arguments, out),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Plot(arguments) => {
            let trace = load(&arguments.file)?;
            prepare_plot(arguments, trace.period())?;
            plots::draw_trace(&trace, &stem(&arguments.file), &arguments.out)
                .map_err(CliError::failure)
        }
    }
}

fn load(file: &Path) -> Result<Trace, CliError> {
    Trace::load(file).map_err(CliError::argument)
}

/// Writes a trace to the file of `--out`.
fn save(trace: &Trace, path: &Path) -> Result<(), CliError> {
    replace(path, |file| trace.write(file)).map_err(|error| cannot_write("--out", path, error))
}

#[derive(Debug, Args)]
pub(super) struct GenerateArguments {
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help = profile_help())]
    profile: Profile,

    /// Seed: the same seed gives the same trace
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = BUNDLED_SEED, value_parser = parse_seed)]
    seed: u64,

    /// How long the trace is before it repeats, to the millisecond: 120s, 2min
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "120s", value_parser = parse_duration)]
    duration: Duration,

    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes a trace file.
fn generate(arguments: &GenerateArguments) -> Result<(), CliError> {
    let trace = generate::generate(arguments.profile, arguments.seed, arguments.duration.into());
    save(&trace, &arguments.out)
}

fn profile_help() -> String {
    let names = Profile::ALL.map(Profile::name).join(", ");
    format!("The kind of link to imitate: {names}")
}

/// Whole milliseconds that the generator will not have to cut.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = parse_time(text).map_err(|error| error.to_string())?;
    let max = Duration::from(MAX_DURATION);
    if !(Duration::from_millis(1)..=max).contains(&duration) {
        return Err(format!(
            "out of range: expected 1ms to {}",
            format_time(max)
        ));
    }
    Ok(duration)
}
