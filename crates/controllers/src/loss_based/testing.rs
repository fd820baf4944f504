//! The events, and the runs, that the tests are made of.

use core::time::Duration;

use crate::config::ControllerConfig;
use crate::controller::Controller;
use crate::driver::{Driver, MTU, PLAIN, Scenario, environment};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal};
use crate::units::{Bytes, Timestamp};

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

/// Two packets are acknowledged that left 40 ms before, in the middle of a round, with a full window in flight.
pub(crate) fn ack(now_millis: u64) -> AckEvent {
    let now = at(now_millis);
    AckEvent {
        now,
        acked: MTU.packets(2),
        acked_packets: 2,
        acks: 1,
        lost: Bytes::ZERO,
        newest_sent: now - Duration::from_millis(40),
        rtt: Duration::from_millis(40),
        rate: None,
        prior_in_flight: Bytes(u64::MAX >> 16),
        in_flight: Bytes(u64::MAX >> 16),
        delivered: MTU.packets(2),
        round: 1,
        round_start: false,
        app_limited: false,
    }
}

/// The same at the beginning of a round, with another round-trip time.
pub(crate) fn round(now_millis: u64, rtt_millis: u64) -> AckEvent {
    AckEvent {
        rtt: Duration::from_millis(rtt_millis),
        round_start: true,
        ..ack(now_millis)
    }
}

pub(crate) fn congestion(
    now_millis: u64,
    sent_millis: u64,
    signal: CongestionSignal,
) -> CongestionEvent {
    let lost = signal != CongestionSignal::EcnMark;
    CongestionEvent {
        now: at(now_millis),
        signal,
        newest_sent: at(sent_millis),
        lost: if lost { MTU } else { Bytes::ZERO },
        lost_packets: u64::from(lost),
        flight: None,
        delivered: MTU.packets(2),
        in_flight: MTU.packets(20),
        round: 1,
    }
}

pub(crate) fn loss(now_millis: u64, sent_millis: u64) -> CongestionEvent {
    congestion(now_millis, sent_millis, CongestionSignal::Loss)
}

pub(crate) fn build(config: &dyn ControllerConfig) -> Box<dyn Controller> {
    config.build(&environment()).expect("a valid configuration")
}

pub(crate) fn window(controller: &dyn Controller) -> Bytes {
    controller.control().window
}

/// 10 Mb/s, 40 ms, one bandwidth-delay product of buffer.
pub(crate) const SHALLOW: Scenario = Scenario {
    buffer: Bytes(50_000),
    ..PLAIN
};

/// The share of the path that a greedy flow gets between the fifth and the 65th second.
pub(crate) fn utilization(config: &dyn ControllerConfig, scenario: Scenario) -> (f64, Driver) {
    let mut driver = Driver::new(build(config), scenario);
    driver.run_for(Duration::from_secs(5));
    driver.take_rtts();
    let rate = driver.measure(Duration::from_secs(60)).as_f64() / scenario.rate.as_f64();
    (rate, driver)
}
