//! What the accounting keeps, whatever happens: bytes are conserved, no rate exceeds what was acknowledged, and the
//! history is bounded.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Wait {
        nanos: u64,
    },
    Send {
        packets: u8,
        bytes: u16,
    },
    Ack {
        skip: u8,
        packets: u8,
        app_limited: bool,
    },
    Lose {
        skip: u8,
        packets: u8,
    },
    Limit,
}

/// A packet, and what had been delivered when the first packet of the same instant left: packets of one instant cannot
/// be told apart, and the older view gives first.
#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Timestamp,
    bytes: Bytes,
    delivered: Bytes,
}

fn steps() -> impl Strategy<Value = Step> {
    let spans = prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ];
    prop_oneof![
        4 => spans.prop_map(|nanos| Step::Wait { nanos }),
        4 => (1..=64u8, 1..=65_527u16).prop_map(|(packets, bytes)| Step::Send { packets, bytes }),
        4 => (0..3u8, 0..=64u8, any::<bool>())
            .prop_map(|(skip, packets, app_limited)| Step::Ack { skip, packets, app_limited }),
        1 => (0..3u8, 1..=64u8).prop_map(|(skip, packets)| Step::Lose { skip, packets }),
        1 => Just(Step::Limit),
    ]
}

fn total(packets: &[Packet]) -> Bytes {
    packets.iter().map(|packet| packet.bytes).sum()
}

fn take(flight: &mut Vec<Packet>, skip: u8, packets: u8) -> Vec<Packet> {
    let skip = usize::from(skip).min(flight.len());
    let end = (skip + usize::from(packets)).min(flight.len());
    flight.drain(skip..end).collect()
}

fn check_acknowledgement(
    flow: &mut Flow,
    now: Timestamp,
    acked: &[Packet],
    in_flight: Bytes,
    app_limited: bool,
) -> Result<(), TestCaseError> {
    let prior = (flow.in_flight(), flow.delivered());
    for packet in acked {
        flow.on_packet_acked(now, packet.sent, packet.bytes);
    }
    // The packets themselves account for all that is in flight; the host has nothing to correct.
    prop_assert_eq!(flow.in_flight(), in_flight);
    let Some(event) = flow.on_ack_end(now, in_flight, app_limited) else {
        prop_assert!(acked.is_empty());
        return Ok(());
    };
    prop_assert_eq!(event.acked, total(acked));
    prop_assert_eq!(event.acked_packets, acked.len() as u64);
    prop_assert_eq!(event.prior_in_flight, prior.0);
    prop_assert_eq!(event.in_flight + event.acked, prior.0);
    prop_assert_eq!(event.delivered, prior.1 + event.acked);
    let newest = acked
        .iter()
        .map(|packet| packet.sent)
        .max()
        .unwrap_or_default();
    prop_assert_eq!(event.newest_sent, newest);
    prop_assert_eq!(event.rtt, now.saturating_since(newest));
    if let Some(rate) = event.rate {
        // No more than was delivered since the oldest of the packets left, over no less than its round trip.
        let least = acked
            .iter()
            .map(|packet| packet.delivered)
            .min()
            .unwrap_or_default();
        prop_assert!(rate.delivered <= event.delivered - least);
        prop_assert!(rate.interval >= event.rtt, "{rate:?} {event:?}");
        let most = Bandwidth::from_delivery(rate.delivered, event.rtt);
        prop_assert!(most.is_none_or(|most| rate.delivery_rate <= most));
        prop_assert!(rate.send_rate() >= rate.delivery_rate);
    }
    Ok(())
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn bytes_are_conserved_and_rates_are_bounded(steps in prop::collection::vec(steps(), 1..400)) {
        let mut now = Timestamp::ZERO;
        let mut flow = Flow::new(now);
        let mut flight: Vec<Packet> = Vec::new();
        let (mut sent, mut lost) = (Bytes::ZERO, Bytes::ZERO);
        let mut round = 0;
        let mut batches: Vec<Timestamp> = Vec::new();
        let mut instant = (now, Bytes::ZERO);
        for step in steps {
            match step {
                Step::Wait { nanos } => now = now + Duration::from_nanos(nanos),
                Step::Send { packets, bytes } => {
                    let bytes = Bytes(u64::from(bytes));
                    let event = flow.on_sent(now, bytes.packets(u64::from(packets)));
                    prop_assert_eq!(event.prior_in_flight, total(&flight));
                    sent += event.bytes;
                    batches.push(now);
                    if instant.0 != now {
                        instant = (now, flow.delivered());
                    }
                    let packet = Packet { sent: now, bytes, delivered: instant.1 };
                    flight.extend((0..packets).map(|_| packet));
                }
                Step::Ack { skip, packets, app_limited } => {
                    let acked = take(&mut flight, skip, packets);
                    let in_flight = total(&flight);
                    check_acknowledgement(&mut flow, now, &acked, in_flight, app_limited)?;
                    if let Some(oldest) = acked.iter().map(|packet| packet.sent).min() {
                        batches.retain(|&sent| sent >= oldest - RECORD_LIFETIME);
                    }
                }
                Step::Lose { skip, packets } => {
                    let gone = take(&mut flight, skip, packets);
                    if let Some(newest) = gone.last() {
                        lost += total(&gone);
                        let event = flow.on_lost(now, &Loss { newest_sent: newest.sent, bytes: total(&gone), packets: gone.len() as u64, persistent_congestion: false });
                        prop_assert_eq!(event.in_flight, total(&flight));
                    }
                }
                Step::Limit => flow.mark_app_limited(now),
            }
            prop_assert_eq!(flow.delivered() + flow.in_flight() + lost, sent);
            prop_assert!(flow.ack.round >= round && flow.ack.round <= round + 1);
            round = flow.ack.round;
            // No more history than batches sent since shortly before the oldest packet acknowledged last.
            let records = flow.records.clone().map_or(0, |mut records| records.get_mut().len());
            prop_assert!(records <= batches.len());
        }
    }
}
