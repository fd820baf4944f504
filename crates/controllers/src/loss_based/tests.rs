//! Properties of all window-based controllers.

use crate::{CompoundConfig, CubicConfig, EbccConfig, NewRenoConfig, VegasConfig};

use super::testing::{ack, at, build, congestion, loss, round, window};
use super::*;
use crate::config::ControllerConfig;
use crate::driver::{MTU, environment};
use crate::event::{AckEvent, CongestionSignal};
use crate::snapshot::{FilterSnapshot, Mode};

/// The configurations that share the skeleton of RFC 9002.
fn skeletons() -> [Box<dyn ControllerConfig>; 4] {
    [
        Box::<NewRenoConfig>::default(),
        Box::<CubicConfig>::default(),
        Box::<VegasConfig>::default(),
        Box::<CompoundConfig>::default(),
    ]
}

fn all() -> Vec<Box<dyn ControllerConfig>> {
    let mut all: Vec<_> = skeletons().into_iter().collect();
    all.push(Box::<EbccConfig>::default());
    all.push(Box::new(EbccConfig::paper()));
    all
}

#[test]
fn a_connection_begins_in_slow_start_with_ten_packets() {
    for config in skeletons() {
        let controller = build(&*config);
        let snapshot = controller.snapshot();
        assert_eq!(snapshot.mode, Mode::SlowStart);
        assert_eq!(snapshot.congestion_window, MTU * 10);
        assert_eq!(snapshot.slow_start_threshold, None);
        assert_eq!(snapshot.min_rtt, None);
        assert_eq!(snapshot.filter, FilterSnapshot::None);
        let control = controller.control();
        assert_eq!(control.pacing_rate, None);
        assert_eq!(control.refill, crate::controller::Refill::Plain);
        assert_eq!(control.send_quantum, MTU * 10);
    }
}

#[test]
fn slow_start_grows_by_the_acknowledged_bytes() {
    for config in skeletons() {
        let mut controller = build(&*config);
        controller.on_ack(&ack(40));
        assert_eq!(window(&*controller), MTU * 12, "{config:?}");
    }
}

/// Trap: no double reduction within one recovery epoch; losses of later packets begin the next one.
#[test]
fn losses_of_one_flight_count_once() {
    for config in skeletons() {
        let mut controller = build(&*config);
        controller.on_ack(&ack(40));
        controller.on_congestion(&loss(100, 50));
        let reduced = window(&*controller);
        assert!(reduced < MTU * 12, "{config:?}");
        assert_eq!(controller.snapshot().mode, Mode::Recovery);
        assert_eq!(controller.snapshot().slow_start_threshold, Some(reduced));
        for sent in [60, 100] {
            controller.on_congestion(&loss(120, sent));
            assert_eq!(window(&*controller), reduced, "{config:?}");
        }
        // Acknowledgements of packets sent before do not grow it either.
        controller.on_ack(&ack(130));
        assert_eq!(window(&*controller), reduced);
        // A packet sent later ends recovery, but late losses of the old flight still belong to the same loss.
        controller.on_ack(&ack(150));
        assert_eq!(controller.snapshot().mode, Mode::CongestionAvoidance);
        controller.on_congestion(&loss(160, 99));
        assert_eq!(controller.snapshot().mode, Mode::CongestionAvoidance);
        assert_eq!(window(&*controller), reduced);
        controller.on_congestion(&loss(170, 101));
        assert!(window(&*controller) < reduced, "{config:?}");
    }
}

/// Trap: ECN is not ignored.
#[test]
fn a_mark_is_a_congestion_event() {
    for config in skeletons() {
        let mut marked = build(&*config);
        let mut lost = build(&*config);
        for controller in [&mut marked, &mut lost] {
            controller.on_ack(&ack(40));
        }
        let before = window(&*marked);
        marked.on_congestion(&congestion(100, 50, CongestionSignal::EcnMark));
        lost.on_congestion(&loss(100, 50));
        assert!(window(&*marked) < before, "{config:?}");
        // RFC 8511: less than a loss.
        assert!(window(&*marked) > window(&*lost), "{config:?}");
        // It is never spurious.
        let reduced = window(&*marked);
        marked.on_spurious_loss(at(110));
        assert_eq!(window(&*marked), reduced, "{config:?}");
    }
}

/// Trap: persistent congestion is not ignored.
#[test]
fn persistent_congestion_begins_again_from_two_packets() {
    for config in skeletons() {
        let mut controller = build(&*config);
        for now in 40..60 {
            controller.on_ack(&ack(now));
        }
        let before = window(&*controller);
        controller.on_congestion(&congestion(100, 50, CongestionSignal::PersistentCongestion));
        let snapshot = controller.snapshot();
        assert_eq!(snapshot.congestion_window, MTU * 2, "{config:?}");
        assert_eq!(snapshot.mode, Mode::SlowStart);
        // Trap: the minimum RTT must be able to rise, when the path has changed.
        assert_eq!(snapshot.min_rtt, None);
        let threshold = snapshot.slow_start_threshold.expect("set by the loss");
        assert!(threshold >= Gain::new(1, 2) * before && threshold < before);
        // Late losses of packets sent before do not lower the threshold.
        controller.on_congestion(&loss(110, 60));
        assert_eq!(
            controller.snapshot().slow_start_threshold,
            Some(threshold),
            "{config:?}"
        );
        // Slow start up to exactly the threshold.
        for now in 150..250 {
            if controller.snapshot().mode == Mode::SlowStart {
                controller.on_ack(&AckEvent {
                    round_start: true,
                    ..ack(now)
                });
            }
        }
        assert_eq!(controller.snapshot().mode, Mode::CongestionAvoidance);
        assert_eq!(window(&*controller), threshold, "{config:?}");
    }
}

/// Trap: the undo state is that of the first loss of a recovery period.
#[test]
fn a_spurious_loss_is_undone_to_before_the_first_loss() {
    for config in skeletons() {
        let mut controller = build(&*config);
        controller.on_ack(&ack(40));
        controller.on_congestion(&loss(100, 50));
        controller.on_congestion(&loss(110, 60));
        controller.on_spurious_loss(at(120));
        let snapshot = controller.snapshot();
        assert_eq!(snapshot.congestion_window, MTU * 12, "{config:?}");
        assert_eq!(snapshot.mode, Mode::SlowStart);
        assert_eq!(snapshot.slow_start_threshold, None);
        // Only once; losses of packets sent before count again.
        controller.on_spurious_loss(at(121));
        assert_eq!(window(&*controller), MTU * 12);
        controller.on_congestion(&loss(130, 90));
        assert_eq!(controller.snapshot().mode, Mode::Recovery);
    }
}

#[test]
fn a_window_that_has_outgrown_the_old_one_is_not_undone() {
    let mut controller = build(&NewRenoConfig::default());
    controller.on_congestion(&loss(100, 50));
    for now in 141..400 {
        controller.on_ack(&ack(now));
    }
    let grown = window(&*controller);
    assert!(grown > MTU * 10);
    controller.on_spurious_loss(at(400));
    assert_eq!(window(&*controller), grown);
}

/// Trap: a mark in a recovery period makes its losses real.
#[test]
fn a_marked_episode_is_not_undone() {
    let mut controller = build(&NewRenoConfig::default());
    controller.on_congestion(&loss(100, 50));
    controller.on_congestion(&congestion(110, 60, CongestionSignal::EcnMark));
    controller.on_spurious_loss(at(120));
    assert_eq!(window(&*controller), MTU * 5);
}

/// Trap: MTU changes rescale what is counted in packets.
#[test]
fn the_smallest_and_the_initial_window_follow_the_mtu() {
    for config in skeletons() {
        let mut controller = build(&*config);
        controller.on_mtu_update(Bytes(1400));
        assert_eq!(window(&*controller), Bytes(14_000), "{config:?}");
        controller.on_ack(&ack(40));
        controller.on_mtu_update(Bytes(1200));
        assert_eq!(window(&*controller), Bytes(16_400), "{config:?}");
        controller.on_congestion(&congestion(100, 50, CongestionSignal::PersistentCongestion));
        controller.on_mtu_update(Bytes(9000));
        assert_eq!(window(&*controller), Bytes(18_000), "{config:?}");
        assert!(controller.snapshot().slow_start_threshold >= Some(Bytes(18_000)));
        assert_eq!(controller.control().send_quantum, Bytes(18_000));
    }
}

/// Trap: what an undo restores is counted in packets of the size of then.
#[test]
fn a_loss_before_a_change_of_the_mtu_is_not_undone() {
    for config in skeletons() {
        let mut controller = build(&*config);
        controller.on_congestion(&loss(100, 50));
        let reduced = window(&*controller);
        controller.on_mtu_update(Bytes(1400));
        controller.on_spurious_loss(at(110));
        assert_eq!(window(&*controller), reduced, "{config:?}");
    }
}

/// Trap: a window that is not used does not grow (RFC 9002, section 7.8).
#[test]
fn unused_windows_do_not_grow() {
    let app_limited = |now| AckEvent {
        app_limited: true,
        ..round(now, 40)
    };
    let small_flight = |now| AckEvent {
        prior_in_flight: MTU * 4,
        in_flight: MTU * 2,
        ..round(now, 40)
    };
    for config in all() {
        for (reason, unused) in [
            ("application", &app_limited as &dyn Fn(u64) -> AckEvent),
            ("flight", &small_flight),
        ] {
            // In slow start, and in congestion avoidance after a loss.
            let mut controller = build(&*config);
            for phase in 0..2 {
                let before = window(&*controller);
                for now in 40..200 {
                    controller.on_ack(&unused(now + 1000 * phase));
                }
                let after = window(&*controller);
                assert!(after <= before, "{config:?}: {reason}, {before} to {after}");
                controller.on_congestion(&loss(500, 450));
                if reason == "flight" {
                    // Ten packets: a flight of four stays below half of it.
                    for now in 600..650 {
                        controller.on_ack(&ack(now));
                    }
                    for now in 650..655 {
                        controller.on_ack(&unused(now));
                    }
                }
            }
        }
    }
}

#[test]
fn nonsense_is_refused() {
    for reduction in [Gain::new(0, 1), Gain::UNIT, Gain::new(2, 1)] {
        let reno = NewRenoConfig {
            reduction,
            ..NewRenoConfig::default()
        };
        let error = reno.validate();
        assert_eq!(error.expect_err("no reduction").field, "reduction");
        let cubic = CubicConfig {
            beta_cubic: reduction,
            ..CubicConfig::default()
        };
        assert!(cubic.build(&environment()).is_err());
        let vegas = VegasConfig {
            reduction,
            ..VegasConfig::default()
        };
        assert!(vegas.build(&environment()).is_err());
        let compound = CompoundConfig {
            beta: reduction,
            ..CompoundConfig::default()
        };
        assert!(compound.build(&environment()).is_err());
        let ebcc = EbccConfig {
            beta: reduction,
            ..EbccConfig::default()
        };
        assert!(ebcc.build(&environment()).is_err());
    }
    for config in all() {
        assert_eq!(config.validate(), Ok(()));
    }
}
