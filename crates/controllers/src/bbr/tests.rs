use std::time::Duration;

use super::state::{PHASE_DRAIN, PHASE_PROBE};
use super::*;
use crate::algorithms::Algorithm;
use crate::config::ControllerConfig;
use crate::driver::{self, Driver, MTU, PLAIN, Scenario, congestion, drive, environment};
use crate::event::RateSample;
use crate::snapshot::Mode;
use crate::spec::ControllerSpec;
use crate::units::Bandwidth;
use crate::{BbrConfig, BbrFairConfig, BbrSConfig};

const SECOND: Duration = Duration::from_secs(1);

/// Every controller on this core, but for those named.
fn controllers_but(excluded: &[&str]) -> Vec<Box<dyn ControllerConfig>> {
    use Algorithm::{Bbr, BbrFair, BbrS, BbrSampled, BbrX};
    ControllerSpec::all()
        .filter(|spec| [Bbr, BbrX, BbrS, BbrSampled, BbrFair].contains(&spec.algorithm()))
        .filter(|spec| !excluded.contains(&spec.to_string().as_str()))
        .map(|spec| spec.config())
        .collect()
}

fn controllers() -> Vec<Box<dyn ControllerConfig>> {
    controllers_but(&[])
}

fn driver(config: &dyn ControllerConfig, scenario: Scenario) -> Driver {
    drive(
        config.build(&environment()).expect("a valid configuration"),
        scenario,
    )
}

fn ack(now_millis: u64, round: u64) -> AckEvent {
    AckEvent {
        prior_in_flight: MTU * 10,
        in_flight: MTU * 8,
        round,
        ..driver::two_packets(now_millis)
    }
}

/// Trap: a minimum RTT that was never set is not one that has expired.
#[test]
fn the_first_acknowledgement_does_not_enter_probe_rtt() {
    for config in controllers() {
        let mut controller = config.build(&environment()).expect("a valid configuration");
        controller.on_ack(&ack(60_000, 1));
        assert_eq!(controller.snapshot().mode, Mode::Startup, "{config:?}");
    }
}

/// Trap: the model is updated once for each acknowledgement, after all its packets.
#[test]
fn one_acknowledgement_is_one_update() {
    driver::assert_one_update_per_acknowledgement(|filter| {
        Box::new(Bbr::new(
            "counting",
            BbrConfig::paper().core,
            filter,
            &environment(),
        ))
    });
}

/// Trap: the rate before the first measurement is the initial window over the first round trip, not over a guess.
#[test]
fn initial_pacing_follows_the_first_round_trip() {
    for config in controllers() {
        let mut controller = config.build(&environment()).expect("a valid configuration");
        assert_eq!(controller.snapshot().pacing_rate, None);
        controller.on_ack(&ack(40, 1));
        let expected = STARTUP_GAIN
            * Bandwidth::from_delivery(initial_window(MTU), Duration::from_millis(40))
                .expect("a positive span");
        assert_eq!(
            controller.snapshot().pacing_rate,
            Some(expected),
            "{config:?}"
        );
    }
}

/// Trap: recovery restores the window from before its first loss.
#[test]
fn recovery_restores_the_window_before_the_first_loss() {
    let mut driver = driver(&BbrConfig::paper(), PLAIN);
    driver.run_for(5 * SECOND);
    let now = driver.now().as_millis() as u64;
    let before = driver.adapter.controller.control().window;
    let mut controller = driver.adapter.controller;
    controller.on_congestion(&congestion(now, now - 40, CongestionSignal::Loss));
    let during = controller.control().window;
    assert!(during < before, "{during} < {before}");
    controller.on_congestion(&congestion(now + 10, now - 30, CongestionSignal::Loss));
    assert!(controller.control().window <= during);
    let mut after = ack(now + 60, 9);
    after.newest_sent = Timestamp::from_nanos((now + 20) * 1_000_000);
    controller.on_ack(&after);
    let restored = controller.control().window;
    assert!(
        Gain::percent(110) * restored >= before,
        "{restored} >= {before}"
    );
}

/// Trap: while packets are being lost, no more leaves than was delivered.
#[test]
fn recovery_conserves_packets_for_a_round() {
    for config in controllers_but(&["bbr-fair:own-queue", "bbr-fair:paper", "bbr-sampled"]) {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(5 * SECOND);
        let now = driver.now().as_millis() as u64;
        let mut controller = driver.adapter.controller;
        controller.on_congestion(&congestion(now, now - 40, CongestionSignal::Loss));
        let window = controller.control().window;
        controller.on_ack(&ack(now + 10, 5));
        assert_eq!(controller.control().window, window, "{config:?}");
        controller.on_ack(&ack(now + 20, 6));
        assert_eq!(controller.control().window, window + MTU * 2, "{config:?}");
    }
}

/// Trap: in a buffer shorter than the window the tail of a flight is lost, and no acknowledgement reports it. A window
/// below the remaining flight then waits for a probe timeout, tens of RTTs on a short path.
#[test]
fn recovery_leaves_room_to_detect_further_losses() {
    for config in controllers() {
        let mut driver = driver(&*config, PLAIN);
        driver.run_for(5 * SECOND);
        let now = driver.now().as_millis() as u64;
        let mut controller = driver.adapter.controller;
        let mut lost = congestion(now, now - 40, CongestionSignal::Loss);
        (lost.lost, lost.in_flight) = (MTU * 10, MTU * 20);
        controller.on_congestion(&lost);
        let window = controller.control().window;
        assert!(window >= MTU * 22, "{config:?}: {window}");
    }
}

/// Trap: on a path that loses packets in every round trip, only the first one conserves packets.
#[test]
fn lasting_loss_does_not_shrink_the_flight_for_ever() {
    let mut driver = driver(&BbrConfig::paper(), PLAIN);
    driver.run_for(5 * SECOND);
    let now = driver.now().as_millis() as u64;
    let before = driver.adapter.controller.control().window;
    let round = driver.adapter.snapshot().rounds;
    let mut controller = driver.adapter.controller;
    for trip in 0..20 {
        for step in 0..40 {
            let at = now + 40 * trip + step;
            // Sent 39 ms ago: just after the loss that began the previous round.
            let mut during = ack(at, round + trip);
            during.newest_sent = Timestamp::from_nanos((at - 39) * 1_000_000);
            controller.on_ack(&during);
            if step % 20 == 0 {
                let mut lost = congestion(at, at - 39, CongestionSignal::Loss);
                lost.round = round + trip;
                controller.on_congestion(&lost);
            }
        }
    }
    let window = controller.control().window;
    assert!(
        Gain::percent(110) * window >= before,
        "{window} >= {before}"
    );
}

/// Trap: losses and marks end a probe for more bandwidth.
#[test]
fn congestion_ends_a_probe() {
    for (config, signal) in [
        (BbrConfig::paper(), CongestionSignal::Loss),
        (BbrConfig::tuned(), CongestionSignal::EcnMark),
    ] {
        let mut driver = driver(&config, PLAIN);
        driver.run_for(2 * SECOND);
        while driver.adapter.snapshot().mode != Mode::ProbeBandwidth(PHASE_PROBE) {
            driver.run_for(Duration::from_millis(1));
        }
        let now = driver.now().as_millis() as u64;
        let mut calm = driver.adapter.controller.clone_box();
        let mut congested = driver.adapter.controller;
        congested.on_congestion(&congestion(now, now - 40, signal));
        // More than a round trip later, and the flight has not reached its target.
        for controller in [&mut calm, &mut congested] {
            controller.on_ack(&ack(now + 50, 1000));
        }
        assert_eq!(calm.snapshot().mode, Mode::ProbeBandwidth(PHASE_PROBE));
        assert_eq!(congested.snapshot().mode, Mode::ProbeBandwidth(PHASE_DRAIN));
    }
}

/// Trap: after silence a round trip shows the path without a queue, and needs no ProbeRTT.
#[test]
fn the_first_round_trip_after_silence_replaces_an_expired_minimum() {
    for config in controllers() {
        let mut controller = config.build(&environment()).expect("a valid configuration");
        controller.on_ack(&ack(40, 1));
        controller.on_sent(&SentEvent {
            now: Timestamp::from_nanos(60_000_000_000),
            bytes: MTU * 2,
            prior_in_flight: Bytes::ZERO,
            app_limited: true,
        });
        let late = ack(60_050, 2).with_rtt(Duration::from_millis(50));
        controller.on_ack(&late);
        let snapshot = controller.snapshot();
        assert_eq!(snapshot.mode, Mode::Startup, "{config:?}");
        assert_eq!(snapshot.min_rtt, Some(Duration::from_millis(50)));
    }
}

/// Three rounds of Startup in which every acknowledgement, or only the first one, reports a mark.
fn startup_with_marks(config: &dyn ControllerConfig, all: bool) -> Box<dyn Controller> {
    let mut controller = config.build(&environment()).expect("a valid configuration");
    for index in 0..30 {
        let rtt = Duration::from_millis(40);
        let now = 40 + 4 * index;
        let mut ack = driver::ack(driver::at(now), rtt, MTU * 2, 1 + index / 10);
        ack.round_start = index % 10 == 0;
        controller.on_ack(&ack);
        if all || index == 0 {
            controller.on_congestion(&congestion(now - 4, 1, CongestionSignal::EcnMark));
        }
    }
    controller
}

#[test]
fn a_stray_mark_does_not_end_startup_and_marks_without_end_do() {
    for config in controllers() {
        let deaf = controllers_but(&["bbr:tuned", "bbr-x", "bbr-sampled", "bbr-fair"])
            .iter()
            .any(|paper| format!("{paper:?}") == format!("{config:?}"));
        let stray = startup_with_marks(&*config, false);
        assert_eq!(stray.snapshot().mode, Mode::Startup, "{config:?}");
        let marked = startup_with_marks(&*config, true);
        let unmarked = stray.control().window;
        assert_eq!(marked.control().window == unmarked, deaf, "{config:?}");
        assert_eq!(marked.snapshot().mode == Mode::Startup, deaf, "{config:?}");
    }
}

/// Trap: what is counted in packets follows the packet's size.
#[test]
fn a_larger_mtu_rescales_values_in_packets() {
    for config in controllers() {
        let mut controller = config.build(&environment()).expect("a valid configuration");
        controller.on_congestion(&congestion(1, 0, CongestionSignal::PersistentCongestion));
        assert_eq!(controller.control().window, MTU * 4);
        controller.on_mtu_update(Bytes(9000));
        assert_eq!(controller.control().window, Bytes(36_000), "{config:?}");
        assert!(controller.control().send_quantum >= Bytes(9000));
    }
}

/// Trap: a ProbeRTT before three rounds have passed, because each takes seconds, restarts the search for the end of
/// Startup every time.
#[test]
fn startup_ends_also_where_probe_rtt_interrupts_it() {
    let config = BbrConfig::paper();
    let mut bbr = config.build(&environment()).expect("a valid configuration");
    let (mut now, mut probed) = (Timestamp::ZERO, false);
    for round in 1..=12_u32 {
        // A queue that grows: no round trip confirms the minimum.
        let rtt = 6 * SECOND + round * Duration::from_millis(100);
        now = now + rtt;
        bbr.on_ack(&AckEvent {
            delivered: MTU * (8 * u64::from(round)),
            ..driver::ack(now, rtt, MTU * 4, round.into())
        });
        let mode = bbr.snapshot().mode;
        probed |= mode == Mode::ProbeRtt;
        if matches!(mode, Mode::ProbeBandwidth(_)) {
            assert!(probed, "it should have been interrupted");
            return;
        }
    }
    panic!("still in {:?}", bbr.snapshot().mode);
}

/// Trap: what a radio loses says nothing of others; what a queue drops that is longer than the own one does.
#[test]
fn bbr_fair_takes_its_share_of_queues_only() {
    for (millis, takes) in [(60, false), (80, true)] {
        let mut driver = driver(&BbrFairConfig::tuned(), PLAIN);
        driver.run_for(5 * SECOND);
        let snapshot = driver.adapter.snapshot();
        let (before, last) = (snapshot.bandwidth, snapshot.rounds);
        let (now, mut controller) = (driver::now(&driver), driver.adapter.controller);
        for round in last + 1..last + 4 {
            let rtt = Duration::from_millis(millis);
            let mut during = driver::ack(now, rtt, MTU * 2, round);
            during.in_flight = MTU * 10;
            controller.on_ack(&during);
        }
        let at = now.as_nanos() / 1_000_000;
        controller.on_congestion(&congestion(at, at - 40, CongestionSignal::Loss));
        controller.on_ack(&ack(at + 60, last + 4));
        let after = controller.snapshot().bandwidth;
        assert_eq!(after < before, takes, "{millis} ms: {before:?}, {after:?}");
    }
}

/// Trap: one delayed acknowledgement looks like a queue.
#[test]
fn a_long_queue_ends_the_startup_of_bbr_s_and_a_late_acknowledgement_does_not() {
    let mut controller = BbrSConfig::paper()
        .build(&environment())
        .expect("a valid configuration");
    let mut round = |number: u64, rtts: &[u64]| {
        for (index, &rtt) in (0..).zip(rtts) {
            let now = Timestamp::from_nanos((300 * number + index) * 1_000_000);
            let rtt = Duration::from_millis(rtt);
            let mut ack = driver::ack(now, rtt, MTU * 2, number);
            ack.round_start = index == 0;
            // More than before, or the plateau would end it.
            let rate = Bandwidth::from_bytes_per_second(number * number * 100_000);
            ack.rate = ack.rate.map(|sample| RateSample {
                delivery_rate: rate,
                ..sample
            });
            ack.in_flight = MTU * 100;
            controller.on_ack(&ack);
        }
        controller.snapshot().mode
    };
    assert_eq!(round(1, &[40, 41, 42]), Mode::Startup);
    assert_eq!(round(2, &[300, 300, 41]), Mode::Startup);
    // Six times 40 ms and the hosts' one are 246.
    assert_eq!(round(3, &[300, 245, 300]), Mode::Startup);
    assert_eq!(round(4, &[300; 7]), Mode::Startup);
    assert_ne!(round(5, &[300]), Mode::Startup);
}

/// Fair-share article, "Fair-share packet conservation" and "Fair-share utilization".
#[test]
fn bbr_fair_leaves_recovery_with_the_flight() {
    let mut driver = driver(&BbrFairConfig::paper(), PLAIN);
    driver.run_for(5 * SECOND);
    let before = driver.adapter.snapshot();
    let now = driver.now().as_millis() as u64;
    let last = driver::now(&driver);
    let mut controller = driver.adapter.controller;
    controller.on_congestion(&congestion(now, now - 40, CongestionSignal::Loss));
    // One packet for each delivered, for as long as it takes: in_flight 8 + acked 2.
    for round in 5..9 {
        let mut during = ack(now + 10, round);
        during.newest_sent = last - Duration::from_millis(1);
        controller.on_ack(&during);
        assert_eq!(controller.control().window, MTU * 10);
    }
    controller.on_ack(&ack(now + 60, 9));
    let after = controller.snapshot();
    let min_rtt = after.min_rtt.expect("an estimate");
    // The window grows again by what the ending acknowledgement delivered.
    assert_eq!(after.congestion_window, MTU * 10);
    assert_eq!(after.bandwidth, Bandwidth::from_delivery(MTU * 8, min_rtt));
    assert!(after.bandwidth < before.bandwidth);
}
