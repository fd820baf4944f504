use super::*;
use crate::capacity::Method;
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const MIN_RTT: u64 = 20 * MS;
const SIZE: u64 = 1250;

/// A bottleneck that serves packets at a rate, bytes/s, in order, and delays them by half of the minimal round-trip time
/// each way.
struct Path {
    rate: f64,
    free_at: f64,
}

impl Path {
    fn new(rate: f64) -> Self {
        Self { rate, free_at: 0.0 }
    }

    fn send(&mut self, sent_at: u64) -> AckedPacket {
        let arrival = (sent_at + MIN_RTT / 2) as f64;
        self.free_at = arrival.max(self.free_at) + SIZE as f64 / self.rate * 1e9;
        packet(sent_at, self.free_at as u64 + MIN_RTT / 2)
    }
}

fn packet(sent_at: u64, acked_at: u64) -> AckedPacket {
    AckedPacket {
        sent_at,
        acked_at,
        bytes: SIZE,
        packets: 1,
    }
}

fn interval(method: Method) -> CapacityInterval {
    CapacityInterval::new(&IntervalConfig {
        method,
        ..IntervalConfig::default()
    })
    .unwrap()
}

/// Packets at a constant rate, bytes/s.
fn paced(path: &mut Path, rate: f64, packets: u64) -> impl Iterator<Item = AckedPacket> + '_ {
    (0..packets).map(move |index| path.send((index as f64 * SIZE as f64 / rate * 1e9) as u64))
}

const METHODS: [Method; 2] = [Method::DeliveryRate, Method::RttGradient];

#[test]
fn an_overloaded_path_shows_its_rate_by_every_method() {
    for method in METHODS {
        let mut interval = interval(method);
        let mut path = Path::new(1e6);
        paced(&mut path, 1.25e6, 60).for_each(|packet| interval.push(packet).unwrap());
        let estimate = interval.close(MIN_RTT).unwrap();
        assert_eq!(estimate.method, method);
        assert!(estimate.queueing && estimate.sample.sent_rate.is_infinite());
        assert!((estimate.sample.rate - 1e6).abs() < 1e2, "{estimate:?}");
        assert!((estimate.sent_rate - 1.25e6).abs() < 1e2, "{estimate:?}");
        assert!((estimate.gradient.unwrap().slope - 0.25).abs() < 1e-3);
        assert_eq!((estimate.packets, estimate.bytes), (59, 59 * SIZE));
    }
}

#[test]
fn an_idle_path_is_censored_at_the_sending_rate() {
    for method in METHODS {
        let mut interval = interval(method);
        let mut path = Path::new(1e8);
        paced(&mut path, 1e6, 60).for_each(|packet| interval.push(packet).unwrap());
        let estimate = interval.close(MIN_RTT).unwrap();
        assert!(
            !estimate.queueing && estimate.sample.is_censored(),
            "{estimate:?}"
        );
        assert!((estimate.sample.sent_rate - 1e6).abs() < 1e2);
    }
}

#[test]
fn a_standing_queue_makes_a_sample_real_though_the_sender_is_slower() {
    for method in METHODS {
        let mut interval = interval(method);
        // 40 ms of queue before the first packet, which the sender drains at 0.9 of the rate.
        let mut path = Path::new(1e6);
        path.free_at = (MIN_RTT / 2 + 40 * MS) as f64;
        paced(&mut path, 0.9e6, 60).for_each(|packet| interval.push(packet).unwrap());
        let estimate = interval.close(MIN_RTT).unwrap();
        assert!(estimate.queueing && estimate.queue_delay > 20 * MS);
        // The delivery rate cannot see more than was sent.
        let expected = if method == Method::DeliveryRate {
            0.9e6
        } else {
            1e6
        };
        assert!(
            (estimate.sample.rate - expected).abs() < 2e3,
            "{estimate:?}"
        );
    }
}

#[test]
fn aggregated_acknowledgements_mislead_the_gradient_most() {
    // Overload by a quarter; acknowledgements leave the receiver every 5 ms.
    let error = |method| {
        let mut interval = interval(method);
        let mut path = Path::new(1e6);
        for mut packet in paced(&mut path, 1.25e6, 80) {
            packet.acked_at = packet.acked_at.next_multiple_of(5 * MS);
            interval.push(packet).unwrap();
        }
        (interval.close(MIN_RTT).unwrap().measured_rate - 1e6).abs()
    };
    assert!(error(Method::DeliveryRate) <= error(Method::RttGradient));
}

#[test]
fn an_interval_goes_on_until_it_is_long_enough() {
    let mut interval = interval(Method::DeliveryRate);
    assert_eq!(
        interval.close(MIN_RTT),
        Err(CloseError::Packets { packets: 0, min: 8 })
    );
    let mut path = Path::new(1e6);
    let packets: std::vec::Vec<_> = paced(&mut path, 1.25e6, 40).collect();
    let mut closed = 0;
    for packet in packets {
        interval.push(packet).unwrap();
        match interval.close(MIN_RTT) {
            Ok(estimate) => {
                assert!(estimate.elapsed >= MIN_RTT && interval.packets() == 0);
                closed += 1;
            }
            Err(error) => assert!(error.is_too_short()),
        }
    }
    // 39 packets after the first, each 1.25 ms: two round trips of 20 ms and a rest.
    assert_eq!(closed, 2);
}

#[test]
fn one_large_acknowledgement_is_not_enough() {
    let mut interval = interval(Method::DeliveryRate);
    interval.push(packet(0, MIN_RTT)).unwrap();
    for sent_at in 1..=20 {
        interval.push(packet(sent_at * MS, 60 * MS)).unwrap();
    }
    assert_eq!(
        interval.close(MIN_RTT),
        Err(CloseError::Batches { batches: 1, min: 4 })
    );
}

#[test]
fn a_burst_has_no_gradient_but_a_rate() {
    let mut interval = interval(Method::RttGradient);
    let mut path = Path::new(1e6);
    for _ in 0..40 {
        interval.push(path.send(0)).unwrap();
    }
    let estimate = interval.close(MIN_RTT).unwrap();
    assert_eq!(
        (estimate.method, estimate.gradient),
        (Method::DeliveryRate, None)
    );
    assert!(estimate.sent_rate.is_infinite() && estimate.sample.is_censored());
    assert!((estimate.sample.rate - 1e6).abs() < 1e2, "{estimate:?}");
}

/// Trap: 85 kB sent at once on 1 Gb/s. The receiver waits 25 ms before it acknowledges the last packet alone.
#[test]
fn a_burst_whose_last_acknowledgement_is_late_is_a_lower_bound() {
    let mut interval = interval(Method::DeliveryRate);
    let mut path = Path::new(125e6);
    let mut packets: std::vec::Vec<_> = (0..69).map(|_| path.send(0)).collect();
    packets[68].acked_at += 25 * MS;
    for packet in packets {
        interval.push(packet).unwrap();
    }
    let estimate = interval.close(MIN_RTT).unwrap();
    assert!(estimate.sent_rate.is_infinite() && !estimate.queueing);
    assert!(estimate.sample.is_censored(), "{estimate:?}");
    assert_eq!(estimate.sample.sent_rate, estimate.measured_rate);
    assert!(estimate.measured_rate < 4e6, "{estimate:?}");
}

/// Trap: of packets that are acknowledged together only the newest one's times are known, but each is served.
#[test]
fn a_queue_is_counted_in_packets_however_many_are_acknowledged_together() {
    for together in 1..=8 {
        let mut interval = interval(Method::DeliveryRate);
        // 1 Mb/s: 10 ms for each packet. The sender keeps 3.9 packets queued.
        let service = 10 * MS;
        for ack in 1..=20 {
            let acked_at = MIN_RTT + 39 * MS + ack * together * service;
            let mut packet = packet(acked_at - MIN_RTT - 39 * MS, acked_at);
            packet.bytes = together * SIZE;
            packet.packets = together as u32;
            interval.push(packet).unwrap();
        }
        let estimate = interval.close(MIN_RTT).unwrap();
        assert!(estimate.queueing, "{together}: {estimate:?}");
        assert!((estimate.sample.rate - 125e3).abs() < 1.0, "{estimate:?}");
    }
}

#[test]
fn delays_that_fall_too_fast_are_no_gradient() {
    let mut interval = interval(Method::RttGradient);
    for index in 0..20 {
        let acked_at = 200 * MS + index * MS / 2;
        interval.push(packet(index * 5 * MS, acked_at)).unwrap();
    }
    let estimate = interval.close(5 * MS).unwrap();
    assert_eq!(estimate.method, Method::DeliveryRate);
    assert!(estimate.measured_rate <= 3.0 * estimate.sent_rate);
}

#[test]
fn nothing_is_measured_beyond_three_times_the_sending_rate() {
    let mut interval = interval(Method::RttGradient);
    for index in 0..20 {
        let acked_at = 200 * MS + index * 5 * MS / 4;
        interval.push(packet(index * 5 * MS, acked_at)).unwrap();
    }
    let estimate = interval.close(5 * MS).unwrap();
    assert_eq!(estimate.method, Method::RttGradient);
    assert_eq!(estimate.measured_rate, 3.0 * estimate.sent_rate);
}

#[test]
fn time_that_runs_backwards_is_named() {
    let mut interval = interval(Method::default());
    assert!(matches!(
        interval.push(packet(5, 4)),
        Err(PacketError::AckedBeforeSent { .. })
    ));
    interval.push(packet(5, 10)).unwrap();
    interval.push(packet(6, 12)).unwrap();
    assert!(matches!(
        interval.push(packet(6, 11)),
        Err(PacketError::AckedBeforePrevious { .. })
    ));
    assert_eq!(interval.packets(), 1);
    interval.restart();
    interval.push(packet(1, 2)).unwrap();
    assert_eq!(interval.packets(), 0);
}

#[test]
fn times_of_more_than_292_years_count_as_that() {
    let estimate = |latest: u64| {
        let mut interval = interval(Method::RttGradient);
        for index in 0..20 {
            let packet = packet(index * MS, 50 * MS + index * 2 * MS);
            interval.push(packet).unwrap();
        }
        // Sent after everything, acknowledged at the end of time.
        interval.push(packet(30 * MS, latest)).unwrap();
        interval.push(packet(latest, latest)).unwrap();
        interval.close(5 * MS)
    };
    let at_the_limit = estimate(i64::MAX as u64);
    assert!(at_the_limit.is_ok());
    assert_eq!(estimate(u64::MAX), at_the_limit);
}

#[test]
fn intervals_without_a_rate_are_discarded() {
    let mut interval = interval(Method::default());
    for index in 0..20 {
        let mut packet = packet(index, 100 + index);
        packet.bytes = 0;
        interval.push(packet).unwrap();
    }
    let error = interval.close(10).unwrap_err();
    assert!(error == CloseError::NoBytes && !error.is_too_short() && interval.packets() == 0);
    for index in 0..20 {
        let mut packet = packet(index, 200 + index);
        packet.bytes = u64::MAX;
        interval.push(packet).unwrap();
    }
    assert!(matches!(
        interval.close(10),
        Err(CloseError::DeliveryRate(DeliveryRateError::Rate(_)))
    ));
}

proptest! {
    #[test]
    fn no_packets_yield_anything_but_a_sample(
        packets in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<bool>()), 1..60),
        shift in 0u32..60,
        min_rtt: u64,
        method in prop::sample::select(&METHODS[..]),
    ) {
        let mut interval = CapacityInterval::new(&IntervalConfig {
            method, min_rtts: 0.0, min_packets: 1, min_batches: 1,
        }).unwrap();
        let mut acked_at = 0u64;
        for (sent_at, step, bytes, finish) in packets {
            acked_at = acked_at.saturating_add(step >> shift);
            let sent_at = sent_at % acked_at.saturating_add(1);
            let _ = interval.push(AckedPacket { sent_at, acked_at, bytes: bytes >> shift, packets: (bytes >> 40) as u32 });
            if finish && let Ok(estimate) = interval.close(min_rtt) {
                prop_assert!(estimate.sample.validate().is_ok(), "{estimate:?}");
                prop_assert!(estimate.measured_rate >= 0.0 && estimate.measured_rate.is_finite());
                prop_assert!(estimate.measured_rate <= 3.0 * estimate.sent_rate);
            }
        }
    }
}
