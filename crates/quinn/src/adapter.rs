//! quinn's `Controller` on top of ours.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::time::{Duration, Instant};

use kneepoint_controllers::host::mapping::{self, Path};
use kneepoint_controllers::host::{AckGap, Acked, Clock, LinkRate, fire_timers, nanos};
use kneepoint_controllers::{
    AckEvent, Bytes, Control, Controller, Flow, Loss, Snapshot, Timestamp, WindowPolicy,
};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller as HostController, ControllerMetrics};

/// One of our controllers as quinn sees it.
///
/// quinn reports single packets, in the order: every `on_ack` of an acknowledgement, `on_end_acks`, then losses, ECN
/// last. Its RTT estimator is updated only after `on_end_acks` and stands at 333 ms at first, so that round trips
/// are measured here, from the time each packet left.
#[derive(Debug)]
pub struct QuinnController {
    inner: Box<dyn Controller>,
    flow: Flow,
    policy: WindowPolicy,
    /// Without its smoothed round-trip time, which only some policies want.
    path: Path,
    /// In nanoseconds.
    smoothed_rtt: u64,
    ack_gap: AckGap,
    /// Only for the policy that tracks it.
    link_rate: Option<LinkRate>,
    clock: Clock,
    control: Control,
    /// When the controller wants its timer, at the end of time if never: asked once per event, compared at each.
    timer: Timestamp,
    /// `window()` is read for every packet: it is computed once per event.
    window: Bytes,
    /// What the window is made of, where it also depends on what is in flight.
    target: Option<Bytes>,
    initial_window: Bytes,
}

impl QuinnController {
    pub(crate) fn new(
        inner: Box<dyn Controller>,
        policy: WindowPolicy,
        now: Instant,
        mtu: Bytes,
    ) -> Self {
        let control = inner.control();
        let link_rate = match policy {
            WindowPolicy::Track(headroom) => Some(LinkRate::new(headroom)),
            _ => None,
        };
        Self {
            flow: if inner.wants_rate_samples() {
                Flow::new(Timestamp::ZERO)
            } else {
                Flow::without_rate_samples(Timestamp::ZERO)
            },
            policy,
            path: Path {
                mtu,
                ..Path::default()
            },
            smoothed_rtt: 0,
            ack_gap: AckGap::new(),
            link_rate,
            clock: Clock::starting(now),
            timer: inner.next_timer().unwrap_or(Timestamp::MAX),
            inner,
            control,
            window: control.window,
            target: None,
            initial_window: control.window,
        }
    }

    /// The controller's state.
    pub fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }

    /// What the mapping onto quinn's window goes by.
    pub fn path(&self) -> Path {
        Path {
            smoothed_rtt: Duration::from_nanos(self.smoothed_rtt),
            ..self.path
        }
    }

    /// What [`HostController::on_ack`] does: nobody outside of quinn can make the RTT estimator that it takes.
    #[inline]
    pub(crate) fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        match self.clock.recall(now, sent) {
            Some((now, sent)) => self.flow.on_packet_acked(now, sent, Bytes(bytes)),
            None => self.other_packet_acked(now, sent, bytes),
        }
    }

    /// A packet of another batch than the one before it.
    #[inline(never)]
    fn other_packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let (now, sent) = (self.clock.now(now), self.clock.sent(sent));
        self.flow.on_packet_acked(now, sent, Bytes(bytes));
    }

    /// Fires the timers that were due before `now`: quinn has none for controllers, and wakes them for events only.
    /// Returns whether there were any.
    #[inline]
    fn catch_up(&mut self, now: Timestamp) -> bool {
        let due = self.timer <= now;
        if due {
            self.timer = fire_timers(&mut *self.inner, now).unwrap_or(Timestamp::MAX);
        }
        due
    }

    #[inline]
    fn ask_for_timer(&mut self) {
        self.timer = self.inner.next_timer().unwrap_or(Timestamp::MAX);
    }

    fn refresh(&mut self) {
        self.control = self.inner.control();
        self.ask_for_timer();
        self.target = mapping::target(self.policy, &self.control, &self.path);
        self.window = match self.target {
            Some(target) => mapping::window_towards(target, &self.control, &self.path),
            None => mapping::window(self.policy, &self.control, &self.path),
        };
    }

    /// Keeps what the policy goes by, and nothing else.
    #[inline]
    fn measure(&mut self, ack: &AckEvent) {
        self.path.in_flight = ack.in_flight;
        self.update_smoothed_rtt(ack.rtt);
        // Until there is a model this RTT will do: nothing that depends on it is used before.
        let point = &self.control.operating_point;
        let min_rtt = point.as_ref().map_or(ack.rtt, |point| point.min_rtt);
        if matches!(self.policy, WindowPolicy::Rate | WindowPolicy::Cap) {
            self.path.smoothed_rtt = Duration::from_nanos(self.smoothed_rtt);
        }
        match self.policy {
            WindowPolicy::Window | WindowPolicy::Rate => {}
            WindowPolicy::Cap | WindowPolicy::Bdp { .. } => {
                self.ack_gap.on_ack(ack.now, ack.round, min_rtt);
                if ack.in_flight == Bytes::ZERO {
                    self.ack_gap.on_idle();
                }
                self.path.ack_gap = self.ack_gap.longest();
            }
            WindowPolicy::Track(_) => {
                if let Some(link_rate) = &mut self.link_rate {
                    link_rate.on_ack(&Acked {
                        now: ack.now,
                        bytes: ack.acked,
                        rtt: ack.rtt,
                        min_rtt,
                        window_limited: !ack.app_limited && !self.control.self_limited,
                    });
                    self.path.forecast = link_rate.forecast(self.path.mtu);
                }
            }
        }
    }

    /// RFC 9002, section 5.3, without the acknowledgement delay that quinn does not tell.
    #[inline]
    fn update_smoothed_rtt(&mut self, sample: Duration) {
        // In whole nanoseconds: dividing a `Duration` takes several divisions.
        let sample = nanos(sample);
        self.smoothed_rtt = match self.smoothed_rtt {
            0 => sample,
            smoothed => smoothed - smoothed / 8 + sample / 8,
        };
    }
}

impl Clone for QuinnController {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone_box(),
            flow: self.flow.clone(),
            policy: self.policy,
            path: self.path,
            smoothed_rtt: self.smoothed_rtt,
            ack_gap: self.ack_gap.clone(),
            link_rate: self.link_rate.clone(),
            clock: self.clock,
            control: self.control,
            timer: self.timer,
            window: self.window,
            target: self.target,
            initial_window: self.initial_window,
        }
    }
}

impl HostController for QuinnController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let now = self.clock.now(now);
        let fired = self.catch_up(now);
        let event = self.flow.on_sent(now, Bytes(bytes));
        self.inner.on_sent(&event);
        self.path.in_flight = event.prior_in_flight + event.bytes;
        if event.prior_in_flight == Bytes::ZERO {
            self.ask_for_timer();
        }
        if fired {
            self.refresh();
        } else if let Some(target) = self.target {
            // What is missing in flight has changed, and nothing else.
            self.window = mapping::window_towards(target, &self.control, &self.path);
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
        let now = self.clock.now(now);
        self.catch_up(now);
        // By reference: the event is large.
        let ack = self.flow.on_ack_end(now, Bytes(in_flight), app_limited);
        let Some(ack) = &ack else { return };
        self.inner.on_ack(ack);
        self.measure(ack);
        self.refresh();
        if self.control.self_limited {
            self.flow.mark_app_limited(now);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let (now, sent) = (self.clock.now(now), self.clock.sent(sent));
        self.catch_up(now);
        let event = if lost_bytes == 0 {
            self.flow.on_ecn_mark(now, sent)
        } else {
            self.flow.on_lost(
                now,
                &Loss {
                    newest_sent: sent,
                    bytes: Bytes(lost_bytes),
                    packets: lost_bytes.div_ceil(self.path.mtu.0.max(1)),
                    persistent_congestion: is_persistent_congestion,
                },
            )
        };
        self.inner.on_congestion(&event);
        self.refresh();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.path.mtu = Bytes(u64::from(new_mtu));
        self.inner.on_mtu_update(self.path.mtu);
        self.refresh();
    }

    fn window(&self) -> u64 {
        self.window.0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window.0;
        let threshold = self.inner.snapshot().slow_start_threshold;
        metrics.ssthresh = threshold.map(|bytes| bytes.0);
        metrics.pacing_rate = self
            .control
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
