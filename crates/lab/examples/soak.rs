//! A connection for days, in virtual time: does anything drift?
//!
//! `cargo run --release -p kneepoint-lab --example soak -- [--hours 24] [--rate 1Mbps] [--rtt 40ms] [--queue 30kB]
//! [--controllers NAME,NAME] [--hourly]`
//!
//! Each hour is the same mix: bulk data, messages, frames, bulk data with pauses, nothing. A row of the table is a
//! controller, run twice, with the least and the largest mean of an hour, the first hour left out. Fails if the runs differ,
//! or if the heap grows.

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use allocation_counter::measure;
use clap::Parser;
use kneepoint::quinn::snapshot;
use kneepoint_controllers::{Algorithm, Snapshot};
use kneepoint_emulator::link::{LinkConfig, Statistics};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{SimError, Simulation, endpoint_config, tls};
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::units::{QueueSize, Rate, parse_time};
use kneepoint_lab::workload::{Clock, Load, Phase, Workload, send};
use quinn::{Connection, Endpoint, TransportConfig};

type AnyError = Box<dyn Error + Send + Sync>;

#[derive(Parser)]
struct Options {
    /// Hours of virtual time
    #[arg(long, default_value_t = 24)]
    hours: u32,
    /// Of the link
    #[arg(long, default_value = "1Mbps")]
    rate: Rate,
    /// Of the path without a queue
    #[arg(long, default_value = "40ms", value_parser = parse_time)]
    rtt: Duration,
    /// Of the link
    #[arg(long, default_value = "30kB")]
    queue: QueueSize,
    /// Print each hour, too
    #[arg(long)]
    hourly: bool,
    /// All of ours unless some are named
    #[arg(long, value_delimiter = ',')]
    controllers: Vec<String>,
}

/// What was seen of one hour.
#[derive(Debug, Clone, Default, PartialEq)]
struct Hour {
    /// Of the estimate while bulk data is sent, as shares of the link.
    bulk: Mean,
    /// Of the estimate while the application is the limit.
    limited: Mean,
    /// Of the window while bulk data is sent, in kB.
    window: Mean,
    /// The share of the link that bulk data has used.
    used: f64,
    /// The share of all packets that the link has dropped.
    dropped: f64,
    /// By how many bytes the heap has grown.
    heap: i64,
    /// The link's counters and the controller's state at its end.
    state: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Mean {
    sum: f64,
    samples: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.samples += 1;
    }

    fn value(self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / f64::from(self.samples))
    }
}

fn main() -> Result<(), AnyError> {
    let mut options = Options::parse();
    if options.controllers.is_empty() {
        let all = Algorithm::all().iter();
        options.controllers = all.map(|algorithm| algorithm.name().to_owned()).collect();
    }
    println!(
        "| controller | link's use in bulk % | dropped % | estimate in bulk, of the link | estimate otherwise | window in bulk kB | heap after an hour, at the end kB | twice the same |"
    );
    println!("|---|{}", "---|".repeat(7));
    let mut sound = true;
    for controller in &options.controllers {
        let hours = run(controller, &options)?;
        for hour in hours.iter().filter(|_| options.hourly) {
            println!("{hour:?}");
        }
        let same = hours == run(controller, &options)?;
        sound &= same & report(controller, &hours, same);
    }
    sound
        .then_some(())
        .ok_or_else(|| "something drifts or differs".into())
}

/// The hours of a connection.
fn run(controller: &str, options: &Options) -> Result<Vec<Hour>, AnyError> {
    let reverse = LinkConfig {
        delay: (options.rtt / 2).into(),
        ..LinkConfig::constant(bytes_per_second(options))
    };
    let forward = LinkConfig {
        queue: options.queue.into(),
        ..reverse.clone()
    };
    let simulation = Simulation::new(Network::new(NetworkConfig {
        forward,
        reverse,
        seed: 1,
    })?);
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(None)
        .congestion_controller_factory(resolve(controller, 1)?);
    let transport = Arc::new(transport);
    let (mut server, mut client) = (tls::server_config(), tls::client_config());
    server.transport_config(Arc::clone(&transport));
    client.transport_config(transport);
    let (left, right) = ("10.0.0.1:0".parse()?, "10.0.0.2:4433".parse()?);
    let server = simulation.endpoint(Side::Right, right, endpoint_config(1), Some(server))?;
    let mut sender = simulation.endpoint(Side::Left, left, endpoint_config(2), None)?;
    sender.set_default_client_config(client);
    let clock = Clock::new(simulation.handle().runtime());
    clock.spawn(forget(clock.clone(), server));

    let seen = Arc::new(Mutex::new(Hour::default()));
    let connection = simulation.block_on(async {
        sender
            .connect(right, tls::SERVER_NAME)?
            .await
            .map_err(AnyError::from)
    })??;
    let (work, sending) = (clock.clone(), connection.clone());
    // It stays when the application is done with it.
    let phases: Arc<[Phase]> = (0..options.hours)
        .flat_map(|hour| mix(HOUR * hour, bytes_per_second(options)))
        .collect();
    let plan = Arc::clone(&phases);
    clock.spawn(async move { send(&work, &sending, &plan).await });
    let rate = bytes_per_second(options) as f64;
    clock.spawn(look(
        clock.clone(),
        connection.clone(),
        Arc::clone(&seen),
        rate,
    ));

    let mut hours = Vec::new();
    let mut before = Statistics::default();
    for number in 0..options.hours {
        let mut result = Ok(Default::default());
        // A look at a controller moves memory, too.
        let heap = measure(|| result = live(&simulation, &connection, HOUR * number));
        let (bulk, link, state) = result?;
        if let Some(reason) = connection.close_reason() {
            return Err(format!("{controller} is closed in hour {number}: {reason}").into());
        }
        let offered = link.offered.packets - before.offered.packets;
        let dropped = link.all_dropped().packets - before.all_dropped().packets;
        let seen = std::mem::take(&mut *lock(&seen));
        hours.push(Hour {
            used: bulk as f64 / (BULK - SETTLED).as_secs_f64() / rate,
            dropped: dropped as f64 / offered.max(1) as f64,
            heap: heap.bytes_current,
            state: format!("{link:?} {state:?}"),
            ..seen
        });
        before = link;
    }
    Ok(hours)
}

/// An hour: what was delivered of bulk data, and the link's counters and the controller's state at its end.
fn live(
    simulation: &Simulation,
    connection: &Connection,
    begin: Duration,
) -> Result<(u64, Statistics, Option<Snapshot>), SimError> {
    simulation.run_until((begin + SETTLED).into())?;
    let at_first = statistics(simulation).delivered.bytes;
    simulation.run_until((begin + BULK).into())?;
    let bulk = statistics(simulation).delivered.bytes - at_first;
    simulation.run_until((begin + HOUR).into())?;
    let state = snapshot(connection.congestion_state());
    Ok((bulk, statistics(simulation), state))
}

fn statistics(simulation: &Simulation) -> Statistics {
    simulation.with_network(|network| *network.link(Direction::Forward).statistics())
}

fn lock(seen: &Mutex<Hour>) -> MutexGuard<'_, Hour> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the application does for an hour.
fn mix(begin: Duration, bytes_per_second: u64) -> Vec<Phase> {
    let minutes = |minutes: u64| begin + Duration::from_secs(60 * minutes);
    let messages = Load::Segments {
        bytes: bytes_per_second / 5,
        period: Duration::from_secs(1),
    };
    let frames = Load::Frames {
        bytes: bytes_per_second * 2 / 5 / 30,
        period: Duration::from_secs(1) / 30,
    };
    let on_off = Workload::OnOff {
        on: Duration::from_secs(2),
        off: Duration::from_secs(1),
    };
    let mut phases = vec![
        Load::Greedy.until(begin + BULK),
        messages.until(minutes(25)),
        frames.until(minutes(35)),
    ];
    phases.extend(on_off.phases(minutes(35), minutes(45)));
    phases.push(Load::Silent.until(begin + HOUR));
    phases
}

/// Looks at the controller now and then, for ever.
async fn look(clock: Clock, connection: Connection, seen: Arc<Mutex<Hour>>, rate: f64) {
    loop {
        clock.sleep(LOOK).await;
        let Some(state) = snapshot(connection.congestion_state()) else {
            return;
        };
        let into = Duration::from_secs(clock.now().as_secs() % HOUR.as_secs());
        let mut hour = lock(&seen);
        let in_bulk = (SETTLED..BULK).contains(&into);
        if in_bulk {
            hour.window.add(state.congestion_window.0 as f64 / 1e3);
        }
        if let Some(estimate) = state.bandwidth
            && state.in_flight.0 > 0
        {
            let mean = if in_bulk {
                &mut hour.bulk
            } else {
                &mut hour.limited
            };
            mean.add(estimate.as_f64() / rate);
        }
    }
}

/// Reads all that comes, and forgets it.
async fn forget(clock: Clock, server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        let Ok(connection) = incoming.await else {
            return;
        };
        let tasks = clock.clone();
        clock.spawn(async move {
            while let Ok(mut stream) = connection.accept_uni().await {
                tasks.spawn(async move {
                    while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
                });
            }
        });
    }
}

/// Prints the row; returns whether the heap stays as large.
fn report(controller: &str, hours: &[Hour], same: bool) -> bool {
    let later = hours.get(1..).unwrap_or_default();
    let range = |value: &dyn Fn(&Hour) -> Option<f64>, digits: usize| {
        let values: Vec<f64> = later.iter().filter_map(value).collect();
        let min = values.iter().copied().reduce(f64::min);
        let max = values.iter().copied().reduce(f64::max);
        match (min, max) {
            (Some(min), Some(max)) => format!("{min:.digits$} to {max:.digits$}"),
            _ => "-".to_owned(),
        }
    };
    let first = hours.first().map_or(0, |hour| hour.heap);
    let growth: i64 = later.iter().map(|hour| hour.heap).sum();
    println!(
        "| `{controller}` | {} | {} | {} | {} | {} | {:.1} | {:+.1} | {} |",
        range(&|hour| Some(100.0 * hour.used), 1),
        range(&|hour| Some(100.0 * hour.dropped), 2),
        range(&|hour| hour.bulk.value(), 3),
        range(&|hour| hour.limited.value(), 3),
        range(&|hour| hour.window.value(), 1),
        first as f64 / 1e3,
        growth as f64 / 1e3,
        if same { "yes" } else { "no" },
    );
    growth < MAX_GROWTH
}

fn bytes_per_second(options: &Options) -> u64 {
    options.rate.bits_per_second() / 8
}

const HOUR: Duration = Duration::from_secs(3600);

/// How long bulk data is sent at the beginning of each hour.
const BULK: Duration = Duration::from_secs(600);

/// When it has found its window.
const SETTLED: Duration = Duration::from_secs(60);

const LOOK: Duration = Duration::from_secs(2);

/// Of the heap from the end of the first hour to the end of the last, in bytes: tables reach their size within some hours.
const MAX_GROWTH: i64 = 128 << 10;
