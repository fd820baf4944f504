//! noq's `Controller` on top of ours.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::time::Instant;

use kneepoint_controllers::transport::{
    AckedRun, Clock, SentRun, WindowRule, fire_timers, refilled_window,
};
use kneepoint_controllers::{
    Bytes, Control, Controller, DeliveryRateSampler, Loss, Snapshot, Timestamp,
};
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
#[derive(Debug)]
pub(crate) struct NoqController {
    inner: Box<dyn Controller>,
    sampler: DeliveryRateSampler,
    mtu: Bytes,
    clock: Clock,
    acked: AckedRun,
    sent: SentRun,
    /// The time of the last event: noq does not say when it noticed that a congestion event was none.
    now: Timestamp,
    /// What the controller asked for after the last event: noq reads it several times for each packet.
    control: Control,
    /// The window that noq is told, and paces by where it is told no rate.
    told: Bytes,
    /// When the controller wants its timer: asked once per event, compared at each.
    timer: Option<Timestamp>,
    /// Packets reported lost whose congestion event is still to come.
    lost_packets: u64,
    initial_window: Bytes,
}

impl NoqController {
    pub(crate) fn new(inner: Box<dyn Controller>, now: Instant, mtu: Bytes) -> Self {
        let control = inner.control();
        Self {
            sampler: if inner.wants_rate_samples() {
                DeliveryRateSampler::new(Timestamp::ZERO)
            } else {
                DeliveryRateSampler::without_rate_samples(Timestamp::ZERO)
            },
            mtu,
            told: control.window,
            clock: Clock::starting(now),
            acked: AckedRun::none(now),
            sent: SentRun::none(now),
            now: Timestamp::ZERO,
            timer: inner.next_timer(),
            inner,
            control,
            lost_packets: 0,
            initial_window: control.window,
        }
    }

    /// The controller's state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }

    /// What [`HostController::on_ack`] does: nobody outside of noq can make the RTT estimator that it takes.
    pub(crate) fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let (clock, sampler) = (&mut self.clock, &mut self.sampler);
        self.acked.push(now, sent, Bytes(bytes), clock, sampler);
    }

    /// An event other than an acknowledgement happens. Fires the timers that were due before it: noq has none for controllers, and
    /// wakes them for events only.
    #[inline]
    fn begin(&mut self, now: Instant) -> Timestamp {
        if self.acked.is_under_way() {
            self.acked.end(&mut self.clock, &mut self.sampler);
        }
        self.now = self.clock.now(now);
        if self.timer.is_some_and(|due| due <= self.now) {
            self.timer = fire_timers(&mut *self.inner, self.now);
            self.refresh();
        }
        self.now
    }

    /// The packets of an acknowledgement are all known, and it waits for no other.
    fn acks_ended(&mut self, instant: Instant, in_flight: Bytes, app_limited: bool) {
        if let Some(event) = self.sent.end(&mut self.clock, &mut self.sampler) {
            self.inner.on_sent(&event);
        }
        self.acked.end(&mut self.clock, &mut self.sampler);
        // No timers first: what an acknowledgement ends was no silence.
        let now = self.clock.now(instant);
        self.now = now;
        let Some(ack) = self.sampler.on_ack_end(now, in_flight, app_limited) else {
            return;
        };
        let rtt = ack.rtt;
        self.timer = self.inner.acknowledge(ack, &mut self.control);
        self.told = refilled_window(&self.control, in_flight, self.mtu);
        self.acked.coalesce(instant, in_flight, rtt, self.mtu);
    }

    /// What waited for the next acknowledgement waits no longer.
    fn end_waiting(&mut self) {
        if let Some((now, in_flight)) = self.acked.waiting() {
            self.acks_ended(now, in_flight, false);
        }
    }

    fn refresh(&mut self) {
        self.control = self.inner.control();
        self.timer = self.inner.next_timer();
        self.told = refilled_window(&self.control, self.sampler.in_flight(), self.mtu);
    }
}

/// The state of a path's controller, if it is one of ours:
/// `connection.congestion_state(path).and_then(kneepoint::noq::snapshot)`.
///
/// noq hands out a clone of the controller. It shares the history of packets in flight with the connection; what is copied is
/// the controller's own state, some kilobytes however much is in flight.
pub fn snapshot(state: Box<dyn HostController>) -> Option<Snapshot> {
    let controller = state.into_any().downcast::<NoqController>().ok()?;
    Some(controller.snapshot())
}

impl Clone for NoqController {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone_box(),
            sampler: self.sampler.clone(),
            ..*self
        }
    }
}

impl HostController for NoqController {
    // Not `on_sent`: it comes once for a whole transmit and counts packets that are never acknowledged too.
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _pn: u64) {
        let bytes = Bytes(u64::from(bytes));
        if let Some(in_flight) = self.acked.waits_while_sending(now, bytes) {
            self.told = refilled_window(&self.control, in_flight, self.mtu);
            return self.sent.push(now, bytes);
        }
        self.end_waiting();
        let now = self.begin(now);
        let event = self.sampler.on_sent(now, bytes);
        self.inner.on_sent(&event);
        if event.prior_in_flight == Bytes::ZERO {
            self.control = self.inner.control();
            self.timer = self.inner.next_timer();
        }
        let in_flight = event.prior_in_flight + event.bytes;
        self.told = refilled_window(&self.control, in_flight, self.mtu);
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
        let in_flight = Bytes(in_flight);
        if app_limited || !self.acked.wait(now, in_flight) {
            self.acks_ended(now, in_flight, app_limited);
        }
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, _pn: u64, _now: Instant) {
        // Packets that only acknowledge have no size, and make no congestion event by themselves.
        self.lost_packets += u64::from(lost_bytes > 0);
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
        self.end_waiting();
        let sent = self.clock.sent(sent);
        let now = self.begin(now);
        let event = if is_ecn {
            self.sampler.on_ecn_mark(now, sent)
        } else {
            let packets = std::mem::take(&mut self.lost_packets);
            let mut loss = Loss::new(sent, Bytes(lost_bytes), packets);
            loss.persistent_congestion = is_persistent_congestion;
            self.sampler.on_lost(now, &loss)
        };
        self.inner.on_congestion(&event);
        self.refresh();
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_loss(self.now);
        self.refresh();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        let mtu = Bytes(u64::from(new_mtu));
        self.inner.on_mtu_update(mtu);
        self.mtu = mtu;
        self.refresh();
    }

    fn window(&self) -> u64 {
        WindowRule::UpTo.reported(self.told).0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        // noq's pacer goes by it.
        metrics.congestion_window = self.told.0;
        metrics.pacing_rate = self.control.pacing_rate.map(|rate| rate.bytes_per_second());
        metrics.send_quantum = Some(self.control.send_quantum.0);
        metrics
    }

    fn clone_box(&self) -> Box<dyn HostController> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window.0
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
