//! Acknowledgements of large flights, which wait for each other.

use std::time::Duration;

use kneepoint_controllers::AckEvent;

use super::super::*;
use super::MTU;
use super::fixture::{Fixture, Recorder, Told, millis};

/// Two packets every two milliseconds, a thousand in flight, then so many acknowledgements of two, each answered by two more.
fn in_a_large_flight(acks: u64) -> Fixture {
    let mut quinn = Fixture::new(Recorder::new());
    for sent in (0..1000).step_by(2) {
        quinn.send(sent, 2);
    }
    quinn.told();
    for sent in (0..2 * acks).step_by(2) {
        let now = 1000 + sent;
        quinn.acked(now, sent);
        quinn.acked(now, sent);
        quinn.end(now, 998 * MTU);
        quinn.send(now, 2);
    }
    quinn
}

/// Packets acknowledged and packets sent.
fn packets_told(told: &[Told]) -> (u64, u64) {
    let (mut acked, mut sent) = (0, 0);
    for told in told {
        match told {
            Told::Acked(ack) => {
                assert_eq!(ack.acked, Bytes(ack.acked_packets * MTU));
                acked += ack.acked_packets;
            }
            Told::Sent(event) => sent += event.bytes.0 / MTU,
            _ => {}
        }
    }
    (acked, sent)
}

/// In a large flight the controller sees 64 acknowledgements per round trip, and every packet in one of them.
#[test]
fn acknowledgements_of_a_small_share_of_the_flight_are_gathered() {
    let mut quinn = in_a_large_flight(1020);
    let mut told = quinn.told();
    let acks: Vec<AckEvent> = told
        .iter()
        .filter_map(|told| match told {
            Told::Acked(ack) => Some(*ack),
            _ => None,
        })
        .collect();
    assert!((124..=160).contains(&acks.len()), "{}", acks.len());
    for ack in &acks[1..] {
        assert!(ack.acked_packets <= 18, "{ack:?}");
        assert_eq!(ack.acked_packets, 2 * ack.acks);
        assert_eq!(ack.rtt, Duration::from_secs(1));
        assert_eq!(ack.in_flight, Bytes(998 * MTU));
        assert_eq!(ack.prior_in_flight, Bytes(1000 * MTU));
        // Before the second round, samples begin with the connection.
        if ack.round > 2 {
            let rate = ack.rate.expect("a sample").delivery_rate.as_f64();
            assert!((rate / 1_200_000.0 - 1.0).abs() < 0.02, "{rate}");
        }
    }

    // A loss ends the waiting: nothing is missing then.
    let (now, sent) = (quinn.at(3040), quinn.at(2046));
    quinn.adapter.on_congestion_event(now, sent, false, 3 * MTU);
    told.extend(quinn.told());
    assert_eq!(packets_told(&told), (2040, 2040));
    let starts = |told: &&Told| matches!(told, Told::Acked(ack) if ack.round_start);
    assert_eq!(told.iter().filter(starts).count(), 3);
    let Some(Told::Congestion(loss)) = told.pop() else {
        panic!("the loss comes last");
    };
    assert_eq!(loss.delivered, Bytes(2040 * MTU));
    assert_eq!(loss.in_flight, Bytes(997 * MTU));
    assert!(matches!(told.pop(), Some(Told::Acked(_))));
}

#[test]
fn nothing_waits_for_longer_than_a_small_share_of_the_round_trip() {
    // The first acknowledgement shows how much is in flight; the next one would wait.
    for waiting in 2..5 {
        let mut quinn = in_a_large_flight(waiting);
        let told = quinn.told();
        assert_eq!(packets_told(&told).0, 2);
        // Another one, and another packet, too late to wait.
        let mut acked = in_a_large_flight(waiting);
        acked.told();
        acked.acked(1040, 100);
        acked.end(1040, 999 * MTU);
        assert_eq!(packets_told(&acked.told()).0, 2 * waiting - 1);
        quinn.send(1040, 1);
        assert_eq!(
            packets_told(&quinn.told()),
            (2 * waiting - 2, 2 * waiting - 1)
        );
    }
}

#[test]
fn nothing_waits_when_the_application_is_the_limit_or_nothing_is_in_flight() {
    for (in_flight, app_limited) in [(998 * MTU, true), (0, false)] {
        let mut quinn = in_a_large_flight(1);
        quinn.told();
        quinn.acked(1002, 2);
        let now = quinn.at(1002);
        quinn
            .adapter
            .on_end_acks(now, in_flight, app_limited, Some(0));
        assert_eq!(packets_told(&quinn.told()).0, 1);
    }
}

#[test]
fn packets_out_of_order_are_counted_with_those_that_wait() {
    let mut quinn = in_a_large_flight(3);
    quinn.told();
    for sent in [40, 20, 30] {
        quinn.acked(1008, sent);
    }
    quinn.end(1008, 990 * MTU);
    let told = quinn.told();
    assert_eq!(packets_told(&told).0, 7);
    let [.., Told::Acked(ack)] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(ack.newest_sent, millis(40));
}

/// Trap: while an acknowledgement waits nothing is computed, and a window that is told larger until the flight is there stays so.
#[test]
fn a_refill_ends_at_the_window_while_acknowledgements_wait() {
    let mut quinn = in_a_large_flight(1);
    quinn.adapter.control.window = Bytes(1010 * MTU);
    quinn.adapter.control.refill = kneepoint_controllers::Refill::PaceOf(Bytes(10_000 * MTU));
    quinn.acked(1002, 2);
    quinn.end(1002, 999 * MTU);
    assert!(quinn.adapter.acked.waiting().is_some());
    quinn.send(1002, 1);
    assert_eq!(quinn.adapter.window(), 10_000 * MTU + 1);
    // With 1010 packets in flight there is room for no other.
    quinn.send(1002, 10);
    assert_eq!(quinn.adapter.window(), 1010 * MTU + 1);
}
