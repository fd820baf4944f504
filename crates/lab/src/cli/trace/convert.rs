//! `kneepoint trace convert`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::{CutError, Trace};

use super::{load, save};
use crate::cli::error::CliError;
use crate::rates;
use crate::units::parse_moment;

#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    /// A trace; or, if the name ends in .csv, rates: a header of time_s or time_ms and rate_mbps or rate_bytes_per_s,
    /// then one sample on each line
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Multiply the rate by this
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    scale: Option<f64>,

    /// Drop the part before: 10s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_moment)]
    from: Option<Duration>,

    /// Drop the part after: 70s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_moment)]
    to: Option<Duration>,

    /// The trace file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Reads, cuts, scales and writes, in this order.
pub(super) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let (file, out) = (&arguments.file, &arguments.out);
    if same(file, out) {
        let out = out.display();
        let reason = format!("{out} is the file that is read: name another one");
        return Err(CliError::input("--out", reason));
    }
    let is_csv = file
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let mut trace = if is_csv {
        rates::load(file).map_err(CliError::argument)?
    } else {
        load(file)?
    };
    if arguments.from.is_some() || arguments.to.is_some() {
        let from = arguments.from.map_or(Nanos::ZERO, Nanos::from);
        let to = arguments.to.map_or(trace.period(), Nanos::from);
        trace = cut(&trace, from, to)?;
    }
    if let Some(factor) = arguments.scale {
        let opportunities = trace.millis().len();
        if (opportunities as f64 * factor).round() == 0.0 && factor > 0.0 {
            let name = trace.name();
            let reason = format!("{name}: {factor:e} leaves none of {opportunities} opportunities");
            return Err(CliError::input("--scale", reason));
        }
        let scaled = trace.scaled(factor);
        trace = scaled.map_err(|error| CliError::input("--scale", error))?;
    }
    save(&trace, out)
}

/// Both lead to one file.
fn same(file: &Path, out: &Path) -> bool {
    match (file.canonicalize(), out.canonicalize()) {
        (Ok(file), Ok(out)) => file == out,
        _ => false,
    }
}

fn cut(trace: &Trace, from: Nanos, to: Nanos) -> Result<Trace, CliError> {
    trace.cut(from, to).map_err(|error| {
        let option = match error {
            CutError::BeyondEnd { .. } => "--to",
            CutError::Empty { from, .. } if from == Nanos::ZERO => "--to",
            CutError::NotWhole(border) if border == to => "--to",
            _ => "--from",
        };
        CliError::input(option, format_args!("{}: {error}", trace.name()))
    })
}
