//! `kneepoint trace generate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kneepoint_emulator::generate::{self, BUNDLED_SEED, MAX_DURATION, Profile};

use super::save;
use crate::cli::error::CliError;
use crate::units::{format_time, parse_time};

#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help = profile_help())]
    profile: Profile,

    /// Seed: the same seed gives the same trace
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = BUNDLED_SEED)]
    seed: u64,

    /// How long the trace is before it repeats, to the millisecond: 120s, 2min
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "120s", value_parser = parse_duration)]
    duration: Duration,

    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes a trace file.
pub(super) fn generate(arguments: &Arguments) -> Result<(), CliError> {
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
