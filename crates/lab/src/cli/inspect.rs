//! The common parts of commands that read one file.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint_emulator::time::Nanos;
use serde::Serialize;

use super::error::CliError;
use super::options::create_directory;
use super::write_all;
use crate::metrics::stats::rounded;
use crate::output;
use crate::units::format_time;

#[derive(Debug, Args)]
pub(super) struct StatsArguments {
    /// The file to read
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// How to print the numbers; json prints one object on one line
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct PlotArguments {
    /// The file to read
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// The directory to draw into, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Json,
}

/// Prints numbers for people or for programs.
pub(super) fn print(
    format: Format,
    entries: &[(&str, String)],
    object: &impl Serialize,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let text = match format {
        Format::Table => output::list(entries),
        Format::Json => serde_json::to_string(object).map_err(CliError::failure)? + "\n",
    };
    Ok(write_all(out, &text)?)
}

/// Makes sure that there is a directory to draw into, and that the drawing will not be too large to look at.
pub(super) fn prepare_plot(arguments: &PlotArguments, length: Nanos) -> Result<(), CliError> {
    if length > MAX_PLOT {
        let file = arguments.file.display();
        let (length, max) = (format_time(length.into()), format_time(MAX_PLOT.into()));
        return Err(CliError::argument(format_args!(
            "{file} lasts {length}: at most {max} can be drawn"
        )));
    }
    create_directory("--out", &arguments.out)
}

/// A log's name: the two directions of one run have the same stem.
pub(super) fn log_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(OsStr::new("log"));
    let name = name.to_string_lossy();
    name.strip_suffix(".log").unwrap_or(&name).to_owned()
}

/// The file's name without its extension.
pub(super) fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(OsStr::new("plot"));
    stem.to_string_lossy().into_owned()
}

/// Bytes per second as Mb/s.
pub(super) fn mbps(bytes_per_second: f64) -> f64 {
    rounded(bytes_per_second * 8.0 / 1e6)
}

/// A day has 864,000 bins of 100 ms, far more than pixels.
const MAX_PLOT: Nanos = Nanos::from_millis(86_400_000);
