//! The same upload in real time, through the relay, and in virtual time: goodput and queueing delay of both.
//!
//! `cargo run --release -p kneepoint-lab --example relay_vs_virtual -- [RATE [DELAY [QUEUE [TIME [CONTROLLER [HOST [busy]]]]]]]`,
//! with the delay that of each direction, and the hosts of virtual time: `ideal`, `server`, `busy` or a file of
//! `kneepoint host measure`. How fast the relay is: `1Gbps 10ms 3MB 10s`.
//!
//! `-- table [DELAY [TIME [HOST [RUNS [RATES [busy]]]]]]` compares several rates and controllers, each with a queue of one
//! bandwidth-delay product: the medians of several runs in turns, and of as many seeds.

mod real;
mod simulated;
mod table;
mod transfer;

use std::error::Error;
use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::LinkConfig;
use kneepoint_lab::units::{QueueSize, Rate, parse_time};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "table").is_some() {
        return table::run(arguments);
    }
    let scenario = Scenario::from_arguments(arguments)?;
    let (real, summary) = real::run(&scenario, 1)?;
    real::print(&summary);
    let simulated = simulated::run(&scenario, 1)?;
    print(&scenario, &real, &simulated);
    Ok(())
}

/// A scenario, which runs twice.
struct Scenario {
    rate: Rate,
    delay: Duration,
    queue: QueueSize,
    duration: Duration,
    controller: String,
    /// The hosts of virtual time.
    host: HostConfig,
    /// Whether the relay spins.
    busy: bool,
}

/// The measurements of the link that carries the data.
#[derive(Debug, Default, Clone, Copy)]
struct Outcome {
    goodput_bytes: u64,
    packets: u64,
    /// Of all packets together, in the queue and the shaper.
    queueing: Duration,
    dropped: u64,
}

impl Scenario {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
        Ok(Self {
            rate: next("10Mbps").parse()?,
            delay: parse_time(&next("20ms"))?,
            queue: next("100kB").parse()?,
            duration: parse_time(&next("20s"))?,
            controller: next("quinn-cubic"),
            host: HostConfig::named(&next("ideal"))?,
            busy: next("sleep") == "busy",
        })
    }

    /// The link from the client to the server, and the one back.
    fn links(&self) -> (LinkConfig, LinkConfig) {
        let line = |rate: Rate| LinkConfig {
            delay: self.delay.into(),
            ..LinkConfig::constant(rate.bits_per_second() / 8)
        };
        let up = LinkConfig {
            queue: self.queue.into(),
            ..line(self.rate)
        };
        (up, line(RETURN_RATE))
    }
}

impl Outcome {
    /// In Mb/s.
    fn goodput(&self, scenario: &Scenario) -> f64 {
        self.goodput_bytes as f64 * 8.0 / 1e6 / scenario.duration.as_secs_f64()
    }

    /// In milliseconds.
    fn mean_queueing(&self) -> f64 {
        self.queueing.as_secs_f64() * 1e3 / self.packets.max(1) as f64
    }
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn print(scenario: &Scenario, real: &Outcome, simulated: &Outcome) {
    println!("              real time   virtual time   difference");
    let row = |what: &str, real: f64, simulated: f64| {
        let difference = (real / simulated - 1.0) * 100.0;
        println!("{what} {real:>11.3} {simulated:>14.3} {difference:>+10.1} %");
    };
    row(
        "goodput Mb/s ",
        real.goodput(scenario),
        simulated.goodput(scenario),
    );
    row(
        "queueing ms  ",
        real.mean_queueing(),
        simulated.mean_queueing(),
    );
    println!(
        "dropped       {:>11} {:>14}",
        real.dropped, simulated.dropped
    );
}

/// Never a bottleneck.
const RETURN_RATE: Rate = Rate::from_bits_per_second(10_000_000_000);
