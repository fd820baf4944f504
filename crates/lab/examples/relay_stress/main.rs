//! The relay under attack, and the relay for a long time: real sockets of this machine, the relay in a process of its own.
//!
//! `cargo run --release -p kneepoint-lab --example relay_stress -- attack [--seconds 5] [--only NAME] [--logs DIRECTORY]` prints a
//! row for each attack. `-- soak [--minutes 1] [--rate 500Mbps] [--clients 50]` has clients come and go, and prints a row each
//! minute. Both fail if the counts do not balance.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "sockets live in real time, and what it measures is for the screen"
)]

mod attack;
mod attacks;
mod prober;
mod relayed;
mod server;
mod soak;

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use kneepoint_lab::units::Rate;

type AnyError = Box<dyn Error + Send + Sync>;

#[derive(Parser)]
enum Command {
    /// Attacks, one after the other
    Attack {
        /// How long each attack lasts
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// Only the attacks with this in their names
        #[arg(long, default_value = "")]
        only: String,
        /// Where logs go: a small file system shows what a full disk does
        #[arg(long, default_value = "target")]
        logs: PathBuf,
    },
    /// Clients that come and go
    Soak {
        /// How long
        #[arg(long, default_value_t = 1)]
        minutes: u32,
        /// What all clients together send
        #[arg(long, default_value = "500Mbps")]
        rate: Rate,
        /// How many clients there are at a time
        #[arg(long, default_value_t = 50)]
        clients: u32,
    },
}

fn main() -> Result<(), AnyError> {
    // The relay's process is this program, too.
    if std::env::args().nth(1).as_deref() == Some("relay") {
        return Ok(kneepoint_lab::cli::run(
            std::env::args_os(),
            &mut std::io::stdout(),
        )?);
    }
    match Command::parse() {
        Command::Attack {
            seconds,
            only,
            logs,
        } => attack::run(seconds, &only, &logs),
        Command::Soak {
            minutes,
            rate,
            clients,
        } => soak::run(minutes, rate, clients),
    }
}
