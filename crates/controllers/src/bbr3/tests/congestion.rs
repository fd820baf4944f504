//! Losses and marks.

use core::time::Duration;

use super::super::fixture::{ack, congestion, run_into, sample};
use super::super::state::State;
use super::*;
use crate::driver::{MTU, PLAIN, at, environment};
use crate::event::{FlightSample, RateSample};
use crate::snapshot::Mode;
use crate::units::Gain;
use CongestionSignal::{EcnMark, Loss, PersistentCongestion};

fn flight(in_flight: u64, lost: u64) -> Option<FlightSample> {
    Some(FlightSample {
        in_flight: MTU * in_flight,
        lost: MTU * lost,
        app_limited: false,
    })
}

/// A core just begun, with so many losses reported and then a round's feedback with 10 % lost.
fn startup_with(events: u64, packets_each: u64) -> State {
    let filter = crate::filter::MaxFilter::new(2);
    let mut core = Bbr3::new("bbr3", Bbr3CoreConfig::draft(), filter, &environment());
    core.on_ack(&ack(40, sample(0)));
    for index in 0..events {
        let mut event = congestion(50 + index, 40, Loss, flight(50, 5));
        event.lost = MTU * packets_each;
        core.on_congestion(&event);
    }
    // The third condition is a whole round since the first loss: a packet sent before it says nothing.
    for prior_delivered in [(MTU * 2).0 - 1, (MTU * 2).0] {
        assert!(matches!(core.state, State::Startup(_)));
        let lossy = sample(prior_delivered).map(|sample| RateSample {
            lost: Bytes(5_000),
            ..sample
        });
        core.on_ack(&ack(90, lossy));
    }
    core.state
}

/// Trap: a burst is one range, however many packets it had.
#[test]
fn startup_ends_with_six_ranges_not_with_six_packets() {
    assert!(matches!(startup_with(1, 60), State::Startup(_)));
    assert!(matches!(startup_with(5, 1), State::Startup(_)));
    assert!(matches!(startup_with(6, 1), State::Drain { .. }));
}

/// The draft's appendix, "Exiting STARTUP on Loss When Application-Limited", and the level that is known to be safe.
#[test]
fn losses_end_startup_even_of_a_limiting_application() {
    let (mut core, now) = run_into(Mode::Startup, PLAIN);
    core.on_ack(&ack(now + 40, sample(0)));
    for _ in 0..8 {
        core.on_congestion(&congestion(now + 50, now, Loss, flight(50, 5)));
    }
    assert_eq!(core.bounds, Bounds::NONE);
    let lossy = sample(core.delivered.0).map(|sample| RateSample {
        lost: Bytes(5_000),
        app_limited: true,
        ..sample
    });
    core.on_ack(&ack(now + 90, lossy));
    assert_eq!(core.state.mode(), Mode::Drain);
    assert!(core.full_bw_reached);
    assert!(
        core.bounds.inflight_longterm >= Bytes(50_000),
        "what a round delivered"
    );
}

/// Trap: losses are what Startup looks for: they must not pull short-term bounds down on it.
#[test]
fn losses_in_startup_leave_no_short_term_bound() {
    let (mut core, now) = run_into(Mode::Startup, PLAIN);
    core.on_ack(&ack(now + 40, sample(0)));
    for round in 1..10 {
        core.on_congestion(&congestion(now + 50 * round, now, Loss, None));
        let limited = sample(core.delivered.0).map(|sample| RateSample {
            app_limited: true,
            ..sample
        });
        core.on_ack(&ack(now + 50 * round + 40, limited));
    }
    assert_eq!(core.state.mode(), Mode::Startup);
    assert_eq!(core.bounds, Bounds::NONE);
}

/// Trap: losses change bounds once a round; none cuts the window by itself.
#[test]
fn a_loss_does_not_cut_the_window() {
    for mode in [Mode::Startup, Mode::ProbeDown, Mode::ProbeCruise] {
        let (mut core, now) = run_into(mode, PLAIN);
        let before = core.control().window;
        for index in 0..20 {
            let sent = now.saturating_sub(40);
            core.on_congestion(&congestion(now + index, sent, Loss, None));
        }
        assert_eq!(core.control().window, before, "{mode:?}");
    }
}

#[test]
fn a_round_with_losses_cuts_the_short_term_bounds_once() {
    let (mut core, now) = run_into(Mode::ProbeCruise, PLAIN);
    let window = core.window;
    let bandwidth = core.filter.bandwidth().expect("an estimate");
    core.latest = Latest::default();
    for index in 0..5 {
        core.on_congestion(&congestion(now + index, now - 40, Loss, None));
    }
    assert_eq!(core.bounds, Bounds::NONE, "the round is not over");
    let slow = |prior| {
        sample(prior).map(|sample| RateSample {
            delivery_rate: Gain::percent(60) * sample.delivery_rate,
            delivered: Bytes(30_000),
            ..sample
        })
    };
    core.on_ack(&ack(now + 40, slow(core.delivered.0)));
    let expected = Bounds {
        inflight_shortterm: Gain::percent(70) * window,
        bw_shortterm: Gain::percent(70) * bandwidth,
        ..Bounds::NONE
    };
    assert_eq!(core.bounds, expected);
    assert!(core.control().window <= expected.inflight_shortterm);
    assert_eq!(core.output.bandwidth, Some(expected.bw_shortterm));
    // A round without losses changes nothing.
    core.on_ack(&ack(now + 80, slow(core.delivered.0)));
    assert_eq!(core.bounds, expected);
}

/// The draft's appendix, "Handling Loss During PROBE_UP After inflight_longterm is Set".
#[test]
fn losses_above_the_threshold_end_a_probe_and_set_its_bound() {
    let (core, now) = run_into(Mode::ProbeUp, PLAIN);
    let mut calm = core.clone();
    // One of fifty is 2 %, and allowed.
    calm.on_congestion(&congestion(now, now - 20, Loss, flight(50, 1)));
    assert_eq!(calm.state.mode(), Mode::ProbeUp);
    let mut hit = core.clone();
    hit.on_congestion(&congestion(now, now - 20, Loss, flight(60, 3)));
    assert_eq!(hit.state, State::ProbeDown);
    // Above the threshold since long before the last packet: what was in flight before it.
    assert_eq!(hit.bounds.inflight_longterm, MTU * 59);
    // The same feedback is answered once.
    hit.on_congestion(&congestion(now + 1, now - 19, Loss, flight(40, 3)));
    assert_eq!(hit.bounds.inflight_longterm, MTU * 59);
    // No bound falls below 0.7 of the pipe.
    let mut low = core;
    low.on_congestion(&congestion(now, now - 20, Loss, flight(10, 3)));
    let floor = Gain::percent(70) * low.output.bdp;
    assert!(
        low.bounds.inflight_longterm + MTU >= floor,
        "{}",
        low.bounds.inflight_longterm
    );
}

/// "Precautionary Bandwidth Probing": the next probe only touches the bound, and goes on if that went well.
#[test]
fn the_probe_after_one_that_was_too_high_is_a_short_one() {
    let (mut core, now) = run_into(Mode::ProbeUp, PLAIN);
    core.cycle.note_too_high();
    core.bounds.inflight_longterm = MTU * 55;
    let mut event = ack(now + 1, sample(0));
    event.prior_in_flight = MTU * 53;
    core.on_ack(&event);
    assert_eq!(core.state.mode(), Mode::ProbeUp);
    event.prior_in_flight = MTU * 54 + Bytes(1);
    core.on_ack(&event);
    assert_eq!(core.state.mode(), Mode::ProbeDown);
    // A round of feedback without losses: at once to the next probe.
    let mut next = ack(now + 50, sample(core.delivered.0));
    next.in_flight = MTU * 60;
    core.on_ack(&next);
    assert_eq!(core.state.mode(), Mode::ProbeRefill);
}

/// A round of one acknowledgement, which says nothing of the rate.
fn round(core: &mut Bbr3<crate::filter::MaxFilter>, now: u64) {
    let limited = sample(core.delivered.0).map(|sample| RateSample {
        app_limited: true,
        ..sample
    });
    core.on_ack(&ack(now, limited));
}

/// The same after a mark.
fn marked_round(core: &mut Bbr3<crate::filter::MaxFilter>, now: u64) {
    core.on_congestion(&congestion(now, now - 20, EcnMark, flight(55, 0)));
    round(core, now);
}

/// Trap: marks are signals too, and a single one is a weak one.
#[test]
fn marks_end_startup_and_probes_and_cut_bounds() {
    let (mut core, now) = run_into(Mode::Startup, PLAIN);
    round(&mut core, now + 20);
    marked_round(&mut core, now + 40);
    assert_eq!(core.state.mode(), Mode::Startup, "a burst of others");
    round(&mut core, now + 60);
    marked_round(&mut core, now + 80);
    assert_eq!(core.state.mode(), Mode::Startup, "not two in a row");
    marked_round(&mut core, now + 100);
    assert_eq!(core.state.mode(), Mode::Drain);

    let (mut core, now) = run_into(Mode::ProbeUp, PLAIN);
    round(&mut core, now);
    let mut deaf = core.clone();
    deaf.config.respond_to_marks = false;
    marked_round(&mut deaf, now + 20);
    assert_eq!(deaf.state.mode(), Mode::ProbeUp);
    marked_round(&mut core, now + 20);
    assert_eq!(core.state.mode(), Mode::ProbeDown);
    assert_eq!(core.bounds.inflight_longterm, MTU * 55);

    let (mut core, now) = run_into(Mode::ProbeCruise, PLAIN);
    round(&mut core, now);
    let flight = core.window.min(MTU * 55);
    marked_round(&mut core, now + 20);
    assert!(core.bounds.inflight_shortterm < flight);
    assert!(core.bounds.inflight_shortterm > Gain::new(6, 10) * flight);
}

/// Trap: the undo restores the state from before the first loss of the recovery period.
#[test]
fn a_spurious_episode_is_undone_to_before_its_first_loss() {
    let (mut core, now) = run_into(Mode::ProbeUp, PLAIN);
    let (before, window) = (core.bounds, core.window);
    core.on_congestion(&congestion(now, now - 20, Loss, flight(60, 3)));
    // More of the same flight, after the bounds have come down.
    core.on_congestion(&congestion(now + 5, now - 10, Loss, flight(60, 3)));
    core.on_ack(&ack(now + 30, sample(0)));
    assert_eq!(core.state.mode(), Mode::ProbeDown);
    assert_ne!(core.bounds, before);
    core.on_spurious_loss(at(now + 35));
    assert_eq!(core.bounds, before);
    assert!(core.window >= window);
    assert_eq!(core.state.mode(), Mode::ProbeRefill, "the probe again");
    // There is nothing left to undo.
    core.start_up(&ack(now + 60, sample(0)));
    core.on_spurious_loss(at(now + 80));
    assert_eq!(core.state.mode(), Mode::ProbeUp);
}

#[test]
fn undoing_does_not_end_silence() {
    let (mut core, now) = run_into(Mode::ProbeRtt, PLAIN);
    let window = core.control().window;
    core.on_congestion(&congestion(now, now - 20, Loss, None));
    core.window = MTU * 4;
    core.undo();
    core.window = MTU * 100;
    core.on_spurious_loss(at(now + 10));
    assert_eq!(core.state.mode(), Mode::ProbeRtt);
    assert_eq!(core.control().window, window);
}

#[test]
fn a_spurious_end_of_startup_is_undone() {
    let (mut core, now) = run_into(Mode::Startup, PLAIN);
    core.on_ack(&ack(now + 40, sample(0)));
    for _ in 0..8 {
        core.on_congestion(&congestion(now + 50, now, Loss, None));
    }
    let lossy = sample(core.delivered.0).map(|sample| RateSample {
        lost: Bytes(5_000),
        ..sample
    });
    core.on_ack(&ack(now + 90, lossy));
    assert_eq!(core.state.mode(), Mode::Drain);
    core.on_spurious_loss(at(now + 95));
    assert_eq!(core.state.mode(), Mode::Startup);
    assert!(!core.full_bw_reached);
    assert_eq!(core.bounds, Bounds::NONE);
}

#[test]
fn recovery_gives_the_window_back() {
    let (mut core, now) = run_into(Mode::ProbeCruise, PLAIN);
    let window = core.window;
    core.on_congestion(&congestion(now, now - 20, Loss, None));
    core.window = MTU * 5;
    core.on_ack(&ack(now + 39, sample(0)));
    assert!(core.window < window, "still packets of before");
    core.on_ack(&ack(now + 41, sample(0)));
    assert!(core.window + MTU * 2 >= window);
    // Persistent congestion gives nothing back.
    core.on_congestion(&congestion(now + 50, now + 45, PersistentCongestion, None));
    core.on_ack(&ack(now + 95, sample(0)));
    assert_eq!(core.window, MTU * 6);
    assert_eq!(core.min_rtt.get(), Some(Duration::from_millis(40)));
}
