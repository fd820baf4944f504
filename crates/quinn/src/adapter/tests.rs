mod attack;
mod fixture;
mod properties;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kneepoint_controllers::transport::MAX_TIMERS_AT_ONCE;
use kneepoint_controllers::{Algorithm, CongestionSignal, ControllerSpec, Refill};
use kneepoint_testkit::events::origin;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use quinn_proto::congestion::{ControllerFactory, NewRenoConfig};

use self::fixture::{Fixture, Recorder, Told, millis};
use super::*;
use crate::closed_loop::build;
use crate::observe::{bandwidth_estimate, snapshot, watch_bandwidth};

const MTU: u64 = 1200;

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 128,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Trap: one acknowledgement is one event, after all its packets, and credits them all.
#[test]
fn packets_are_folded_into_one_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.told();
    for _ in 0..10 {
        quinn.acked(40, 0);
    }
    assert!(quinn.told().is_empty(), "told before the end");
    quinn.end(40, 0);
    let ack = quinn.ack_told();
    assert_eq!((ack.acked, ack.acked_packets), (Bytes(10 * MTU), 10));
    // Not the 333 ms that quinn's own estimator still has.
    assert_eq!(ack.rtt(), Duration::from_millis(40));
}

/// Fault: quinn tells of a larger MTU between two packets of an acknowledgement, and those before it went to the event before.
#[test]
fn a_larger_mtu_does_not_divide_an_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.acked(40, 0);
    quinn.adapter.on_mtu_update(1452);
    quinn.told();
    quinn.acked(40, 0);
    quinn.end(40, 8 * MTU);
    let ack = quinn.ack_told();
    assert_eq!((ack.acked, ack.acked_packets), (Bytes(2 * MTU), 2));
}

/// quinn takes a packet for acknowledged without an acknowledgement: the first one, when the server asks to try again.
#[test]
fn a_packet_whose_acknowledgement_never_ends_counts_as_delivered() {
    for sends_between in [true, false] {
        let mut quinn = Fixture::new(Recorder::new());
        quinn.send(0, 10);
        quinn.acked(40, 0);
        if sends_between {
            quinn.send(41, 1);
        }
        quinn.told();
        quinn.acked(80, 0);
        quinn.end(80, 8 * MTU);
        let ack = quinn.ack_told();
        assert_eq!(ack.delivered, Bytes(2 * MTU), "{sends_between}");
        assert_eq!(ack.rtt(), Duration::from_millis(80), "{sends_between}");
    }
}

#[test]
fn losses_and_marks_come_after_the_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.told();
    quinn.acked(40, 0);
    quinn.end(40, 9 * MTU);
    let (now, sent) = (quinn.at(40), quinn.at(0));
    quinn.adapter.on_congestion_event(now, sent, false, 3 * MTU);
    quinn.adapter.on_congestion_event(now, sent, true, MTU);
    quinn.adapter.on_congestion_event(now, sent, false, 0);
    let told = quinn.told();
    let [
        Told::Acked(ack),
        Told::Congestion(lost),
        Told::Congestion(persistent),
        Told::Congestion(mark),
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    // Packets about to be declared lost are still in flight.
    assert_eq!(ack.in_flight, Bytes(9 * MTU));
    assert_eq!(lost.signal, CongestionSignal::Loss);
    assert_eq!(
        (lost.lost, lost.in_flight),
        (Bytes(3 * MTU), Bytes(6 * MTU))
    );
    assert_eq!(persistent.signal, CongestionSignal::PersistentCongestion);
    // Nothing lost: ECN.
    assert_eq!(mark.signal, CongestionSignal::EcnMark);
    assert_eq!((mark.lost, mark.in_flight), (Bytes::ZERO, Bytes(5 * MTU)));
}

#[test]
fn an_end_without_packets_is_no_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 1);
    quinn.told();
    quinn.end(10, MTU);
    assert!(quinn.told().is_empty());
}

#[test]
fn the_hosts_bytes_in_flight_are_believed() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.told();
    quinn.acked(40, 0);
    // Keys were discarded, and with them four packets.
    quinn.end(40, 5 * MTU);
    assert_eq!(quinn.ack_told().in_flight, Bytes(5 * MTU));
    quinn.send(41, 1);
    let told = quinn.told();
    assert!(
        matches!(&told[..], [Told::Sent(sent)] if sent.prior_in_flight == Bytes(5 * MTU)),
        "{told:?}"
    );
}

/// Trap: packets of the Initial, Handshake and Data spaces bear the same numbers.
#[test]
fn packets_of_several_spaces_are_distinguished() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 1);
    quinn.send(10, 1);
    quinn.send(20, 1);
    quinn.told();
    for (now, sent) in [(50, 20), (55, 0), (58, 10)] {
        quinn.acked(now, sent);
        quinn.end(now, 2 * MTU);
        let ack = quinn.ack_told();
        assert_eq!(ack.rtt(), Duration::from_millis(now - sent));
        assert_eq!(ack.newest_sent, millis(sent));
    }
}

#[test]
fn timers_are_caught_up_before_each_event() {
    let mut recorder = Recorder::new();
    recorder.period = Some(Duration::from_millis(10));
    recorder.next_timer = millis(10);
    let mut quinn = Fixture::new(recorder);
    quinn.send(5, 1);
    assert!(matches!(&quinn.told()[..], [Told::Sent(_)]), "too early");
    quinn.send(30, 1);
    let told = quinn.told();
    let [
        Told::Timer(first),
        Told::Timer(second),
        Told::Timer(third),
        Told::Sent(_),
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!([*first, *second, *third], [10, 20, 30].map(millis));
    let (now, sent) = (quinn.at(45), quinn.at(5));
    quinn.adapter.on_congestion_event(now, sent, false, 0);
    assert!(
        matches!(&quinn.told()[..], [Told::Timer(at), Told::Congestion(_)] if *at == millis(40))
    );
}

/// Trap: the silence that an acknowledgement ends is no outage. A timer that was due meanwhile fires only if the controller
/// wants it after the acknowledgement too.
#[test]
fn an_acknowledgement_comes_before_the_timers() {
    let mut recorder = Recorder::new();
    recorder.period = Some(Duration::from_millis(10));
    recorder.next_timer = millis(10);
    let mut quinn = Fixture::new(recorder);
    quinn.send(5, 2);
    quinn.told();
    quinn.acked(30, 5);
    quinn.end(30, MTU);
    assert!(matches!(&quinn.told()[..], [Told::Acked(_)]));
    quinn.send(31, 1);
    let told = quinn.told();
    assert!(
        matches!(&told[..], [Told::Timer(at), Told::Timer(_), Told::Timer(_), Told::Sent(_)] if *at == millis(10)),
        "{told:?}"
    );
}

/// RFC 9000, section 9.4: after a migration quinn builds a controller for the new path, and goes on to report what becomes of the
/// old path's packets. A round trip measured from the migration on would be none of either path.
#[test]
fn packets_of_an_old_path_are_ignored() {
    let early = origin();
    let recorder = Recorder::new();
    let start = early + Duration::from_secs(1);
    let inner = Box::new(recorder.clone());
    let mut adapter = QuinnController::new(inner, start, Bytes(MTU));
    let at = |millis: u64| start + Duration::from_millis(millis);
    adapter.on_sent(at(0), MTU, 0);
    recorder.told.lock().expect("no panics").clear();
    adapter.packet_acked(at(10), early, MTU);
    adapter.on_end_acks(at(10), MTU, false, None);
    adapter.on_congestion_event(at(10), early, true, MTU);
    adapter.on_congestion_event(at(10), early, false, 0);
    assert!(recorder.told.lock().expect("no panics").is_empty());
    // One acknowledgement of both paths' packets is one of the new path's.
    for sent in [early, at(0), early] {
        adapter.packet_acked(at(40), sent, MTU);
    }
    adapter.on_end_acks(at(40), 0, false, None);
    let told = std::mem::take(&mut *recorder.told.lock().expect("no panics"));
    assert!(
        matches!(&told[..], [Told::Acked(ack)] if ack.acked == Bytes(MTU) && ack.rtt() == Duration::from_millis(40)),
        "{told:?}"
    );
}

/// quinn reports packets of acknowledgements as sent, but does not count them as in flight.
#[test]
fn an_acknowledgement_that_leaves_is_not_in_flight() {
    let mut quinn = Fixture::new(Recorder::new());
    let now = quinn.at(5);
    quinn.adapter.on_sent(now, 40, 0);
    assert!(quinn.told().is_empty());
    quinn.send(50, 1);
    let told = quinn.told();
    assert!(
        matches!(&told[..], [Told::Sent(sent)] if sent.prior_in_flight == Bytes::ZERO),
        "{told:?}"
    );
    // It was a little data: it is delivered as any other.
    let (now, sent) = (quinn.at(60), quinn.at(5));
    quinn.adapter.packet_acked(now, sent, 40);
    quinn.end(60, MTU);
    assert_eq!(quinn.ack_told().delivered, Bytes(40));
}

/// quinn sends while the flight and the datagram stay below the window that it is told.
#[test]
fn a_window_of_whole_packets_is_filled() {
    for packets in [2, 3, 4, 10, 1000] {
        let mut recorder = Recorder::new();
        recorder.control.window = Bytes(packets * MTU);
        let mut quinn = Fixture::new(recorder);
        let mut in_flight = 0;
        while in_flight + MTU < quinn.adapter.window() {
            quinn.send(0, 1);
            in_flight += MTU;
        }
        assert_eq!(in_flight, packets * MTU);
        // What people are shown is the window itself.
        assert_eq!(quinn.adapter.metrics().congestion_window, in_flight);
        assert_eq!(
            quinn.adapter.adapter().snapshot().congestion_window.0,
            in_flight
        );
        assert_eq!(quinn.adapter.initial_window(), in_flight);
    }
}

#[test]
fn a_long_silence_fires_a_bounded_number_of_timers() {
    let mut recorder = Recorder::new();
    recorder.period = Some(Duration::ZERO);
    let mut quinn = Fixture::new(recorder);
    quinn.send(60_000, 1);
    assert_eq!(quinn.told().len(), MAX_TIMERS_AT_ONCE + 1);
}

#[test]
fn reading_the_window_calls_no_controller() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 1);
    quinn.told();
    let asked = quinn.recorder.asked.load(Ordering::Relaxed);
    for _ in 0..10 {
        assert_eq!(quinn.adapter.window(), 100_001);
        assert_eq!(quinn.adapter.initial_window(), 100_000);
        quinn.adapter.metrics();
    }
    assert_eq!(quinn.recorder.asked.load(Ordering::Relaxed), asked);
    assert!(quinn.told().is_empty());
}

/// quinn paces by what it is told, people are shown what may be in flight.
#[test]
fn the_reported_window_differs_while_the_flight_is_short() {
    let mut recorder = Recorder::new();
    recorder.control.window = Bytes(52_450);
    recorder.control.refill = Refill::PaceOf(Bytes(80_000));
    let mut quinn = Fixture::new(recorder);
    quinn.send(0, 2);
    quinn.acked(40, 0);
    quinn.end(40, MTU);
    assert_eq!(quinn.adapter.window(), 80_001);
    assert_eq!(
        quinn.adapter.adapter().snapshot().congestion_window,
        Bytes(52_450)
    );
    assert_eq!(quinn.adapter.metrics().congestion_window, 52_450);
    for _ in 0..43 {
        quinn.send(41, 1);
    }
    assert_eq!(quinn.adapter.window(), 52_451);
    // Trap: an acknowledgement of packets without data acknowledges nothing, but tells the flight.
    quinn.end(42, MTU);
    assert_eq!(quinn.adapter.window(), 80_001);
    quinn.end(43, 52_000);
    assert_eq!(quinn.adapter.window(), 52_451);
}

#[test]
fn the_window_follows_every_event_at_once() {
    let start = origin();
    let mut adapter = build(Algorithm::Bbr.into(), start, 1200);
    drive(&mut adapter, start, 0..500);
    assert!(adapter.window() > 4 * MTU);
    let now = start + Duration::from_secs(1);
    adapter.on_congestion_event(now, start, true, MTU);
    assert_eq!(adapter.window(), 4 * MTU + 1);
    adapter.on_mtu_update(9000);
    assert_eq!(adapter.window(), 4 * 9000 + 1);
}

#[test]
fn the_mtu_is_passed_on() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.adapter.on_mtu_update(1452);
    assert!(matches!(&quinn.told()[..], [Told::Mtu(Bytes(1452))]));
}

#[test]
fn metrics_are_in_bytes_and_bits_per_second() {
    let quinn = Fixture::new(Recorder::new());
    let metrics = quinn.adapter.metrics();
    assert_eq!(metrics.congestion_window, 100_000);
    assert_eq!(metrics.pacing_rate, Some(10_000_000));
    assert_eq!(metrics.ssthresh, None);
    let mut recorder = Recorder::new();
    recorder.control.pacing_rate = None;
    assert_eq!(Fixture::new(recorder).adapter.metrics().pacing_rate, None);
}

/// Trap: an instant before the connection began, or before the last one, must not wrap.
#[test]
fn time_before_the_origin_counts_as_the_origin() {
    let early = origin();
    let start = early + Duration::from_secs(1);
    let recorder = Recorder::new();
    let inner = Box::new(recorder.clone());
    let mut adapter = QuinnController::new(inner, start, Bytes(MTU));
    adapter.on_sent(early, MTU, 0);
    adapter.packet_acked(early, start, MTU);
    adapter.on_end_acks(early, 0, false, None);
    let told = recorder.told.lock().expect("no panics");
    assert!(
        matches!(&told[..], [Told::Sent(_), Told::Acked(ack)] if ack.rtt() == Duration::ZERO),
        "{told:?}"
    );
}

/// What the transport knows is in the snapshot of every controller: the recorder says nothing of it.
#[test]
fn a_snapshot_has_the_connections_flight_and_rounds() {
    let mut quinn = Fixture::new(Recorder::new());
    let seen = |quinn: &Fixture| {
        let snapshot = quinn.adapter.adapter().snapshot();
        (
            snapshot.in_flight.0 / MTU,
            snapshot.rounds,
            snapshot.app_limited,
        )
    };
    quinn.send(0, 10);
    assert_eq!(seen(&quinn), (10, 0, false));
    quinn.acked(40, 0);
    quinn.end(40, 9 * MTU);
    assert_eq!(seen(&quinn), (9, 1, false));
    let (now, sent) = (quinn.at(41), quinn.at(0));
    quinn.adapter.on_congestion_event(now, sent, false, 3 * MTU);
    assert_eq!(seen(&quinn), (6, 1, false));
    quinn.acked(42, 0);
    quinn.adapter.on_end_acks(quinn.at(42), 5 * MTU, true, None);
    assert_eq!(seen(&quinn), (5, 1, true));
}

#[test]
fn snapshots_are_of_our_controllers_only() {
    let ours = build(Algorithm::BbrS.into(), origin(), 1200);
    let expected = ours.adapter().snapshot();
    assert_eq!(snapshot(ours.clone_box()), Some(expected));
    assert_eq!(expected.algorithm, "bbr-s");
    let foreign = Arc::new(NewRenoConfig::default()).build(origin(), 1200);
    assert_eq!(snapshot(foreign.clone_box()), None);
    assert_eq!(bandwidth_estimate(foreign.clone_box()), None);
    assert!(watch_bandwidth(foreign).is_none());
}

/// quinn hands out clones, and goes on with one of them when the peer's port changes.
#[test]
fn a_watch_from_a_clone_follows_the_connection() {
    let start = origin();
    let mut connection = build(Algorithm::Bbr3.into(), start, 1200);
    let watch = watch_bandwidth(connection.clone_box()).expect("one of ours");
    assert_eq!(watch.get(), None);
    drive(&mut connection, start, 0..500);
    let seen = watch.get().expect("an estimate");
    // Two packets each 2 ms; the last acknowledgement came at 998 ms.
    let rate = seen.rate.as_f64();
    assert!((0.9e6..1.3e6).contains(&rate), "{seen:?}");
    let at = |millis: u64| start + Duration::from_millis(millis);
    assert_eq!(seen.age(at(1000)), Duration::from_millis(2));
    assert_eq!(seen.age(start), Duration::ZERO);
    assert_eq!(seen.min_rtt, Some(Duration::from_millis(40)));

    let mut moved = connection.clone();
    drop(connection);
    drive(&mut moved, start, 500..600);
    let later = watch.get().expect("an estimate");
    assert_eq!(later.age(at(1200)), Duration::from_millis(2));
    assert_eq!(bandwidth_estimate(moved.clone_box()), Some(later));
    drop(moved);
    assert_eq!(watch.get(), None);
}

/// A loss changes what is believed as an acknowledgement does.
#[test]
fn a_watch_tells_what_a_loss_has_changed() {
    let start = origin();
    let mut connection = build(Algorithm::Knee.into(), start, 1200);
    drive(&mut connection, start, 0..500);
    let watch = watch_bandwidth(connection.clone_box()).expect("one of ours");
    assert!(watch.get().is_some());
    let at = |millis: u64| start + Duration::from_millis(millis);
    connection.on_congestion_event(at(1000), at(990), true, 38 * MTU);
    // Persistent congestion: `knee` starts anew.
    assert_eq!(watch.get(), None);
}

/// Sends two packets each 2 ms, acknowledged 40 ms later.
fn drive(adapter: &mut QuinnController, start: Instant, rounds: std::ops::Range<u64>) -> Vec<u64> {
    let at = |millis: u64| start + Duration::from_millis(millis);
    rounds
        .map(|round| {
            let now = at(2 * round);
            if round >= 20 {
                let sent = at(2 * (round - 20));
                adapter.packet_acked(now, sent, MTU);
                adapter.packet_acked(now, sent, MTU);
                adapter.on_end_acks(now, 38 * MTU, false, None);
            }
            adapter.on_sent(now, 2 * MTU, 0);
            adapter.window()
        })
        .collect()
}

#[test]
fn a_clone_goes_on_by_itself() {
    for spec in ControllerSpec::all() {
        let start = origin();
        let mut original = build(spec.clone().into(), start, 1200);
        drive(&mut original, start, 0..500);
        let clone = |adapter: &QuinnController| {
            adapter
                .clone_box()
                .into_any()
                .downcast::<QuinnController>()
                .expect("one of ours")
        };
        let (mut first, mut second) = (clone(&original), clone(&original));
        // The packets in flight are known to the clones as well.
        let windows = drive(&mut first, start, 500..1000);
        assert_eq!(drive(&mut second, start, 500..1000), windows, "{spec}");
        assert_eq!(drive(&mut original, start, 500..1000), windows);
        assert_eq!(first.adapter().snapshot(), original.adapter().snapshot());
    }
}
