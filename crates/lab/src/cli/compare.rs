//! `kneepoint compare`.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::trace::Trace;
use thiserror::Error;

use super::error::CliError;
use super::options::{self, QUEUE, SEED, create_directory, known_controller, write_file};
use super::progress::Progress;
use super::sweep::SweepOptions;
use super::write_all;
use crate::compare::{self, compare, compare_mix};
use crate::controllers::{self, UnknownController};
use crate::link_file::LinkFile;
use crate::metrics::Row;
use crate::output;
use crate::page::comparison;
use crate::plots;
use crate::scenario::{Link, Scenario};
use crate::stack::Windows;
use crate::units::{QueueSize, Rate, format_time, parse_moment, parse_probability, parse_time};
use crate::workload::Workload;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Follow a packet-delivery trace in mahimahi's format; repeat for several [default: a bundled LTE trace]
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,

    /// Use the network of this TOML file, whose link `forward` carries the data from `left` to `right` (docs/LINKS.md); repeat
    /// for several
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["trace", "rate", "rtt", "queue", "loss"]
    )]
    link: Vec<PathBuf>,

    /// Use a link of one rate instead of a trace: 10Mbps, 128kbps, 2.5Gbps
    #[arg(
        long,
        value_name = "RATE",
        allow_hyphen_values = true,
        conflicts_with = "trace"
    )]
    rate: Option<Rate>,

    /// Round-trip time of the empty path, half of it each way: 40ms, 1.5s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "40ms", value_parser = parse_time)]
    rtt: Duration,

    /// Size of the drop-tail queue: 3MB (10^6 bytes), 3MiB, 100p (packets) or inf
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = QUEUE)]
    queue: QueueSize,

    /// How long to send, in virtual time, handshake included: 60s, 2min
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "60s", value_parser = parse_time)]
    duration: Duration,

    /// Probability of random loss on the data link: 0.01 or 1%
    #[arg(long, value_name = "P", allow_hyphen_values = true, default_value = "0", value_parser = parse_probability)]
    loss: f64,

    /// Flows sharing the link: a number of flows of each controller, or one controller for each, separated by commas; several
    /// start at random times within 100 ms
    #[arg(
        long,
        value_name = "N|NAMES",
        allow_hyphen_values = true,
        default_value = "1"
    )]
    flows: Flows,

    /// Controllers to compare, separated by commas, each NAME or NAME:PRESET [default: all that repeat]
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, value_delimiter = ',', value_parser = known_controller, long_help = long_help())]
    controllers: Vec<String>,

    /// Workload of each flow: bulk (as much as it can), rpc:100kB@100ms, media:4Mbps, on-off:2s/1s
    #[arg(long, value_name = "WORKLOAD", allow_hyphen_values = true, default_value = "bulk", long_help = WORKLOAD_HELP)]
    workload: Workload,

    /// Start each flow this long after the previous one
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "0s", value_parser = parse_moment)]
    start_gap: Duration,

    /// Flow control: unlimited, so that controllers alone limit the flows, or stock, the stack's defaults
    #[arg(long, value_enum, value_name = "WINDOWS", default_value_t = FlowControl::Unlimited)]
    flow_control: FlowControl,

    /// Seed of all randomness: the same seed gives the same results [default: 1, or the link file's]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<u64>,

    /// How to print the results; json prints one object per line
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Model of the end hosts: ideal, server, busy, phone, or a host file
    #[arg(long, value_name = "HOST", default_value = "ideal", value_parser = HostConfig::named)]
    host: HostConfig,

    /// Draw plots into this directory, as SVG and PNG
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    plots: Option<PathBuf>,

    /// Write the table and the plots into this file, as one HTML page that needs no other
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    html: Option<PathBuf>,

    #[command(flatten)]
    sweep: SweepOptions,
}

/// `--flow-control`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FlowControl {
    Unlimited,
    Stock,
}

impl From<FlowControl> for Windows {
    fn from(flow_control: FlowControl) -> Self {
        match flow_control {
            FlowControl::Unlimited => Self::UNLIMITED,
            FlowControl::Stock => Self::Stock,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
}

/// Compares, prints, and draws; into `default_plots` if no directory was given and the results are for people.
pub(super) fn run(
    arguments: &Arguments,
    default_plots: Option<&Path>,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let links = links(arguments)?;
    let senders = senders(arguments)?;
    // At least one flow per run, and this many runs per link.
    let (flows, runs) = match &arguments.flows {
        Flows::Each(flows) => (*flows, senders.len()),
        Flows::Mix(mix) => (u32::try_from(mix.len()).unwrap_or(u32::MAX).max(1), 1),
    };
    let last = arguments.start_gap.saturating_mul(flows - 1);
    if last >= arguments.duration {
        let (last, duration) = (format_time(last), format_time(arguments.duration));
        return Err(CliError::input(
            "--start-gap",
            format_args!("flow {flows} would start at {last}, but the run ends at {duration}"),
        ));
    }
    let plots = arguments
        .plots
        .as_deref()
        .or(default_plots.filter(|_| arguments.format == Format::Table))
        // What is kept of a run has no course that could be drawn.
        .filter(|_| arguments.sweep.out.is_none());
    if let Some(directory) = plots {
        // Before the runs rather than after them.
        create_directory("--plots", directory)?;
    }
    if let Some(path) = &arguments.html {
        write_file("--html", path, "")?;
    }
    let scenarios: Vec<Scenario> = links
        .into_iter()
        .map(|link| {
            let seed = arguments.seed.or(link.described().and_then(LinkFile::seed));
            let scenario = Scenario {
                link,
                rtt: arguments.rtt,
                queue: arguments.queue,
                duration: arguments.duration,
                loss: arguments.loss,
                flows,
                seed: seed.unwrap_or(SEED),
                host: arguments.host.clone(),
                workload: arguments.workload,
                start_gap: arguments.start_gap,
                windows: arguments.flow_control.into(),
            };
            scenario.over_file()
        })
        .collect();

    if let Some(sweep) = arguments.sweep.open()? {
        let runs = match &arguments.flows {
            Flows::Each(_) => compare::runs(&scenarios, &senders),
            Flows::Mix(_) => compare::mixed_runs(&scenarios, &senders),
        };
        let results = sweep.results(&runs, out)?;
        let rows = results.map(|rows| rows.into_iter().map(Row::from).collect::<Vec<_>>());
        return match rows {
            Some(rows) => Ok(write_all(out, &render(arguments.format, &rows)?)?),
            None => Ok(()),
        };
    }

    let runs = u32::try_from(scenarios.len() * runs).unwrap_or(u32::MAX);
    let progress = Progress::new(arguments.duration.saturating_mul(runs));
    let advance = |step| progress.advance(step);
    let outcomes = match &arguments.flows {
        Flows::Each(_) => compare(&scenarios, &senders, &advance),
        Flows::Mix(_) => compare_mix(&scenarios, &senders, &advance),
    };
    progress.finish();
    let outcomes = outcomes.map_err(CliError::failure)?;

    let rows: Vec<Row> = outcomes.iter().map(|outcome| outcome.row.clone()).collect();
    write_all(out, &render(arguments.format, &rows)?)?;
    if let Some(path) = &arguments.html {
        let page = comparison(&outcomes).map_err(CliError::failure)?;
        write_file("--html", path, &page)?;
    }
    if let Some(directory) = plots {
        plots::draw(&outcomes, directory).map_err(CliError::failure)?;
        if arguments.format == Format::Table {
            write_all(out, &format!("plots: {}\n", directory.display()))?;
        }
    }
    Ok(())
}

fn render(format: Format, rows: &[Row]) -> Result<String, CliError> {
    match format {
        Format::Table => Ok(output::table::render(rows)),
        Format::Json => output::json(rows).map_err(CliError::failure),
        Format::Csv => output::csv(rows).map_err(CliError::failure),
    }
}

/// The links asked for, under names that differ.
fn links(arguments: &Arguments) -> Result<Vec<Link>, CliError> {
    let mut links: Vec<Link> = Vec::new();
    if let Some(rate) = arguments.rate {
        links.push(Link::constant(rate));
    }
    for path in &arguments.trace {
        let trace = Trace::load(path).map_err(|error| CliError::input("--trace", error))?;
        links.push(named(&links, Link::trace(link_name(path, ".trace"), trace)));
    }
    for path in &arguments.link {
        let file = LinkFile::load(path).map_err(|error| CliError::input("--link", error))?;
        links.push(named(&links, Link::file(link_name(path, ".toml"), file)));
    }
    if links.is_empty() {
        links.push(Link::bundled());
    }
    for link in &links {
        refuse_hours(arguments, link)?;
    }
    Ok(links)
}

/// The link under its name, or with a number behind if one of the others has it.
fn named(others: &[Link], link: Link) -> Link {
    let base = link.name().to_owned();
    let mut name = base.clone();
    let mut number = 1;
    while others.iter().any(|other| other.name() == name) {
        number += 1;
        name = format!("{base}-{number}");
    }
    link.renamed(name)
}

/// Refuses a link so fast, or a run so long, that it would take hours.
fn refuse_hours(arguments: &Arguments, link: &Link) -> Result<(), CliError> {
    let bytes = link.capacity(Duration::ZERO, arguments.duration);
    let packets = bytes / f64::from(PACKET_BYTES);
    if packets <= MAX_PACKETS {
        return Ok(());
    }
    let option = match (arguments.rate, link.described()) {
        (Some(_), _) => "--rate",
        (None, Some(_)) => "--link",
        (None, None) => "--duration",
    };
    let (link, duration) = (link.name(), format_time(arguments.duration));
    Err(CliError::input(
        option,
        format_args!(
            "{link} for {duration} is {packets:.1e} packets, and more than {MAX_PACKETS:.0e} take hours: choose a \
             shorter --duration"
        ),
    ))
}

/// The file's name without its ending.
fn link_name(path: &Path, ending: &str) -> String {
    let file = path.file_name().unwrap_or(OsStr::new("link"));
    let file = file.to_string_lossy();
    file.strip_suffix(ending).unwrap_or(&file).to_owned()
}

/// `--flows`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Flows {
    /// A number of flows of each controller.
    Each(u32),
    /// One for each name.
    Mix(Vec<String>),
}

/// Why `--flows` could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum FlowsError {
    #[error("expected 1..=1000 flows of each controller, or a controller for each flow")]
    Number,
    #[error("{0} flows are too many: expected 1..=1000")]
    TooMany(usize),
    #[error(transparent)]
    Controller(#[from] UnknownController),
}

impl FromStr for Flows {
    type Err = FlowsError;

    fn from_str(text: &str) -> Result<Self, FlowsError> {
        let text = text.trim();
        if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return match text.parse() {
                Ok(flows) if (1..=MAX_FLOWS).contains(&flows) => Ok(Self::Each(flows)),
                _ => Err(FlowsError::Number),
            };
        }
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        if u32::try_from(names.len()).map_or(true, |flows| flows > MAX_FLOWS) {
            return Err(FlowsError::TooMany(names.len()));
        }
        let known = names.into_iter().map(known_controller);
        Ok(Self::Mix(known.collect::<Result<_, _>>()?))
    }
}

/// The senders by name: one per run, or all of a mix in one run.
fn senders(arguments: &Arguments) -> Result<Vec<String>, CliError> {
    match &arguments.flows {
        Flows::Each(_) => options::controllers(&arguments.controllers),
        Flows::Mix(mix) if arguments.controllers.is_empty() => Ok(mix.clone()),
        Flows::Mix(mix) => Err(CliError::input(
            "--flows",
            format_args!(
                "'{}' names the controller of each flow: leave out --controllers",
                mix.join(",")
            ),
        )),
    }
}

fn long_help() -> String {
    let (known, all) = (controllers::known(), controllers::names().join(", "));
    format!(
        "Controllers to compare, separated by commas, each NAME or NAME:PRESET: {known}. The presets of ours are paper and \
         tuned. The runs of noq-bbr3 differ from one to the next: it cannot be told a seed [default: {all}]"
    )
}

/// More flows than this take hours.
const MAX_FLOWS: u32 = 1000;

const WORKLOAD_HELP: &str = "\
The workload of each flow:
  bulk                  as much as the controller allows
  rpc:100kB@100ms       a request every 100 ms, answered by 100 kB; rpc:100kB@100msx50 for 50 of them
  media:4Mbps           30 frames a second; media:4Mbps,i=100kB@2s with an I-frame of 100 kB every 2 s and
                        the same mean rate; also ,fps=60 and ,deadline=150ms, after which a frame counts as lost [default: 400ms]
  on-off:2s/1s          as much as the controller allows for 2 s, nothing for 1 s, repeated
Requests and frames are due at their times, even if earlier ones have not arrived";

/// About what a full QUIC packet takes on the wire.
const PACKET_BYTES: u32 = 1500;

/// The most packets of a run: an hour or so of computing.
const MAX_PACKETS: f64 = 1e9;
