//! Whole connections over one queue.

use core::time::Duration;

use super::{SECOND, controllers};
use crate::config::ControllerConfig;
use crate::driver::{Driver, MTU, PLAIN, Scenario, environment};
use crate::model::initial_window;
use crate::snapshot::Mode;
use crate::units::{Bandwidth, Bytes, Gain};

fn driver(config: &dyn ControllerConfig, scenario: Scenario) -> Driver {
    Driver::new(
        config.build(&environment()).expect("a valid configuration"),
        scenario,
    )
}

fn mean(rtts: &[Duration]) -> Duration {
    rtts.iter().sum::<Duration>() / u32::try_from(rtts.len()).expect("a short test")
}

/// The share of the link that the next `span` uses.
fn utilization(driver: &mut Driver, span: Duration) -> f64 {
    let rate = driver.scenario.rate.as_f64();
    driver.measure(span).as_f64() / rate
}

#[test]
fn fills_the_pipe_with_less_than_another_pipe_of_queue() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(2 * SECOND);
        driver.take_rtts();
        let used = utilization(&mut driver, 30 * SECOND);
        assert!(used > 0.9, "{config:?}: {used}");
        let mean = mean(&driver.take_rtts());
        assert!(mean < 2 * PLAIN.rtt, "{config:?}: mean {mean:?}");
        let snapshot = driver.controller.snapshot();
        assert!(
            snapshot
                .min_rtt
                .is_some_and(|rtt| rtt < Duration::from_millis(45)),
            "{snapshot:?}"
        );
        assert_eq!(driver.lost, Bytes::ZERO, "{config:?}");
    }
}

#[test]
fn finds_a_doubled_rate() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(10 * SECOND);
        driver.scenario.rate = Gain::new(2, 1) * PLAIN.rate;
        // Three waits for a probe of at most 3 s.
        driver.run_for(9 * SECOND);
        let used = utilization(&mut driver, 10 * SECOND);
        assert!(used > 0.88, "{config:?}: {used}");
    }
}

#[test]
fn follows_a_halved_rate() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(10 * SECOND);
        driver.scenario.rate = Gain::new(1, 2) * PLAIN.rate;
        // The maximum is forgotten after two cycles.
        driver.run_for(12 * SECOND);
        driver.take_rtts();
        let used = utilization(&mut driver, 10 * SECOND);
        assert!(used > 0.85, "{config:?}: {used}");
        let mean = mean(&driver.take_rtts());
        assert!(mean < 2 * PLAIN.rtt, "{config:?}: mean {mean:?}");
        let estimate = driver.controller.snapshot().bandwidth.expect("an estimate");
        let ratio = estimate.as_f64() / driver.scenario.rate.as_f64();
        assert!((0.85..1.15).contains(&ratio), "{config:?}: {ratio}");
    }
}

/// As the draft has it, single losses hold down a path whose pipe is fewer than fifty packets; the tuned presets tolerate
/// them.
#[test]
fn one_percent_of_random_loss_does_not_stop_it() {
    // `bbr3-s:paper` holds to rate x smoothed RTT besides.
    let least = [0.4, 0.8, 0.35, 0.8, 0.7, 0.8];
    for (config, least) in controllers().into_iter().zip(least) {
        for every in [89, 97, 100, 103] {
            let lossy = Scenario {
                lose_every: Some(every),
                ..PLAIN
            };
            let mut driver = driver(&*config, lossy);
            driver.run_for(3 * SECOND);
            let used = utilization(&mut driver, 30 * SECOND);
            assert!(used > least, "{config:?}, one of {every}: {used}");
        }
    }
}

/// A buffer of a fifth of the pipe drops what is above the rate, as a policer does.
#[test]
fn a_shallow_buffer_loses_little_of_what_it_is_sent() {
    for config in controllers() {
        let shallow = Scenario {
            buffer: Bytes(10_000),
            ..PLAIN
        };
        let mut driver = driver(&*config, shallow);
        driver.run_for(5 * SECOND);
        driver.lost = Bytes::ZERO;
        let used = utilization(&mut driver, 30 * SECOND);
        assert!(used > 0.7, "{config:?}: {used}");
        let sent = Bytes(30 * 1_250_000).0 as f64 * used;
        let lost = driver.lost.0 as f64 / sent;
        assert!(lost < 0.03, "{config:?}: {lost}");
    }
}

/// A bound that losses have set is raised again by the probes of a path that has grown.
#[test]
fn finds_a_faster_path_behind_the_bound_of_a_shallow_one() {
    for config in controllers() {
        let shallow = Scenario {
            buffer: Bytes(10_000),
            ..PLAIN
        };
        let mut driver = driver(&*config, shallow);
        driver.run_for(10 * SECOND);
        assert!(driver.lost > Bytes::ZERO, "{config:?}");
        driver.scenario.buffer = PLAIN.buffer;
        driver.scenario.rate = Gain::new(10, 1) * PLAIN.rate;
        driver.run_for(20 * SECOND);
        let used = utilization(&mut driver, 10 * SECOND);
        assert!(used > 0.85, "{config:?}: {used}");
    }
}

/// Trap: an estimator that takes every sample below its own sending rate for the truth follows itself down.
#[test]
fn the_estimate_does_not_spiral_down() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(120 * SECOND);
        let estimate = driver.controller.snapshot().bandwidth.expect("an estimate");
        let ratio = estimate.as_f64() / PLAIN.rate.as_f64();
        assert!((0.85..1.15).contains(&ratio), "{config:?}: {ratio}");
    }
}

/// Trap: limited by the application from birth, for an hour: neither may the minimum RTT stay unknown, nor may the window
/// grow without bound, nor may waiting for data count as a slow path.
#[test]
fn a_trickle_leaves_the_window_bounded_and_the_round_trip_time_known() {
    for config in controllers() {
        let trickle = Scenario {
            application: Some(Bandwidth::from_bytes_per_second(12_500)),
            // A receiver that waits for a second packet would add its own delay to every round trip.
            ack_every: 1,
            ..PLAIN
        };
        let mut driver = driver(&*config, trickle);
        driver.run_for(3600 * SECOND);
        assert!(
            driver.largest_window <= initial_window(MTU).max(MTU.packets(40)),
            "{config:?}: {}",
            driver.largest_window
        );
        let min_rtt = driver.controller.snapshot().min_rtt.expect("an estimate");
        assert!(
            (40..50).contains(&min_rtt.as_millis()),
            "{config:?}: {min_rtt:?}"
        );
        // And it still finds the bandwidth once there is something to send.
        driver.scenario.application = None;
        driver.run_for(5 * SECOND);
        let used = utilization(&mut driver, 5 * SECOND);
        assert!(used > 0.85, "{config:?}: {used}");
    }
}

/// Trap: paths get longer.
#[test]
fn the_minimum_round_trip_time_can_rise() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(5 * SECOND);
        driver.scenario.rtt = Duration::from_millis(120);
        driver.run_for(35 * SECOND);
        let min_rtt = driver.controller.snapshot().min_rtt.expect("an estimate");
        assert!(
            (120..150).contains(&min_rtt.as_millis()),
            "{config:?}: {min_rtt:?}"
        );
        let used = utilization(&mut driver, 15 * SECOND);
        assert!(used > 0.8, "{config:?}: {used}");
    }
}

/// Trap: what ProbeRTT delivers says nothing about the path.
#[test]
fn probe_rtt_does_not_lower_the_estimate() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(4 * SECOND);
        let estimate = |driver: &Driver| {
            let estimate = driver.controller.snapshot().bandwidth;
            estimate.expect("an estimate").as_f64()
        };
        let before = estimate(&driver);
        let (mut probes, mut probing) = (0, false);
        for _ in 0..3_000 {
            driver.run_for(Duration::from_millis(10));
            // No round trip is ever as short as an earlier one.
            driver.scenario.rtt += Duration::from_nanos(100);
            let was_probing = probing;
            probing = driver.controller.snapshot().mode == Mode::ProbeRtt;
            probes += u32::from(was_probing && !probing);
        }
        assert!(probes > 0, "{config:?} never probed");
        let ratio = estimate(&driver) / before;
        assert!((ratio - 1.0).abs() < 0.15, "{config:?}: {ratio}");
    }
}

#[test]
fn a_pipe_of_less_than_a_packet_is_filled() {
    for config in controllers() {
        let slow = Scenario {
            rate: Bandwidth::from_bytes_per_second(8_000),
            rtt: Duration::from_millis(20),
            ..PLAIN
        };
        let mut driver = driver(&*config, slow);
        driver.run_for(30 * SECOND);
        let used = utilization(&mut driver, 30 * SECOND);
        assert!(used > 0.85, "{config:?}: {used}");
        let window = driver.controller.control().window;
        assert!(window >= MTU.packets(4), "{config:?}: {window}");
    }
}

#[test]
fn lumps_of_acknowledgements_leave_the_pipe_full() {
    for config in controllers() {
        let lumpy = Scenario {
            // Twelve milliseconds of the link's time in one acknowledgement.
            ack_every: 12,
            ..PLAIN
        };
        let mut driver = driver(&*config, lumpy);
        driver.run_for(3 * SECOND);
        let used = utilization(&mut driver, 20 * SECOND);
        assert!(used > 0.85, "{config:?}: {used}");
    }
}
