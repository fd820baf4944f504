//! `kneepoint log`.

use std::io::Write;
use std::path::Path;

use clap::Subcommand;
use kneepoint_emulator::log_format::{Log, LogStatistics};
use kneepoint_emulator::time::Nanos;
use serde::Serialize;

use super::error::CliError;
use super::inspect::{PlotArguments, StatsArguments, log_name, mbps, prepare_plot, print};
use crate::metrics::stats::rounded;
use crate::plots;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print capacity, throughput, utilization and delays, as mahimahi's scripts define them
    Stats(StatsArguments),
    /// Draw throughput against capacity, and queueing delay
    Plot(PlotArguments),
}

/// One JSON object; the field names are a contract.
#[derive(Debug, Serialize)]
struct Numbers {
    duration_s: f64,
    capacity_mbps: Option<f64>,
    throughput_mbps: Option<f64>,
    utilization: Option<f64>,
    queue_delay_p95_ms: Option<u64>,
    signal_delay_p95_ms: Option<u64>,
    opportunities: u64,
    capacity_bytes: u64,
    arrived_packets: u64,
    arrived_bytes: u64,
    departed_packets: u64,
    departed_bytes: u64,
    dropped_packets: u64,
    dropped_bytes: u64,
}

impl From<LogStatistics> for Numbers {
    fn from(statistics: LogStatistics) -> Self {
        Self {
            duration_s: rounded(statistics.duration_ms as f64 / 1e3),
            capacity_mbps: statistics.capacity().map(mbps),
            throughput_mbps: statistics.throughput().map(mbps),
            utilization: statistics.utilization().map(rounded),
            queue_delay_p95_ms: statistics.queue_delay_p95_ms,
            signal_delay_p95_ms: statistics.signal_delay_p95_ms,
            opportunities: statistics.opportunities,
            capacity_bytes: statistics.capacity_bytes,
            arrived_packets: statistics.arrived_packets,
            arrived_bytes: statistics.arrived_bytes,
            departed_packets: statistics.departed_packets,
            departed_bytes: statistics.departed_bytes,
            dropped_packets: statistics.dropped_packets,
            dropped_bytes: statistics.dropped_bytes,
        }
    }
}

impl Numbers {
    fn entries(&self) -> [(&'static str, String); 9] {
        let rate = |mbps: Option<f64>| known(mbps, |mbps| format!("{mbps:.3} Mb/s"));
        let delay = |ms: Option<u64>| known(ms, |ms| format!("{ms} ms"));
        let count = |packets: u64, bytes: u64| format!("{packets} packets, {bytes} bytes");
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        [
            ("duration", format!("{:.3} s", self.duration_s)),
            ("capacity", rate(self.capacity_mbps)),
            ("throughput", rate(self.throughput_mbps)),
            ("utilization", known(self.utilization, percent)),
            ("queueing delay, p95", delay(self.queue_delay_p95_ms)),
            ("signal delay, p95", delay(self.signal_delay_p95_ms)),
            ("arrived", count(self.arrived_packets, self.arrived_bytes)),
            (
                "departed",
                count(self.departed_packets, self.departed_bytes),
            ),
            ("dropped", count(self.dropped_packets, self.dropped_bytes)),
        ]
    }
}

pub(super) fn run(command: &Command, out: &mut dyn Write) -> Result<(), CliError> {
    match command {
        Command::Stats(arguments) => {
            let numbers = Numbers::from(load(&arguments.file)?.statistics());
            print(arguments.format, &numbers.entries(), &numbers, out)
        }
        Command::Plot(arguments) => {
            let log = load(&arguments.file)?;
            let last = log.events().iter().map(|event| event.time).max();
            prepare_plot(arguments, Nanos::from_millis(last.unwrap_or(0)))?;
            plots::draw_log(&log, &log_name(&arguments.file), &arguments.out)
                .map_err(CliError::failure)
        }
    }
}

fn load(file: &Path) -> Result<Log, CliError> {
    Log::load(file).map_err(CliError::argument)
}

fn known<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}
