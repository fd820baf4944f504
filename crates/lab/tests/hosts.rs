//! Bulk transfers of real quinn between hosts that take time, beside quinn's own CUBIC.

use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};

/// A path between two hosts of one kind, with a queue of one bandwidth-delay product, at least a quarter of a megabyte, and how
/// long it is used.
#[derive(Debug, Clone, Copy)]
struct Path {
    host: &'static str,
    gbps: u64,
    rtt: Duration,
    duration: Duration,
}

impl Path {
    fn run(self, controller: &str, seed: u64) -> Outcome {
        let bytes_per_second = self.gbps * 125_000_000;
        let bdp = (bytes_per_second as f64 * self.rtt.as_secs_f64()) as u64;
        let link = LinkConfig {
            delay: (self.rtt / 2).into(),
            queue: Queue::DropTail(Limit::bytes(bdp.max(250_000))),
            ..LinkConfig::constant(bytes_per_second)
        };
        let mut topology = Topology::point_to_point(Duplex::both(link));
        topology.hosts(HostConfig::preset(self.host).expect("a preset"));
        let duration = self.duration;
        let candidate = candidate(controller, seed).expect("a known controller");
        let flows = vec![FlowPlan::greedy(candidate, Duration::ZERO, duration)];
        let trial = Trial {
            seed,
            ..Trial::new(topology, flows, duration)
        };
        trial.run().expect("it runs")
    }

    /// The goodput in Mb/s, from the beginning: the mean over the seeds.
    fn goodput(self, controller: &str, seeds: u64) -> f64 {
        let rates = (1..=seeds).map(|seed| self.goodput_of(controller, seed));
        rates.sum::<f64>() / seeds as f64
    }

    fn goodput_of(self, controller: &str, seed: u64) -> f64 {
        let outcome = self.run(controller, seed);
        outcome.flows[0].goodput_mbps(Duration::ZERO, self.duration)
    }
}

fn paths() -> impl Iterator<Item = Path> {
    HOSTS.into_iter().flat_map(|host| {
        RATES.into_iter().flat_map(move |gbps| {
            let of_rtt = move |micros| Path {
                duration: Duration::from_secs(1),
                ..path(host, gbps, micros)
            };
            RTTS.into_iter().map(of_rtt)
        })
    })
}

/// Trap: a window sized from the smallest round trip is too small where hosts make round trips vary tenfold.
#[test]
fn no_controller_is_far_behind_quinns_cubic() {
    for path in CHECKED {
        let stock = path.goodput("quinn-cubic", 1);
        for name in CONTROLLERS {
            let part = path.goodput(name, 1) / stock;
            assert!(
                part >= 0.9,
                "{name}: {part:.2} of {stock:.0} Mb/s over {path:?}"
            );
        }
    }
}

/// The papers' presets have no rules for hosts that take time, but are not to starve there.
#[test]
fn no_controller_starves_between_hosts_that_take_time() {
    for path in CHECKED {
        let stock = path.goodput("quinn-cubic", 1);
        for name in STEADY {
            let part = path.goodput(name, 1) / stock;
            assert!(
                part >= 0.5,
                "{name}: {part:.2} of {stock:.0} Mb/s over {path:?}"
            );
        }
    }
}

/// Trap: a millisecond of a fast host is more than the buffer of its socket. The end of a flight is lost, and its sender waits
/// for a probe timeout.
#[test]
fn windows_for_the_time_of_hosts_fit_their_buffers() {
    for (path, seed) in [(path("busy", 10, 50), 2), (path("busy", 10, 200), 1)] {
        let goodput = |name| path.goodput_of(name, seed);
        let part = goodput("knee") / goodput("quinn-cubic");
        assert!(part >= 0.9, "{part:.2} over {path:?}, seed {seed}");
    }
}

/// A host whose processors others use too is slower, with CUBIC as well: its wake-ups and its bytes cost more.
#[test]
fn hosts_are_limited_by_their_processor() {
    let goodput = |host| path(host, 10, 200).goodput("quinn-cubic", 1);
    let (server, busy) = (goodput("server"), goodput("busy"));
    assert!((2_000.0..7_000.0).contains(&server), "{server} Mb/s");
    assert!(busy < 0.9 * server, "{busy} of {server} Mb/s");
}

/// The table of docs/results/hosts.md: goodput in Mb/s of quinn's CUBIC, and that of the others as a part of it. A host is away for up to
/// 15 ms: one seed is chance. A second, as a transfer of a gigabyte over loopback takes: in 0.2 s the windows that Slow Start leaves
/// decide.
#[test]
#[ignore = "minutes: it prints the table of docs/results/hosts.md"]
fn print_the_table() {
    println!(
        "| hosts | link | RTT | quinn-cubic, Mb/s | {} |",
        CONTROLLERS.join(" | ")
    );
    println!("|---|---|---|---|{}", "---|".repeat(CONTROLLERS.len()));
    for path in paths() {
        let stock = path.goodput("quinn-cubic", SEEDS);
        let parts = CONTROLLERS.map(|name| format!("{:.2}", path.goodput(name, SEEDS) / stock));
        let Path {
            host, gbps, rtt, ..
        } = path;
        println!(
            "| {host} | {gbps} Gb/s | {rtt:?} | {stock:.0} | {} |",
            parts.join(" | ")
        );
    }
}

/// For a short time: 10 Gb/s are many packets.
const fn path(host: &'static str, gbps: u64, micros: u64) -> Path {
    Path {
        host,
        gbps,
        rtt: Duration::from_micros(micros),
        duration: Duration::from_millis(if gbps > 1 { 200 } else { 400 }),
    }
}

/// Those of the table that take the least time and those that were the worst.
const CHECKED: [Path; 5] = [
    path("server", 1, 50),
    path("server", 1, 1_000),
    path("busy", 1, 50),
    path("busy", 1, 200),
    path("busy", 1, 1_000),
];

/// Seeds of the table's means.
const SEEDS: u64 = 5;

const HOSTS: [&str; 2] = ["server", "busy"];
const RATES: [u64; 2] = [1, 10];
/// In microseconds.
const RTTS: [u64; 3] = [50, 200, 1_000];
const CONTROLLERS: [&str; 4] = ["knee", "bbr", "bbr3", "cubic"];
const STEADY: [&str; 2] = ["bbr-s", "noq:bbr-s"];
