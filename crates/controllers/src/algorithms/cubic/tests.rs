use super::*;
use crate::config::ControllerConfig;
use crate::controller::Controller;
use crate::driver::MTU;
use crate::event::{AckEvent, CongestionSignal, SentEvent};
use crate::loss_based::testing::{ack, at, build, congestion, loss, round, window};
use crate::snapshot::Mode;
use std::time::Duration;

/// In congestion avoidance since 100.141 s, after a loss at `packets`.
fn avoiding(config: CubicConfig, packets: u64) -> Box<dyn Controller> {
    let mut controller = build(&config);
    controller.on_ack(&AckEvent {
        acked: MTU * (packets - 10),
        ..ack(99_000)
    });
    assert_eq!(window(&*controller), MTU * packets);
    controller.on_congestion(&loss(100_100, 100_050));
    controller.on_ack(&ack(100_141));
    assert_eq!(controller.snapshot().mode, Mode::CongestionAvoidance);
    controller
}

/// Acknowledges a window each 40 ms for `millis`.
fn acknowledge(controller: &mut dyn Controller, from_millis: u64, millis: u64) {
    for now in (from_millis..from_millis + millis).step_by(40) {
        controller.on_ack(&AckEvent {
            acked: window(controller),
            ..ack(now)
        });
    }
}

fn packets(controller: &dyn Controller) -> f64 {
    window(controller).0 as f64 / MTU.0 as f64
}

#[test]
fn a_loss_leaves_seven_tenths() {
    let controller = avoiding(CubicConfig::default(), 1000);
    assert_eq!(window(&*controller), MTU * 700);
}

/// From 700 back to 1000 packets takes K = cbrt(300 / 0.4) = 9.086 s.
#[test]
fn the_window_follows_the_curve() {
    let mut controller = avoiding(CubicConfig::default(), 1000);
    let mut elapsed = 0;
    // 0.4 (t + RTT - 9.086)^3 + 1000, within what a round adds.
    for (seconds, expected, tolerance) in [
        (2, 860.0, 6.0),
        (5, 973.0, 3.0),
        (9, 1000.0, 1.0),
        (13, 1025.0, 3.0),
    ] {
        let until = seconds * 1000;
        acknowledge(&mut *controller, 100_141 + elapsed, until - elapsed);
        elapsed = until;
        let reached = packets(&*controller);
        assert!(
            (reached - expected).abs() < tolerance,
            "{seconds} s: {reached}"
        );
    }
}

/// W_cubic(t + RTT) is the target: after 40 ms, 0.4 (0.08 - 9.0856)^3 + 1000 = 707.86. At the very start W_est is ahead.
#[test]
fn the_target_is_a_round_trip_ahead() {
    let mut controller = avoiding(CubicConfig::default(), 1000);
    acknowledge(&mut *controller, 100_141, 40);
    assert!((packets(&*controller) - 700.53).abs() < 0.01);
    acknowledge(&mut *controller, 100_181, 40);
    let reached = packets(&*controller);
    assert!((reached - 707.86).abs() < 0.02, "{reached}");
}

/// alpha_cubic = 3 x 0.3 / 1.7 = 0.529 packets per window, and one packet from the old window on.
#[test]
fn small_windows_grow_like_reno() {
    assert_eq!(CubicConfig::default().alpha_cubic(Bytes(1700)), Bytes(900));
    let mut controller = avoiding(CubicConfig::default(), 20);
    // 14 packets; K = 2.466 s. Reno is at the old window after six packets: 11.3 rounds, 0.45 s.
    acknowledge(&mut *controller, 100_142, 200);
    let first = packets(&*controller) - 14.0;
    assert!((2.4..3.2).contains(&first), "{first}");
    acknowledge(&mut *controller, 100_342, 400);
    let before = packets(&*controller);
    acknowledge(&mut *controller, 100_742, 400);
    let second = packets(&*controller) - before;
    assert!((9.0..=10.1).contains(&second), "{second}");
}

#[test]
fn the_target_is_no_more_than_half_a_window_away() {
    let mut controller = avoiding(CubicConfig::default(), 1000);
    // Nothing for a minute: the curve is at 53,000 packets.
    let before = window(&*controller);
    controller.on_ack(&AckEvent {
        acked: before,
        ..ack(160_141)
    });
    assert_eq!(window(&*controller), Gain::new(3, 2) * before);
}

#[test]
fn fast_convergence_lowers_w_max_of_a_flow_that_is_losing() {
    let mut cubic = Cubic::new(CubicConfig::default());
    assert_eq!(
        cubic.reduce(Bytes(100_000), CongestionSignal::Loss),
        Bytes(70_000)
    );
    assert_eq!(cubic.w_max, Bytes(100_000));
    // Smaller than at the last loss: 0.85 of it.
    cubic.reduce(Bytes(90_000), CongestionSignal::Loss);
    assert_eq!(
        (cubic.w_max, cubic.cwnd_prior),
        (Bytes(76_500), Bytes(90_000))
    );
    // Larger than that plateau: none.
    cubic.reduce(Bytes(80_000), CongestionSignal::Loss);
    assert_eq!(cubic.w_max, Bytes(80_000));
    let mut plain = Cubic::new(CubicConfig {
        fast_convergence: false,
        ..CubicConfig::default()
    });
    plain.reduce(Bytes(100_000), CongestionSignal::Loss);
    plain.reduce(Bytes(90_000), CongestionSignal::Loss);
    assert_eq!(plain.w_max, Bytes(90_000));
}

/// RFC 9438, section 5.8: neither idle time nor time limited by the application counts.
#[test]
fn time_without_need_of_the_window_does_not_move_the_curve() {
    let steady = {
        let mut controller = avoiding(CubicConfig::default(), 1000);
        acknowledge(&mut *controller, 100_141, 2000);
        acknowledge(&mut *controller, 102_141, 2000);
        window(&*controller)
    };
    let idle = {
        let mut controller = avoiding(CubicConfig::default(), 1000);
        acknowledge(&mut *controller, 100_141, 2000);
        // The last acknowledgement was at 102.101 s.
        controller.on_sent(&SentEvent {
            now: at(3_702_101),
            bytes: MTU,
            prior_in_flight: Bytes::ZERO,
            app_limited: true,
        });
        acknowledge(&mut *controller, 3_702_141, 2000);
        window(&*controller)
    };
    let app_limited = {
        let mut controller = avoiding(CubicConfig::default(), 1000);
        acknowledge(&mut *controller, 100_141, 2000);
        for now in (102_101..=702_101).step_by(100) {
            controller.on_ack(&AckEvent {
                app_limited: true,
                ..ack(now)
            });
        }
        acknowledge(&mut *controller, 702_141, 2000);
        window(&*controller)
    };
    assert_eq!(idle, steady);
    assert_eq!(app_limited, steady);
}

/// RFC 9438, section 4.8: after persistent congestion, and after a slow start without loss, the curve begins flat.
#[test]
fn after_slow_start_the_curve_is_convex() {
    for entry_window in [Bytes(50_000), Bytes(500_000)] {
        let mut cubic = Cubic::new(CubicConfig::default());
        cubic.reduce(Bytes(100_000), CongestionSignal::Loss);
        cubic.on_persistent_congestion();
        cubic.enter(at(0), Entry::SlowStart, entry_window, MTU);
        assert_eq!(
            (cubic.w_max, cubic.cwnd_prior),
            (entry_window, entry_window)
        );
        let epoch = cubic.epoch.expect("in congestion avoidance");
        assert_eq!(epoch.curve.at(0.0), entry_window);
        assert!(epoch.curve.at(1.0) > entry_window);
    }
}

/// Trap: MTU changes rescale what is counted in packets; the window does not jump.
#[test]
fn the_curve_goes_on_with_packets_of_another_size() {
    let mut small = avoiding(CubicConfig::default(), 1000);
    let mut large = avoiding(CubicConfig::default(), 1000);
    acknowledge(&mut *small, 100_141, 1000);
    acknowledge(&mut *large, 100_141, 1000);
    let before = window(&*large);
    large.on_mtu_update(Bytes(2400));
    assert_eq!(window(&*large), before);
    acknowledge(&mut *small, 101_141, 400);
    acknowledge(&mut *large, 101_141, 400);
    let [slow, fast] = [&small, &large].map(|controller| (window(&**controller) - before).0);
    assert!(fast > slow && fast < 3 * slow, "{slow} {fast}");
}

/// Trap: the undo state is that of the first loss, the curve included.
#[test]
fn a_spurious_loss_restores_the_curve() {
    let mut undone = avoiding(CubicConfig::default(), 1000);
    let mut untouched = avoiding(CubicConfig::default(), 1000);
    for controller in [&mut undone, &mut untouched] {
        acknowledge(&mut **controller, 100_141, 2000);
    }
    let before = window(&*undone);
    undone.on_congestion(&loss(102_150, 102_120));
    undone.on_congestion(&loss(102_160, 102_130));
    assert!(window(&*undone) < before);
    undone.on_spurious_loss(at(102_170));
    assert_eq!(window(&*undone), before);
    for controller in [&mut undone, &mut untouched] {
        acknowledge(&mut **controller, 102_181, 2000);
    }
    assert_eq!(window(&*undone), window(&*untouched));
}

/// Trap: no overflow after days, of either time or window.
#[test]
fn a_week_without_loss_saturates() {
    let mut controller = avoiding(CubicConfig::default(), 1000);
    acknowledge(&mut *controller, 100_141, 7 * 86_400_000 / 1000);
    controller.on_ack(&AckEvent {
        acked: Bytes(u64::MAX),
        ..ack(7 * 86_400_000)
    });
    assert!(window(&*controller) <= Bytes(u64::MAX >> 16));
    controller.on_congestion(&congestion(
        7 * 86_400_001,
        7 * 86_400_000,
        CongestionSignal::Loss,
    ));
    assert!(window(&*controller) >= MTU * 2);
}

#[test]
fn hystart_can_be_switched_off() {
    let mut off = build(&CubicConfig {
        hystart: false,
        ..CubicConfig::default()
    });
    for rtt in [40, 80] {
        off.on_ack(&round(80, rtt));
        for _ in 0..10 {
            off.on_ack(&ack(80).with_rtt(Duration::from_millis(rtt)));
        }
    }
    assert_eq!(off.snapshot().mode, Mode::SlowStart);
}

#[test]
fn nonsense_is_refused() {
    for c in [Gain::new(0, 1), Gain::new(11, 1)] {
        let config = CubicConfig {
            c,
            ..CubicConfig::default()
        };
        assert_eq!(config.validate().expect_err("nonsense").field, "c");
    }
}
