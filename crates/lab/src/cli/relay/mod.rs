//! `kneepoint relay`.

mod command;
mod links;
mod pcap;
mod report;

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write, stderr};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use kneepoint_emulator::log_format::{LogFormat, PacketSink, Writer};
use kneepoint_emulator::relay::{
    CaptureSink, DEFAULT_CLIENTS, Relay, RelayConfig, RelayError, Sinks, Snapshot,
};

use self::command::Client;
use self::pcap::Pcap;
use super::error::CliError;
use super::options::{SEED, cannot_write, check_file, parse_address, parse_seed, write_file};
use super::write_all;
use crate::real_clock;
use crate::replace::Replacement;
use crate::units::parse_time;

/// Emulate a link in real time, between UDP clients and a server.
///
/// Clients send to --listen instead of --to. All share one link in each direction. Ends with Ctrl-C, after --duration, or with the
/// COMMAND that it starts, then prints a summary.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Where clients send to: 127.0.0.1:4433, [::1]:4433; port 0 for any
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    listen: SocketAddr,

    /// The server
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    to: SocketAddr,

    #[command(flatten)]
    links: links::LinkOptions,

    /// Seed of all randomness [default: 1, or the link file's]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_seed)]
    seed: Option<u64>,

    /// Log packets into FILE.up and FILE.down
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// How to log: mahimahi, lateness (mahimahi's with each departure's lateness), csv (a line per packet) or json
    #[arg(
        long,
        value_name = "FORMAT",
        allow_hyphen_values = true,
        requires = "log",
        default_value_t
    )]
    log_format: LogFormat,

    /// How often to print statistics to stderr, or off
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        default_value = "1s"
    )]
    stats: Interval,

    /// The most clients at a time; packets of others are dropped
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = DEFAULT_CLIENTS, value_parser = parse_clients)]
    clients: usize,

    /// How long a client may be silent before it is forgotten
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "60s", value_parser = parse_time)]
    idle: Duration,

    /// Maximum memory for packets in each direction; further arrivals are dropped. A quarter of it is for the log, if there is one
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "256MiB", value_parser = links::parse_memory)]
    memory: u64,

    /// Spin before a packet is due: more precise, for a processor in each direction
    #[arg(long)]
    busy: bool,

    /// Allow --listen to be an address that other machines can reach
    #[arg(long)]
    allow_remote: bool,

    /// End after this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    duration: Option<Duration>,

    /// Write the summary into this file, as a JSON object
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Capture what clients send and receive into this file, for Wireshark; packets have the server's address instead of --listen
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Start this client, and end with it and with its exit code; it finds the relay's address in $KNEEPOINT_RELAY
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Relays until it is told to stop.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let config = config(arguments)?;
    refuse_shared_files(arguments)?;
    let (stop, stopped) = channel();
    ctrlc::set_handler(move || {
        // Nobody listens once the relay has stopped.
        let _ = stop.send(());
    })
    .map_err(CliError::failure)?;
    if let Some(path) = &arguments.json {
        // Before the run rather than after it.
        check_file("--json", path)?;
    }
    let mut files = Vec::new();
    let sinks = Sinks {
        up: sink(arguments, "up", &mut files)?,
        down: sink(arguments, "down", &mut files)?,
        capture: capture(arguments, &mut files)?,
    };
    let relay = Relay::start(config, sinks).map_err(blame)?;
    // Before anybody can know the address: the first line has all that came until then.
    let begin = relay.snapshot();
    let mut client = Client::start(&arguments.command, relay.local_addr())?;
    // Only now do they take the place of older ones.
    for (option, path, file) in files {
        if let Err(error) = file.keep() {
            client.map(Client::end);
            return Err(cannot_write(option, &path, error));
        }
    }
    let says = speak();
    let begun = format!("relaying {} to {}\n", relay.local_addr(), arguments.to);
    say(&says, begun);
    watch(&relay, begin, arguments, client.as_mut(), &stopped, &says);
    // What the client has sent last may still be on its way to nobody: the summary says so.
    let ended = client.map_or(Ok(()), Client::end);
    let end = relay.stop();
    // Whatever has become of the files and of the client, the summary is there.
    let printed = write_all(out, &report::summary(&end.summary));
    if let Some(path) = &arguments.json {
        write_file("--json", path, &report::json(&end.summary)?)?;
    }
    printed?;
    ended?;
    let written = [end.log.err(), end.capture.err()];
    match failures(arguments, written).into_iter().flatten().next() {
        Some(failure) => Err(CliError::failure(failure)),
        None => Ok(()),
    }
}

/// Prints statistics until a signal comes, the time is up or the client ends, and at once that a log or a capture cannot be written.
fn watch(
    relay: &Relay,
    mut before: Snapshot,
    arguments: &Arguments,
    mut client: Option<&mut Client>,
    stopped: &Receiver<()>,
    says: &SyncSender<String>,
) {
    let interval = arguments.stats.0;
    let mut warned = [false; 2];
    let mut next = interval.unwrap_or(LOG_CHECK);
    loop {
        let elapsed = Duration::from(relay.elapsed());
        let left = arguments.duration.map(|end| end.saturating_sub(elapsed));
        let wait = next.saturating_sub(elapsed);
        let wait = left.map_or(wait, |left| wait.min(left));
        let wait = if client.is_some() {
            wait.min(CLIENT_CHECK)
        } else {
            wait
        };
        // An error other than a timeout is a handler that is gone, and no reason to go on.
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let elapsed = Duration::from(relay.elapsed());
        let over = arguments.duration.is_some_and(|end| elapsed >= end);
        if over || client.as_mut().is_some_and(|client| client.has_ended()) {
            return;
        }
        if elapsed < next {
            continue;
        }
        next = elapsed + interval.unwrap_or(LOG_CHECK);
        let unwritten = [relay.log_failure(), relay.capture_failure()];
        for (warned, failure) in warned.iter_mut().zip(failures(arguments, unwritten)) {
            if let (false, Some(failure)) = (*warned, failure) {
                let warning = format!("kneepoint: {failure}; the relay goes on without\n");
                say(says, warning);
                *warned = true;
            }
        }
        if interval.is_some() {
            let now = relay.snapshot();
            say(says, report::line(&before, &now));
            before = now;
        }
    }
}

/// What is said of a log and of a capture that cannot be written.
fn failures<E: Display>(
    arguments: &Arguments,
    [log, capture]: [Option<E>; 2],
) -> [Option<String>; 2] {
    let say = |what, file: &Option<PathBuf>, error: Option<E>| match (file, error) {
        (Some(file), Some(error)) => {
            let file = file.display();
            Some(format!("cannot write the {what} {file}: {error}"))
        }
        (_, error) => error.map(|error| error.to_string()),
    };
    [
        say("log", &arguments.log, log),
        say("capture", &arguments.pcap, capture),
    ]
}

/// How often to see whether the log is still written, if there is nothing else to look at.
const LOG_CHECK: Duration = Duration::from_secs(1);

/// How often to see whether the client still runs.
const CLIENT_CHECK: Duration = Duration::from_millis(10);

/// A thread that prints to stderr: who does not read it must not keep the relay from being stopped.
fn speak() -> SyncSender<String> {
    let (says, said) = sync_channel::<String>(MAX_UNSAID);
    thread::spawn(move || {
        for text in said {
            // An error there cannot be reported.
            let _ = stderr().write_all(text.as_bytes());
        }
    });
    says
}

/// Prints a message to stderr, unless many wait there already.
fn say(says: &SyncSender<String>, text: String) {
    let _ = says.try_send(text);
}

/// How many messages wait to be printed.
const MAX_UNSAID: usize = 16;

fn config(arguments: &Arguments) -> Result<RelayConfig, CliError> {
    let links::Links { up, down, seed } = arguments.links.links(arguments.listen)?;
    Ok(RelayConfig {
        allow_remote: arguments.allow_remote,
        seed: arguments.seed.or(seed).unwrap_or(SEED),
        clients: arguments.clients,
        idle: arguments.idle,
        memory: arguments.memory,
        busy: arguments.busy,
        ..RelayConfig::new(arguments.listen, arguments.to, up, down)
    })
}

/// Refuses a file that two options name: the last one to write would be the only one.
fn refuse_shared_files(arguments: &Arguments) -> Result<(), CliError> {
    let log = |direction| arguments.log.as_deref().map(|log| log_file(log, direction));
    let files = [
        ("--log", log("up")),
        ("--log", log("down")),
        ("--pcap", arguments.pcap.clone()),
        ("--json", arguments.json.clone()),
    ];
    let mut known: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in files {
        // What is no regular file, such as a pipe or /dev/null, takes what several write.
        let Some(path) = path.filter(|path| path.is_file() || !path.exists()) else {
            continue;
        };
        let place = place(&path);
        if let Some((other, _)) = known.iter().find(|(_, known)| *known == place) {
            let path = path.display();
            let reason = format_args!("{other} writes {path} too: name another file");
            return Err(CliError::input(option, reason));
        }
        known.push((option, place));
    }
    Ok(())
}

/// Where a file is, or will be, under whatever name.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        match (folder, path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}

/// The log of a direction.
fn log_file(log: &Path, direction: &str) -> PathBuf {
    let mut path = log.to_owned().into_os_string();
    path.push(format!(".{direction}"));
    path.into()
}

/// Files that are there once the relay is, and the options that name them.
type Files = Vec<(&'static str, PathBuf, Replacement)>;

/// Makes a file that an option names.
fn create(option: &'static str, path: &Path, files: &mut Files) -> io::Result<BufWriter<File>> {
    let (file, replacement) = Replacement::begin(path)?;
    files.push((option, path.to_owned(), replacement));
    Ok(BufWriter::new(file))
}

fn sink(
    arguments: &Arguments,
    direction: &str,
    files: &mut Files,
) -> Result<Option<Box<dyn PacketSink>>, CliError> {
    let Some(base) = &arguments.log else {
        return Ok(None);
    };
    let path = log_file(base, direction);
    let writer = create("--log", &path, files)
        .and_then(|file| Writer::new(file, arguments.log_format))
        .map_err(|error| cannot_write("--log", &path, error))?;
    Ok(Some(Box::new(writer)))
}

fn capture(
    arguments: &Arguments,
    files: &mut Files,
) -> Result<Option<Box<dyn CaptureSink>>, CliError> {
    let Some(path) = &arguments.pcap else {
        return Ok(None);
    };
    let pcap = create("--pcap", path, files)
        .and_then(|file| Pcap::new(file, real_clock::since_1970()))
        .map_err(|error| cannot_write("--pcap", path, error))?;
    Ok(Some(Box::new(pcap)))
}

/// Blames the option that is at fault.
fn blame(error: RelayError) -> CliError {
    match error {
        RelayError::Remote(_) => CliError::input(
            "--listen",
            format_args!("{error}; --allow-remote allows that"),
        ),
        RelayError::Listen { .. } => CliError::input("--listen", error),
        RelayError::Loop(_) | RelayError::Zero(_) => CliError::input("--to", error),
        error => CliError::failure(error),
    }
}

/// A time between statistics, or none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval(Option<Duration>);

impl std::str::FromStr for Interval {
    type Err = crate::units::UnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self(None));
        }
        parse_time(text).map(|time| Self(Some(time)))
    }
}

fn parse_clients(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(clients) if (1..=MAX_CLIENTS).contains(&clients) => Ok(clients),
        _ => Err(format!("expected a number from 1 to {MAX_CLIENTS}")),
    }
}

/// As many as there are ports for their sockets.
const MAX_CLIENTS: usize = 65_535;
