//! The `kneepoint` command.

mod compare;
mod controllers;
mod error;
mod frontier;
mod generated;
mod host;
mod inspect;
mod log;
mod loopback;
mod merge;
mod options;
mod progress;
mod qlog;
mod relay;
mod reproduce;
mod suite;
mod sweep;
mod torture;
mod trace;
mod tune;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::{Parser, Subcommand};

pub use error::CliError;

/// Congestion controllers for QUIC, measured side by side.
///
/// Without a command, compares all controllers on the bundled trace and draws plots into target/kneepoint/.
#[derive(Debug, Parser)]
#[command(
    name = "kneepoint",
    version,
    args_conflicts_with_subcommands = true,
    after_help = EXIT_CODES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    compare: compare::Arguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure controllers side by side over emulated links, in virtual time
    Compare(Box<compare::Arguments>),
    /// Emulate a link in real time, between UDP clients and a server
    Relay(Box<relay::Arguments>),
    /// End hosts of the emulator
    Host {
        #[command(subcommand)]
        command: host::Command,
    },
    /// Measure controllers over real sockets of this machine, in real time
    Loopback(loopback::Arguments),
    /// The receiver of `loopback --processes 2`
    #[command(name = loopback::RECEIVER_COMMAND, hide = true)]
    LoopbackReceiver(loopback::ReceiverArguments),
    /// Repeat the papers' experiments, and report which results hold
    Reproduce(reproduce::Arguments),
    /// Run controllers over a suite of scenarios, and show which ones collapse
    Frontier(frontier::Arguments),
    /// Join what the shards of `compare`, `frontier`, `reproduce` or `torture` have kept in a directory
    Merge(merge::Arguments),
    /// Break links in the middle of transfers, and show how long controllers take to recover
    Torture(torture::Arguments),
    /// Choose a controller's values on that suite, or show what each value does
    ///
    /// A pass runs each scenario and seed once under one set of values. The search scales each value by each factor, and puts the
    /// changes together that improve the score. It does so once on all families, and once without each family. The table shows
    /// what the values that were chosen without a family reach on that family, and how far this is below the choice on all families.
    ///
    /// The score is P x exp(-10 C). C is the share of the runs that collapse, as `frontier` judges them. P is a geometric mean over
    /// all runs: of the power of bulk data, and of how fast messages are beside the fastest reference.
    ///
    /// With --ablation the table shows half, twice and, where there is such a value, zero or none of each value.
    Tune(tune::Arguments),
    /// Work with packet-delivery traces
    Trace {
        #[command(subcommand)]
        command: trace::Command,
    },
    /// Read logs in mahimahi's format
    Log {
        #[command(subcommand)]
        command: log::Command,
    },
    /// Mend a qlog of quinn's, so that qvis can draw it
    ///
    /// quinn 0.11 has packets' sizes where qvis does not look, and round-trip times in seconds. What `compare --qlog` writes is mended already.
    Qlog(qlog::Arguments),
    /// List the controllers: names, presets, what they are and where they come from
    Controllers(controllers::Arguments),
    /// Print a script that completes this command's words in a shell
    ///
    /// For bash: kneepoint completions bash > ~/.local/share/bash-completion/completions/kneepoint
    Completions(generated::CompletionsArguments),
    /// Print a page of the manual: kneepoint man compare | man -l -
    Man(generated::ManArguments),
}

/// Runs the command with these arguments, the program's name first, and writes its results to `out`.
///
/// # Errors
/// Bad input, or a failure to run or to write.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return Err(CliError::from_clap(&error)),
        Err(help) => return Ok(write_all(out, &help.to_string())?),
    };
    match cli.command {
        None => compare::run(&cli.compare, Some(DEFAULT_PLOTS.as_ref()), out),
        Some(Command::Compare(arguments)) => compare::run(&arguments, None, out),
        Some(Command::Trace { command }) => trace::run(&command, out),
        Some(Command::Log { command }) => log::run(&command, out),
        Some(Command::Qlog(arguments)) => qlog::run(&arguments),
        Some(Command::Relay(arguments)) => relay::run(&arguments, out),
        Some(Command::Host { command }) => host::run(&command, out),
        Some(Command::Loopback(arguments)) => loopback::run(&arguments, out),
        Some(Command::LoopbackReceiver(arguments)) => loopback::receive(&arguments, out),
        Some(Command::Reproduce(arguments)) => reproduce::run(&arguments, out),
        Some(Command::Frontier(arguments)) => frontier::run(&arguments, out),
        Some(Command::Merge(arguments)) => merge::run(&arguments, out),
        Some(Command::Torture(arguments)) => torture::run(&arguments, out),
        Some(Command::Tune(arguments)) => tune::run(&arguments, out),
        Some(Command::Controllers(arguments)) => controllers::run(&arguments, out),
        Some(Command::Completions(arguments)) => generated::completions(&arguments, out),
        Some(Command::Man(arguments)) => generated::man(&arguments, out),
    }
}

/// Writes a text; a reader that has seen enough is not an error.
fn write_all(out: &mut dyn Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// What a script can rely on. docs/OPERATING.md says the same.
const EXIT_CODES: &str = "\
Exit codes:
  0    done, also if the reader of the output has gone, and if a signal ends `relay`
  1    failed: a run, a full disk, a busy file; rows of runs that finished are printed, or kept with --out
  2    refused: an option, a value or a file that it names; the line on stderr says which
  130  interrupted, with the results until then (`loopback`)
  `relay -- COMMAND` has COMMAND's code, or 124 if it ended the command. A signal ends other commands as usual: 128 and its number in a shell.";

/// Where plots go when no command is given.
const DEFAULT_PLOTS: &str = "target/kneepoint";
