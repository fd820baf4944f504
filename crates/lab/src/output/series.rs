//! What the plots of a comparison draw, as comma-separated values.

use std::path::Path;
use std::time::Duration;

use crate::compare::Outcome;
use crate::plots::file_name;

/// Writes, into an existing directory, for every run `LINK-CONTROLLER.csv` with capacity, throughput and queueing delay over time
/// and `LINK-CONTROLLER-windows.csv` with the flows' windows, and for every link `LINK-scatter.csv` with throughput and round-trip
/// times. Runs of several seeds have their seeds in their names.
///
/// # Errors
/// When a file cannot be written.
pub fn write(outcomes: &[Outcome], directory: &Path) -> Result<(), csv::Error> {
    for link in outcomes.chunk_by(|a, b| a.row.trace == b.row.trace) {
        let mut scatter = None;
        for outcome in link {
            let name = outcome.name(link);
            let path = |name: &str| directory.join(format!("{name}.csv"));
            timeline(outcome, &path(&file_name(&name)))?;
            windows(outcome, &path(&file_name(&format!("{name}-windows"))))?;
            let row = &outcome.row;
            let scatter = match &mut scatter {
                Some(scatter) => scatter,
                None => {
                    let name = file_name(&format!("{}-scatter", row.trace));
                    let mut writer = csv::Writer::from_path(path(&name))?;
                    writer.write_record(SCATTER)?;
                    scatter.insert(writer)
                }
            };
            let throughput = row.utilization * row.capacity_mbps;
            scatter.serialize((
                &row.controller,
                row.seed,
                throughput,
                row.rtt_mean_ms,
                row.rtt_p95_ms,
                row.capacity_mbps,
                row.rtt_ms,
            ))?;
        }
        if let Some(mut scatter) = scatter {
            scatter.flush()?;
        }
    }
    Ok(())
}

fn timeline(outcome: &Outcome, path: &Path) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_path(path)?;
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
    Ok(writer.flush()?)
}

fn windows(outcome: &Outcome, path: &Path) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_path(path)?;
    writer.write_record(WINDOWS)?;
    for (index, flow) in outcome.windows.iter().enumerate() {
        let controller = outcome.row.flows.get(index).map(|flow| &flow.controller);
        let controller = controller.unwrap_or(&outcome.row.controller);
        for (at, window) in flow {
            writer.serialize((Duration::as_secs_f64(at), index + 1, controller, window))?;
        }
    }
    Ok(writer.flush()?)
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
