//! From state to state.

use core::time::Duration;

use super::super::fixture::{ack, lengthen, run_into, sample, shared};
use super::super::state::State;
use super::*;
use crate::driver::{MTU, PLAIN, Scenario, at, now};
use crate::event::RateSample;
use crate::snapshot::Mode;
use crate::units::{Bandwidth, Gain};

/// Every mode of a run in the order in which they came, with the times.
fn history(scenario: Scenario, span: Duration) -> Vec<(Mode, Timestamp)> {
    let (mut driver, shared) = shared(scenario);
    let mut modes = vec![(Mode::Startup, now(&driver))];
    while now(&driver) < Timestamp::from_origin(span) {
        lengthen(&mut driver);
        let mode = shared.get().state.mode();
        if modes.last().is_some_and(|&(last, _)| last != mode) {
            modes.push((mode, now(&driver)));
        }
    }
    modes
}

#[test]
fn a_connection_goes_round_the_cycle() {
    let modes: Vec<_> = history(PLAIN, 9 * SECOND)
        .into_iter()
        .map(|(mode, _)| mode)
        .collect();
    let cycle = [
        Mode::ProbeCruise,
        Mode::ProbeRefill,
        Mode::ProbeUp,
        Mode::ProbeDown,
    ];
    assert_eq!(modes[..2], [Mode::Startup, Mode::Drain]);
    // The acknowledgement that ends Drain shows an empty queue, so that Down is over with it.
    let rest = &modes[2..];
    assert!(rest.len() > 8, "{modes:?}");
    for (index, mode) in rest.iter().enumerate() {
        assert_eq!(*mode, cycle[index % cycle.len()], "{modes:?}");
    }
}

#[test]
fn probe_rtt_comes_every_ten_seconds_and_lasts_two_tenths() {
    let modes = history(PLAIN, 45 * SECOND);
    let starts: Vec<_> = (0..modes.len())
        .filter(|&index| modes[index].0 == Mode::ProbeRtt)
        .collect();
    assert!(starts.len() >= 3, "{modes:?}");
    for &index in &starts {
        let (next, end) = modes[index + 1];
        assert_eq!(next, Mode::ProbeCruise);
        let lasted = end.saturating_since(modes[index].1);
        assert!((200..330).contains(&lasted.as_millis()), "{lasted:?}");
    }
    for pair in starts.windows(2) {
        let apart = modes[pair[1]].1.saturating_since(modes[pair[0]].1);
        assert!((10_000..12_000).contains(&apart.as_millis()), "{apart:?}");
    }
}

#[test]
fn the_window_aims_at_the_states_multiple_of_the_pipe() {
    for (mode, gain, packets) in [
        (Mode::Startup, Gain::new(2, 1), 0),
        (Mode::ProbeCruise, Gain::new(2, 1), 0),
        (Mode::ProbeUp, Gain::new(9, 4), 2),
    ] {
        let (mut core, now) = run_into(mode, PLAIN);
        let mut event = ack(now + 1, sample(0));
        event.acked = MTU * 300;
        core.on_ack(&event);
        let aim = core.output.bdp;
        assert_eq!(core.output.target, gain * aim, "{mode:?}");
        if mode != Mode::Startup {
            let max = gain * aim + core.aggregation.extra() + MTU * packets;
            assert_eq!(core.control().window, max, "{mode:?}");
        }
    }
}

#[test]
fn a_window_counts_as_full_for_a_round_and_the_next() {
    let (mut core, now) = run_into(Mode::ProbeCruise, PLAIN);
    core.window_use = window::WindowUse::default();
    let send = |core: &mut Bbr3<_>, prior_in_flight| {
        core.on_sent(&SentEvent {
            now: at(now),
            bytes: MTU,
            prior_in_flight,
            app_limited: false,
        });
    };
    let window = core.control().window;
    send(&mut core, window - MTU * 3);
    assert!(!core.window_was_full(), "there is room for two more");
    send(&mut core, window - MTU * 2);
    for full in [true, false] {
        assert!(core.window_was_full());
        core.on_ack(&ack(now + 1, sample(core.delivered.0)));
        assert_eq!(core.window_was_full(), full);
    }
}

/// A host without pacing drains by the window alone.
#[test]
fn the_window_of_drain_is_the_pipe() {
    let (core, _) = run_into(Mode::Drain, PLAIN);
    assert_eq!(core.control().window, core.output.pipe);
    assert!(core.window > core.output.pipe);
}

#[test]
fn drain_ends_after_three_rounds_whatever_is_in_flight() {
    let (mut core, _) = run_into(Mode::Drain, PLAIN);
    let first = core.round.count();
    let mut delivered = core.delivered;
    let mut now = 100_000;
    while matches!(core.state, State::Drain { .. }) {
        let mut stuck = ack(now, sample(delivered.0));
        delivered += MTU * 2;
        stuck.delivered = delivered;
        stuck.in_flight = MTU * 500;
        core.recent_rtt.update(stuck.now, stuck.rtt_nanos());
        core.min_rtt.take_over(&core.recent_rtt);
        core.recent_rtt.replace(stuck.now, stuck.rtt_nanos());
        core.on_ack(&stuck);
        now += 40;
    }
    assert_eq!(core.round.count() - first, 4);
    assert_eq!(core.state, State::ProbeDown);
}

/// The draft's appendix, "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss".
#[test]
fn an_application_that_limits_never_ends_a_probe() {
    for mode in [Mode::Startup, Mode::ProbeUp] {
        let (mut core, now) = run_into(mode, PLAIN);
        let mut delivered = core.delivered;
        for round in 1..50 {
            let limited = sample(delivered.0).map(|sample| RateSample {
                app_limited: true,
                delivery_rate: Bandwidth::from_bytes_per_second(1000),
                ..sample
            });
            delivered += MTU * 2;
            let mut event = ack(now + 40 * round, limited);
            event.delivered = delivered;
            core.on_ack(&event);
            assert_eq!(core.state.mode(), mode, "round {round}");
        }
    }
}

/// The draft's appendix, "Handling Application-Limited Sending During PROBE_REFILL".
#[test]
fn refilling_by_a_limiting_application_keeps_the_estimate_and_goes_on_to_probe() {
    let (mut core, now) = run_into(Mode::ProbeRefill, PLAIN);
    let before = core.filter.bandwidth();
    let limited = sample(core.delivered.0).map(|sample| RateSample {
        app_limited: true,
        delivery_rate: Bandwidth::from_bytes_per_second(1000),
        ..sample
    });
    let mut event = ack(now + 40, limited);
    event.delivered = core.delivered + MTU;
    core.on_ack(&event);
    assert_eq!(core.filter.bandwidth(), before);
    assert_eq!(core.state.mode(), Mode::ProbeUp);
}

/// Trap: the maximum moves on once in a cycle, not once in a round.
#[test]
fn the_filter_advances_once_in_a_cycle() {
    let (mut driver, shared) = shared(PLAIN);
    let mut cycles = 0;
    let mut was_up = false;
    while now(&driver) < at(25_000) {
        driver.run_for(Duration::from_millis(1));
        let up = shared.get().state.mode() == Mode::ProbeUp;
        cycles += u64::from(was_up && !up);
        was_up = up;
    }
    assert!(cycles >= 6);
    // One for the entry from Drain; each ProbeRTT ends with a cycle of its own, whose samples the silence limited.
    let advanced = shared.get().cycle.count;
    assert!(
        (cycles..=cycles + 3).contains(&advanced),
        "{advanced} for {cycles}"
    );
}

/// The draft's appendix, "Entering and Exiting PROBE_RTT": the window comes from the estimate of before.
#[test]
fn the_silent_window_is_half_the_pipe_of_before() {
    let (mut core, now) = run_into(Mode::ProbeCruise, PLAIN);
    let pipe = core.output.bdp;
    let window = core.window;
    let mut inflated =
        ack(now + 20_000, sample(core.delivered.0)).with_rtt(Duration::from_millis(90));
    inflated.delivered = core.delivered + MTU * 2;
    inflated.in_flight = MTU * 70;
    core.on_ack(&inflated);
    assert_eq!(core.state.mode(), Mode::ProbeRtt);
    assert_eq!(core.min_rtt.get(), Some(Duration::from_millis(90)));
    assert_eq!(core.control().window, Gain::new(1, 2) * pipe);
    // It stays the same while the estimate moves, and the window of before returns.
    inflated.now = at(now + 20_010);
    inflated = inflated.with_rtt(Duration::from_millis(41));
    inflated.in_flight = MTU * 10;
    inflated.rate = sample(0);
    core.on_ack(&inflated);
    assert_eq!(core.control().window, Gain::new(1, 2) * pipe);
    inflated.now = at(now + 20_250);
    inflated.rate = sample(core.delivered.0);
    core.on_ack(&inflated);
    assert_eq!(core.state.mode(), Mode::ProbeCruise);
    assert!(core.control().window + MTU * 4 >= window);
}

/// The draft's appendix, "Entering and Exiting PROBE_RTT During STARTUP".
#[test]
fn silence_in_startup_leads_back_to_startup() {
    let (mut core, now) = run_into(Mode::Startup, PLAIN);
    core.on_ack(&ack(now, sample(0)));
    let mut late = ack(now + 10_001, sample(0)).with_rtt(Duration::from_millis(41));
    late.in_flight = MTU * 2;
    core.on_ack(&late);
    assert_eq!(core.state.mode(), Mode::ProbeRtt);
    late.now = at(now + 10_300);
    late.rate = sample(core.delivered.0);
    core.on_ack(&late);
    assert_eq!(core.state.mode(), Mode::Startup);
}

/// Trap: where round trips take seconds, three of them do not fit between two silences. The search has to go on after each.
#[test]
fn startup_ends_also_where_silence_interrupts_it() {
    let (mut core, now) = run_into(Mode::Startup, PLAIN);
    let mut interrupted = false;
    for round in 1..=20_u32 {
        // A queue that grows: no round trip confirms the minimum.
        let rtt = Duration::from_millis(5_900 + u64::from(round));
        let mut slow = ack(now + u64::from(round) * 6_000, sample(core.delivered.0)).with_rtt(rtt);
        slow.in_flight = MTU * 2;
        slow.delivered = core.delivered + MTU * 2;
        core.on_ack(&slow);
        let mode = core.state.mode();
        interrupted |= mode == Mode::ProbeRtt;
        if core.full_bw_reached {
            assert!(interrupted);
            return;
        }
    }
    panic!("still in {:?}", core.state.mode());
}

/// The draft's appendix, "Skipping PROBE_RTT Due to Application-Limited Sending".
#[test]
fn silence_of_the_application_replaces_probe_rtt() {
    let (mut core, now) = run_into(Mode::ProbeDown, PLAIN);
    core.on_sent(&SentEvent {
        now: at(now + 15_000),
        bytes: MTU,
        prior_in_flight: Bytes::ZERO,
        app_limited: true,
    });
    assert!(core.restarting);
    let expected = core.config.pacing_margin * core.output.bandwidth.expect("an estimate");
    assert_eq!(core.control().pacing_rate, Some(expected), "not Down's");
    let first = ack(now + 15_050, sample(core.delivered.0)).with_rtt(Duration::from_millis(50));
    core.on_ack(&first);
    assert_ne!(core.state.mode(), Mode::ProbeRtt);
    assert_eq!(core.min_rtt.get(), Some(Duration::from_millis(50)));
    assert!(!core.restarting);
}

#[test]
fn bbr2_leaves_its_probe_once_the_flight_is_a_quarter_more() {
    let (mut core, now) = run_into(Mode::ProbeUp, PLAIN);
    core.config.up_exit = UpExit::Flight;
    core.bounds = Bounds::NONE;
    let flight = Gain::new(3, 2) * core.output.bdp;
    let feedback = sample(0).map(|sample| RateSample {
        in_flight_at_send: flight,
        ..sample
    });
    let mut event = ack(now + 30, feedback);
    core.on_ack(&event);
    assert_eq!(
        core.state.mode(),
        Mode::ProbeUp,
        "no minimum RTT has passed"
    );
    event.now = at(now + 60);
    core.on_ack(&event);
    assert_eq!(core.state.mode(), Mode::ProbeDown);
}
