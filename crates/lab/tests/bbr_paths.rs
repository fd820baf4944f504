//! BBRv1's recommended presets where hosts, receivers and links are not ideal: short paths, requests, markers, rare
//! acknowledgements, links that close.

use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::{Aggregation, Limit, LinkConfig, Queue, RateStep, Shaper, StepMark};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};
use kneepoint_lab::workload::{Load, Phase};

const CONTROLLERS: [&str; 5] = ["bbr-s", "bbr:tuned", "bbr-x", "bbr-sampled", "bbr-fair"];

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn link(mbps: u64, one_way: Duration) -> LinkConfig {
    LinkConfig {
        delay: one_way.into(),
        ..LinkConfig::new(Shaper::ConstantRate {
            bytes_per_second: mbps * 125_000,
        })
    }
}

/// One flow from its beginning to `end`.
fn run(name: &str, topology: Topology, load: Load, end: Duration) -> Outcome {
    let controller = candidate(name, 1).expect("a known controller");
    let flow = FlowPlan {
        application: vec![Phase { until: end, load }],
        ..FlowPlan::greedy(controller, Duration::ZERO, end)
    };
    let trial = Trial {
        topology,
        flows: vec![flow],
        duration: end,
        interval: None,
        seed: 1,
    };
    trial.run().expect("it runs")
}

fn path(forward: LinkConfig, reverse: LinkConfig) -> Topology {
    Topology::point_to_point(Duplex { forward, reverse })
}

fn goodput(name: &str, topology: Topology, from: Duration, end: Duration) -> f64 {
    run(name, topology, Load::Greedy, end).flows[0].goodput_mbps(from, end)
}

/// Trap: over a short path the minimum RTT is a chance of wake-ups and batches, and a window of rate x min RTT a few packets.
#[test]
fn short_paths_between_hosts_that_take_time_are_filled() {
    let end = millis(300);
    for (host, one_way) in [("server", 25), ("busy", 100)] {
        let measure = |name: &str| {
            let direction = link(1000, Duration::from_micros(one_way));
            let mut topology = Topology::point_to_point(Duplex::both(LinkConfig {
                queue: Queue::DropTail(Limit::bytes(1_000_000)),
                ..direction
            }));
            topology.hosts(HostConfig::preset(host).expect("a preset"));
            goodput(name, topology, Duration::ZERO, end)
        };
        let cubic = measure("quinn-cubic");
        for name in ["bbr-s", "bbr"] {
            let rate = measure(name);
            assert!(rate > 0.9 * cubic, "{name}, {host}: {rate} of {cubic}");
        }
    }
}

/// Trap: between messages there are no acknowledgements, and over a short path each one arrives later than several round trips.
#[test]
fn messages_are_delivered_as_fast_as_by_cubic() {
    let load = Load::Frames {
        bytes: 100_000,
        period: millis(100),
    };
    for rtt_micros in [300, 2_000, 10_000] {
        let measure = |name: &str| {
            let direction = link(1000, Duration::from_micros(rtt_micros / 2));
            let topology = Topology::point_to_point(Duplex::both(direction));
            let outcome = run(name, topology, load, millis(4_000));
            let messages = &outcome.flows[0].messages;
            let mut times: Vec<Duration> = messages.iter().map(|m| m.arrived - m.began).collect();
            times.sort_unstable();
            [50, 95].map(|percent| times[(times.len() - 1) * percent / 100].as_secs_f64())
        };
        let cubic = measure("quinn-cubic");
        for name in ["bbr-s", "bbr"] {
            let times = measure(name);
            for (time, of_cubic) in times.into_iter().zip(cubic) {
                assert!(
                    time < 1.1 * of_cubic,
                    "{name}, {rtt_micros} us: {times:?} and {cubic:?}"
                );
            }
        }
    }
}

/// Trap: a queue that marks instead of dropping packets cannot limit a sender that ignores marks.
#[test]
fn a_marking_queue_holds_the_recommended_presets_near_its_threshold() {
    let (from, end) = (millis(4_000), millis(15_000));
    for name in CONTROLLERS {
        let marking = LinkConfig {
            queue: Queue::StepMark(StepMark {
                threshold: Limit::time(millis(5).into()),
                drop_not_ect: false,
                limit: None,
            }),
            ..link(20, millis(20))
        };
        let topology = path(marking, link(1000, millis(20)));
        let outcome = run(name, topology, Load::Greedy, end);
        let rate = outcome.flows[0].goodput_mbps(from, end);
        let rtt = stats::mean(&outcome.rtts(from, end)).expect("acknowledgements") / 1e6;
        assert!(
            rate > 0.85 * 20.0 && rtt < 50.0,
            "{name}: {rate} Mb/s, {rtt} ms"
        );
    }
}

/// Trap: where acknowledgements come at longer intervals than round trips, a window of a round trip is a fraction of the path.
#[test]
fn rare_acknowledgements_do_not_starve_the_sender() {
    let (from, end) = (millis(5_000), millis(15_000));
    for name in CONTROLLERS {
        let forward = LinkConfig {
            queue: Queue::DropTail(Limit::bytes(200_000)),
            ..link(10, millis(20))
        };
        let reverse = LinkConfig {
            aggregation: Some(Aggregation {
                interval: millis(100).into(),
                packets: None,
            }),
            ..link(1000, millis(20))
        };
        let rate = goodput(name, path(forward, reverse), from, end);
        assert!(rate > 5.0, "{name}: {rate} Mb/s");
    }
}

/// Trap: a link that is closed most of the time is taken for a slow one.
#[test]
fn a_link_that_opens_and_closes_is_used_while_it_is_open() {
    let end = millis(15_000);
    let measure = |name: &str| {
        // Open for 0.2 s in every 0.8 s.
        let steps = (0..=18).flat_map(|number| {
            [(0, 15_625_000), (200, 0)].map(|(offset, bytes_per_second)| RateStep {
                from: millis(800 * number + offset).into(),
                bytes_per_second,
            })
        });
        let last = RateStep {
            from: end.into(),
            bytes_per_second: 15_625_000,
        };
        let forward = LinkConfig {
            shaper: Shaper::Schedule(steps.chain([last]).collect()),
            queue: Queue::DropTail(Limit::bytes(3_000_000)),
            ..link(1, millis(10))
        };
        let topology = path(forward, link(1000, millis(10)));
        goodput(name, topology, Duration::ZERO, end)
    };
    let cubic = measure("quinn-cubic");
    for name in ["bbr-s", "bbr", "bbr-x", "bbr-sampled"] {
        let rate = measure(name);
        assert!(rate > 0.6 * cubic, "{name}: {rate} of {cubic} Mb/s");
    }
}
