//! Events made by hand, for tests.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Bbr3, Bbr3CoreConfig};
use crate::controller::{Control, Controller};
use crate::driver::{self, Driver, MTU, Scenario, drive, environment};
use crate::event::{
    AckEvent, CongestionEvent, CongestionSignal, FlightSample, RateSample, SentEvent,
};
use crate::filter::MaxFilter;
use crate::snapshot::{Mode, Snapshot};
use crate::units::{Bandwidth, Bytes};

/// 10 Mb/s over 40 ms, of a packet that left when so many bytes had been delivered.
pub(super) fn sample(prior_delivered: u64) -> Option<RateSample> {
    let rate = Bandwidth::from_bytes_per_second(1_250_000);
    Some(RateSample {
        delivery_rate: rate,
        delivered: Bytes(50_000),
        app_limited: false,
        prior_delivered: Bytes(prior_delivered),
        in_flight_at_send: Bytes(50_000),
        lost: Bytes::ZERO,
    })
}

/// Two packets acknowledged, 40 ms after they left, of a flight a little larger than that pipe.
pub(super) fn ack(now_millis: u64, rate: Option<RateSample>) -> AckEvent {
    AckEvent {
        rate,
        prior_in_flight: MTU * 52,
        in_flight: MTU * 50,
        ..driver::two_packets(now_millis)
    }
}

/// One packet lost or marked that left with the flight given.
pub(super) fn congestion(
    now_millis: u64,
    sent_millis: u64,
    signal: CongestionSignal,
    flight: Option<FlightSample>,
) -> CongestionEvent {
    CongestionEvent {
        flight,
        ..driver::congestion(now_millis, sent_millis, signal)
    }
}

/// A controller that the test can look into while a driver holds it.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<Bbr3<MaxFilter>>>);

impl Shared {
    pub(super) fn new(config: Bbr3CoreConfig) -> Self {
        let filter = MaxFilter::new(2);
        let core = Bbr3::new("shared", config, filter, &environment());
        Self(Arc::new(Mutex::new(core)))
    }

    pub(super) fn get(&self) -> MutexGuard<'_, Bbr3<MaxFilter>> {
        self.0.lock().expect("no test panics with it")
    }
}

impl Controller for Shared {
    fn on_sent(&mut self, event: &SentEvent) {
        self.get().on_sent(event);
    }

    fn on_ack(&mut self, event: &AckEvent) {
        self.get().on_ack(event);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.get().on_congestion(event);
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.get().on_mtu_update(mtu);
    }

    fn control(&self) -> Control {
        self.get().control()
    }

    fn snapshot(&self) -> Snapshot {
        self.get().snapshot()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Runs for a millisecond over a path that gets a little longer all the while, so that no round trip is ever as short as an
/// earlier one.
pub(super) fn lengthen(driver: &mut Driver) {
    driver.run_for(Duration::from_millis(1));
    driver.return_delay += Duration::from_nanos(10);
}

/// A driver of the draft's controller over `scenario`, and a view into it.
pub(super) fn shared(scenario: Scenario) -> (Driver, Shared) {
    let shared = Shared::new(Bbr3CoreConfig::draft());
    (drive(Box::new(shared.clone()), scenario), shared)
}

/// The draft's controller once it has run into `mode`, and when that was, in milliseconds.
pub(super) fn run_into(mode: Mode, scenario: Scenario) -> (Bbr3<MaxFilter>, u64) {
    let (mut driver, shared) = shared(scenario);
    for _ in 0..60_000 {
        lengthen(&mut driver);
        if shared.get().state.mode() == mode {
            let core = shared.get().clone();
            return (core, driver.now().as_millis() as u64);
        }
    }
    panic!("never in {mode:?}");
}
