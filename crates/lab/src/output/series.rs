//! What the plots of a comparison draw, as comma-separated values.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::compare::Outcome;
use crate::plots::file_name;
use crate::replace::replace;

/// Why a file of a series is not there, or not whole.
#[derive(Debug, Error)]
#[error("cannot write {path}: {source}", path = path.display())]
pub struct SeriesError {
    /// The file.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// Writes, into an existing directory, for every run `LINK-CONTROLLER.csv` with capacity, throughput and queueing delay over time
/// and `LINK-CONTROLLER-windows.csv` with the flows' windows, and for every link `LINK-scatter.csv` with throughput and round-trip
/// times. Runs of several seeds have their seeds in their names.
///
/// # Errors
/// When a file cannot be written.
pub fn write(outcomes: &[Outcome], directory: &Path) -> Result<(), SeriesError> {
    let write = |name: &str, fill: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let path = directory.join(format!("{}.csv", file_name(name)));
        replace(&path, fill).map_err(|source| SeriesError { path, source })
    };
    for link in outcomes.chunk_by(|a, b| a.row.trace == b.row.trace) {
        for outcome in link {
            let name = outcome.name(link);
            write(&name, &|file| timeline(outcome, file))?;
            write(&format!("{name}-windows"), &|file| windows(outcome, file))?;
        }
        if let Some(first) = link.first() {
            let name = format!("{}-scatter", first.row.trace);
            write(&name, &|file| scatter(link, file))?;
        }
    }
    Ok(())
}

fn scatter(link: &[Outcome], file: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(SCATTER)?;
    for Outcome { row, .. } in link {
        writer.serialize((
            &row.controller,
            row.seed,
            row.utilization * row.capacity_mbps,
            row.rtt_mean_ms,
            row.rtt_p95_ms,
            row.capacity_mbps,
            row.rtt_ms,
        ))?;
    }
    writer.flush()
}

fn timeline(outcome: &Outcome, file: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(TIMELINE)?;
    for (index, bin) in outcome.timeline.bins.iter().enumerate() {
        let begin = index as f64 * outcome.timeline.bin_seconds;
        let delay = bin.queue_delay_ms;
        writer.serialize((
            // To the microsecond: a sum of tenths is not one of their multiples.
            (begin * 1e6).round() / 1e6,
            bin.capacity_mbps,
            bin.throughput_mbps,
            delay.map(|delay| delay.min),
            delay.map(|delay| delay.mean),
            delay.map(|delay| delay.max),
        ))?;
    }
    writer.flush()
}

fn windows(outcome: &Outcome, file: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(WINDOWS)?;
    for (index, flow) in outcome.windows.iter().enumerate() {
        let controller = outcome.row.flows.get(index).map(|flow| &flow.controller);
        let controller = controller.unwrap_or(&outcome.row.controller);
        for (at, window) in flow {
            writer.serialize((Duration::as_secs_f64(at), index + 1, controller, window))?;
        }
    }
    writer.flush()
}

/// The columns. Bins are named by their beginnings.
const TIMELINE: [&str; 6] = [
    "time_s",
    "capacity_mbps",
    "throughput_mbps",
    "queue_delay_min_ms",
    "queue_delay_mean_ms",
    "queue_delay_max_ms",
];
const WINDOWS: [&str; 4] = ["time_s", "flow", "controller", "window_bytes"];
const SCATTER: [&str; 7] = [
    "controller",
    "seed",
    "throughput_mbps",
    "rtt_mean_ms",
    "rtt_p95_ms",
    "capacity_mbps",
    "rtt_ms",
];
