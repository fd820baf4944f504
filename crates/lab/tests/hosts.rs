//! Bulk transfers of real quinn between hosts that take time, beside quinn's own CUBIC.

use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::contestant;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};

/// A path between two hosts of one kind, with a queue of one bandwidth-delay product, at least a quarter of a megabyte.
#[derive(Debug, Clone, Copy)]
struct Path {
    host: &'static str,
    gbps: u64,
    rtt: Duration,
}

impl Path {
    fn run(self, controller: &str, seed: u64) -> Outcome {
        let bytes_per_second = self.gbps * 125_000_000;
        let bdp = (bytes_per_second as f64 * self.rtt.as_secs_f64()) as u64;
        let link = LinkConfig {
            delay: (self.rtt / 2).into(),
            queue: Queue::DropTail(Limit::bytes(bdp.max(250_000))),
            ..LinkConfig::new(Shaper::ConstantRate { bytes_per_second })
        };
        let mut topology = Topology::point_to_point(Duplex::both(link));
        topology.hosts(HostConfig::preset(self.host).expect("a preset"));
        let duration = self.duration();
        let contestant = contestant(controller, seed).expect("a known controller");
        let trial = Trial {
            topology,
            flows: vec![FlowPlan::greedy(contestant, Duration::ZERO, duration)],
            duration,
            interval: None,
            seed,
        };
        trial.run().expect("it runs")
    }

    /// Short: 10 Gb/s are many packets.
    fn duration(self) -> Duration {
        Duration::from_millis(if self.gbps > 1 { 200 } else { 400 })
    }

    /// In Mb/s, from the beginning.
    fn goodput(self, controller: &str) -> f64 {
        let outcome = self.run(controller, 1);
        outcome.flows[0].goodput_mbps(Duration::ZERO, self.duration())
    }
}

fn paths() -> impl Iterator<Item = Path> {
    HOSTS.into_iter().flat_map(|host| {
        RATES.into_iter().flat_map(move |gbps| {
            let path = move |micros| Path {
                host,
                gbps,
                rtt: Duration::from_micros(micros),
            };
            RTTS.into_iter().map(path)
        })
    })
}

/// The table of docs/HOSTS.md: goodput in Mb/s of quinn's CUBIC, and that of the others as a part of it.
#[test]
#[ignore = "a minute or two: it prints the table of docs/HOSTS.md"]
fn print_the_table() {
    println!(
        "| hosts | link | RTT | quinn-cubic, Mb/s | {} |",
        CONTROLLERS.join(" | ")
    );
    println!("|---|---|---|---|{}", "---|".repeat(CONTROLLERS.len()));
    for path in paths() {
        let stock = path.goodput("quinn-cubic");
        let parts = CONTROLLERS.map(|name| format!("{:.2}", path.goodput(name) / stock));
        let Path { host, gbps, rtt } = path;
        println!(
            "| {host} | {gbps} Gb/s | {rtt:?} | {stock:.0} | {} |",
            parts.join(" | ")
        );
    }
}

const HOSTS: [&str; 2] = ["server", "busy"];
const RATES: [u64; 2] = [1, 10];
/// In microseconds.
const RTTS: [u64; 3] = [50, 200, 1_000];
const CONTROLLERS: [&str; 4] = ["bbr-s", "bbr", "bbr3", "cubic"];
