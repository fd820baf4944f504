//! The testkit's sender with the controllers of this build, and events made by hand.
//!
//! For tests of a controller's internals; all others are in `tests/`. The testkit depends on another build of this
//! crate, with other types, so its adapter to the neutral trait is compiled here once more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use kneepoint_testkit::{AckPolicy, Sender};
pub(crate) use kneepoint_testkit::{Packets, Scenario};

use crate::config::{Environment, Transport};
use crate::controller::Controller;
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, RateSample};
use crate::filter::{BandwidthFilter, FilterContext};
use crate::snapshot::FilterSnapshot;
use crate::units::{Bandwidth, Bytes, Timestamp};

#[path = "../../testkit/src/neutral.rs"]
#[allow(unreachable_pub, reason = "it is the testkit's")]
mod neutral;

use self::neutral::Neutral;

pub(crate) type Driver = Sender<Neutral>;

pub(crate) const PLAIN: Scenario = Scenario::PLAIN;

/// A controller on its way through a scenario.
pub(crate) fn drive(controller: Box<dyn Controller>, scenario: Scenario) -> Driver {
    Sender::new(Neutral::new(controller), &scenario)
}

/// The time, as controllers count it.
pub(crate) fn now(driver: &Driver) -> Timestamp {
    Timestamp::from_origin(driver.now())
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

/// Two packets are acknowledged that left 40 ms before, at the beginning of a round; nothing was measured.
pub(crate) fn two_packets(now_millis: u64) -> AckEvent {
    let (now, rtt) = (at(now_millis), Duration::from_millis(40));
    AckEvent {
        now,
        acked: MTU * 2,
        acked_packets: 2,
        newest_sent: now - rtt,
        oldest_sent: now - rtt,
        delivered: MTU * 2,
        round: 1,
        round_start: true,
        ..AckEvent::nothing_yet(now)
    }
}

/// An acknowledgement that measured what it acknowledges over its round trip.
pub(crate) fn ack(now: Timestamp, rtt: Duration, acked: Bytes, round: u64) -> AckEvent {
    let rate = Bandwidth::from_delivery(acked, rtt).expect("a round trip takes time");
    AckEvent {
        now,
        acked,
        acked_packets: acked.0.div_ceil(MTU.0),
        newest_sent: now - rtt,
        oldest_sent: now - rtt,
        rate: Some(RateSample {
            delivery_rate: rate,
            delivered: acked,
            app_limited: false,
            prior_delivered: Bytes::ZERO,
            in_flight_at_send: acked,
            lost: Bytes::ZERO,
        }),
        prior_in_flight: acked * 2,
        in_flight: acked,
        delivered: acked,
        round,
        ..two_packets(0)
    }
}

/// A packet was lost or marked.
pub(crate) fn congestion(
    now_millis: u64,
    sent_millis: u64,
    signal: CongestionSignal,
) -> CongestionEvent {
    let lost = u64::from(signal != CongestionSignal::EcnMark);
    CongestionEvent {
        now: at(now_millis),
        signal,
        newest_sent: at(sent_millis),
        lost: MTU * lost,
        flight: None,
        delivered: MTU * 2,
        in_flight: MTU * 20,
        round: 5,
    }
}

pub(crate) const MTU: Bytes = Bytes(1200);

pub(crate) fn environment() -> Environment {
    Environment {
        now: Timestamp::ZERO,
        mtu: MTU,
        seed: 1,
        transport: Transport { paces: true },
    }
}

/// A filter that counts its events.
#[derive(Debug, Clone)]
pub(crate) struct CountingFilter(Arc<AtomicU32>);

impl BandwidthFilter for CountingFilter {
    fn reseed(&mut self, _epoch: u64, _rate: Bandwidth) {}

    fn on_ack(&mut self, _ack: &AckEvent, _context: &FilterContext) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        None
    }

    fn snapshot(&self) -> FilterSnapshot {
        FilterSnapshot::Max
    }
}

/// A controller reports an acknowledgement to this filter once, after all its packets.
pub(crate) fn assert_one_update_per_acknowledgement(
    controller: impl Fn(CountingFilter) -> Box<dyn Controller>,
) {
    let count = Arc::new(AtomicU32::new(0));
    let fives = Scenario {
        acks: AckPolicy::every(5),
        ..PLAIN
    };
    let mut driver = drive(controller(CountingFilter(Arc::clone(&count))), fives);
    // Ten packets of the initial window in two acknowledgements of five.
    driver.run_for(Duration::from_millis(55));
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(Bytes(driver.delivered), MTU * 10);
}
