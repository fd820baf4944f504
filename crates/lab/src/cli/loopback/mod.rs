//! `kneepoint loopback`.

mod report;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;

use super::error::CliError;
use super::inspect::Format;
use super::options::{
    self, QUEUE, SEED, known_controller, parse_bytes, parse_queue, parse_seed, refuse_repeated,
    whole,
};
use super::progress::Progress;
use super::write_all;
use crate::controllers::Stack;
use crate::loopback::{self, LoopbackError, Path, Plan, Processes};
use crate::output;
use crate::units::{QueueSize, Rate, UnitError, format_time, parse_time};

pub(super) use crate::loopback::RECEIVER_COMMAND;

/// Measure controllers over real sockets of this machine, in real time.
///
/// Every transfer sends --size bytes over 127.0.0.1, with quinn or noq over tokio. Sender and receiver have a thread each.
/// With --rtt or --rate the transfer goes through the relay of `kneepoint relay`, which runs in the sender's process; its
/// processor time is not counted. Runs of different controllers alternate, and each run begins with another controller.
/// One transfer of at most 100 MB before the first run over each path is not measured.
///
/// A transfer that does not finish within --timeout is a result: its goodput is what arrived until then.
///
/// After Ctrl-C or another signal to end, prints what the transfers until then have shown.
#[derive(Debug, Args)]
#[command(after_long_help = FIELDS)]
pub(super) struct Arguments {
    /// Controllers to measure, separated by commas, each NAME or NAME:PRESET [default: all that `compare` runs]
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, value_delimiter = ',', value_parser = known_controller)]
    controllers: Vec<String>,

    /// Bytes of one transfer: 1GB (10^9 bytes), 100MB, 2MiB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "1GB", value_parser = parse_size)]
    size: u64,

    /// Transfers of each controller over each path
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 7, value_parser = whole::<u32>(1..=1000))]
    runs: u32,

    /// RTT that the relay adds, half of it each way; several separated by commas: 0,200us,1ms,10ms.
    /// 0 without --rate is 127.0.0.1 without a relay
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, value_delimiter = ',', default_value = "0", value_parser = parse_rtt)]
    rtt: Vec<Duration>,

    /// Rate of the relay from sender to receiver; several separated by commas: 10Mbps,1Gbps [default: no limit]
    #[arg(
        long,
        value_name = "RATES",
        allow_hyphen_values = true,
        value_delimiter = ','
    )]
    rate: Vec<Rate>,

    /// Size of the drop-tail queue before --rate: 3MB (10^6 bytes), 3MiB, 100p (packets) or inf
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, requires = "rate", default_value = QUEUE, value_parser = parse_queue)]
    queue: QueueSize,

    /// Let the relay spin before a packet is due: more precise, for a processor in each direction
    #[arg(long)]
    busy: bool,

    /// When a transfer ends unfinished [default: 10 s and four times what --size takes at --rate, at most 500 Mb/s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    timeout: Option<Duration>,

    /// 1: sender and receiver are threads of one process. 2: the receiver has a process of its own
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 2, value_parser = whole::<u8>(1..=2))]
    processes: u8,

    /// Requested socket buffers of each direction; the system may grant less [default: the system's choice]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_buffer)]
    socket_buffer: Option<usize>,

    /// Seed of the controllers and of the relay. Results still differ from run to run, because time is real
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = SEED, value_parser = parse_seed)]
    seed: u64,

    /// How to print the results; json prints one object per controller and path on a line
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// The receiver's half of `loopback --processes 2`.
#[derive(Debug, Args)]
pub(super) struct ReceiverArguments {
    /// Receive with noq instead of quinn
    #[arg(long)]
    noq: bool,

    /// Requested socket buffer, in bytes
    #[arg(long, value_name = "BYTES")]
    socket_buffer: Option<usize>,
}

/// Measures and prints.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let plan = plan(arguments)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let signal = Arc::clone(&interrupted);
    ctrlc::set_handler(move || signal.store(true, Ordering::Relaxed)).map_err(CliError::failure)?;
    let progress = Progress::of_steps(plan.transfers());
    let measured = loopback::measure(&plan, &|| progress.advance_step(), &|| {
        interrupted.load(Ordering::Relaxed)
    });
    progress.finish();
    let measured = measured.map_err(blame)?;
    let rows = &measured.rows;
    // Minutes of transfers are not lost because the others were too many.
    if !rows.is_empty() {
        let text = match arguments.format {
            Format::Table => report::table(rows),
            Format::Json => output::json_lines(rows).map_err(CliError::failure)?,
        };
        write_all(out, &text)?;
    }
    if !measured.stopped {
        return Ok(());
    }
    let (made, all) = (measured.transfers, plan.transfers());
    Err(CliError::Interrupted(format!(
        "interrupted after {made} of {all} transfers, those that are not measured included"
    )))
}

/// Receives for another process.
pub(super) fn receive(arguments: &ReceiverArguments, out: &mut dyn Write) -> Result<(), CliError> {
    let stack = if arguments.noq {
        Stack::Noq
    } else {
        Stack::Quinn
    };
    loopback::receive(stack, arguments.socket_buffer, out).map_err(blame)
}

fn blame(error: LoopbackError) -> CliError {
    match error {
        LoopbackError::Controller(error) => CliError::input("--controllers", error),
        error => CliError::failure(error),
    }
}

fn plan(arguments: &Arguments) -> Result<Plan, CliError> {
    let rates: Vec<Option<Rate>> = if arguments.rate.is_empty() {
        vec![None]
    } else {
        arguments.rate.iter().copied().map(Some).collect()
    };
    let paths: Vec<Path> = arguments
        .rtt
        .iter()
        .flat_map(|&rtt| {
            rates.iter().map(move |&rate| Path {
                rtt,
                rate,
                queue: arguments.queue,
                busy: arguments.busy,
            })
        })
        .collect();
    if arguments.busy && paths.iter().all(Path::is_direct) {
        let reason = "there is no relay without --rtt or --rate";
        return Err(CliError::input("--busy", reason));
    }
    refuse_repeated("--rtt", &arguments.rtt, |rtt| format_time(*rtt))?;
    refuse_repeated("--rate", &arguments.rate, Rate::to_string)?;
    Ok(Plan {
        controllers: options::controllers(&arguments.controllers)?,
        size: arguments.size,
        runs: arguments.runs,
        paths,
        timeout: arguments.timeout,
        processes: if arguments.processes == 1 {
            Processes::One
        } else {
            Processes::Two
        },
        socket_buffer: arguments.socket_buffer,
        seed: arguments.seed,
    })
}

/// `0`, or a time as elsewhere.
fn parse_rtt(text: &str) -> Result<Duration, UnitError> {
    match text.trim() {
        "0" | "0s" => Ok(Duration::ZERO),
        text => parse_time(text),
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    parse_bytes(text, LARGEST_SIZE, " from 1B to 100GB, such as 1GB")
}

fn parse_buffer(text: &str) -> Result<usize, String> {
    let bytes = parse_bytes(text, LARGEST_BUFFER, " from 1B to 1GB, such as 4MiB")?;
    usize::try_from(bytes).map_err(|error| error.to_string())
}

/// The recorded round-trip times of this many bytes take about a gigabyte.
const LARGEST_SIZE: u64 = 100_000_000_000;

/// The limit of the system's type.
const LARGEST_BUFFER: u64 = 1_000_000_000;

/// The JSON fields, for --help.
const FIELDS: &str = "\
Fields of --format json, medians of the runs unless they say otherwise, null where there is nothing to measure:
  controller, size_bytes, processes, seed  what was asked for
  path, path_rtt_ms, path_rate_mbps        the path: for people, added round-trip time, rate (null: no limit)
  goodput_mbps, goodput_min_mbps, goodput_max_mbps
                                           what arrived per second: median, slowest run, fastest run
  goodput_of_stock                         goodput_mbps divided by that of the fastest of quinn-cubic, quinn-new-reno and
                                           quinn-bbr over this path
  sender_cpu_s_per_gb, receiver_cpu_s_per_gb
                                           processor seconds of each side's thread for each GB that arrived
  rtt_mean_ms, rtt_p50_ms, rtt_p95_ms      round-trip times, as the sender's controller is told them
  window_median_bytes, window_max_bytes    congestion window; the maximum is that of all runs
  loss_rate                                lost bytes, of those lost or acknowledged
  finished                                 how many runs finished
  processors, load_average                 the machine before the first run
  processor_share_min                      two threads compute for 20 ms before each run; the least share of that time for
                                           which they had a processor: below 1 the machine did something else
  runs                                     each run: end (finished, timed out, or why the connection closed),
                                           received_bytes, seconds, goodput_mbps, sender_cpu_s, receiver_cpu_s, rtt_mean_ms,
                                           rtt_p50_ms, rtt_p95_ms, window_median_bytes, window_max_bytes, loss_rate,
                                           processor_share, relay_late_p99_us (how late the relay sent the data)";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::controllers;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        loopback: Arguments,
    }

    fn planned(options: &str) -> Plan {
        let words = std::iter::once("loopback").chain(options.split_whitespace());
        plan(&Command::try_parse_from(words).unwrap().loopback).unwrap()
    }

    #[test]
    fn without_options_everything_crosses_loopback_alone() {
        let plan = planned("");
        assert_eq!((plan.size, plan.runs), (1_000_000_000, 7));
        assert_eq!(plan.controllers, controllers::names());
        assert_eq!(plan.processes, Processes::Two);
        assert_eq!(plan.paths.len(), 1);
        assert!(plan.paths[0].is_direct());
    }

    #[test]
    fn every_round_trip_time_is_combined_with_every_rate() {
        let plan = planned("--rtt 0,200us,10ms --rate 10Mbps,1Gbps --queue 9p --busy");
        let path = |micros, rate: &str| Path {
            rtt: Duration::from_micros(micros),
            rate: Some(rate.parse().unwrap()),
            queue: QueueSize::Packets(9),
            busy: true,
        };
        let expected = [0, 200, 10_000]
            .into_iter()
            .flat_map(|rtt| ["10Mbps", "1Gbps"].map(|rate| path(rtt, rate)));
        assert_eq!(plan.paths, expected.collect::<Vec<_>>());
    }

    #[test]
    fn the_options_reach_the_plan() {
        let plan = planned(
            "--controllers bbr,noq-cubic --size 2MiB --runs 3 --timeout 5s --processes 1 --socket-buffer 4MiB --seed 9",
        );
        assert_eq!(plan.controllers, ["bbr", "noq-cubic"]);
        assert_eq!((plan.size, plan.runs, plan.seed), (2 << 20, 3, 9));
        assert_eq!(plan.timeout, Some(Duration::from_secs(5)));
        assert_eq!(plan.processes, Processes::One);
        assert_eq!(plan.socket_buffer, Some(4 << 20));
    }
}
