//! What holds for every trace.

use kneepoint_emulator::link::{Link, LinkConfig, PacketOutcome, Shaper};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{drain, packet};
use crate::strategies::traces;

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

    /// Many gaps are whole milliseconds, so that arrivals coincide with opportunities.
    #[test]
    fn departures_are_those_of_the_simplest_loop(
        trace in traces(),
        arrivals in vec((prop_oneof![Just(0), (0..20_u64).prop_map(|ms| ms * 1_000_000), 0..5_000_000_u64], 0..3_000_usize), 0..100),
    ) {
        let config = LinkConfig { log: true, ..LinkConfig::new(Shaper::Trace(trace.clone())) };
        let mut link = Link::new(config, 1).unwrap();
        let mut now = Nanos::ZERO;
        for (gap, size) in arrivals {
            now = now + Nanos(gap);
            link.offer(now, packet(size, 0));
        }
        drain(&mut link);
        let records = link.log().unwrap().records().iter();
        let arrivals: Vec<_> = records.clone().map(|record| (record.arrival, record.size)).collect();
        let departures: Vec<_> = records.filter_map(|record| match record.outcome {
            PacketOutcome::Sent { departure, .. } => Some(departure),
            _ => None,
        }).collect();
        prop_assert_eq!(departures, opportunity_by_opportunity(&trace, &arrivals));
    }
}
