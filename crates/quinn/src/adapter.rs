//! quinn's `Controller` on top of ours.

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
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller as HostController, ControllerMetrics};

/// One of our controllers as quinn sees it.
///
/// quinn reports single packets, in the order: every `on_ack` of an acknowledgement, `on_end_acks`, then losses, ECN
/// last. Its RTT estimator is updated only after `on_end_acks` and stands at 333 ms at first, so that round trips
/// are measured here, from the time each packet left.
#[derive(Debug)]
pub(crate) struct QuinnController {
    inner: Box<dyn Controller>,
    sampler: DeliveryRateSampler,
    mtu: Bytes,
    clock: Clock,
    acked: AckedRun,
    sent: SentRun,
    control: Control,
    /// When the controller wants its timer, at the end of time if never: asked once per event, compared at each.
    timer: Timestamp,
    /// The window that quinn is told, and paces by. `window()` is read for every packet.
    told: Bytes,
    initial_window: Bytes,
}

impl QuinnController {
    pub(crate) fn new(inner: Box<dyn Controller>, now: Instant, mtu: Bytes) -> Self {
        let control = inner.control();
        Self {
            sampler: if inner.wants_rate_samples() {
                DeliveryRateSampler::new(Timestamp::ZERO)
            } else {
                DeliveryRateSampler::without_rate_samples(Timestamp::ZERO)
            },
            mtu,
            clock: Clock::starting(now),
            acked: AckedRun::none(now),
            sent: SentRun::none(now),
            timer: inner.next_timer().unwrap_or(Timestamp::MAX),
            inner,
            control,
            told: control.window,
            initial_window: control.window,
        }
    }

    /// The controller's state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }

    /// What [`HostController::on_ack`] does: nobody outside of quinn can make the RTT estimator that it takes.
    #[inline]
    pub(crate) fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let (clock, sampler) = (&mut self.clock, &mut self.sampler);
        self.acked.push(now, sent, Bytes(bytes), clock, sampler);
    }

    /// An event other than an acknowledgement happens.
    #[inline]
    fn begin(&mut self, now: Instant) -> Timestamp {
        if self.acked.is_under_way() {
            self.end_abandoned_acks();
        }
        self.clock.now(now)
    }

    /// The packets of an acknowledgement are all known, and it waits for no other.
    #[inline]
    fn acks_ended(&mut self, instant: Instant, in_flight: Bytes, app_limited: bool) {
        if let Some(event) = self.sent.end(&mut self.clock, &mut self.sampler) {
            self.inner.on_sent(&event);
        }
        self.acked.end(&mut self.clock, &mut self.sampler);
        // No timers first: what an acknowledgement ends was no silence.
        let now = self.clock.now(instant);
        let ack = self.sampler.on_ack_end(now, in_flight, app_limited);
        let Some(ack) = ack else { return };
        let rtt = ack.rtt;
        let timer = self.inner.acknowledge(ack, &mut self.control);
        self.timer = timer.unwrap_or(Timestamp::MAX);
        self.told = refilled_window(&self.control, in_flight, self.mtu);
        self.acked.coalesce(instant, in_flight, rtt, self.mtu);
    }

    /// What waited for the next acknowledgement waits no longer.
    #[inline]
    fn end_waiting(&mut self) {
        if let Some((now, in_flight)) = self.acked.waiting() {
            self.end_waiting_acks(now, in_flight);
        }
    }

    #[cold]
    fn end_waiting_acks(&mut self, now: Instant, in_flight: Bytes) {
        self.acks_ended(now, in_flight, false);
    }

    /// Packets were acknowledged, and no `on_end_acks` followed: quinn infers so from a Retry.
    #[cold]
    fn end_abandoned_acks(&mut self) {
        self.acked.end(&mut self.clock, &mut self.sampler);
    }

    /// Fires the timers that were due before `now`: quinn has none for controllers, and wakes them for events only.
    #[inline]
    fn catch_up(&mut self, now: Timestamp) {
        if self.timer <= now {
            self.timer = fire_timers(&mut *self.inner, now).unwrap_or(Timestamp::MAX);
        }
    }

    #[inline]
    fn packets_sent(&mut self, now: Timestamp, bytes: Bytes) {
        if bytes <= LARGEST_ACK_ONLY {
            return self.sampler.on_sent_unless_ack_only(now, bytes);
        }
        let event = self.sampler.on_sent(now, bytes);
        self.inner.on_sent(&event);
        if event.prior_in_flight == Bytes::ZERO {
            self.control = self.inner.control();
            self.ask_for_timer();
        }
        let in_flight = event.prior_in_flight + event.bytes;
        self.told = refilled_window(&self.control, in_flight, self.mtu);
    }

    #[cold]
    fn sent_after_timer(&mut self, now: Timestamp, bytes: Bytes) {
        self.catch_up(now);
        self.packets_sent(now, bytes);
        self.refresh();
    }

    #[inline]
    fn ask_for_timer(&mut self) {
        self.timer = self.inner.next_timer().unwrap_or(Timestamp::MAX);
    }

    fn refresh(&mut self) {
        self.control = self.inner.control();
        self.ask_for_timer();
        self.told = refilled_window(&self.control, self.sampler.in_flight(), self.mtu);
    }
}

impl Clone for QuinnController {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone_box(),
            sampler: self.sampler.clone(),
            mtu: self.mtu,
            clock: self.clock,
            acked: self.acked,
            sent: self.sent,
            control: self.control,
            timer: self.timer,
            told: self.told,
            initial_window: self.initial_window,
        }
    }
}

impl HostController for QuinnController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        if let Some(in_flight) = self.acked.waits_while_sending(now, Bytes(bytes)) {
            self.told = refilled_window(&self.control, in_flight, self.mtu);
            return self.sent.push(now, Bytes(bytes));
        }
        self.end_waiting();
        let now = self.begin(now);
        if self.timer <= now {
            return self.sent_after_timer(now, Bytes(bytes));
        }
        self.packets_sent(now, Bytes(bytes));
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
        let in_flight = Bytes(in_flight);
        if app_limited || !self.acked.wait(now, in_flight) {
            self.acks_ended(now, in_flight, app_limited);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        // On a new path quinn still tells of losses and marks on the old one.
        if self.clock.precedes(sent) {
            return;
        }
        self.end_waiting();
        let (now, sent) = (self.begin(now), self.clock.sent(sent));
        self.catch_up(now);
        let event = if lost_bytes == 0 {
            self.sampler.on_ecn_mark(now, sent)
        } else {
            let packets = lost_bytes.div_ceil(self.mtu.0.max(1));
            let mut loss = Loss::new(sent, Bytes(lost_bytes), packets);
            loss.persistent_congestion = is_persistent_congestion;
            self.sampler.on_lost(now, &loss)
        };
        self.inner.on_congestion(&event);
        self.refresh();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        let mtu = Bytes(u64::from(new_mtu));
        self.mtu = mtu;
        self.inner.on_mtu_update(mtu);
        self.refresh();
    }

    /// One byte more than the window, so that a window of whole packets can be filled.
    fn window(&self) -> u64 {
        WindowRule::Below.reported(self.told).0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.control.window.0;
        let state = self.inner.snapshot();
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
        self.initial_window.0
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// quinn reports packets that carry only acknowledgements as sent, and does not tell them from others. This is one with some
/// twenty gaps: 50 bytes of header, counts and tag, four for each gap. Larger ones are taken for data until the next acknowledgement.
const LARGEST_ACK_ONLY: Bytes = Bytes(128);
