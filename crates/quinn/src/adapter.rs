//! quinn's `Controller` on top of ours.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::time::Instant;

use kneepoint_controllers::transport::{Adapter, WindowRule};
use kneepoint_controllers::{Bytes, Controller};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller as HostController, ControllerMetrics};

/// One of our controllers as quinn sees it.
///
/// quinn reports single packets, in the order: every `on_ack` of an acknowledgement, `on_end_acks`, then losses, ECN
/// last. Its RTT estimator is updated only after `on_end_acks` and stands at 333 ms at first, so that round trips
/// are measured here, from the time each packet left.
#[derive(Debug, Clone)]
pub(crate) struct QuinnController {
    adapter: Adapter,
}

impl QuinnController {
    pub(crate) fn new(inner: Box<dyn Controller>, now: Instant, mtu: Bytes) -> Self {
        Self {
            adapter: Adapter::new(inner, now, mtu),
        }
    }

    /// The controller, and what it is told.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What [`HostController::on_ack`] does: nobody outside of quinn can make the RTT estimator that it takes.
    pub(crate) fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.adapter.packet_acked(now, sent, Bytes(bytes));
    }
}

impl HostController for QuinnController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let bytes = Bytes(bytes);
        if bytes <= LARGEST_ACK_ONLY {
            self.adapter.packet_sent_unless_ack_only(now, bytes);
        } else {
            self.adapter.packets_sent(now, bytes);
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.packet_acked(now, sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.adapter.acks_ended(now, Bytes(in_flight), app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if lost_bytes == 0 {
            return self.adapter.packet_marked(now, sent);
        }
        self.adapter
            .packets_lost(now, sent, Bytes(lost_bytes), is_persistent_congestion);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.adapter.mtu_updated(Bytes(u64::from(new_mtu)));
    }

    /// One byte more than the window, so that a window of whole packets can be filled.
    fn window(&self) -> u64 {
        WindowRule::Below.reported(self.adapter.reported_window()).0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.adapter.control().window.0;
        let state = self.adapter.snapshot();
        metrics.ssthresh = state.slow_start_threshold.map(|bytes| bytes.0);
        metrics.pacing_rate = state
            .pacing_rate
            .map(|rate| rate.bytes_per_second().saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn HostController> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.adapter.initial_window().0
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// quinn reports packets that carry only acknowledgements as sent, and does not tell them from others. This is one with some
/// twenty gaps: 50 bytes of header, counts and tag, four for each gap. Larger ones are taken for data until the next acknowledgement.
const LARGEST_ACK_ONLY: Bytes = Bytes(128);
