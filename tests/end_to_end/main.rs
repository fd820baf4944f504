//! Unmodified quinn over a bundled trace, with every controller, through the public interface.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod scenario;
#[path = "../uploads/mod.rs"]
mod uploads;

use kneepoint::controllers::Mode;
use kneepoint::emulator::time::Nanos;
use kneepoint::{ControllerSpec, traces};
use scenario::Scenario;
use uploads::bytes;

#[test]
fn bytes_arrive_intact_and_the_state_can_be_read() {
    for spec in ControllerSpec::all() {
        let lossy = Scenario {
            loss: 0.01,
            ..Scenario::new(spec.clone())
        };
        let data = bytes(2_000_000);
        let (received, snapshot) = lossy.transfer(&data);
        assert!(received == data, "{spec}");

        let snapshot = snapshot.expect("the controller is one of ours");
        assert_eq!(snapshot.algorithm, spec.algorithm().name());
        assert_ne!(snapshot.mode, Mode::Startup, "{spec}");
        // Those without a model have no estimate.
        if let Some(bandwidth) = snapshot.bandwidth {
            let bandwidth = bandwidth.megabits_per_second();
            assert!((0.1..40.0).contains(&bandwidth), "{spec}: {bandwidth}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    for spec in ControllerSpec::all() {
        let log = |seed| {
            let lossy = Scenario {
                loss: 0.01,
                seed,
                ..Scenario::new(spec.clone())
            };
            lossy.fill(Nanos::from_millis(2000)).log
        };
        let first = log(1);
        assert!(first.len() > 500, "{spec}");
        assert!(first == log(1), "{spec}");
        assert!(first != log(2), "{spec}");
    }
}

#[test]
fn every_controller_uses_the_link_and_keeps_its_connection() {
    let duration = Nanos::from_millis(10_000);
    let capacity = traces::lte_driving_fast().capacity(Nanos::ZERO, duration);
    for spec in ControllerSpec::all() {
        let outcome = Scenario::new(spec.clone()).fill(duration);
        assert_eq!(outcome.closed, None, "{spec}");
        let utilization = outcome.served as f64 / capacity as f64;
        assert!((0.5..=1.0).contains(&utilization), "{spec}: {utilization}");
    }
}
