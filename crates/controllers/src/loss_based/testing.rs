//! The events, and the runs, that the tests are made of.

use core::time::Duration;

use crate::config::ControllerConfig;
use crate::controller::Controller;
pub(crate) use crate::driver::{at, congestion};
use crate::driver::{environment, two_packets};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal};
use crate::units::Bytes;

/// Two packets are acknowledged in the middle of a round, with a full window in flight.
pub(crate) fn ack(now_millis: u64) -> AckEvent {
    AckEvent {
        prior_in_flight: Bytes(u64::MAX >> 16),
        in_flight: Bytes(u64::MAX >> 16),
        round_start: false,
        ..two_packets(now_millis)
    }
}

/// The same at the beginning of a round, with another round-trip time.
pub(crate) fn round(now_millis: u64, rtt_millis: u64) -> AckEvent {
    AckEvent {
        round_start: true,
        ..ack(now_millis).with_rtt(Duration::from_millis(rtt_millis))
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
