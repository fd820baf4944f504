//! One DASH session, as JSON or in short: the study of BBR-Sampled.
//!
//! `cargo run --release -p kneepoint-lab --example dash -- --help`

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::dash::abr::Algorithm;
use kneepoint_lab::dash::{Outcome, Path, SEGMENTS, Session};
use rayon::prelude::*;

type AnyError = Box<dyn Error + Send + Sync>;

/// Shows the paper's video over a token bucket of 25 Mb/s, once for every combination of the options.
#[derive(Debug, Parser)]
struct Arguments {
    /// The server's congestion controllers.
    #[arg(long, value_delimiter = ',', default_values = ["bbr", "bbr-sampled"])]
    controllers: Vec<String>,
    /// The player's algorithms.
    #[arg(long, value_delimiter = ',', default_values = ["dynamic"])]
    abrs: Vec<Algorithm>,
    /// The bucket's sizes in kB.
    #[arg(long, value_delimiter = ',', default_values = ["1000"])]
    bursts: Vec<u64>,
    /// The buffers in kB.
    #[arg(long, value_delimiter = ',', default_values = ["10000"])]
    buffers: Vec<u64>,
    /// The round-trip times in ms.
    #[arg(long, value_delimiter = ',', default_values = ["100"])]
    rtts: Vec<u64>,
    /// How many segments to show.
    #[arg(long, default_value_t = SEGMENTS)]
    segments: usize,
    /// The source of all randomness.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prints every session as a line of JSON, with all its segments.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<(), AnyError> {
    let arguments = Arguments::parse();
    let mut sessions = Vec::new();
    for &rtt in &arguments.rtts {
        for &burst in &arguments.bursts {
            for &buffer in &arguments.buffers {
                for &abr in &arguments.abrs {
                    for controller in &arguments.controllers {
                        let session = Session {
                            path: Path {
                                burst: burst * 1000,
                                buffer: buffer * 1000,
                                rtt: Duration::from_millis(rtt),
                                ..Path::deep()
                            },
                            abr,
                            seed: arguments.seed,
                            segments: arguments.segments,
                            ..Session::new(resolve(controller, arguments.seed)?)
                        };
                        sessions.push((controller, session));
                    }
                }
            }
        }
    }
    let outcomes = sessions
        .par_iter()
        .map(|(_, session)| session.run())
        .collect::<Result<Vec<_>, _>>()?;
    if !arguments.json {
        println!("{HEADER}");
    }
    for ((controller, session), outcome) in sessions.iter().zip(&outcomes) {
        if arguments.json {
            println!("{}", serde_json::to_string(outcome)?);
        } else {
            println!("{}", row(controller, session, outcome));
        }
    }
    Ok(())
}

const HEADER: &str = "\
| RTT | burst kB | buffer kB | abr | controller | quality | stall rate (n) | estimate mean / median Mb/s \
| RTT mean / median ms | STARTUP / DRAIN / PROBE_BW / PROBE_RTT % | drops | end |
|---|---|---|---|---|---|---|---|---|---|---|---|";

fn row(controller: &str, session: &Session, outcome: &Outcome) -> String {
    let number = |value: Option<f64>, digits| match value {
        Some(value) => format!("{value:.digits$}"),
        None => "-".to_owned(),
    };
    let states = outcome.states.map_or("-".to_owned(), |states| {
        [
            states.startup,
            states.drain,
            states.probe_bw,
            states.probe_rtt,
        ]
        .map(|share| format!("{:.1}", share * 100.0))
        .join(" / ")
    });
    let end = match (&outcome.closed, outcome.finished) {
        (Some(reason), _) => reason,
        (None, true) => "shown",
        (None, false) => "too slow",
    };
    format!(
        "| {} | {} | {} | {} | {controller} | {} | {} ({}) | {} / {} | {} / {} | {states} | {} | {end} |",
        session.path.rtt.as_millis(),
        session.path.burst / 1000,
        session.path.buffer / 1000,
        session.abr.name(),
        number(outcome.quality, 2),
        number(outcome.stall_rate, 3),
        outcome.stalls,
        number(outcome.estimate_mean_mbps, 1),
        number(outcome.estimate_median_mbps, 1),
        number(outcome.rtt_mean_ms, 0),
        number(outcome.rtt_median_ms, 0),
        outcome.drops,
    )
}
