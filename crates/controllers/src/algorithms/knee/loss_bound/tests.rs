use super::*;
use crate::event::{CongestionSignal, FlightSample};

const MTU: Bytes = Bytes(1200);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

fn loss(now: u64, round: u64, lost_packets: u64) -> CongestionEvent {
    CongestionEvent {
        now: at(now),
        signal: CongestionSignal::Loss,
        newest_sent: at(now),
        lost: MTU * lost_packets,
        flight: Some(FlightSample {
            in_flight: MTU * 100,
            lost: MTU * lost_packets,
            app_limited: false,
        }),
        delivered: Bytes::ZERO,
        in_flight: MTU * 90,
        round,
    }
}

fn lose(bound: &mut LossBound, event: &CongestionEvent, growing: bool) -> bool {
    lose_from(bound, event, Queue::None, growing)
}

fn lose_queued(bound: &mut LossBound, event: &CongestionEvent) -> bool {
    lose_from(bound, event, Queue::Stands, false)
}

/// Each packet is reported by itself: in between others arrived.
fn lose_from(bound: &mut LossBound, event: &CongestionEvent, queue: Queue, growing: bool) -> bool {
    let flight = event.flight.expect("it is known");
    let mut bounds = false;
    for lost in 1..=flight.lost.0 / MTU.0 {
        let mut one = *event;
        one.lost = MTU;
        one.flight = Some(FlightSample {
            lost: MTU * lost,
            ..flight
        });
        bounds |= lose_at_once(bound, &one, queue, growing, false);
    }
    bounds
}

fn lose_at_once(
    bound: &mut LossBound,
    event: &CongestionEvent,
    queue: Queue,
    growing: bool,
    has_room: bool,
) -> bool {
    let config = KneeConfig::default();
    let seen = Circumstances {
        window: Bytes::ZERO,
        growing,
        queue,
        has_room,
    };
    bound.on_loss(&config, event, &seen)
}

const CRUISING: Circumstances = Circumstances {
    window: Bytes::ZERO,
    growing: false,
    queue: Queue::Stands,
    has_room: false,
};

fn marked(now: u64, packets: u64) -> CongestionEvent {
    let mut event = loss(now, 1, 0);
    event.signal = CongestionSignal::EcnMark;
    event.flight.as_mut().expect("it is known").in_flight = MTU * packets;
    event
}

/// Windows of two flows that are marked together come closer.
#[test]
fn marks_bound_the_window_and_make_shares_equal() {
    let config = KneeConfig::default();
    let mut flows = [(LossBound::new(MTU), 120), (LossBound::new(MTU), 40)];
    for turn in 1..=40 {
        for (flow, packets) in &mut flows {
            let mut mark = marked(100 * turn, *packets);
            mark.round = 20 * turn;
            flow.on_mark(&config, &mark, &CRUISING);
            // What left before the first mark has been answered.
            let bound = flow.bytes();
            let mut late = marked(100 * turn + 10, *packets / 2);
            late.newest_sent = at(100 * turn - 1);
            flow.on_mark(&config, &late, &CRUISING);
            assert_eq!(flow.bytes(), bound);
            assert_eq!(bound, 0.85 * (MTU * *packets).0 as f64);
            rounds(flow, 20 * turn..20 * turn + 5, 0);
            *packets = (flow.bytes() / MTU.0 as f64) as u64;
        }
    }
    let ratio = flows[0].0.bytes() / flows[1].0.bytes();
    assert!(ratio < 1.3, "{ratio}");
}

#[test]
fn a_mark_in_a_drain_is_one_of_the_window() {
    let mut bound = LossBound::new(MTU);
    let drained = Circumstances {
        window: MTU * 100,
        ..CRUISING
    };
    bound.on_mark(&KneeConfig::default(), &marked(40, 10), &drained);
    assert_eq!(bound.bytes(), 0.85 * (MTU * 100).0 as f64);
}

/// Rounds of 100 packets, of which so many are lost.
fn rounds(bound: &mut LossBound, rounds: core::ops::Range<u64>, lost: u64) {
    rounds_beside(bound, rounds, lost, false);
}

fn rounds_beside(
    bound: &mut LossBound,
    rounds: core::ops::Range<u64>,
    lost: u64,
    others_queue: bool,
) {
    for round in rounds {
        take(bound, round, 100 - lost, lost, f64::INFINITY, others_queue);
    }
}

/// A round with so many packets, on a path that has room for so many bytes.
fn take(bound: &mut LossBound, round: u64, acked: u64, lost: u64, room: f64, others_queue: bool) {
    let ack = AckEvent {
        round,
        round_start: true,
        acked: MTU * acked,
        lost: MTU * lost,
        ..AckEvent::nothing_yet(at(round * 40))
    };
    let config = KneeConfig::default();
    bound.on_ack(&config, &ack, || 400_000.0, || room, others_queue, || false);
}

/// Fault: a growth of more than a quarter, which is valid, was a lower limit above the upper one, and a panic.
#[test]
fn a_growth_of_more_than_a_quarter_is_its_own_limit() {
    let config = KneeConfig {
        bound_growth: 1.0,
        ..KneeConfig::default()
    };
    assert_eq!(crate::ControllerConfig::validate(&config), Ok(()));
    let mut bound = LossBound::new(MTU);
    assert!(lose(&mut bound, &loss(40, 1, 10), false));
    let mut most: f64 = 1.0;
    for round in 2..40 {
        let ack = AckEvent {
            round,
            acked: MTU * 100,
            round_start: true,
            ..AckEvent::nothing_yet(at(round * 40))
        };
        let before = bound.bytes();
        bound.on_ack(&config, &ack, || 400_000.0, || 0.0, false, || false);
        if bound.bytes().is_finite() {
            most = most.max(bound.bytes() / before);
        }
    }
    assert_eq!(most, 2.0);
}

/// Fault: a bound far above the flight that had lost packets rose by a quarter a round. A buffer of eight packets had no place for that, and lost
/// packets again.
#[test]
fn a_bound_rises_by_what_the_path_has_room_for() {
    let risen = |room: f64| {
        let mut bound = LossBound::new(MTU);
        assert!(lose(&mut bound, &loss(40, 1, 10), true));
        let mut most: f64 = 1.0;
        for round in 2..120 {
            let before = bound.bytes();
            take(&mut bound, round, 100, 0, room, false);
            if bound.bytes().is_finite() {
                most = most.max(bound.bytes() / before);
            }
        }
        most
    };
    assert!((risen(f64::INFINITY) - 1.25).abs() < 1e-9);
    // Eight packets of 85 that were not lost.
    assert!(risen(9_600.0) < 1.095, "{}", risen(9_600.0));
    assert!((risen(0.0) - 1.0 - 1.0 / 64.0).abs() < 1e-9);
}

/// Fault: beside a flow that fills ten bandwidth-delay products the bound was held for 12 rounds of 0.4 s, and rose by 4 % a second.
#[test]
fn in_the_queue_of_others_the_bound_rises_sooner_and_faster() {
    let bounded = |others_queue| {
        let mut bound = LossBound::new(MTU);
        assert!(lose(&mut bound, &loss(40, 1, 10), false));
        let at_loss = bound.bytes();
        rounds_beside(&mut bound, 2..20, 0, others_queue);
        bound.bytes() / at_loss
    };
    assert!(bounded(false) < 1.07, "{}", bounded(false));
    assert!(bounded(true) > 1.3, "{}", bounded(true));
}

/// Fault: new connections lost packets to each other's slow start. Those that filled the buffer had left after a round, and the others' windows were held
/// for twelve.
#[test]
fn a_bound_is_not_held_once_the_buffer_that_overflowed_is_empty() {
    let rises_after = |queue, found_no_queue| {
        let mut bound = LossBound::new(MTU);
        assert!(lose_from(&mut bound, &loss(40, 1, 10), queue, false));
        let at_loss = bound.bytes();
        let mut rises = (2..40).filter(|&round| {
            let ack = AckEvent {
                round,
                round_start: true,
                acked: MTU * 100,
                ..AckEvent::nothing_yet(at(round * 40))
            };
            let config = KneeConfig::default();
            bound.on_ack(
                &config,
                &ack,
                || 400_000.0,
                || 0.0,
                false,
                || found_no_queue,
            );
            bound.bytes() > at_loss
        });
        rises.next()
    };
    // The loss is measured for some rounds. A policer lets no queue form.
    assert!(rises_after(Queue::Found, true) < Some(9));
    assert!(rises_after(Queue::Stands, true) < Some(9));
    assert!(rises_after(Queue::Found, false) > Some(17));
    assert!(rises_after(Queue::None, true) > Some(17));
}

/// Fault: a flow that lost some of its first packets to another's slow start was bounded to 12 packets of a path that holds 466, and
/// the bound rose by a 64th a round.
#[test]
fn a_bound_of_startup_rises_by_a_quarter_once_it_is_not_held() {
    let risen = |growing| {
        let mut bound = LossBound::new(MTU);
        assert!(lose(&mut bound, &loss(40, 1, 10), growing));
        let at_loss = bound.bytes();
        rounds(&mut bound, 2..20, 0);
        bound.bytes() / at_loss
    };
    assert!(risen(false) < 1.1, "{}", risen(false));
    assert!(risen(true) > 1.2, "{}", risen(true));
}

#[test]
fn a_few_losses_are_chance() {
    let mut bound = LossBound::new(MTU);
    assert!(!lose(&mut bound, &loss(40, 1, 4), false));
    assert_eq!(bound.bytes(), f64::INFINITY);
}

#[test]
fn fewer_losses_are_chance_where_a_queue_stands() {
    for (lost, counts) in [(3, false), (4, true)] {
        let event = loss(40, 1, lost);
        assert_eq!(lose_queued(&mut LossBound::new(MTU), &event), counts);
        assert!(!lose(&mut LossBound::new(MTU), &event, false));
    }
}

/// Two of ten packets are chance once, and not for ten flights in a row.
#[test]
fn the_losses_of_small_flights_add_up() {
    let mut bound = LossBound::new(MTU);
    for round in 1..30 {
        take(&mut bound, round, 8, 2, f64::INFINITY, false);
        let mut event = loss(round * 40, round, 2);
        event.flight = event.flight.map(|flight| FlightSample {
            in_flight: MTU * 10,
            ..flight
        });
        let bounds = lose(&mut bound, &event, false);
        assert!(!bounds || round > 8, "{round}");
        if bounds {
            assert_eq!(bound.bytes(), 0.85 * 12_000.0);
            return;
        }
    }
    panic!("never bounded");
}

/// What the application has in flight is not the window.
#[test]
fn losses_of_an_application_limited_flight_do_not_bound_the_window() {
    let mut bound = LossBound::new(MTU);
    let event = of_an_application(loss(40, 1, 10));
    assert!(lose(&mut bound, &event, false));
    assert_eq!(bound.bytes(), f64::INFINITY);
    assert!(bound.is_lossy(2));
}

/// Fault: a sender that never filled its window did not answer losses at all.
#[test]
fn losses_of_many_application_limited_flights_bound_the_window() {
    let mut bound = LossBound::new(MTU);
    rounds(&mut bound, 1..4, 10);
    let event = of_an_application(loss(200, 5, 10));
    assert!(lose(&mut bound, &event, false));
    assert_eq!(bound.bytes(), 0.85 * (MTU * 100).0 as f64);
}

fn of_an_application(mut event: CongestionEvent) -> CongestionEvent {
    event.flight.as_mut().expect("it is known").app_limited = true;
    event
}

/// Fault: a burst of losses by chance was taken for a full link. A window that doubles overflows a buffer in many places, or by much.
#[test]
fn one_burst_in_slow_start_is_chance() {
    let report = |bound: &mut LossBound, lost| {
        lose_at_once(bound, &loss(40, 1, lost), Queue::None, true, false)
    };
    let mut bound = LossBound::new(MTU);
    for _ in 0..5 {
        assert!(!report(&mut bound, 7));
    }
    assert_eq!(bound.bytes(), f64::INFINITY);
    assert!(report(&mut bound, 7));
    let mut bound = LossBound::new(MTU);
    for lost in [7, 14] {
        assert!(!report(&mut bound, lost));
    }
    assert!(report(&mut bound, 17));
}

/// Fault: three lost packets of a first flight of twenty ended slow start, and a link of 50 Mb/s and 200 ms was used to 8 % for 12 s. A queue says that the
/// window was too large.
#[test]
fn a_few_packets_of_an_early_flight_are_chance() {
    for (queue, ends) in [(Queue::None, false), (Queue::Stands, true)] {
        let mut event = loss(40, 1, 3);
        event.flight = event.flight.map(|flight| FlightSample {
            in_flight: MTU * 20,
            ..flight
        });
        let mut bound = LossBound::new(MTU);
        assert_eq!(lose_from(&mut bound, &event, queue, true), ends);
    }
}

/// Fault: marks that come by a queue's average go on when it has gone. The bound then grew fast from the smallest flight that was marked.
#[test]
fn the_first_of_many_marks_says_where_the_queue_began() {
    let config = KneeConfig::default();
    let mut bound = LossBound::new(MTU);
    for turn in 1..=10 {
        let packets = (bound.bytes().min(120_000.0) / MTU.0 as f64) as u64;
        let mark = marked(100 * turn, packets);
        bound.on_mark(&config, &mark, &CRUISING);
    }
    let least = bound.bytes();
    rounds(&mut bound, 2..12, 0);
    assert_eq!(bound.bytes(), least + 10.0 * MTU.0 as f64);
    // Marks have ended: up to where they began the bound rises fast.
    rounds(&mut bound, 13..18, 0);
    assert!(bound.bytes() > 0.8 * 120_000.0, "{}", bound.bytes());
    let near = bound.bytes();
    rounds(&mut bound, 18..19, 0);
    assert!(bound.bytes() < 1.02 * near, "{}", bound.bytes());
}

#[test]
fn a_spurious_loss_leaves_no_bound() {
    let mut bound = LossBound::new(MTU);
    assert!(lose(&mut bound, &loss(40, 1, 10), false));
    assert!(bound.bytes().is_finite() && bound.is_lossy(1));
    bound.on_spurious_loss();
    assert_eq!(bound.bytes(), f64::INFINITY);
    assert!(!bound.is_lossy(1));
    // A bound that has ended losses is not taken back for another one that was none.
    assert!(lose(&mut bound, &loss(80, 2, 10), false));
    rounds(&mut bound, 3..16, 0);
    assert!(!lose(&mut bound, &loss(640, 16, 1), false));
    bound.on_spurious_loss();
    assert!(bound.bytes().is_finite());
}

/// Fault: a packet that was overtaken took back the bound that an overflow before it had made.
#[test]
fn a_spurious_loss_leaves_the_bound_of_losses_before_it() {
    let mut bound = LossBound::new(MTU);
    assert!(lose(&mut bound, &loss(40, 1, 50), false));
    assert!(!lose(&mut bound, &loss(160, 4, 1), false));
    bound.on_spurious_loss();
    assert!(bound.bytes().is_finite());
}

/// The window's own losses stop once it is bounded: it stays bounded, and comes back slowly.
#[test]
fn losses_of_the_window_bound_it() {
    let mut bound = LossBound::new(MTU);
    assert!(lose(&mut bound, &loss(40, 1, 10), false));
    assert!(bound.is_lossy(2) && !bound.is_lossy(3));
    let at_loss = bound.bytes();
    // What is lost while the bound is measured does not move it, but says that the link is still full.
    assert!(!lose(&mut bound, &loss(120, 3, 20), false));
    assert_eq!(bound.bytes(), at_loss);
    assert!(bound.is_lossy(4));
    assert!((at_loss - 0.85 * 120_000.0).abs() < 1.0);
    rounds(&mut bound, 2..16, 0);
    assert_eq!(bound.bytes(), at_loss, "held");
    rounds(&mut bound, 16..24, 0);
    assert!(bound.bytes() > at_loss && bound.bytes() < 1.15 * at_loss);
    rounds(&mut bound, 24..100, 0);
    assert_eq!(bound.bytes(), f64::INFINITY, "forgotten");
}

/// Loss that a smaller window does not stop is the path's.
#[test]
fn the_paths_own_loss_is_tolerated() {
    let mut bound = LossBound::new(MTU);
    rounds(&mut bound, 0..3, 8);
    assert!(lose(&mut bound, &loss(160, 3, 10), false));
    let at_loss = bound.bytes();
    rounds(&mut bound, 4..8, 8);
    assert_eq!(bound.bytes(), 0.5 * at_loss, "measured with half of it");
    rounds(&mut bound, 8..13, 8);
    assert_eq!(bound.bytes(), f64::INFINITY);
    assert!(!lose(&mut bound, &loss(600, 14, 10), false));
    // Fault: eight flows on a link whose queue drops early took each other's losses for the path's, and lost a tenth of their packets.
    assert!(lose_queued(&mut bound.clone(), &loss(600, 14, 10)));
    // More than that is the window's again.
    assert!(lose(&mut bound, &loss(640, 15, 30), false));
    // Without loss the tolerance goes.
    rounds(&mut bound, 16..200, 0);
    assert!(lose(&mut bound, &loss(8000, 200, 10), false));
}

/// Fault: beside others that fill the queue no window of this flow's ends its losses, and their losses were taken for the path's.
#[test]
fn what_is_lost_from_others_queue_is_not_the_paths() {
    let mut bound = LossBound::new(MTU);
    rounds(&mut bound, 0..3, 8);
    assert!(lose(&mut bound, &loss(160, 3, 10), false));
    rounds_beside(&mut bound, 4..13, 8, true);
    assert_eq!(bound.bytes(), f64::INFINITY);
    assert!(lose(&mut bound, &loss(600, 14, 10), false));
}

/// Fault: a burst that chance had made bounded the window, though the buffer had held twice the queue. The next one came before the bound had risen again.
#[test]
fn a_burst_is_chance_if_the_buffer_has_room() {
    let mut bound = LossBound::new(MTU);
    let mut burst = |round: u64| {
        let scattered = loss(100 * round, round, 7);
        let bounds = lose_at_once(&mut bound, &scattered, Queue::None, false, true);
        (bounds, bound.bytes())
    };
    assert_eq!(burst(10), (false, f64::INFINITY));
    assert_eq!(burst(20), (false, f64::INFINITY));
    // It goes on: a policer, or a buffer that has become shorter.
    assert_eq!(burst(21), (true, 0.85 * float(MTU * 100)));
}

/// Fault: a flow whose slow start a burst had ended knew of no room, and each later burst bounded the window.
#[test]
fn what_is_lost_in_one_place_is_chance_unless_it_goes_on() {
    let burst = |bound: &mut LossBound, round: u64, queue, growing| {
        lose_at_once(bound, &loss(100 * round, round, 20), queue, growing, false)
    };
    for growing in [false, true] {
        let mut bound = LossBound::new(MTU);
        assert!(!burst(&mut bound, 10, Queue::None, growing));
        assert!(!burst(&mut bound, 20, Queue::None, growing));
        assert_eq!(bound.bytes(), f64::INFINITY);
        assert!(burst(&mut bound, 22, Queue::None, growing));
    }
    // From a queue it overflowed, and so it did in many places.
    assert!(burst(&mut LossBound::new(MTU), 10, Queue::Found, false));
    assert!(lose(&mut LossBound::new(MTU), &loss(1000, 10, 20), false));
}

/// Fault: reports were counted anew in each round, so that what a flight had lost in many places seemed to be lost in one.
#[test]
fn what_a_flight_loses_in_two_rounds_is_in_many_places() {
    let mut bound = LossBound::new(MTU);
    let bounds = (1..=40).find(|&lost| {
        let mut event = loss(400 + lost, if lost < 28 { 10 } else { 11 }, 1);
        event.flight = Some(FlightSample {
            in_flight: MTU * 1000,
            lost: MTU * lost,
            app_limited: false,
        });
        lose_at_once(&mut bound, &event, Queue::None, false, false)
    });
    assert_eq!(bounds, Some(29));
}

/// Fault: what had left before persistent congestion and was reported after it bounded the window that slow start was to double.
#[test]
fn losses_from_before_persistent_congestion_bound_nothing_after_it() {
    let mut bound = LossBound::new(MTU);
    bound.begin_anew(at(100));
    let mut late = loss(140, 2, 50);
    late.newest_sent = at(90);
    assert!(!lose(&mut bound, &late, false));
    assert!(bound.bytes().is_infinite());
    assert!(lose(&mut bound, &loss(160, 3, 50), false));
}

/// Of 100 packets 2 % and two deviations are 4.8, and three deviations 6.2.
#[test]
fn slow_start_loses_more_by_chance() {
    for (lost, growing, bounds) in [
        (4, false, false),
        (5, false, true),
        (6, true, false),
        (7, true, true),
    ] {
        let mut bound = LossBound::new(MTU);
        let bounded = lose(&mut bound, &loss(40, 1, lost), growing);
        assert_eq!(bounded, bounds, "{lost} packets, {growing}");
    }
}

/// A path loses five of a hundred packets, and three times as many by chance in one flight. That the next flights lose fewer is not because the window is
/// smaller.
#[test]
fn a_flight_that_chance_made_worse_is_compared_with_the_average() {
    let mut bound = LossBound::new(MTU);
    rounds(&mut bound, 1..20, 5);
    let many = loss(800, 20, 15);
    assert!(lose_at_once(&mut bound, &many, Queue::Found, false, false));
    rounds(&mut bound, 21..40, 5);
    assert_eq!(bound.bytes(), f64::INFINITY);
}

/// A window that doubled in a round would queue half of what it holds.
#[test]
fn a_bounded_window_grows_by_a_quarter() {
    assert_eq!(growth(Bytes(4000)), Bytes(1000));
}

/// Fault: what persistent congestion had lost was reported with the acknowledgement after it, and an application's next losses bounded the window.
#[test]
fn what_persistent_congestion_lost_is_not_counted_after_it() {
    let mut bound = LossBound::new(MTU);
    bound.begin_anew(at(100));
    take(&mut bound, 3, 2, 200, f64::INFINITY, false);
    rounds(&mut bound, 4..6, 0);
    lose(&mut bound, &of_an_application(loss(240, 6, 10)), false);
    assert_eq!(bound.bytes(), f64::INFINITY);
}
