//! The bugs of others that no other test covers.

use core::time::Duration;

use super::super::fixture::{ack, run_into, sample};
use super::*;
use crate::driver::{MTU, PLAIN, Packets, Scenario, environment};
use crate::snapshot::Mode;
use crate::units::{Bandwidth, Gain};

/// Trap: a minimum RTT that was never set is not one that has expired.
#[test]
fn the_first_acknowledgement_does_not_enter_probe_rtt() {
    for config in controllers() {
        let mut controller = config.build(&environment()).expect("a valid configuration");
        controller.on_ack(&ack(60_000, sample(0)));
        assert_eq!(controller.snapshot().mode, Mode::Startup, "{config:?}");
    }
}

/// Trap: the rate before the first measurement is the initial window over the first round trip, not over a guess.
#[test]
fn initial_pacing_follows_the_first_round_trip() {
    for (config, gain) in [
        (Bbr3CoreConfig::draft(), Gain::percent(277)),
        (Bbr3CoreConfig::v2(), Gain::new(2885, 1000)),
    ] {
        let filter = crate::filter::MaxFilter::new(2);
        let mut core = Bbr3::new("bbr3", config, filter, &environment());
        assert_eq!(core.control().pacing_rate, None);
        core.on_ack(&ack(40, None));
        let initial = Bandwidth::from_delivery(initial_window(MTU), Duration::from_millis(40));
        let expected = gain * initial.expect("a positive span");
        assert_eq!(core.control().pacing_rate, Some(expected));
    }
}

/// Trap: the model is updated once for each acknowledgement, after all its packets.
#[test]
fn one_acknowledgement_is_one_update() {
    crate::driver::assert_one_update_per_acknowledgement(|filter| {
        Box::new(Bbr3::new(
            "counting",
            Bbr3CoreConfig::draft(),
            filter,
            &environment(),
        ))
    });
}

/// Trap: what is counted in packets follows the packet's size.
#[test]
fn a_larger_mtu_rescales_values_in_packets() {
    let (mut core, _) = run_into(Mode::ProbeRtt, PLAIN);
    core.window = MTU * 4;
    core.on_mtu_update(Bytes(9000));
    let control = core.control();
    assert_eq!(control.window, Bytes(36_000));
    assert_eq!(control.send_quantum, Bytes(18_000));
    core.bounds.inflight_longterm = Bytes(9000);
    assert_eq!(core.window_with_headroom(), Bytes(36_000));
}

/// The controller's answer always equals its model, although it is computed only when the model changes.
#[test]
fn the_answer_kept_is_the_answer_computed() {
    for scenario in [
        PLAIN,
        Scenario {
            lose: Packets::Every(40),
            ..PLAIN
        },
    ] {
        let (mut driver, shared) = super::super::fixture::shared(scenario);
        for _ in 0..15_000 {
            driver.run_for(Duration::from_millis(1));
            let mut fresh = shared.get().clone();
            let kept = fresh.control();
            fresh.output.stale = true;
            fresh.refresh();
            assert_eq!(fresh.control(), kept, "{:?}", fresh.state);
        }
    }
}
