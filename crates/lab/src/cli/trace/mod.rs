//! `kneepoint trace`.

mod convert;
mod generate;
mod stats;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::Subcommand;
use kneepoint_emulator::trace::Trace;

use super::error::CliError;
use super::inspect::{PlotArguments, StatsArguments, prepare_plot, stem};
use crate::plots;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Generate a trace from a statistical model of a link
    Generate(generate::Arguments),
    /// Print a trace's length, rates, outages and the seam where it repeats
    Stats(StatsArguments),
    /// Make a trace of a CSV file of rates, or scale and cut one
    Convert(convert::Arguments),
    /// Draw a trace's rate over one cycle
    Plot(PlotArguments),
}

pub(super) fn run(command: &Command, out: &mut dyn Write) -> Result<(), CliError> {
    match command {
        Command::Generate(arguments) => generate::generate(arguments),
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
    Trace::load(file).map_err(|error| CliError::input("FILE", error))
}

/// Writes a trace to the file of `--out`.
fn save(trace: &Trace, path: &Path) -> Result<(), CliError> {
    let blame = |error| {
        let path = path.display();
        CliError::input("--out", format_args!("cannot write {path}: {error}"))
    };
    let mut file = BufWriter::new(File::create(path).map_err(blame)?);
    trace
        .write(&mut file)
        .and_then(|()| file.flush())
        .map_err(blame)
}
