//! What holds for every combination of stages.

use std::collections::BTreeMap;

use kneepoint_emulator::link::{
    Delay, DropCause, Link, LinkConfig, PacketOutcome, Queue, Record, Shaper, Statistics,
};
use kneepoint_emulator::packet::Ecn;
use kneepoint_emulator::time::Nanos;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{address, packet};
use crate::strategies::links;

/// A packet to be offered: the time since the one before, its size, its flow, its codepoint.
type Arrival = (Nanos, usize, u8, Option<Ecn>);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![
        3 => Just(Nanos::ZERO),
        1 => (0..20_u64).prop_map(Nanos::from_millis),
        1 => (0..5_000_000_u64).prop_map(Nanos),
    ];
    let ecn = prop_oneof![
        Just(None),
        Just(Some(Ecn::Ect0)),
        Just(Some(Ecn::Ect1)),
        Just(Some(Ecn::Ce))
    ];
    vec((gap, SERIALS..2_000_usize, 1..4_u8, ecn), 0..100)
}

/// What a run leaves behind.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Times and serial numbers.
    delivered: Vec<(Nanos, usize)>,
    records: Vec<Record>,
    statistics: Statistics,
}

/// When a run polls.
#[derive(Clone, Copy, PartialEq)]
enum Polls {
    /// When something happens, after all packets have been offered.
    Events,
    /// Every so often, from the first packet on, and then at events.
    Every(Nanos),
    /// Once, at the end of time.
    Once,
}

fn run(config: &LinkConfig, seed: u64, arrivals: &[Arrival], polls: Polls) -> Outcome {
    let mut link = Link::new(config.clone(), seed).unwrap();
    let mut delivered: Vec<(Nanos, usize)> = Vec::new();
    let (mut now, mut polled) = (Nanos::ZERO, Nanos::ZERO);
    for (serial, (gap, size, flow, ecn)) in arrivals.iter().enumerate() {
        now = now + *gap;
        while let Polls::Every(step) = polls
            && polled + step <= now
        {
            polled = polled + step;
            link.poll(polled, |time, packet| {
                delivered.push((time, serial_of(&packet.payload)))
            });
        }
        let mut packet = packet(*size, 0);
        for byte in 0..SERIALS {
            packet.payload[byte] = serial as u8;
        }
        packet.source = address(*flow);
        packet.ecn = *ecn;
        let _ = link.offer(now, packet);
    }
    if polls == Polls::Once {
        link.poll(Nanos::MAX, |time, packet| {
            delivered.push((time, serial_of(&packet.payload)))
        });
    }
    let mut previous = None;
    while let Some(event) = link.next_event() {
        assert!(
            previous.is_none_or(|previous| previous < event),
            "no progress at {event}"
        );
        previous = Some(event);
        link.poll(event, |time, packet| {
            // Nothing has happened before the event, but what was due before the first one.
            assert!(time == event || time <= now);
            delivered.push((time, serial_of(&packet.payload)));
        });
    }
    Outcome {
        delivered,
        records: link.log().unwrap().records().to_vec(),
        statistics: *link.statistics(),
    }
}

/// The serial number is there three times: at most one byte is corrupted.
fn serial_of(payload: &[u8]) -> usize {
    let [a, b, c] = [payload[0], payload[1], payload[2]];
    usize::from(if a == b || a == c { a } else { b })
}

/// Whether packets of a link may overtake others.
fn reorders(config: &LinkConfig) -> bool {
    config.impairments.reordering.is_some()
        || matches!(config.queue, Queue::FqCoDel(_))
        || matches!(
            config.delay,
            Delay::Steps {
                reordering: true,
                ..
            } | Delay::Jittered {
                reordering: true,
                ..
            }
        )
}

/// Packets and bytes.
fn total<'a>(records: impl Iterator<Item = &'a Record>) -> (u64, u64) {
    records.fold((0, 0), |(packets, bytes), record| {
        (packets + 1, bytes + record.size)
    })
}

/// Checks that no window has more bytes than the shaper allows, all in byte-nanoseconds per second.
fn check_rate(link: &Link, shaper: &Shaper, records: &[Record]) -> Result<(), TestCaseError> {
    let departure = |record: &Record| match record.outcome {
        PacketOutcome::Sent { departure, .. } => Some((departure, record.size)),
        _ => None,
    };
    let mut departures: Vec<(Nanos, u64)> = records.iter().filter_map(departure).collect();
    departures.sort_unstable();
    let largest = departures.iter().map(|(_, size)| *size).max().unwrap_or(0);
    for (first, (from, _)) in departures.iter().enumerate() {
        let mut bytes = 0;
        for (to, size) in &departures[first..] {
            bytes += size;
            let allowed = match shaper {
                Shaper::TokenBucket {
                    bytes_per_second,
                    burst,
                    ..
                } => {
                    let span = u128::from((*to - *from).0);
                    let accrued = span * u128::from(*bytes_per_second) / 1_000_000_000;
                    accrued as u64 + burst + 1
                }
                // Several opportunities may have the first one's time.
                Shaper::Trace(_) => link.capacity(*from - Nanos(1), *to),
                _ => link.capacity(*from, *to) + 1,
            };
            // The packet that departs first may have been sent before.
            prop_assert!(
                bytes <= allowed + largest,
                "{bytes} from {from} to {to}, not {allowed}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_counted_and_in_order(
        config in links(),
        arrivals in arrivals(),
        seed: u64,
    ) {
        let outcome = run(&config, seed, &arrivals, Polls::Events);
        let Outcome { delivered, records, statistics } = &outcome;

        // Every packet is in the books once, with its duplicates, and has met its fate.
        let (offered, duplicated) = (statistics.offered, statistics.duplicated);
        prop_assert_eq!(offered.packets, arrivals.len() as u64);
        let of = |count: kneepoint_emulator::link::Count| (count.packets, count.bytes);
        prop_assert_eq!(total(records.iter().filter(|record| !record.duplicate)), of(offered));
        prop_assert_eq!(total(records.iter().filter(|record| record.duplicate)), of(duplicated));
        let dropped = statistics.all_dropped();
        prop_assert_eq!(
            offered.packets + duplicated.packets,
            statistics.delivered.packets + dropped.packets
        );
        prop_assert_eq!(
            offered.bytes + duplicated.bytes,
            statistics.delivered.bytes + dropped.bytes
        );
        for cause in DropCause::ALL {
            let caused = |record: &&Record| {
                matches!(record.outcome, PacketOutcome::Dropped { cause: of, .. } if of == cause)
            };
            prop_assert_eq!(total(records.iter().filter(caused)), of(statistics.dropped(cause)));
        }

        // Deliveries are those of the books, in the order of time, and each packet comes as often as they say.
        let mut booked: Vec<(Nanos, usize)> = Vec::new();
        let mut serial = 0;
        for (place, record) in records.iter().enumerate() {
            serial += usize::from(place > 0 && !record.duplicate);
            match record.outcome {
                PacketOutcome::Sent { departure, delivery } => {
                    prop_assert!(record.arrival <= departure && departure <= delivery);
                    if let (Delay::Fixed(delay), None) = (&config.delay, config.aggregation) {
                        prop_assert_eq!(delivery, departure + *delay);
                    }
                    booked.push((delivery, serial));
                }
                PacketOutcome::Dropped { time, .. } => prop_assert!(record.arrival <= time),
                PacketOutcome::Queued => prop_assert!(false, "{record:?} is still there"),
            }
        }
        prop_assert!(delivered.iter().map(|(time, _)| time).is_sorted());
        if !reorders(&config) {
            prop_assert!(delivered.iter().map(|(_, serial)| serial).is_sorted());
        }
        let mut sorted = delivered.clone();
        sorted.sort_unstable();
        booked.sort_unstable();
        prop_assert_eq!(sorted, booked);
        let mut copies = BTreeMap::new();
        for (_, serial) in delivered {
            *copies.entry(*serial).or_insert(0) += 1;
        }
        prop_assert!(copies.values().all(|copies| *copies <= 2));

        check_rate(&Link::new(config.clone(), seed).unwrap(), &config.shaper, records)?;
    }

    #[test]
    fn it_does_not_matter_when_or_how_often_a_link_is_polled(
        config in links(),
        arrivals in arrivals(),
        seed: u64,
        step in 1..30_000_000_u64,
    ) {
        let outcome = run(&config, seed, &arrivals, Polls::Events);
        prop_assert_eq!(&run(&config, seed, &arrivals, Polls::Events), &outcome);
        prop_assert_eq!(&run(&config, seed, &arrivals, Polls::Every(Nanos(step.max(10_000)))), &outcome);
        prop_assert_eq!(&run(&config, seed, &arrivals, Polls::Once), &outcome);
    }

    #[test]
    fn the_end_of_time_is_survived(
        config in links(),
        mut arrivals in arrivals(),
        seed: u64,
        before_end in 0..1_000_000_000_u64,
    ) {
        if let Some((gap, ..)) = arrivals.first_mut() {
            *gap = Nanos(u64::MAX - before_end);
        }
        let Outcome { statistics, .. } = run(&config, seed, &arrivals, Polls::Once);
        prop_assert_eq!(
            statistics.offered.packets + statistics.duplicated.packets,
            statistics.delivered.packets + statistics.all_dropped().packets
        );
    }
}

/// How often a packet's payload begins with its serial number.
const SERIALS: usize = 3;
