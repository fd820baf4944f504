//! What holds for every trace, link and sequence of packets.

use kneepoint_emulator::link::{
    Delay, Limit, Link, LinkConfig, PacketOutcome, Queue, Record, Shaper,
};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::common::packet;
use crate::strategies::traces;

fn shapers() -> impl Strategy<Value = Shaper> {
    prop_oneof![
        (1_000..10_000_000_u64).prop_map(|rate| Shaper::ConstantRate {
            bytes_per_second: rate
        }),
        traces().prop_map(Shaper::Trace),
    ]
}

fn queues() -> impl Strategy<Value = Queue> {
    (option::of(1..20_000_u64), option::of(1..20_u64)).prop_map(|limit| match limit {
        (None, None) => Queue::Infinite,
        (bytes, packets) => Queue::DropTail(Limit {
            bytes,
            packets,
            time: None,
        }),
    })
}

fn links() -> impl Strategy<Value = LinkConfig> {
    let loss = prop_oneof![Just(0.0), 0.0..0.5];
    (shapers(), queues(), 0..100_000_000_u64, loss, 0..50_u32).prop_map(
        |(shaper, queue, delay, loss, overhead)| LinkConfig {
            queue,
            delay: Nanos(delay).into(),
            loss: loss.into(),
            overhead,
            log: true,
            ..LinkConfig::new(shaper)
        },
    )
}

/// Arrivals of (gap since the one before in nanoseconds, payload size, poll before it). Many gaps are whole
/// milliseconds, so that arrivals coincide with opportunities.
fn arrivals() -> impl Strategy<Value = Vec<(u64, usize, bool)>> {
    let gap = prop_oneof![
        Just(0),
        (0..20_u64).prop_map(|ms| ms * 1_000_000),
        0..5_000_000_u64
    ];
    vec((gap, 0..3_000_usize, any::<bool>()), 0..100)
}

/// Runs the link empty. Returns what was delivered, as (time, serial number of the packet).
fn run(link: &mut Link, arrivals: &[(u64, usize, bool)]) -> Vec<(Nanos, usize)> {
    let mut delivered = Vec::new();
    let mut now = Nanos::ZERO;
    let mut deliver = |time, source: std::net::SocketAddr| {
        delivered.push((time, usize::from(source.port())));
    };
    for (serial, &(gap, size, poll)) in arrivals.iter().enumerate() {
        now = now + Nanos(gap);
        if poll {
            link.poll(now, |time, packet| deliver(time, packet.source));
        }
        let mut packet = packet(size, 0);
        packet.source.set_port(serial as u16);
        let _ = link.offer(now, packet);
    }
    while let Some(event) = link.next_event() {
        link.poll(event, |time, packet| {
            assert!(time <= event);
            deliver(time, packet.source);
        });
    }
    delivered
}

fn sent(record: &Record) -> Option<(Nanos, Nanos)> {
    match record.outcome {
        PacketOutcome::Sent {
            departure,
            delivery,
        } => Some((departure, delivery)),
        _ => None,
    }
}

/// The simplest form of the rules: mahimahi's loop over every opportunity. Returns departures of (arrival, size).
fn opportunity_by_opportunity(trace: &Trace, arrivals: &[(Nanos, u64)]) -> Vec<Nanos> {
    let mut departures = Vec::new();
    let mut left_of_packet = None;
    for time in trace.opportunities() {
        let mut budget = OPPORTUNITY_BYTES;
        while budget > 0 {
            let Some((arrival, size)) = arrivals.get(departures.len()) else {
                return departures;
            };
            if *arrival >= time {
                break;
            }
            let left = left_of_packet.unwrap_or(*size);
            let served = left.min(budget);
            budget -= served;
            left_of_packet = (left > served).then_some(left - served);
            if left_of_packet.is_none() {
                departures.push(time);
            }
        }
    }
    departures
}

proptest! {
    #[test]
    fn a_written_trace_parses_to_itself(trace in traces()) {
        let mut text = Vec::new();
        trace.write(&mut text).unwrap();
        prop_assert_eq!(Trace::parse(&text, "t").unwrap(), trace);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in vec(any::<u8>(), 0..60)) {
        let _ = Trace::parse(text, "t");
    }

    #[test]
    fn capacity_equals_counting(trace in traces(), from in 0..300_000_u64, span in 0..300_000_u64) {
        let (from, to) = (Nanos::from_micros(from), Nanos::from_micros(from + span));
        let within = |time: &Nanos| *time <= to;
        let counted = trace.opportunities().take_while(within).filter(|time| *time > from).count();
        prop_assert_eq!(trace.capacity(from, to), counted as u64 * OPPORTUNITY_BYTES);
        let after: Vec<Nanos> = trace.opportunities_after(from).take_while(within).collect();
        prop_assert_eq!(after.len(), counted);
    }

    #[test]
    fn departures_are_those_of_the_simplest_loop(trace in traces(), arrivals in arrivals()) {
        let config = LinkConfig { log: true, ..LinkConfig::new(Shaper::Trace(trace.clone())) };
        let mut link = Link::new(config, 1).unwrap();
        run(&mut link, &arrivals);
        let records = link.log().unwrap().records();
        let arrivals: Vec<_> = records.iter().map(|record| (record.arrival, record.size)).collect();
        let departures: Vec<_> = records.iter().filter_map(sent).map(|(at, _)| at).collect();
        prop_assert_eq!(departures, opportunity_by_opportunity(&trace, &arrivals));
    }

    #[test]
    fn packets_are_neither_invented_nor_reordered_nor_forgotten(
        config in links(),
        arrivals in arrivals(),
        seed: u64,
    ) {
        let Delay::Fixed(delay) = config.delay else {
            panic!("{:?}", config.delay);
        };
        let mut link = Link::new(config.clone(), seed).unwrap();
        let delivered = run(&mut link, &arrivals);

        // In order, each at most once, and exactly those that were not dropped.
        let records = link.log().unwrap().records();
        prop_assert_eq!(records.len(), arrivals.len());
        let expected: Vec<_> = records
            .iter()
            .enumerate()
            .filter_map(|(serial, record)| Some((sent(record)?.1, serial)))
            .collect();
        prop_assert_eq!(&delivered, &expected);
        prop_assert!(delivered.iter().map(|(_, serial)| serial).is_sorted());
        prop_assert!(delivered.iter().map(|(time, _)| time).is_sorted());

        // Nothing departs before it arrived, and propagation takes its time.
        for record in records {
            if let Some((departure, delivery)) = sent(record) {
                prop_assert!(departure >= record.arrival);
                prop_assert_eq!(delivery, departure + delay);
            }
        }

        // What was offered was delivered or dropped, to the byte.
        let statistics = *link.statistics();
        let total = |f: fn(&Record) -> bool| -> (u64, u64) {
            let matching = records.iter().filter(|record| f(record));
            matching.fold((0, 0), |(packets, bytes), record| (packets + 1, bytes + record.size))
        };
        let offered = (statistics.offered.packets, statistics.offered.bytes);
        prop_assert_eq!(offered, total(|_| true));
        prop_assert_eq!(
            (statistics.delivered.packets, statistics.delivered.bytes),
            total(|record| sent(record).is_some())
        );
        prop_assert_eq!(
            statistics.delivered.bytes + statistics.lost.bytes + statistics.queue_full.bytes,
            statistics.offered.bytes
        );

        // The same calls give the same results.
        let mut again = Link::new(config, seed).unwrap();
        prop_assert_eq!(run(&mut again, &arrivals), delivered);
        prop_assert_eq!(again.log().unwrap().records(), link.log().unwrap().records());
    }

    #[test]
    fn a_serial_line_never_exceeds_its_rate(
        bytes_per_second in 1_000..10_000_000_u64,
        arrivals in arrivals(),
    ) {
        let shaper = Shaper::ConstantRate { bytes_per_second };
        let mut link = Link::new(LinkConfig { log: true, ..LinkConfig::new(shaper) }, 1).unwrap();
        run(&mut link, &arrivals);
        let records = link.log().unwrap().records();
        let departures: Vec<(Nanos, u64)> = records
            .iter()
            .filter_map(|record| Some((sent(record)?.0, record.size)))
            .collect();
        for (first, (from, _)) in departures.iter().enumerate() {
            // All bytes of the packets that depart after the first one are sent after its departure. One byte is for
            // the capacity's and the departures' rounding to whole bytes and nanoseconds.
            let mut bytes = 0;
            for (to, size) in &departures[first + 1..] {
                bytes += size;
                prop_assert!(bytes <= link.capacity(*from, *to) + 1);
            }
        }
    }
}
