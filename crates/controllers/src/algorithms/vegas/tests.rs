use core::time::Duration;

use super::VegasConfig;
use crate::config::ControllerConfig;
use crate::controller::Controller;
use crate::driver::MTU;
use crate::event::AckEvent;
use crate::loss_based::testing::{ack, build, loss, round, window};
use crate::snapshot::Mode;
use crate::units::{Bytes, Gain};

/// In congestion avoidance with 20 packets, at a base round-trip time of 40 ms.
fn avoiding() -> Box<dyn Controller> {
    let mut controller = build(&VegasConfig::paper());
    controller.on_ack(&AckEvent {
        acked: MTU * 30,
        ..ack(40)
    });
    controller.on_congestion(&loss(100, 50));
    controller.on_ack(&ack(141));
    assert_eq!(window(&*controller), MTU * 20);
    assert_eq!(controller.snapshot().mode, Mode::CongestionAvoidance);
    controller
}

/// The change of a window of 20 packets after a round with this RTT. The previous round was measured at 40 ms.
fn decision(rtt_micros: u64) -> i64 {
    let mut controller = avoiding();
    let sample = round(180, 40).with_rtt(Duration::from_micros(rtt_micros));
    controller.on_ack(&sample);
    let before = window(&*controller);
    controller.on_ack(&round(220, 40));
    let after = window(&*controller);
    (after.0 as i64 - before.0 as i64) / MTU.0 as i64
}

#[test]
fn between_alpha_and_beta_the_window_stays() {
    // The round that ends first adds a packet: 21 packets, of which 21 (1 - 40 / RTT) wait.
    // 1.9 packets at 43.98 ms; 2.1 at 44.44; 3.9 at 49.12; 4.1 at 49.70.
    assert_eq!(decision(43_980), 1);
    assert_eq!(decision(44_450), 0);
    assert_eq!(decision(49_100), 0);
    assert_eq!(decision(49_710), -1);
}

#[test]
fn one_decision_per_round() {
    let mut controller = avoiding();
    controller.on_ack(&round(180, 40));
    let before = window(&*controller);
    for now in 181..200 {
        controller.on_ack(&ack(now));
    }
    assert_eq!(window(&*controller), before);
}

/// Trap: MTU changes rescale what is counted in packets.
#[test]
fn alpha_and_beta_are_counted_in_packets_of_today() {
    let mut controller = avoiding();
    controller.on_mtu_update(Bytes(9000));
    // 4.2 old packets would be too many; it is half a new one.
    let sample = AckEvent {
        acked: Bytes(9000),
        ..round(180, 50)
    };
    controller.on_ack(&sample);
    let before = window(&*controller);
    controller.on_ack(&round(220, 40));
    assert_eq!(window(&*controller), before + Bytes(9000));
}

/// No faster than slow start: with a larger MTU than what is sent, a packet is more than was acknowledged.
#[test]
fn growth_is_at_most_the_acknowledged_bytes() {
    let mut controller = avoiding();
    controller.on_mtu_update(Bytes(60_000));
    controller.on_ack(&round(180, 40));
    let before = window(&*controller);
    controller.on_ack(&round(220, 40));
    assert_eq!(window(&*controller), before + MTU * 2);
}

#[test]
fn slow_start_doubles_every_other_round() {
    let mut controller = build(&VegasConfig::default());
    let mut windows = Vec::new();
    for index in 0..5 {
        controller.on_ack(&round(40 * (index + 1), 40));
        windows.push(window(&*controller).0 / MTU.0);
    }
    assert_eq!(windows, [12, 12, 14, 14, 16]);
    assert_eq!(controller.snapshot().mode, Mode::SlowStart);
}

#[test]
fn slow_start_ends_with_more_than_gamma_in_the_queue() {
    for (rtt, mode, packets) in [
        // 12 packets: 12 (1 - 40 / 43) = 0.84 wait.
        (43, Mode::SlowStart, 14),
        // 12 (1 - 40 / 50) = 2.4 wait: back to 9.6, and one.
        (50, Mode::CongestionAvoidance, 10),
    ] {
        let mut controller = build(&VegasConfig::paper());
        controller.on_ack(&round(40, 40));
        controller.on_ack(&round(90, rtt));
        controller.on_ack(&round(140, 50));
        assert_eq!(controller.snapshot().mode, mode);
        assert_eq!(window(&*controller).0 / MTU.0, packets);
    }
}

#[test]
fn a_loss_halves_the_window() {
    let mut controller = build(&VegasConfig::default());
    controller.on_congestion(&loss(100, 50));
    assert_eq!(window(&*controller), MTU * 5);
}

/// A link that delays whole rounds from time to time delays any flight, not only one that is too large.
#[test]
fn a_queue_counts_once_it_has_stood() {
    for (config, change) in [
        (VegasConfig::default(), 12..=16),
        (VegasConfig::paper(), -8..=-4),
    ] {
        let mut controller = build(&config);
        controller.on_ack(&AckEvent {
            acked: MTU * 30,
            ..ack(40)
        });
        controller.on_congestion(&loss(100, 50));
        controller.on_ack(&ack(141));
        // Every fourth round trip is as short as the path; 20 packets (1 - 40 / 60) would be 6.7 in the queue.
        let mut now = 180;
        for index in 0..16 {
            let rtt = if index % 4 == 0 { 40 } else { 60 };
            now += rtt;
            controller.on_ack(&round(now, rtt));
        }
        let packets = (window(&*controller).0 / MTU.0) as i64 - 20;
        assert!(change.contains(&packets), "{config:?}: {packets}");

        // Longer ones from now on: after 300 ms the window shrinks.
        let before = window(&*controller);
        for _ in 0..16 {
            now += 60;
            controller.on_ack(&round(now, 60));
        }
        assert!(window(&*controller) < before, "{config:?}");
    }
}

/// The standing queue is detected late, and the window has doubled in the meantime: the whole queue of that time has to
/// drain.
#[test]
fn slow_start_ends_without_its_queue() {
    let mut controller = build(&VegasConfig::default());
    controller.on_ack(&round(40, 40));
    let (mut now, mut largest) = (40, Bytes::ZERO);
    while controller.snapshot().mode == Mode::SlowStart {
        // 12 packets fill the path: what exceeds them waits.
        let rtt = (40 * window(&*controller).0 / (MTU * 12).0).max(40);
        now += rtt;
        largest = largest.max(window(&*controller));
        controller.on_ack(&AckEvent {
            acked: window(&*controller),
            ..round(now, rtt)
        });
        assert!(now < 2000, "slow start does not end");
    }
    assert!(largest > MTU * 20, "{largest:?}");
    let left = window(&*controller);
    assert!((MTU * 8..=MTU * 16).contains(&left), "{left:?}");
}

/// A full window is acknowledged in a round of so many milliseconds.
fn full_round(controller: &mut dyn Controller, now: &mut u64, rtt: u64) {
    *now += rtt;
    let acked = window(controller);
    controller.on_ack(&AckEvent {
        acked,
        ..round(*now, rtt)
    });
}

/// Trap: the base round-trip time must be able to rise.
#[test]
fn a_longer_path_becomes_the_base() {
    for (config, rises) in [
        (VegasConfig::default(), true),
        (VegasConfig::paper(), false),
    ] {
        let mut controller = build(&config);
        let mut now = 0;
        full_round(&mut *controller, &mut now, 20);
        controller.on_congestion(&loss(now, now - 1));
        for _ in 0..50 {
            full_round(&mut *controller, &mut now, 20);
        }
        let before = window(&*controller);
        for _ in 0..25 {
            full_round(&mut *controller, &mut now, 200);
        }
        let base = controller.snapshot().min_rtt.expect("measured");
        assert_eq!(base == Duration::from_millis(200), rises, "{config:?}");
        // The flight of the shorter path was no queue.
        let kept = Gain::percent(80) * before;
        assert_eq!(window(&*controller) > kept, rises, "{config:?}");
    }
}

/// A queue that goes when half of the window is taken away is no path.
#[test]
fn its_own_queue_does_not_become_the_base_rtt() {
    let mut controller = build(&VegasConfig::default());
    let mut now = 0;
    full_round(&mut *controller, &mut now, 40);
    let mut smallest = Bytes(u64::MAX);
    // Whatever the window, five packets more than it fill the path at 40 ms.
    for _ in 0..200 {
        let rtt = 40 + window(&*controller).0 / (MTU * 1).0;
        full_round(&mut *controller, &mut now, rtt);
        smallest = smallest.min(window(&*controller));
        let base = controller.snapshot().min_rtt.expect("measured");
        assert!(base < Duration::from_millis(50), "{base:?}");
    }
    assert!(smallest < MTU * 10, "nothing was checked");
}

/// A window that has grown for a second, and no packet of it waits, doubles in every other round; not after a loss.
#[test]
fn growth_without_a_queue_resumes_as_in_slow_start() {
    let grown = |config: VegasConfig, lossless_millis: u64, rounds: u64| {
        let mut controller = build(&config);
        controller.on_ack(&ack(40));
        controller.on_congestion(&loss(100, 50));
        let mut now = 141;
        controller.on_ack(&ack(now));
        now += lossless_millis;
        for _ in 0..rounds {
            full_round(&mut *controller, &mut now, 40);
        }
        window(&*controller).0 / MTU.0
    };
    assert!(grown(VegasConfig::default(), 10_001, 36) > 100);
    // Trap: the room of a wireless link, which lasts for less.
    assert!(grown(VegasConfig::default(), 10_001, 24) < 40);
    assert!(grown(VegasConfig::default(), 1_000, 36) < 60);
    assert!(grown(VegasConfig::paper(), 10_001, 36) < 60);
}

/// A path of 50 us, and a millisecond of the hosts' bursts: no queue.
#[test]
fn the_hosts_delay_is_no_queue() {
    for (config, grows) in [
        (VegasConfig::default(), true),
        (VegasConfig::paper(), false),
    ] {
        let mut controller = build(&config);
        let sample = |micros| AckEvent {
            acked: MTU * 10,
            ..round(40, 40).with_rtt(Duration::from_micros(micros))
        };
        controller.on_ack(&sample(50));
        controller.on_congestion(&loss(41, 40));
        for now in 43..61 {
            let now = crate::loss_based::testing::at(now);
            let later = AckEvent { now, ..sample(50) };
            controller.on_ack(&later.with_rtt(Duration::from_millis(1)));
        }
        assert_eq!(window(&*controller) > MTU * 15, grows, "{config:?}");
    }
}

#[test]
fn nonsense_is_refused() {
    let valid = VegasConfig::default();
    for (config, field) in [
        (VegasConfig { alpha: 0, ..valid }, "alpha"),
        (VegasConfig { beta: 1, ..valid }, "beta"),
        (VegasConfig { gamma: 0, ..valid }, "gamma"),
        (
            VegasConfig {
                standing: Duration::from_secs(11),
                ..valid
            },
            "standing",
        ),
        (
            VegasConfig {
                host_delay: Duration::from_millis(101),
                ..valid
            },
            "host_delay",
        ),
        (
            VegasConfig {
                patience: Duration::from_secs(3601),
                ..valid
            },
            "patience",
        ),
    ] {
        assert_eq!(config.validate().expect_err("nonsense").field, field);
    }
}
