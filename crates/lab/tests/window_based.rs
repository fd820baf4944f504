//! Controllers with a window and no pacing rate, over real quinn: short paths, marks, changes of the path, delays that vary.
//!
//! The hosts' delay and the path's noise must not cost a window-based controller its link.

use std::time::Duration;

use kneepoint_emulator::link::{
    Aggregation, Delay, DelayStep, Jitter, Limit, LinkConfig, Queue, RateStep, Shaper, StepMark,
};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_emulator::time::Nanos;
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};

const OURS: [&str; 5] = ["new-reno", "cubic", "compound", "vegas", "ebcc"];

fn line(mbps: u64, rtt: Duration) -> LinkConfig {
    LinkConfig {
        delay: (rtt / 2).into(),
        ..LinkConfig::new(Shaper::ConstantRate {
            bytes_per_second: mbps * 125_000,
        })
    }
}

fn buffered(link: LinkConfig, bytes: u64) -> LinkConfig {
    LinkConfig {
        queue: Queue::DropTail(Limit::bytes(bytes)),
        ..link
    }
}

fn run(name: &str, forward: LinkConfig, reverse: LinkConfig, flows: u64, end: Duration) -> Outcome {
    let flow = |number| {
        let controller = candidate(name, 1 + 1000 * number).expect("a known controller");
        FlowPlan::greedy(controller, Duration::ZERO, end)
    };
    let trial = Trial {
        topology: Topology::point_to_point(Duplex { forward, reverse }),
        flows: (0..flows).map(flow).collect(),
        duration: end,
        interval: None,
        seed: 1,
    };
    trial.run().expect("it runs")
}

fn mbps(outcome: &Outcome, from: Duration, to: Duration) -> f64 {
    let flows = outcome.flows.iter();
    flows.map(|flow| flow.goodput_mbps(from, to)).sum()
}

/// Acknowledgements and data come in lumps, as from hosts that are woken now and then.
fn short_path(name: &str, rate: u64, rtt: Duration, lump: Duration, end: Duration) -> f64 {
    let link = LinkConfig {
        aggregation: Some(Aggregation {
            interval: lump.into(),
            packets: None,
        }),
        ..line(rate, rtt)
    };
    mbps(&run(name, link.clone(), link, 1, end), end / 5, end)
}

/// Trap: over a path of 50 us, a millisecond of the hosts' own looks like twenty times the path. A window sized by that is none.
#[test]
fn short_paths_are_used() {
    let (rtt, lump) = (Duration::from_micros(200), Duration::from_millis(1));
    let end = Duration::from_millis(100);
    let reference = short_path("quinn-cubic", 10_000, rtt, lump, end);
    for name in OURS {
        let rate = short_path(name, 10_000, rtt, lump, end);
        let min = if name == "cubic" { 0.9 } else { 0.5 };
        assert!(
            rate >= min * reference,
            "{name}: {rate} of {reference} Mb/s"
        );
    }
}

#[test]
#[ignore = "a sweep of a minute"]
fn short_paths_of_all_lengths_are_used() {
    for (rate, millis) in [(1_000, 500), (10_000, 200)] {
        for rtt in [50, 200, 1_000] {
            for lump in [100, 300, 1_000] {
                let path = |name| {
                    let [rtt, lump] = [rtt, lump].map(Duration::from_micros);
                    short_path(name, rate, rtt, lump, Duration::from_millis(millis))
                };
                let reference = path("quinn-cubic");
                for name in OURS {
                    let min = if name == "cubic" { 0.9 } else { 0.5 };
                    let rate = path(name);
                    assert!(
                        rate >= min * reference,
                        "{name}, {rtt} us, {lump} us: {rate} of {reference} Mb/s"
                    );
                }
            }
        }
    }
}

/// Trap: a loss costs `ebcc` 200 ms of silence by the paper, which on a path of 1 ms are 200 round trips.
#[test]
fn a_loss_costs_round_trips_and_no_fixed_time() {
    let rtt = Duration::from_millis(1);
    let end = Duration::from_millis(500);
    for name in OURS {
        let outcome = run(
            name,
            buffered(line(1_000, rtt), 125_000),
            line(1_000, rtt),
            1,
            end,
        );
        let rate = mbps(&outcome, end / 5, end);
        assert!(rate > 900.0, "{name}: {rate} Mb/s");
        let flow = &outcome.flows[0];
        let loss = flow.lost_bytes as f64 / flow.acked_bytes as f64;
        assert!(loss < 0.02, "{name}: {loss}");
    }
}

/// A step marker at 5 ms on a path of 40 ms.
fn marked(name: &str, rate: u64, end: Duration) {
    let rtt = Duration::from_millis(40);
    let step = StepMark {
        threshold: Limit::bytes(rate * 125 * 5),
        drop_not_ect: false,
        limit: None,
    };
    let link = LinkConfig {
        queue: Queue::StepMark(step),
        ..line(rate, rtt)
    };
    let outcome = run(name, link, line(1_000, rtt), 1, end);
    let from = Duration::from_secs(5);
    let used = mbps(&outcome, from, end) / rate as f64;
    assert!(used >= 0.85, "{name}: {used} of {rate} Mb/s");
    let delay = stats::mean(&outcome.rtts(from, end)).expect("samples") / 1e6;
    assert!(delay <= 50.0, "{name} at {rate} Mb/s: {delay} ms");
}

/// Trap: a queue that marks is shorter than one that overflows. Halving the window for a mark leaves a fifth of the link.
#[test]
fn marks_keep_the_queue_short_and_the_link_busy() {
    for name in OURS {
        marked(name, 10, Duration::from_secs(15));
        marked(name, 50, Duration::from_secs(10));
    }
}

#[test]
#[ignore = "a sweep of a minute"]
fn marks_keep_the_queue_short_at_all_rates() {
    for name in OURS {
        for rate in [10, 20, 50, 100] {
            marked(name, rate, Duration::from_secs(30));
        }
    }
}

/// Trap: the least round-trip time ever leaves 1 % of a link whose path gets longer.
#[test]
fn a_path_that_gets_longer_is_used_again() {
    let delay = |millis| Nanos::from_millis(millis);
    let longer = Delay::Steps {
        steps: vec![
            DelayStep {
                from: Nanos::ZERO,
                delay: delay(10),
            },
            DelayStep {
                from: Nanos::from_millis(5_000),
                delay: delay(100),
            },
        ],
        reordering: false,
    };
    let end = Duration::from_secs(20);
    let path = |rate| LinkConfig {
        delay: longer.clone(),
        ..line(rate, Duration::ZERO)
    };
    let outcome = run("vegas", buffered(path(20), 500_000), path(1_000), 1, end);
    let rate = mbps(&outcome, Duration::from_secs(15), end);
    assert!(rate > 18.0, "{rate} of 20 Mb/s");
}

/// Trap: a packet more per round trip takes ten seconds to a rate ten times as high.
#[test]
fn a_link_that_gets_faster_is_used() {
    let rtt = Duration::from_millis(40);
    let steps = [(0, 10), (10_000, 100)].map(|(millis, mbps)| RateStep {
        from: Nanos::from_millis(millis),
        bytes_per_second: mbps * 125_000,
    });
    let link = LinkConfig {
        shaper: Shaper::Schedule(steps.to_vec()),
        ..line(1, rtt)
    };
    let end = Duration::from_secs(14);
    for name in ["cubic", "compound", "vegas", "ebcc"] {
        let outcome = run(
            name,
            buffered(link.clone(), 500_000),
            line(1_000, rtt),
            1,
            end,
        );
        let rate = mbps(&outcome, end - Duration::from_secs(2), end);
        assert!(rate > 85.0, "{name}: {rate} of 100 Mb/s");
    }
}

/// Trap: a window anchored to the least round-trip time ever is below what a path with varying delay holds.
#[test]
fn delays_that_vary_are_no_queue() {
    let varying = |link| LinkConfig {
        delay: Delay::Jittered {
            jitter: Jitter::Uniform {
                from: Nanos::from_millis(5),
                to: Nanos::from_millis(15),
            },
            reordering: false,
        },
        ..link
    };
    let forward = buffered(varying(line(50, Duration::ZERO)), 1_000_000);
    let end = Duration::from_secs(10);
    for name in OURS {
        let outcome = run(
            name,
            forward.clone(),
            varying(line(1_000, Duration::ZERO)),
            1,
            end,
        );
        let used = mbps(&outcome, Duration::from_secs(2), end) / 50.0;
        assert!(used >= 0.85, "{name}: {used}");
    }
}

/// Acknowledgements come in batches of two round trips.
#[test]
fn acknowledgements_in_batches_are_no_queue() {
    let rtt = Duration::from_millis(40);
    let reverse = LinkConfig {
        aggregation: Some(Aggregation {
            interval: Nanos::from_millis(80),
            packets: None,
        }),
        ..line(1_000, rtt)
    };
    let end = Duration::from_secs(15);
    let rate = |name| {
        let forward = buffered(line(50, rtt), 250_000);
        let outcome = run(name, forward, reverse.clone(), 1, end);
        mbps(&outcome, Duration::from_secs(2), end)
    };
    let reference = rate("quinn-cubic");
    for name in OURS {
        let rate = rate(name);
        assert!(
            rate >= 0.6 * reference,
            "{name}: {rate} of {reference} Mb/s"
        );
    }
}
