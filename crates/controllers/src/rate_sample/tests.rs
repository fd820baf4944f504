use super::*;

const PACKET: Bytes = Bytes(1200);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

fn send(sampler: &mut DeliveryRateSampler, millis: u64, packets: u64) {
    for _ in 0..packets {
        sampler.on_sent(at(millis), PACKET);
    }
}

fn remembered(sampler: &DeliveryRateSampler) -> usize {
    sampler.history_len()
}

fn loss(sent_millis: u64, packets: u64, persistent_congestion: bool) -> Loss {
    Loss {
        newest_sent: at(sent_millis),
        bytes: PACKET * packets,
        persistent_congestion,
    }
}

fn ack(sampler: &mut DeliveryRateSampler, now: u64, sent: &[u64]) -> Option<AckEvent> {
    for &sent in sent {
        sampler.on_run_acked(at(now), at(sent), PACKET, 1);
    }
    let in_flight = sampler.in_flight();
    sampler.on_ack_end(at(now), in_flight, false).copied()
}

/// The rate of a sample that is so long.
fn rate_over(sample: &RateSample, millis: u64) -> Bandwidth {
    let interval = Duration::from_millis(millis);
    Bandwidth::from_delivery(sample.delivered, interval).expect("time passed")
}

/// Trap: ten packets in one acknowledgement must credit all ten.
#[test]
fn ten_packets_in_one_acknowledgement_credit_all_ten() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 10);
    let event = ack(&mut sampler, 40, &[0; 10]).expect("an event");
    assert_eq!(event.acked, PACKET * 10);
    assert_eq!(event.acked_packets, 10);
    assert_eq!(event.prior_in_flight, PACKET * 10);
    assert_eq!(event.in_flight, Bytes::ZERO);
    let rate = event.rate.expect("a sample");
    assert_eq!(rate.delivered, PACKET * 10);
    assert_eq!(
        rate.delivery_rate,
        Bandwidth::from_bytes_per_second(300_000)
    );
}

/// Trap: the first acknowledged packet counts, and nothing delivered before it is a value.
#[test]
fn the_first_packet_counts_as_delivered() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 5, 1);
    let event = ack(&mut sampler, 45, &[5]).expect("an event");
    // prior_delivered is zero here, which is a value and not the lack of one.
    assert_eq!(event.rate.expect("a sample").delivered, PACKET);
    assert_eq!((event.round, event.round_start), (1, true));
}

/// Trap: an acknowledgement gives one sample, after all its packets, from the packet sent last.
#[test]
fn the_sample_is_that_of_the_packet_that_left_last() {
    for sent in [[0, 40], [40, 0]] {
        let mut sampler = DeliveryRateSampler::new(at(0));
        send(&mut sampler, 0, 3);
        ack(&mut sampler, 40, &[0]);
        send(&mut sampler, 40, 2);
        let event = ack(&mut sampler, 80, &sent).expect("an event");
        let sample = event.rate.expect("a sample");
        assert_eq!(sample.delivered, PACKET * 2);
        assert_eq!(sample.delivery_rate, rate_over(&sample, 40));
        assert_eq!(event.rtt(), Duration::from_millis(40));
    }
}

#[test]
fn nothing_acknowledged_is_no_event() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 1);
    assert!(sampler.on_ack_end(at(10), PACKET, false).is_none());
}

#[test]
fn a_round_lasts_until_a_packet_sent_in_it_returns() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 2);
    assert!(ack(&mut sampler, 40, &[0]).expect("an event").round_start);
    send(&mut sampler, 40, 1);
    let second = ack(&mut sampler, 41, &[0]).expect("an event");
    assert_eq!((second.round, second.round_start), (1, false));
    let third = ack(&mut sampler, 80, &[40]).expect("an event");
    assert_eq!((third.round, third.round_start), (2, true));
}

#[test]
fn the_sample_covers_the_longer_of_both_intervals() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    // One packet each 10 ms for 100 ms, acknowledged in one go.
    for millis in (0..100).step_by(10) {
        send(&mut sampler, millis, 1);
    }
    let sent: Vec<u64> = (0..100).step_by(10).collect();
    let event = ack(&mut sampler, 130, &sent).expect("an event");
    let sample = event.rate.expect("a sample");
    assert_eq!(sample.delivery_rate, rate_over(&sample, 130));
    // Compressed acknowledgements of the next packets do not make the path faster than they were sent.
    for millis in (130..230).step_by(10) {
        send(&mut sampler, millis, 1);
    }
    let sent: Vec<u64> = (130..230).step_by(10).collect();
    let sample = ack(&mut sampler, 240, &sent)
        .expect("an event")
        .rate
        .expect("a sample");
    assert!(
        sample.delivery_rate <= Bandwidth::from_bytes_per_second(120_000),
        "{sample:?}"
    );
}

#[test]
fn no_sample_is_shorter_than_its_packets_round_trip() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 4);
    ack(&mut sampler, 40, &[0]);
    send(&mut sampler, 40, 4);
    ack(&mut sampler, 41, &[0, 0, 0]);
    let event = ack(&mut sampler, 79, &[40]).expect("an event");
    assert_eq!(event.rtt(), Duration::from_millis(39));
    let sample = event.rate.expect("a sample");
    assert_eq!(sample.delivery_rate, rate_over(&sample, 40));
}

#[test]
fn silence_before_a_packet_is_not_slowness() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 2);
    ack(&mut sampler, 40, &[0, 0]);
    send(&mut sampler, 10_000, 2);
    let event = ack(&mut sampler, 10_040, &[10_000, 10_000]).expect("an event");
    let sample = event.rate.expect("a sample");
    assert_eq!(sample.delivery_rate, rate_over(&sample, 40));
}

#[test]
fn app_limited_samples_are_marked_until_the_bubble_has_passed() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 2);
    sampler.on_run_acked(at(40), at(0), PACKET, 1);
    // One packet is in flight when the application runs dry: the boundary is its delivery.
    sampler.on_ack_end(at(40), PACKET, true);
    send(&mut sampler, 50, 3);
    ack(&mut sampler, 60, &[0]);
    let bubble = ack(&mut sampler, 90, &[50]).expect("an event");
    assert!(bubble.rate.expect("a sample").app_limited);
    send(&mut sampler, 90, 1);
    assert!(
        ack(&mut sampler, 91, &[50, 50])
            .expect("an event")
            .rate
            .expect("a sample")
            .app_limited
    );
    assert!(
        !ack(&mut sampler, 130, &[90])
            .expect("an event")
            .rate
            .expect("a sample")
            .app_limited
    );
}

/// Trap: lost bytes move the app-limited boundary, which would never be reached otherwise.
#[test]
fn lost_bytes_move_the_app_limited_boundary() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 4);
    sampler.on_run_acked(at(40), at(0), PACKET, 1);
    sampler.on_ack_end(at(40), PACKET * 3, true);
    // All three still in flight are lost: without the correction the boundary lies three packets too far.
    sampler.on_lost(at(45), &loss(0, 3, false));
    send(&mut sampler, 50, 1);
    ack(&mut sampler, 90, &[50]);
    send(&mut sampler, 91, 1);
    let event = ack(&mut sampler, 131, &[91]).expect("an event");
    assert!(!event.rate.expect("a sample").app_limited);
}

/// Trap: what was sent after the boundary was drawn is not in it, and must not move it.
#[test]
fn losses_of_later_packets_leave_the_app_limited_boundary() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 4);
    sampler.on_run_acked(at(40), at(0), PACKET, 1);
    sampler.on_ack_end(at(40), PACKET * 3, true);
    send(&mut sampler, 50, 4);
    sampler.on_lost(at(60), &loss(50, 3, false));
    // Two of the three in flight at the boundary: what leaves now is still limited by the application.
    ack(&mut sampler, 70, &[0, 0]);
    send(&mut sampler, 71, 1);
    let event = ack(&mut sampler, 111, &[71]).expect("an event");
    assert!(event.rate.expect("a sample").app_limited);
}

/// Trap: ProbeRTT must be able to mark the flow as limited, as if by the application.
#[test]
fn a_controller_that_limits_itself_marks_its_samples() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 4);
    ack(&mut sampler, 40, &[0, 0]);
    sampler.mark_app_limited(at(40));
    send(&mut sampler, 41, 1);
    ack(&mut sampler, 42, &[0, 0]);
    let event = ack(&mut sampler, 81, &[41]).expect("an event");
    assert!(event.rate.expect("a sample").app_limited);
    send(&mut sampler, 82, 1);
    let event = ack(&mut sampler, 122, &[82]).expect("an event");
    assert!(!event.rate.expect("a sample").app_limited);
}

/// Trap: what is in flight saturates at a loss: the host may count lost what was never reported sent.
#[test]
fn in_flight_saturates_at_a_loss() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 1);
    let event = sampler.on_lost(at(50), &loss(0, 9, false));
    assert_eq!(event.in_flight, Bytes::ZERO);
    assert_eq!(event.signal, CongestionSignal::Loss);
}

/// Trap: persistent congestion and ECN marks are signals of their own, and a mark loses nothing.
#[test]
fn every_kind_of_congestion_is_reported() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 4);
    let event = sampler.on_lost(at(50), &loss(0, 3, true));
    assert_eq!(event.signal, CongestionSignal::PersistentCongestion);
    assert_eq!((event.lost, event.in_flight), (PACKET * 3, PACKET));
    let event = sampler.on_ecn_mark(at(60), at(0));
    assert_eq!(event.signal, CongestionSignal::EcnMark);
    assert_eq!((event.lost, event.in_flight), (Bytes::ZERO, PACKET));
}

/// Fault: transports report a mark after the acknowledgement. Where that had taken all that was sent with the packet, its flight was unknown.
#[test]
fn a_mark_of_what_was_just_acknowledged_has_its_flight() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 2);
    ack(&mut sampler, 40, &[0, 0]);
    let flight = sampler.on_ecn_mark(at(40), at(0)).flight;
    assert_eq!(flight.expect("it is known").in_flight, PACKET * 2);
    // Of another packet nothing is known.
    assert_eq!(sampler.on_ecn_mark(at(40), at(1)).flight, None);
}

#[test]
fn losses_are_reported_with_the_next_acknowledgement_once() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 4);
    sampler.on_lost(at(30), &loss(0, 1, false));
    assert_eq!(ack(&mut sampler, 40, &[0]).expect("an event").lost, PACKET);
    assert_eq!(
        ack(&mut sampler, 41, &[0]).expect("an event").lost,
        Bytes::ZERO
    );
}

/// Trap: packet numbers collide across the Initial, Handshake and Data spaces, and so do sending times.
#[test]
fn batches_of_one_instant_keep_their_own_state() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 2);
    // The Handshake packet and the first data packet leave at one instant, with an acknowledgement between them.
    send(&mut sampler, 40, 1);
    ack(&mut sampler, 40, &[0, 0]);
    send(&mut sampler, 40, 1);
    let first = ack(&mut sampler, 80, &[40])
        .expect("an event")
        .rate
        .expect("a sample");
    assert_eq!(first.delivered, PACKET * 3);
    let second = ack(&mut sampler, 81, &[40])
        .expect("an event")
        .rate
        .expect("a sample");
    assert_eq!(second.delivered, PACKET * 2);
}

/// Trap: as above, where the older of both views is settled but still remembered.
#[test]
fn an_empty_batch_of_the_same_instant_gives_no_more() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 3);
    ack(&mut sampler, 30, &[0]);
    send(&mut sampler, 40, 1);
    ack(&mut sampler, 40, &[0]);
    send(&mut sampler, 40, 1);
    for now in [80, 81] {
        let event = ack(&mut sampler, now, &[40]).expect("an event");
        assert_eq!(event.rate.expect("a sample").delivered, PACKET * 2);
    }
}

#[test]
fn the_transport_corrects_the_flight() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 5);
    sampler.on_run_acked(at(40), at(0), PACKET, 1);
    // Keys were discarded: three more packets are gone without having been acknowledged or lost.
    let event = sampler.on_ack_end(at(40), PACKET, false).expect("an event");
    assert_eq!(event.in_flight, PACKET);
    assert_eq!(sampler.in_flight(), PACKET);
}

#[test]
fn a_batch_that_never_ended_is_delivered_but_no_sample() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 2);
    sampler.on_run_acked(at(20), at(0), PACKET, 1);
    let event = ack(&mut sampler, 40, &[0]).expect("an event");
    assert_eq!(event.acked, PACKET);
    assert_eq!(event.delivered, PACKET * 2);
}

#[test]
fn lost_packets_are_forgotten() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    // Half of the packets are lost for a quarter of an hour, and the flight is never empty.
    send(&mut sampler, 0, 1);
    for second in (0..900_000).step_by(50) {
        send(&mut sampler, second + 50, 2);
        ack(&mut sampler, second + 50, &[second]);
        sampler.on_lost(at(second + 50), &loss(second, 1, false));
    }
    assert!(remembered(&sampler) <= 3, "{}", remembered(&sampler));
}

/// Trap: a peer that acknowledges nothing but packets that carry only acknowledgements makes the sender lose and send again
/// for ever, and no acknowledgement ever counts a packet.
#[test]
fn losses_are_forgotten_though_nothing_is_ever_delivered() {
    for packets_in_flight in [1, 10] {
        let mut sampler = DeliveryRateSampler::new(at(0));
        for now in 0..100_000 {
            send(&mut sampler, now, 1);
            let Some(lost) = now.checked_sub(packets_in_flight) else {
                continue;
            };
            let in_flight = sampler.in_flight();
            assert!(sampler.on_ack_end(at(now), in_flight, false).is_none());
            let event = sampler.on_lost(at(now), &loss(lost, 1, false));
            assert!(event.flight.is_some(), "its record was there until now");
            let left = remembered(&sampler) as u64;
            assert!(left <= packets_in_flight, "{left}");
        }
    }
}

/// Trap: packets sent after the newest lost one, or with it, can still be acknowledged.
#[test]
fn a_loss_keeps_packets_sent_later_or_with_it() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 3);
    ack(&mut sampler, 40, &[0]);
    send(&mut sampler, 40, 2);
    ack(&mut sampler, 45, &[0]);
    send(&mut sampler, 45, 2);
    sampler.on_lost(at(80), &loss(40, 2, false));
    for (now, sent) in [(81, 40), (85, 45)] {
        let event = ack(&mut sampler, now, &[sent]).expect("an event");
        assert!(event.rate.is_some(), "{sent}");
    }
    assert_eq!(remembered(&sampler), 1);
}

/// Trap: with 72 bytes for each record, whatever a peer makes of the order of things.
#[test]
fn the_history_has_a_largest_size() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 1);
    // Two packets a millisecond, one of which is acknowledged: what is in flight grows without end, and so does the round trip.
    for now in 1..20_000 {
        send(&mut sampler, now, 2);
        ack(&mut sampler, now, &[now]);
    }
    assert!(
        remembered(&sampler) <= DeliveryRateSampler::MAX_HISTORY,
        "{}",
        remembered(&sampler)
    );
}

#[test]
fn packets_of_acknowledgements_only_are_forgotten() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    // A receiver sends acknowledgements for ever, which are never acknowledged themselves.
    for millis in 0..100_000 {
        sampler.on_sent(at(millis), Bytes(40));
    }
    assert_eq!(remembered(&sampler), 1);
    // With a packet of its own once a second, that is acknowledged.
    for second in 100..1000 {
        send(&mut sampler, second * 1000, 1);
        for millis in 1..100 {
            sampler.on_sent(at(second * 1000 + millis), Bytes(40));
        }
        ack(&mut sampler, second * 1000 + 40, &[second * 1000]);
        sampler.on_sent(at(second * 1000 + 50), Bytes(40));
    }
    assert!(remembered(&sampler) < 10, "{}", remembered(&sampler));
}

/// Trap: a host that reports packets of acknowledgements as sent would end the silence of an application with them. What
/// it sends next would seem to have taken as long as the silence did.
#[test]
fn an_acknowledgement_that_leaves_does_not_end_a_silence() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 10);
    ack(&mut sampler, 40, &[0; 10]);
    for now in 41..100 {
        sampler.on_sent_unless_ack_only(at(now), Bytes(40));
        assert_eq!(sampler.in_flight(), Bytes::ZERO);
    }
    assert!(remembered(&sampler) <= MAX_UNHEARD + 1);
    let event = sampler.on_sent(at(100), PACKET * 10);
    assert_eq!(event.prior_in_flight, Bytes::ZERO);
    let event = ack(&mut sampler, 140, &[100; 10]).expect("an event");
    let rate = event.rate.expect("a sample");
    assert_eq!(rate.delivery_rate, rate_over(&rate, 40));
    assert_eq!(rate.delivered, PACKET * 10);
    assert_eq!(remembered(&sampler), 0);
    // Data after all, twenty milliseconds apart, as a voice.
    for now in [200, 220, 240] {
        sampler.on_sent_unless_ack_only(at(now), Bytes(100));
    }
    for (now, in_flight) in [(240, 200), (260, 100), (280, 0)] {
        sampler.on_run_acked(at(now), at(now - 40), Bytes(100), 1);
        let event = sampler.on_ack_end(at(now), Bytes(in_flight), true).copied();
        let rate = event.and_then(|event| event.rate).expect("a sample");
        assert_eq!(rate.delivery_rate, rate_over(&rate, 40), "{now}");
    }
}

/// Transports clone a controller to inspect it: its history must not grow with the flight.
#[test]
fn the_history_of_a_large_flight_is_short() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    let micros = |micros: u64| Timestamp::from_nanos(micros * 1000);
    // A packet each microsecond for 40 ms, two per acknowledgement: 40,000 in flight.
    for now in 0..200_000 {
        sampler.on_sent(micros(now), PACKET);
        if now >= 40_000 && now % 2 == 1 {
            let sent = [micros(now - 40_001), micros(now - 40_000)];
            for sent in sent {
                sampler.on_run_acked(micros(now), sent, PACKET, 1);
            }
            let in_flight = sampler.in_flight();
            let rate = sampler
                .on_ack_end(micros(now), in_flight, false)
                .and_then(|ack| ack.rate);
            if now > 100_000 {
                let rate = rate.expect("a sample").delivery_rate.as_f64();
                assert!((rate / 1.2e9 - 1.0).abs() < 0.01, "{rate}");
            }
        }
    }
    assert!(remembered(&sampler) < 400, "{}", remembered(&sampler));
}

/// Trap: whether a flight was too large is decided by the flight of the lost packet, not by the current one.
#[test]
fn a_loss_has_the_flight_of_its_packet() {
    let mut sampler = DeliveryRateSampler::new(at(0));
    send(&mut sampler, 0, 10);
    ack(&mut sampler, 40, &[0]);
    send(&mut sampler, 40, 4);
    let event = sampler.on_lost(at(80), &loss(0, 2, false));
    let flight = event.flight.expect("the record is still there");
    assert_eq!(flight.in_flight, PACKET * 10);
    assert_eq!((flight.lost, event.lost), (PACKET * 2, PACKET * 2));
    // A packet that left after nine were acknowledged or sent on top: 9 + 4 in flight; all three losses came later.
    let event = sampler.on_lost(at(90), &loss(40, 1, false));
    let flight = event.flight.expect("the record is still there");
    assert_eq!(flight.in_flight, PACKET * 13);
    assert_eq!(flight.lost, PACKET * 3);
    let sample = ack(&mut sampler, 95, &[40]).and_then(|event| event.rate);
    let sample = sample.expect("a sample");
    assert_eq!(sample.lost, PACKET * 3);
    assert_eq!(sample.in_flight_at_send, PACKET * 13);
    assert_eq!(sample.prior_delivered, PACKET);
    // Nothing is known of a packet that was never sent.
    assert_eq!(sampler.on_lost(at(99), &loss(7, 1, false)).flight, None);
}

/// Rounds do not need the records, and nothing else of an event but the rate and the lost packet's flight does.
#[test]
fn without_rate_samples_everything_else_is_the_same() {
    let mut with = DeliveryRateSampler::new(at(0));
    let mut without = DeliveryRateSampler::without_rate_samples(at(0));
    for now in 0..2000 {
        let mut events = [&mut with, &mut without].map(|sampler| {
            let mut told = Vec::new();
            if now % 7 < 5 {
                told.push(format!("{:?}", sampler.on_sent(at(now), PACKET)));
            }
            // One packet in a hundred is lost.
            if now >= 40 && (now - 40) % 7 < 5 && now % 100 == 0 {
                let event = sampler.on_lost(at(now), &loss(now - 40, 1, false));
                told.push(format!(
                    "{:?}",
                    CongestionEvent {
                        flight: None,
                        ..event
                    }
                ));
            } else if now >= 40 && (now - 40) % 7 < 5 {
                let event = ack(sampler, now, &[now - 40]).expect("an event");
                told.push(format!(
                    "{:?}",
                    AckEvent {
                        rate: None,
                        ..event
                    }
                ));
            }
            told
        });
        let [first, second] = &mut events;
        assert_eq!(first, second, "{now}");
    }
    assert!(with.ack.round > 20);
    assert_eq!(remembered(&without), 0);
}
