//! Unmodified noq in virtual time, with every controller, through the public interface.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod scenario;
#[path = "../uploads/mod.rs"]
mod uploads;

use kneepoint::emulator::link::{Impairments, Interval, Limit, LinkConfig, Queue, StepMark};
use kneepoint::emulator::network::{Direction, Side};
use kneepoint::emulator::sim::noq::NoqSocket;
use kneepoint::emulator::time::Nanos;
use kneepoint::{Algorithm, ControllerSpec, traces};
use scenario::Scenario;
use uploads::{bytes, link, lte, served};

/// 10 Mb/s.
const RATE: u64 = 1_250_000;

fn millis(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

#[test]
fn bytes_arrive_intact_over_a_lossy_link() {
    for spec in ControllerSpec::all() {
        let lossy = LinkConfig {
            loss: 0.01.into(),
            ..lte()
        };
        let data = bytes(1_000_000);
        let received = Scenario::new(spec.clone(), lossy).transfer(&data, |_| ());
        assert!(received == data, "{spec}");
    }
}

#[test]
fn two_runs_give_the_same_packets() {
    for spec in ControllerSpec::all() {
        let log = || {
            let lossy = LinkConfig {
                loss: 0.01.into(),
                ..lte()
            };
            Scenario::new(spec.clone(), lossy).fill(millis(1000)).log
        };
        let first = log();
        assert!(first.len() > 150, "{spec}: {}", first.len());
        assert!(first == log(), "{spec}");
    }
}

#[test]
fn every_controller_uses_the_link_and_keeps_its_connection() {
    let end = millis(10_000);
    let capacity = traces::lte_driving_fast().capacity(Nanos::ZERO, end);
    for spec in ControllerSpec::all() {
        let outcome = Scenario::new(spec.clone(), lte()).fill(end);
        assert_eq!(outcome.closed, None, "{spec}");
        let utilization = served(&outcome.log, Nanos::ZERO, end) as f64 / capacity as f64;
        assert!((0.5..=1.0).contains(&utilization), "{spec}: {utilization}");
        let seen = outcome.snapshot.expect("the controller is one of ours");
        assert_eq!(seen.algorithm, spec.algorithm().name());
    }
}

/// Trap: an outage leaves an estimate far below the path, and a sender that paces at it sees nothing else.
#[test]
fn controllers_are_back_soon_after_an_outage() {
    for &algorithm in Algorithm::all() {
        let outage = Interval {
            from: millis(3_000),
            to: millis(5_000),
        };
        let forward = LinkConfig {
            impairments: Impairments {
                blackouts: vec![outage],
                ..Impairments::default()
            },
            queue: Queue::DropTail(Limit::bytes(500_000)),
            ..link(RATE)
        };
        let outcome = Scenario::new(algorithm.into(), forward).fill(millis(12_000));
        assert_eq!(outcome.closed, None, "{algorithm}");
        let served = served(&outcome.log, millis(8_000), millis(12_000));
        let share = served as f64 / (4 * RATE) as f64;
        assert!(share > 0.5, "{algorithm}: {share}");
    }
}

#[test]
fn marks_keep_the_queue_short_without_a_loss() {
    for algorithm in [Algorithm::NewReno, Algorithm::Cubic, Algorithm::Bbr3] {
        let marking = LinkConfig {
            queue: Queue::StepMark(StepMark {
                threshold: Limit::bytes(60_000),
                drop_not_ect: false,
                limit: None,
            }),
            ..link(RATE)
        };
        let scenario = Scenario::new(algorithm.into(), marking);
        let outcome = scenario.fill(millis(10_000));
        let share = served(&outcome.log, millis(2_000), millis(10_000)) as f64 / (8 * RATE) as f64;
        assert!(share > 0.8, "{algorithm}: {share}");
        let (marked, queued) = scenario.sim.with_network(|network| {
            let link = network.link(Direction::Forward);
            (link.statistics().marked.packets, link.queued().bytes)
        });
        assert!(marked > 0, "{algorithm}");
        assert!(queued < 200_000, "{algorithm}: {queued}");
    }
}

#[test]
fn a_transfer_survives_a_move_to_another_address() {
    for algorithm in [
        Algorithm::Knee,
        Algorithm::Bbr,
        Algorithm::Bbr3,
        Algorithm::Cubic,
    ] {
        let scenario = Scenario::new(algorithm.into(), link(RATE));
        let data = bytes(3_000_000);
        let received = scenario.transfer(&data, |_| {
            let moved = "10.0.0.77:7".parse().unwrap();
            let socket = NoqSocket::new(scenario.sim.bind(Side::Left, moved).unwrap());
            scenario.client.rebind_abstract(Box::new(socket)).unwrap();
        });
        assert!(received == data, "{algorithm}");
        // 2.4 s at the rate of the link.
        let time = scenario.sim.now();
        assert!(time < millis(5_000), "{algorithm}: {time}");
    }
}
