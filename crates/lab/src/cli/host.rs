//! `kneepoint host`.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::error::CliError;
use super::options::{SEED, check_file, parse_seed, whole, write_file};
use super::progress::Progress;
use super::write_all;
use crate::calibrate::{self, CalibrateError, Measurement};
use crate::output::list;
use crate::units::parse_time;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Measure this machine as an end host, and write its model for the emulator
    Measure(Arguments),
}

/// Measure this machine as an end host, and write what the emulator needs to behave like it.
///
/// Sends datagrams over 127.0.0.1 to a thread that waits for each, sleeps on tokio's timers, and runs QUIC transfers of
/// several datagram sizes, windows and bursts with quinn over tokio. From these come the delay of wake-ups, the lateness of timers, how
/// many datagrams are read and sent at once, and, by least squares, what a wake-up, a burst, a datagram and a byte cost.
///
/// Needs two processors with nothing else to do, and a program built with --release. A machine that is busy with something
/// else, or --load, gives the figures of a busy host.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Write the host into this file, and print the measurements [default: print the host]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// How long to measure, at least 100ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "20s", value_parser = parse_duration)]
    duration: Duration,

    /// Threads that compute meanwhile: for a host whose processors others use too
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0, value_parser = whole::<u32>(0..=1024))]
    load: u32,

    /// Seed of the times at which datagrams are sent. Results still differ from run to run, because time is real
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = SEED, value_parser = parse_seed)]
    seed: u64,
}

pub(super) fn run(command: &Command, out: &mut dyn Write) -> Result<(), CliError> {
    let Command::Measure(arguments) = command;
    if let Some(path) = &arguments.out {
        // Before the measurement rather than after it.
        check_file("--out", path)?;
    }
    let progress = Progress::of_shares();
    let measured = calibrate::measure(
        arguments.duration,
        arguments.load,
        arguments.seed,
        &|share| progress.advance_share(share),
    );
    progress.finish();
    let measured = measured.map_err(|error| match error {
        CalibrateError::Nothing { .. } => CliError::input("--duration", error),
        error => CliError::failure(error),
    })?;
    let (report, host) = (list(&measured.describe()), preset(&measured)?);
    let text = match &arguments.out {
        None => host,
        Some(path) => {
            write_file("--out", path, &host)?;
            report
        }
    };
    Ok(write_all(out, &text)?)
}

/// The host as TOML, under a comment that says what was measured.
fn preset(measured: &Measurement) -> Result<String, CliError> {
    let host = measured.host(NAME);
    host.validate().map_err(CliError::failure)?;
    let report = list(&measured.describe());
    let comment: String = report.lines().map(|line| format!("# {line}\n")).collect();
    let build = if cfg!(debug_assertions) {
        "# Measured by a program built without --release: costs are too high.\n"
    } else {
        ""
    };
    let host = host.to_toml();
    Ok(format!(
        "# Measured by `kneepoint host measure`.\n{build}{comment}\n{host}"
    ))
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    match parse_time(text) {
        Ok(time) if time >= MIN => Ok(time),
        Ok(_) => Err("expected at least 100ms".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The host's name in errors.
const NAME: &str = "the measured host";

/// Below this no transfer begins before its time is up.
const MIN: Duration = Duration::from_millis(100);
