//! How soon a controller uses its link again after the path has become longer, as when a mobile changes its cell.
//!
//! `cargo run --release -p kneepoint-lab --example longer_path [CONTROLLER]`, of `knee` if none is named.
//!
//! One connection over each bundled trace and over 10 Mb/s, whose round-trip time of 40 ms becomes 2, 3 and 6 times as long at
//! 20 s. Prints what the link carried before and after, in Mb/s, and what it could have carried.

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use std::error::Error;
use std::time::Duration;

use kneepoint::traces;
use kneepoint_emulator::link::{Delay, DelayStep, Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_emulator::time::Nanos;
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::trial::{FlowPlan, Trial};
use kneepoint_lab::watch::TimeSeries;
use rayon::prelude::*;

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), AnyError> {
    let controller = std::env::args().nth(1).unwrap_or_else(|| "knee".into());
    let constant = Shaper::ConstantRate {
        bytes_per_second: 1_250_000,
    };
    let traces = traces::ALL.iter().filter_map(|&name| traces::by_name(name));
    let links: Vec<(String, Shaper)> = traces
        .map(|trace| (trace.name().to_owned(), Shaper::Trace(trace)))
        .chain([("10 Mb/s".to_owned(), constant)])
        .collect();
    let cases: Vec<_> = links
        .iter()
        .flat_map(|link| TIMES.map(|times| (link, times)))
        .collect();
    let rows = cases
        .par_iter()
        .map(|&((name, shaper), times)| row(&controller, name, shaper, times))
        .collect::<Result<Vec<_>, AnyError>>()?;

    print!("| link | RTT |");
    for (from, to) in STRETCHES {
        print!(" {from} to {to} s |");
    }
    println!("\n|---|---|{}", "---|".repeat(STRETCHES.len()));
    for row in rows {
        println!("{row}");
    }
    Ok(())
}

fn row(controller: &str, name: &str, shaper: &Shaper, times: u64) -> Result<String, AnyError> {
    let series = TimeSeries::of(&trial(controller, shaper.clone(), times)?)?;
    let mut row = format!("| {name} | x {times} |");
    for (from, to) in STRETCHES {
        let (from, to) = (Duration::from_secs(from), Duration::from_secs(to));
        let carried = carried(&series, from, to);
        match shaper {
            Shaper::Trace(trace) => {
                let capacity = trace.capacity(from.into(), to.into()) as f64;
                let capacity = capacity / (to - from).as_secs_f64() / BYTES_PER_MEGABIT;
                row += &format!(" {carried:.1} of {capacity:.1} |");
            }
            _ => row += &format!(" {carried:.1} |"),
        }
    }
    Ok(row)
}

fn trial(controller: &str, shaper: Shaper, times: u64) -> Result<Trial, AnyError> {
    let step = |from, delay| DelayStep {
        from: Nanos::from_millis(from),
        delay: Nanos::from_millis(delay),
    };
    let delay = Delay::Steps {
        steps: vec![step(0, 20), step(20_000, 20 * times)],
        reordering: false,
    };
    let links = Duplex {
        forward: LinkConfig {
            queue: Queue::DropTail(Limit::bytes(3_000_000)),
            delay: delay.clone(),
            log: true,
            ..LinkConfig::new(shaper)
        },
        reverse: LinkConfig {
            delay,
            ..LinkConfig::constant(125_000_000)
        },
    };
    let flow = FlowPlan::greedy(resolve(controller, 1)?, Duration::ZERO, END);
    Ok(Trial {
        interval: Some(Duration::from_secs(1)),
        ..Trial::new(Topology::point_to_point(links), vec![flow], END)
    })
}

/// In Mb/s.
fn carried(series: &TimeSeries, from: Duration, to: Duration) -> f64 {
    series.rate(from, to).bytes_per_second() as f64 / BYTES_PER_MEGABIT
}

const TIMES: [u64; 3] = [2, 3, 6];

const END: Duration = Duration::from_secs(60);

/// In seconds. The path becomes longer with the second.
const STRETCHES: [(u64, u64); 5] = [(10, 20), (20, 24), (24, 28), (28, 36), (36, 60)];

const BYTES_PER_MEGABIT: f64 = 125_000.0;
