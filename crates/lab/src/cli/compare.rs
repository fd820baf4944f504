//! `kneepoint compare`.

use std::collections::BTreeMap;
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
use super::options::{
    self, Capacity, QUEUE, SEED, check_file, create_directory, known_controller, parse_queue,
    parse_seed, whole, write_file,
};
use super::progress::Progress;
use super::sweep::SweepOptions;
use super::write_all;
use crate::aqm::Aqm;
use crate::compare::{self, Against, CompareError, Extras, Job, Outcome};
use crate::controllers::{self, UnknownController};
use crate::link_file::LinkFile;
use crate::metrics::{Row, Summary};
use crate::output;
use crate::page::comparison;
use crate::plots;
use crate::run::RunError;
use crate::scenario::{Link, Scenario, WayBack};
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
        conflicts_with_all = [
            "trace", "rate", "rtt", "queue", "loss", "aqm", "ecn", "jitter", "up", "up_queue", "up_loss",
        ]
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

    /// Size of the queue, drop-tail unless --aqm: 3MB (10^6 bytes), 3MiB, 100p (packets) or inf
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = QUEUE, value_parser = parse_queue)]
    queue: QueueSize,

    /// Manage the queue: codel, fq-codel, pie or red, with the values of their RFCs
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    aqm: Option<Aqm>,

    /// Mark ECN-capable packets instead of dropping them
    #[arg(long, requires = "aqm")]
    ecn: bool,

    /// Delay each data packet by up to this much more, without reordering
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "0s", value_parser = parse_moment)]
    jitter: Duration,

    /// Capacity of the acknowledgements' way back: a rate or a mahimahi trace [default: 1Gbps]
    #[arg(long, value_name = "FILE|RATE", allow_hyphen_values = true)]
    up: Option<Capacity>,

    /// Size of the way back's drop-tail queue
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        requires = "up",
        default_value = "inf",
        value_parser = parse_queue
    )]
    up_queue: QueueSize,

    /// Probability of random loss on the way back
    #[arg(long, value_name = "P", allow_hyphen_values = true, requires = "up", default_value = "0", value_parser = parse_probability)]
    up_loss: f64,

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

    /// Controllers to compare, separated by commas, each NAME, NAME:PRESET or NAME:FIELD=VALUE [default: all that repeat]
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, value_delimiter = ',', value_parser = known_controller, long_help = long_help())]
    controllers: Vec<String>,

    /// Let other flows share the link of each run: NAME, or NAME:N for N of them. Rows have what the controller achieves beside them
    #[arg(long, value_name = "NAME[:N]", allow_hyphen_values = true, value_parser = parse_against)]
    against: Option<Against>,

    /// Workload of the flows of --against [default: that of --workload]
    #[arg(
        long,
        value_name = "WORKLOAD",
        allow_hyphen_values = true,
        requires = "against"
    )]
    against_workload: Option<Workload>,

    /// Start the flows of --against before the others, --start-gap apart
    #[arg(long, requires_all = ["against", "start_gap"])]
    against_first: bool,

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
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_seed)]
    seed: Option<u64>,

    /// Run with this many seeds, from --seed on, and print mean, 95 % confidence interval, least and most. Plots are of the first
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 1, value_parser = whole::<u64>(1..=1000))]
    seeds: u64,

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

    /// Write what the plots draw into this directory, as CSV
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    series: Option<PathBuf>,

    /// Write a qlog of each sender on quinn into this directory, for qvis
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    qlog: Option<PathBuf>,
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
    let scenarios = scenarios(arguments, links, &senders)?;
    let extras = Extras {
        against: arguments.against.clone().map(|against| Against {
            workload: arguments.against_workload,
            first: arguments.against_first,
            ..against
        }),
        qlog: arguments.qlog.clone(),
    };
    let runs = match &arguments.flows {
        Flows::Each(_) => compare::runs(&scenarios, &senders, &extras),
        Flows::Mix(_) => compare::mixed_runs(&scenarios, &senders, &extras),
    };
    for run in &runs {
        run.check()
            .map_err(|error| CliError::input("--link", error))?;
    }
    if arguments.qlog.is_some() && !on_quinn(&runs)? {
        let reason = "no controller runs on quinn, and noq writes no qlog";
        return Err(CliError::input("--qlog", reason));
    }
    let plots = arguments
        .plots
        .as_deref()
        .or(default_plots.filter(|_| arguments.format == Format::Table))
        // What is kept of a run has no course that could be drawn.
        .filter(|_| arguments.sweep.out.is_none());
    let (series, qlog) = (arguments.series.as_deref(), arguments.qlog.as_deref());
    for (option, directory) in [("--plots", plots), ("--series", series), ("--qlog", qlog)] {
        if let Some(directory) = directory {
            // Before the runs rather than after them.
            create_directory(option, directory)?;
        }
    }
    if let Some(path) = &arguments.html {
        check_file("--html", path)?;
    }

    if let Some(sweep) = arguments.sweep.open()? {
        let results = sweep.results(&runs, out)?;
        let rows = results.map(|rows| rows.into_iter().map(Row::from).collect::<Vec<_>>());
        return match rows {
            Some(rows) => Ok(write_all(out, &render(arguments, &rows)?)?),
            None => Ok(()),
        };
    }

    let count = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    let progress = Progress::new(arguments.duration.saturating_mul(count));
    let outcomes = compare::outcomes(&runs, &|step| progress.advance(step));
    progress.finish();
    let (mut outcomes, failed) = sorted(outcomes);
    if outcomes.is_empty() {
        return failed;
    }

    let rows: Vec<Row> = outcomes.iter().map(|outcome| outcome.row.clone()).collect();
    write_all(out, &render(arguments, &rows)?)?;
    if let Some(path) = &arguments.html {
        let page = comparison(&outcomes).map_err(CliError::failure)?;
        write_file("--html", path, &page)?;
    }
    if let Some(directory) = series {
        output::series::write(&outcomes, directory).map_err(|error| {
            let reason = format!("--series: {error}");
            CliError::of_file(&error.source, reason)
        })?;
    }
    if let Some(directory) = plots {
        first_seeds(&mut outcomes);
        plots::draw(&outcomes, directory).map_err(CliError::failure)?;
    }
    if arguments.format == Format::Table {
        for (what, directory) in [("plots", plots), ("series", series), ("qlog", qlog)] {
            if let Some(directory) = directory {
                write_all(out, &format!("{what}: {}\n", directory.display()))?;
            }
        }
    }
    failed
}

/// The runs that have finished, and why the first of the others has not.
fn sorted(outcomes: Vec<Result<Outcome, CompareError>>) -> (Vec<Outcome>, Result<(), CliError>) {
    let (finished, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    let others = match failed.len() {
        0 | 1 => String::new(),
        failed => format!(" (and {} more failed)", failed - 1),
    };
    let failure = failed.into_iter().find_map(Result::err).map(|error| {
        let option = match &error {
            CompareError::Run {
                source: RunError::Qlog { .. },
                ..
            } => "--qlog: ",
            _ => "",
        };
        CliError::failure(format_args!("{option}{error}{others}"))
    });
    let finished = finished.into_iter().flatten().collect();
    (finished, failure.map_or(Ok(()), Err))
}

/// Whether a flow of some run is on quinn.
fn on_quinn(runs: &[Job<'_>]) -> Result<bool, CliError> {
    for run in runs {
        let on_quinn = run.is_on_quinn();
        if on_quinn.map_err(|error| CliError::input("--controllers", error))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every link with every seed, link by link.
fn scenarios(
    arguments: &Arguments,
    links: Vec<Link>,
    senders: &[String],
) -> Result<Vec<Scenario>, CliError> {
    // At least one flow per run.
    let flows = match &arguments.flows {
        Flows::Each(flows) => *flows,
        Flows::Mix(_) => u32::try_from(senders.len()).unwrap_or(u32::MAX).max(1),
    };
    let others = arguments
        .against
        .as_ref()
        .map_or(0, |against| against.flows);
    let all = flows.saturating_add(others);
    let last = arguments.start_gap.saturating_mul(all - 1);
    if last >= arguments.duration {
        let (last, duration) = (format_time(last), format_time(arguments.duration));
        return Err(CliError::input(
            "--start-gap",
            format_args!("flow {all} would start at {last}, but the run ends at {duration}"),
        ));
    }
    if let (Some(Err(error)), None) = (
        arguments.aqm.map(|aqm| aqm.queue(arguments.queue, false)),
        arguments.link.first(),
    ) {
        return Err(CliError::input("--aqm", error));
    }
    let way_back = arguments.up.as_ref().map(|up| WayBack {
        link: match up {
            Capacity::Rate(rate) => Link::constant(*rate),
            Capacity::Trace(trace) => {
                Link::trace(link_name(trace.name().as_ref(), ".trace"), trace.clone())
            }
        },
        queue: arguments.up_queue,
        loss: arguments.up_loss,
    });
    let mut scenarios = Vec::new();
    for link in links {
        let seed = arguments.seed.or(link.described().and_then(LinkFile::seed));
        let first = seed.unwrap_or(SEED);
        let Some(last) = first.checked_add(arguments.seeds - 1) else {
            let reason = format!(
                "{} seeds from {first} on are beyond {}: choose a smaller --seed",
                arguments.seeds,
                u64::MAX
            );
            return Err(CliError::input("--seeds", reason));
        };
        for seed in first..=last {
            let scenario = Scenario {
                link: link.clone(),
                rtt: arguments.rtt,
                queue: arguments.queue,
                aqm: arguments.aqm,
                ecn: arguments.ecn,
                jitter: arguments.jitter,
                way_back: way_back.clone(),
                duration: arguments.duration,
                loss: arguments.loss,
                flows,
                seed,
                host: arguments.host.clone(),
                workload: arguments.workload,
                start_gap: arguments.start_gap,
                windows: arguments.flow_control.into(),
            };
            scenarios.push(scenario.over_file());
        }
    }
    Ok(scenarios)
}

/// Keeps each link's runs with its first seed.
fn first_seeds(outcomes: &mut Vec<Outcome>) {
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    outcomes.retain(|outcome| {
        let row = &outcome.row;
        row.seed == *first.entry(row.trace.clone()).or_insert(row.seed)
    });
}

fn render(arguments: &Arguments, rows: &[Row]) -> Result<String, CliError> {
    if arguments.seeds > 1 {
        let summaries = Summary::of_all(rows);
        return match arguments.format {
            Format::Table => Ok(output::summary::render(&summaries)),
            Format::Json => output::summary::json(&summaries).map_err(CliError::failure),
            Format::Csv => output::summary::csv(&summaries).map_err(CliError::failure),
        };
    }
    match arguments.format {
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
    match (&arguments.flows, &arguments.against) {
        (Flows::Each(_), _) => options::controllers(&arguments.controllers),
        (Flows::Mix(mix), None) if arguments.controllers.is_empty() => Ok(mix.clone()),
        (Flows::Mix(mix), against) => Err(CliError::input(
            "--flows",
            format_args!(
                "'{}' names the controller of each flow: leave out {}",
                mix.join(","),
                against.as_ref().map_or("--controllers", |_| "--against"),
            ),
        )),
    }
}

/// Reads `--against`: a name, and after a colon how many if there are several.
fn parse_against(text: &str) -> Result<Against, String> {
    let (name, count) = match text.rsplit_once(':') {
        Some((name, count)) if count.bytes().all(|byte| byte.is_ascii_digit()) => (name, count),
        _ => (text, "1"),
    };
    let controller = known_controller(name).map_err(|error| error.to_string())?;
    match count.parse() {
        Ok(flows) if (1..=MAX_FLOWS).contains(&flows) => Ok(Against {
            controller,
            flows,
            workload: None,
            first: false,
        }),
        _ => Err(format!("expected 1..=1000 competitors, not '{count}'")),
    }
}

fn long_help() -> String {
    let (known, all) = (controllers::known(), controllers::names().join(", "));
    format!(
        "Controllers to compare, separated by commas, each NAME, NAME:PRESET or NAME:FIELD=VALUE (docs/TUNING.md): {known}. \
         `kneepoint controllers` lists their presets. The runs of noq-bbr3 differ from one to the next: it cannot be told a seed [default: {all}]"
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
