//! Marks that a test deals out itself.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kneepoint_lab::controllers::resolve;
use kneepoint_lab::probe::SharedFactory;
use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;

/// A controller that is told of a mark at given times after its connection's beginning, and of another with the given
/// acknowledged packet: no queue marks a single packet of a test's choice.
pub(crate) fn marked(name: &str, times: Vec<Duration>, packet: Option<u64>) -> SharedFactory {
    Arc::new(MarkerFactory {
        inner: resolve(name, 1).expect("a known controller"),
        times: times.into(),
        packet,
    })
}

struct MarkerFactory {
    inner: SharedFactory,
    times: Arc<[Duration]>,
    packet: Option<u64>,
}

impl ControllerFactory for MarkerFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Marker {
            inner: Arc::clone(&self.inner).build(now, mtu),
            times: Arc::clone(&self.times),
            packet: self.packet,
            began: now,
            told: 0,
            acked: 0,
            newest: now,
        })
    }
}

struct Marker {
    inner: Box<dyn Controller>,
    times: Arc<[Duration]>,
    packet: Option<u64>,
    began: Instant,
    /// Of the times, those that have come.
    told: usize,
    acked: u64,
    /// When the packet acknowledged last had left.
    newest: Instant,
}

impl Controller for Marker {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acked += 1;
        self.newest = sent;
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let due = self.times[self.told..]
            .iter()
            .take_while(|after| now >= self.began + **after)
            .count();
        self.told += due;
        let packet = self.packet.take_if(|packet| self.acked >= *packet);
        if due > 0 || packet.is_some() {
            self.inner.on_congestion_event(now, self.newest, false, 0);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            times: Arc::clone(&self.times),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
