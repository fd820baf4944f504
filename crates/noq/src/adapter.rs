//! noq's `Controller` on top of ours.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::time::{Duration, Instant};

use kneepoint_controllers::transport::{Adapter, WindowRule};
use kneepoint_controllers::{Bandwidth, Bytes, Controller};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller as HostController, ControllerMetrics};

/// One of our controllers as noq sees it.
///
/// noq reports, in this order: that an earlier congestion event was none, every `on_ack` of an acknowledgement,
/// `on_end_acks`, every `on_packet_lost`, the congestion event that they make up, ECN last. Its RTT estimator is updated
/// only after `on_end_acks`, so that round trips are measured here, from the time each packet left.
///
/// Packets are known by that time and not by their numbers, which begin anew in each of the packet number spaces
/// that share a path's controller. Packets of one instant left under the same circumstances: [`DeliveryRateSampler`] counts them
/// together, in bytes.
#[derive(Debug, Clone)]
pub(crate) struct NoqController {
    adapter: Adapter,
    shown: Shown,
}

/// What noq shows of the controller's state, in its statistics and in qlog. noq asks several times for each packet, so that
/// the state is read once in [`SHOWN_FOR`], and after each congestion event.
#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    slow_start_threshold: Option<u64>,
    /// In bit/s.
    bandwidth: Option<u64>,
    /// When the state is read again.
    until: Option<Instant>,
}

const SHOWN_FOR: Duration = Duration::from_millis(1);

impl NoqController {
    pub(crate) fn new(inner: Box<dyn Controller>, now: Instant, mtu: Bytes) -> Self {
        Self {
            adapter: Adapter::new(inner, now, mtu),
            shown: Shown::default(),
        }
    }

    /// With a pacing rate noq's pacer does not go by the window, so that there is nothing to compensate.
    fn told_window(&self) -> Bytes {
        let control = self.adapter.control();
        match control.pacing_rate {
            Some(_) => control.window,
            None => self.adapter.reported_window(),
        }
    }

    fn show(&mut self, now: Instant) {
        let state = self.adapter.snapshot();
        let bits = |rate: Bandwidth| rate.bytes_per_second().saturating_mul(8);
        self.shown = Shown {
            slow_start_threshold: state.slow_start_threshold.map(|bytes| bytes.0),
            bandwidth: state.bandwidth.map(bits),
            until: now.checked_add(SHOWN_FOR),
        };
    }

    /// The controller, and what it is told.
    pub(crate) fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What [`HostController::on_ack`] does: nobody outside of noq can make the RTT estimator that it takes.
    pub(crate) fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.adapter.packet_acked(now, sent, Bytes(bytes));
    }
}

impl HostController for NoqController {
    // Not `on_sent`: it comes once for a whole transmit and counts packets that are never acknowledged too.
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _pn: u64) {
        self.adapter.packets_sent(now, Bytes(u64::from(bytes)));
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _pn: u64,
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
        if self.shown.until.is_none_or(|until| now >= until) {
            self.show(now);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        if is_ecn {
            self.adapter.packet_marked(now, sent);
        } else {
            self.adapter
                .packets_lost(now, sent, Bytes(lost_bytes), is_persistent_congestion);
        }
        self.show(now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.adapter.loss_was_spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.adapter.mtu_updated(Bytes(u64::from(new_mtu)));
    }

    fn window(&self) -> u64 {
        WindowRule::UpTo.reported(self.told_window()).0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        // noq's pacer goes by it if there is no rate.
        metrics.congestion_window = self.told_window().0;
        metrics.ssthresh = self.shown.slow_start_threshold;
        let control = self.adapter.control();
        metrics.pacing_rate = control.pacing_rate.map(|rate| rate.bytes_per_second());
        metrics.send_quantum = Some(control.send_quantum.0);
        metrics.bandwidth_estimate = self.shown.bandwidth;
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
