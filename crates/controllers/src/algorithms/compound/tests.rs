use super::*;
use crate::driver::MTU;
use crate::event::CongestionSignal;
use crate::loss_based::testing::{ack, build, congestion, loss, round, window};
use crate::snapshot::Mode;

fn compound(delay_window: Bytes) -> Compound {
    Compound {
        config: CompoundConfig::default(),
        delay_window,
    }
}

/// alpha win^0.75 - 1: 0.125 x 81^0.75 - 1 = 0.125 x 27 - 1; 0.125 x 256^0.75 - 1 = 7; 0.125 x 10000^0.75 - 1 = 124.
#[test]
fn increments_computed_by_hand() {
    let part = compound(Bytes::ZERO);
    assert_eq!(part.increment(MTU * 81, MTU), Bytes(2_850));
    assert_eq!(part.increment(MTU * 256, MTU), MTU * 7);
    assert_eq!(part.increment(MTU * 10_000, MTU), MTU * 124);
    // From 38 packets on: 0.125 x 38^0.75 - 1 = 0.913 packets.
    assert_eq!(part.increment(MTU * 38 - Bytes(1), MTU), Bytes::ZERO);
    assert_eq!(part.increment(MTU * 38, MTU).0 / 10, 109);
    // Where that is negative it is nothing, and nothing overflows.
    let eager = Compound {
        config: CompoundConfig {
            low_window: 0,
            ..CompoundConfig::default()
        },
        ..part
    };
    assert_eq!(eager.increment(MTU * 4, MTU), Bytes::ZERO);
    eager.increment(Bytes(u64::MAX), Bytes::ZERO);
}

/// Trap: MTU changes rescale what is counted in packets.
#[test]
fn increments_follow_the_mtu() {
    let part = compound(Bytes::ZERO);
    let small = part.increment(Bytes(256_000), Bytes(1000));
    assert_eq!(small, Bytes(7000));
    // 64 packets of 4000: 0.125 x 22.627 - 1 = 1.828.
    let large = part.increment(Bytes(256_000), Bytes(4000));
    assert_eq!(large.0, 7313);
}

/// In congestion avoidance with a window of `packets`, all of them Reno's.
fn avoiding(packets: u64) -> Box<dyn Controller> {
    let mut controller = build(&CompoundConfig::default());
    controller.on_ack(&AckEvent {
        acked: MTU * (2 * packets - 10),
        ..ack(40)
    });
    controller.on_congestion(&loss(100, 50));
    controller.on_ack(&ack(141));
    assert_eq!(window(&*controller), MTU * packets);
    assert_eq!(controller.snapshot().mode, Mode::CongestionAvoidance);
    controller
}

/// Acknowledges a whole round of so many packets, with this round-trip time.
fn pass_round(controller: &mut dyn Controller, packets: u64, rtt_millis: u64) {
    controller.on_ack(&AckEvent {
        acked: MTU * packets,
        ..round(200, rtt_millis)
    });
}

#[test]
fn the_delay_window_grows_while_the_queue_is_short_and_shrinks_by_the_queue() {
    let mut controller = avoiding(256);
    // The first 256 packets: 0.125 x 256^0.75 - 1 = 7 of the delay window, and one of Reno's.
    pass_round(&mut *controller, 256, 40);
    assert_eq!(window(&*controller), MTU * 264);
    // 7.19 and 256 / 264.
    pass_round(&mut *controller, 256, 40);
    let grown = window(&*controller).0 as f64 / MTU.0 as f64;
    assert!((grown - 272.16).abs() < 0.01, "{grown}");
    // 272 (1 - 40 / 50) = 54 packets wait: more than gamma, and more than the 14 of the delay window.
    pass_round(&mut *controller, 256, 50);
    assert!(window(&*controller) > MTU * 272);
    pass_round(&mut *controller, 256, 50);
    let left = window(&*controller);
    assert!(MTU * 256 < left && left < MTU * 260, "{left}");
}

/// No faster than slow start: where packets are smaller than the MTU, seven of them are more than was acknowledged.
#[test]
fn growth_is_at_most_the_acknowledged_bytes() {
    let mut controller = avoiding(256);
    pass_round(&mut *controller, 1, 40);
    let before = window(&*controller);
    pass_round(&mut *controller, 1, 40);
    let growth = window(&*controller) - before;
    assert!(growth >= MTU && growth < MTU + Bytes(10), "{growth}");
}

#[test]
fn small_windows_are_renos() {
    let mut controller = avoiding(36);
    for _ in 0..3 {
        pass_round(&mut *controller, 12, 40);
    }
    let growth = window(&*controller) - MTU * 36;
    assert!(growth <= MTU, "{growth}");
}

#[test]
fn a_loss_takes_half_of_both_windows() {
    let mut part = compound(MTU * 60);
    assert_eq!(part.reduce(MTU * 40, CongestionSignal::Loss), MTU * 20);
    // 100 (1 - 0.5) - 40 / 2.
    assert_eq!(part.delay_window, MTU * 30);
    // With a larger beta nothing may be left of it.
    let mut harsh = compound(MTU * 10);
    harsh.config.beta = Gain::new(9, 10);
    assert_eq!(harsh.reduce(MTU * 40, CongestionSignal::Loss), MTU * 20);
    assert_eq!(harsh.delay_window, Bytes::ZERO);
}

#[test]
fn persistent_congestion_leaves_no_delay_window_and_undoing_restores_it() {
    let mut controller = avoiding(256);
    for _ in 0..4 {
        pass_round(&mut *controller, 256, 40);
    }
    let before = window(&*controller);
    controller.on_congestion(&congestion(
        300,
        250,
        CongestionSignal::PersistentCongestion,
    ));
    assert_eq!(window(&*controller), MTU * 2);
    controller.on_spurious_loss(Default::default());
    assert_eq!(window(&*controller), before);
}

#[test]
fn nonsense_is_refused() {
    let valid = CompoundConfig::default();
    let two = Gain::new(2, 1);
    let huge = Gain::new(17, 1);
    for (config, field) in [
        (
            CompoundConfig {
                alpha: two,
                ..valid
            },
            "alpha",
        ),
        (CompoundConfig { gamma: 0, ..valid }, "gamma"),
        (
            CompoundConfig {
                zeta: huge,
                ..valid
            },
            "zeta",
        ),
    ] {
        assert_eq!(config.validate().expect_err("nonsense").field, field);
    }
}
