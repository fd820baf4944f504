//! How it samples when there is little to sample.

use core::time::Duration;

use super::*;
use crate::rate_sample::DeliveryRateSampler;
use crate::units::saturating_nanos;

/// Trap: a sender that is limited elsewhere (by a receiver's window, or another link) sees only lower bounds. An hour
/// of them must not raise the estimate.
#[test]
fn lower_bounds_alone_do_not_carry_the_estimate_away() {
    let mut filter = SkipFilterConfig::tuned()
        .build()
        .expect("the preset is valid");
    let rtt = Duration::from_millis(40);
    let mtu = Bytes(1200);
    let mut sampler = DeliveryRateSampler::new(Timestamp::ZERO);
    let mut largest = Bandwidth::ZERO;
    // Ten packets in flight, two per acknowledgement: 2.4 Mb/s.
    for step in 0..450_000u64 {
        let now = Timestamp::ZERO + Duration::from_millis(8 * step);
        if step >= 5 {
            sampler.on_run_acked(now, now - rtt, mtu, 1);
            sampler.on_run_acked(now, now - rtt, mtu, 1);
        }
        if let Some(ack) = sampler.on_ack_end(now, mtu * 8, false) {
            let context = FilterContext {
                min_rtt: saturating_nanos(rtt),
                spread: 0,
                epoch: ack.round,
                filling_pipe: step < 100,
            };
            filter.on_ack(ack, &context);
            largest = largest.max(filter.bandwidth().unwrap_or_default());
        }
        sampler.on_sent(now, mtu * 2);
    }
    let rate = Bandwidth::from_bytes_per_second(300_000);
    assert!(largest >= rate, "{largest}");
    assert!(largest <= Gain::new(2, 1) * rate, "{largest}");
}

/// Trap: an estimate can be next to nothing. A sender paced by it has nothing in flight at each
/// acknowledgement, and still has to find out that the path is back.
#[test]
fn an_estimate_below_a_packet_per_round_trip_recovers() {
    let mut filter = SkipFilterConfig::tuned()
        .build()
        .expect("the preset is valid");
    let (rtt, mtu) = (Duration::from_millis(40), Bytes(1200));
    let mut sampler = DeliveryRateSampler::new(Timestamp::ZERO);
    let mut now = Timestamp::ZERO;
    let floor = Bandwidth::from_f64(TUNED_FLOOR);
    for round in 0..200 {
        sampler.on_sent(now, mtu);
        now = now + rtt;
        sampler.on_run_acked(now, now - rtt, mtu, 1);
        let ack = sampler.on_ack_end(now, Bytes::ZERO, false);
        let context = FilterContext {
            min_rtt: saturating_nanos(rtt),
            spread: 0,
            epoch: round,
            filling_pipe: round == 0,
        };
        filter.on_ack(ack.expect("a packet was acknowledged"), &context);
        if round == 1 {
            filter.reseed(round, floor);
        }
        // The gain that a filter with nothing but lower bounds is probed with.
        let rate = Gain::new(5, 4) * filter.bandwidth().unwrap_or_default();
        let pause = mtu.0 * 1_000_000_000 / rate.bytes_per_second();
        now = now + Duration::from_nanos(pause).saturating_sub(rtt);
    }
    let estimate = filter.bandwidth().unwrap_or_default();
    assert!(estimate > Gain::new(3, 1) * floor, "{estimate}");
}

/// A filter that knows 10 Mb/s and 40 ms, the flow, and the time.
fn settled(config: &SkipFilterConfig) -> (SkipFilter, DeliveryRateSampler, Timestamp) {
    let mut filter = config.build().expect("the preset is valid");
    let mut sampler = DeliveryRateSampler::new(Timestamp::ZERO);
    let mtu = Bytes(1250);
    let mut now = Timestamp::ZERO;
    // A packet each millisecond, a queue of 8 ms, two packets per acknowledgement.
    for step in 0..2000 {
        now = Timestamp::from_nanos(step * 1_000_000);
        if step >= 48 && step % 2 == 0 {
            for age in [49, 48] {
                sampler.on_run_acked(now, now - Duration::from_millis(age), mtu, 1);
            }
            let ack = sampler.on_ack_end(now, mtu * 48, false);
            take(&mut filter, ack, step < 500);
        }
        sampler.on_sent(now, mtu);
    }
    (filter, sampler, now)
}

fn take(filter: &mut SkipFilter, ack: Option<&crate::event::AckEvent>, filling_pipe: bool) {
    let ack = ack.expect("a packet was acknowledged");
    let context = FilterContext {
        min_rtt: 40_000_000,
        spread: 0,
        epoch: ack.round,
        filling_pipe,
    };
    filter.on_ack(ack, &context);
}

fn presets() -> [SkipFilterConfig; 2] {
    [SkipFilterConfig::tuned(), SkipFilterConfig::paper()]
}

const LINK: f64 = 1.25e6;

/// Trap: on a short path, three round trips pass while the receiver waits for a second packet to acknowledge; and an
/// application that has nothing to send is silent.
#[test]
fn neither_a_delayed_acknowledgement_nor_the_application_is_an_outage() {
    for config in presets() {
        let (mut filter, mut sampler, now) = settled(&config);
        let mtu = Bytes(1250);
        for (in_flight, app_limited) in [
            (mtu, true),
            (Bytes::ZERO, true),
            (Bytes::ZERO, false),
            (mtu, false),
        ] {
            let now = now + Duration::from_millis(1);
            sampler.on_run_acked(now, now - Duration::from_millis(48), mtu, 1);
            take(
                &mut filter,
                sampler.on_ack_end(now, in_flight, app_limited),
                false,
            );
            let due = filter.next_timer();
            if in_flight == Bytes::ZERO || app_limited || !config.outage_samples {
                assert_eq!(due, None);
            } else {
                let patience = Duration::from_millis(3 * 48 + 25);
                assert!(due >= Some(now + patience), "{due:?}");
            }
            // Firing it early changes nothing.
            let before = filter.bandwidth();
            for _ in 0..16 {
                filter.on_timer(now + Duration::from_millis(25));
            }
            assert_eq!(filter.bandwidth(), before);
        }
    }
}

/// Trap: a link that is closed for a while carries nothing meanwhile, and as much as before when it opens.
#[test]
fn a_closed_link_keeps_its_rate() {
    let (mut filter, mut sampler, mut now) = settled(&SkipFilterConfig::tuned());
    let mtu = Bytes(1250);
    for opening in 0..50 {
        now = now + Duration::from_millis(300 + 20 * (opening % 40));
        let sent = now;
        sampler.on_sent(sent, mtu * 100);
        now = now + Duration::from_millis(300);
        for _ in 0..50 {
            now = now + Duration::from_millis(2);
            sampler.on_run_acked(now, sent, mtu, 1);
            sampler.on_run_acked(now, sent, mtu, 1);
            take(&mut filter, sampler.on_ack_end(now, mtu * 48, false), false);
        }
        let estimate = filter.bandwidth().unwrap_or_default().as_f64();
        assert!(
            (0.9..1.1).contains(&(estimate / LINK)),
            "{estimate} after {opening}"
        );
    }
}

/// Trap: where every acknowledgement comes after a pause, none of the pauses is the link's.
#[test]
fn a_link_of_a_packet_in_three_hundred_milliseconds_is_not_a_closed_one() {
    let (mut filter, mut sampler, start) = settled(&SkipFilterConfig::tuned());
    let mtu = Bytes(1250);
    for packet in 1..50 {
        // Nine packets in flight.
        sampler.on_sent(start + Duration::from_millis(300 * packet), mtu);
        if packet > 9 {
            let now = start + Duration::from_millis(300 * packet);
            sampler.on_run_acked(
                now,
                start + Duration::from_millis(300 * (packet - 9)),
                mtu,
                1,
            );
            take(&mut filter, sampler.on_ack_end(now, mtu * 8, false), false);
        }
    }
    let estimate = filter.bandwidth().unwrap_or_default().as_f64();
    assert!((3000.0..7000.0).contains(&estimate), "{estimate}");
}

/// Trap: an application that sends a fifth of what the link carries, for an hour.
#[test]
fn an_hour_of_media_does_not_move_the_estimate() {
    let (mut filter, mut sampler, start) = settled(&SkipFilterConfig::tuned());
    let mtu = Bytes(1250);
    for step in 1..720_000 {
        // A packet each 5 ms: 2 Mb/s.
        let now = start + Duration::from_millis(200 + 5 * step);
        if step > 8 && step % 2 == 0 {
            for age in [45, 40] {
                sampler.on_run_acked(now, now - Duration::from_millis(age), mtu, 1);
            }
            take(&mut filter, sampler.on_ack_end(now, mtu * 8, true), false);
        }
        sampler.on_sent(now, mtu);
        let estimate = filter.bandwidth().unwrap_or_default().as_f64();
        assert!(
            (0.9..1.1).contains(&(estimate / LINK)),
            "{estimate} at {now:?}"
        );
    }
}
