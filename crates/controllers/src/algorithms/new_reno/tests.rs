use super::NewRenoConfig;
use crate::driver::MTU;
use crate::event::AckEvent;
use crate::loss_based::testing::{ack, build, loss, window};
use crate::units::{Bytes, Gain};

#[test]
fn a_loss_halves_the_window_and_a_round_adds_a_packet() {
    let mut controller = build(&NewRenoConfig::default());
    controller.on_congestion(&loss(100, 50));
    assert_eq!(window(&*controller), MTU * 5);
    // Ends the recovery.
    controller.on_ack(&ack(141));
    assert_eq!(window(&*controller), MTU * 5);
    // Five packets acknowledged in three acknowledgements: bytes count, not acknowledgements.
    for packets in [2, 2, 1] {
        controller.on_ack(&AckEvent {
            acked: MTU * packets,
            ..ack(142)
        });
    }
    let growth = window(&*controller) - MTU * 5;
    // The window grows meanwhile, so that it is a little less than a packet.
    assert!(
        growth > Gain::percent(85) * MTU && growth <= MTU,
        "{growth}"
    );
}

#[test]
fn the_share_that_is_kept_is_configurable() {
    let config = NewRenoConfig {
        reduction: Gain::new(4, 5),
        ..NewRenoConfig::default()
    };
    let mut controller = build(&config);
    controller.on_congestion(&loss(100, 50));
    assert_eq!(window(&*controller), MTU * 8);
}

/// Trap: acknowledgements of few bytes must still grow a large window.
#[test]
fn tiny_acknowledgements_are_not_rounded_away() {
    let mut controller = build(&NewRenoConfig::default());
    controller.on_ack(&AckEvent {
        acked: Bytes(200_000_000),
        ..ack(40)
    });
    controller.on_congestion(&loss(100, 50));
    let before = window(&*controller);
    assert!(before > Bytes(100_000_000));
    controller.on_ack(&ack(141));
    // A fiftieth of a byte each.
    for _ in 0..10_000 {
        controller.on_ack(&AckEvent {
            acked: MTU,
            ..ack(142)
        });
    }
    let growth = window(&*controller) - before;
    assert!((140..=144).contains(&growth.0), "{growth}");
}
