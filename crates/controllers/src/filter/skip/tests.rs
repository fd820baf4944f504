//! How it samples when there is little to sample.

use core::time::Duration;

use super::*;
use crate::flow::Flow;

/// Trap: a sender that somebody else limits (a receiver's window, another link) sees nothing but lower bounds. An
/// hour of them must not carry the estimate away.
#[test]
fn lower_bounds_alone_do_not_carry_the_estimate_away() {
    let mut filter = SkipFilterConfig::tuned()
        .build()
        .expect("the preset is valid");
    let rtt = Duration::from_millis(40);
    let mtu = Bytes(1200);
    let mut flow = Flow::new(Timestamp::ZERO);
    let mut largest = Bandwidth::ZERO;
    // Ten packets in flight, two per acknowledgement: 2.4 Mb/s.
    for step in 0..450_000u64 {
        let now = Timestamp::ZERO + Duration::from_millis(8 * step);
        if step >= 5 {
            flow.on_packet_acked(now, now - rtt, mtu);
            flow.on_packet_acked(now, now - rtt, mtu);
        }
        if let Some(ack) = flow.on_ack_end(now, mtu.packets(8), false) {
            let context = FilterContext {
                min_rtt: rtt,
                mtu,
                epoch: ack.round,
                filling_pipe: step < 100,
            };
            filter.on_ack(ack, &context);
            largest = largest.max(filter.bandwidth().unwrap_or_default());
        }
        flow.on_sent(now, mtu.packets(2));
    }
    let rate = Bandwidth::from_bytes_per_second(300_000);
    assert!(largest >= rate, "{largest}");
    assert!(largest <= Gain::new(2, 1) * rate, "{largest}");
}

/// Trap: after an outage the estimate is next to nothing. A sender paced by it has nothing in flight at each
/// acknowledgement, and still has to find out that the path is back.
#[test]
fn an_estimate_below_a_packet_per_round_trip_recovers() {
    let mut filter = SkipFilterConfig::tuned()
        .build()
        .expect("the preset is valid");
    let (rtt, mtu) = (Duration::from_millis(40), Bytes(1200));
    let mut flow = Flow::new(Timestamp::ZERO);
    let mut now = Timestamp::ZERO;
    let floor = Bandwidth::from_f64(TUNED_FLOOR);
    for round in 0..200 {
        flow.on_sent(now, mtu);
        now = now + rtt;
        flow.on_packet_acked(now, now - rtt, mtu);
        let ack = flow.on_ack_end(now, Bytes::ZERO, false);
        let context = FilterContext {
            min_rtt: rtt,
            mtu,
            epoch: round,
            filling_pipe: round == 0,
        };
        filter.on_ack(ack.expect("a packet was acknowledged"), &context);
        if round == 1 {
            for _ in 0..100 {
                filter.on_timer(now);
            }
            assert!(filter.bandwidth() <= Some(Gain::new(5, 4) * floor));
        }
        // The gain that a filter with nothing but lower bounds is probed with.
        let rate = Gain::new(5, 4) * filter.bandwidth().unwrap_or_default();
        let pause = mtu.0 * 1_000_000_000 / rate.bytes_per_second();
        now = now + Duration::from_nanos(pause).saturating_sub(rtt);
    }
    let estimate = filter.bandwidth().unwrap_or_default();
    assert!(estimate > Gain::new(3, 1) * floor, "{estimate}");
}
