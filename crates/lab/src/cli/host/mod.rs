//! `kneepoint host`.

mod measure;

use std::io::Write;

use clap::Subcommand;

use super::error::CliError;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Measure this machine as an end host, and write its model for the emulator
    Measure(measure::Arguments),
}

pub(super) fn run(command: &Command, out: &mut dyn Write) -> Result<(), CliError> {
    match command {
        Command::Measure(arguments) => measure::run(arguments, out),
    }
}
