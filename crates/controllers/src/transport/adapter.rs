//! What the adapters to transports have in common.

use std::sync::Arc;
use std::time::Instant;

use super::clock::Clock;
use super::estimate::BandwidthEstimate;
use super::reported::refilled_window;
use super::watch::{self, BandwidthWatch, Shared};
use crate::controller::{Control, Controller};
use crate::event::Loss;
use crate::rate_sample::DeliveryRateSampler;
use crate::snapshot::Snapshot;
use crate::units::{Bytes, Timestamp};

/// A controller, the sampler that feeds it, and what the transport is told.
///
/// The transport's events go in one by one. A transport that has no timers for controllers needs no other call: timers
/// that were due fire before the next event.
#[derive(Debug)]
pub struct Adapter {
    controller: Box<dyn Controller>,
    sampler: DeliveryRateSampler,
    mtu: Bytes,
    clock: Clock,
    /// As of the last event: transports read it several times for each packet.
    control: Control,
    /// When the controller wants its timer, at the end of time if never: asked once per event, compared at each.
    timer: Timestamp,
    reported: Bytes,
    /// The most that the transport sent in one go. It asks for the window of the datagrams in it, but tells of them afterwards.
    transmit: Bytes,
    initial_window: Bytes,
    /// The last acknowledged packets, until the next ones or the acknowledgement's end: times are converted once for all of them.
    run: Option<Run>,
    /// The estimate for those who watch it, and from when on it is written again.
    published: Arc<Shared>,
    publish_at: Timestamp,
}

/// Packets that were sent together and acknowledged together.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// When the first of them was acknowledged.
    now: Instant,
    sent: Instant,
    bytes: Bytes,
    packets: u64,
}

impl Adapter {
    /// A connection, or a path of it, that begins at `now`.
    pub fn new(controller: Box<dyn Controller>, now: Instant, mtu: Bytes) -> Self {
        let control = controller.control();
        Self {
            sampler: if controller.wants_rate_samples() {
                DeliveryRateSampler::new(Timestamp::ZERO)
            } else {
                DeliveryRateSampler::without_rate_samples(Timestamp::ZERO)
            },
            mtu,
            clock: Clock::starting(now),
            timer: controller.next_timer().unwrap_or(Timestamp::MAX),
            controller,
            control,
            reported: control.window,
            transmit: mtu,
            initial_window: control.window,
            run: None,
            published: Arc::default(),
            publish_at: Timestamp::ZERO,
        }
    }

    /// What the controller asks for.
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// The window for a transport that paces by its window: the controller's, or while less is in flight, one that
    /// makes the transport pace as the controller asks.
    pub const fn reported_window(&self) -> Bytes {
        self.reported
    }

    /// The window before the first event.
    pub const fn initial_window(&self) -> Bytes {
        self.initial_window
    }

    /// The size of a full packet.
    pub const fn mtu(&self) -> Bytes {
        self.mtu
    }

    /// What is known of the packets.
    pub const fn sampler(&self) -> &DeliveryRateSampler {
        &self.sampler
    }

    /// The controller's state, and what the sampler knows of the connection.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.controller.snapshot();
        self.sampler.describe(&mut snapshot);
        snapshot
    }

    /// The bandwidth that the controller believes the path to have; `None` before the first sample, and for controllers without a
    /// model of the path.
    pub fn bandwidth_estimate(&self) -> Option<BandwidthEstimate> {
        let state = self.controller.snapshot();
        let at = state.bandwidth_at.unwrap_or(self.clock.last());
        Some(BandwidthEstimate {
            rate: state.bandwidth?,
            lower_bound: state.lower_bound,
            at: self.clock.instant(at),
            min_rtt: state.min_rtt,
        })
    }

    /// Reads the estimate from now on, also that of the connection if this is a clone of its adapter.
    pub fn watch_bandwidth(&self) -> BandwidthWatch {
        watch::watch(&self.published, self.bandwidth_estimate())
    }

    /// Packets were sent.
    pub fn packets_sent(&mut self, now: Instant, bytes: Bytes) {
        let now = self.begin(now);
        self.transmit = self.transmit.max(bytes);
        let event = self.sampler.on_sent(now, bytes);
        self.controller.on_sent(&event);
        if event.prior_in_flight == Bytes::ZERO {
            self.control = self.controller.control();
            self.timer = self.controller.next_timer().unwrap_or(Timestamp::MAX);
        }
        self.report();
    }

    /// A packet was sent that may contain only ACK frames; the transport does not say.
    pub fn packet_sent_unless_ack_only(&mut self, now: Instant, bytes: Bytes) {
        let now = self.begin(now);
        self.sampler.on_sent_unless_ack_only(now, bytes);
    }

    /// A packet was acknowledged. [`acks_ended`](Self::acks_ended) follows after the last one of an acknowledgement.
    pub fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: Bytes) {
        if let Some(run) = &mut self.run {
            if run.sent == sent {
                run.bytes += bytes;
                run.packets += 1;
                return;
            }
            self.end_other_run();
        }
        self.run = Some(Run {
            now,
            sent,
            bytes,
            packets: 1,
        });
    }

    // Inlined, it would make every packet that joins a run save registers.
    #[inline(never)]
    fn end_other_run(&mut self) {
        self.end_run();
    }

    fn end_run(&mut self) {
        if let Some(run) = self.run.take()
            && let Some(sent) = self.clock.sent(run.sent)
        {
            let now = self.clock.now(run.now);
            self.sampler.on_run_acked(now, sent, run.bytes, run.packets);
        }
    }

    /// All packets of an acknowledgement are known. `in_flight` and `app_limited` are the transport's values.
    pub fn acks_ended(&mut self, now: Instant, in_flight: Bytes, app_limited: bool) {
        self.end_run();
        // No timers first: what an acknowledgement ends was no silence.
        let now = self.clock.now(now);
        if let Some(ack) = self.sampler.on_ack_end(now, in_flight, app_limited) {
            let timer = self.controller.acknowledge(ack, &mut self.control);
            self.timer = timer.unwrap_or(Timestamp::MAX);
            if watch::is_watched(&self.published) && self.clock.last() >= self.publish_at {
                self.publish();
            }
        }
        self.report();
    }

    /// Packets of so many bytes in all were lost. The newest of them was sent at `newest_sent`.
    pub fn packets_lost(
        &mut self,
        now: Instant,
        newest_sent: Instant,
        bytes: Bytes,
        persistent_congestion: bool,
    ) {
        if let Some(newest_sent) = self.clock.sent(newest_sent) {
            let now = self.begin(now);
            let mut loss = Loss::new(newest_sent, bytes);
            loss.persistent_congestion = persistent_congestion;
            let event = self.sampler.on_lost(now, &loss);
            self.controller.on_congestion(&event);
            self.refresh();
        }
    }

    /// The path marked a packet that was sent at `sent`.
    pub fn packet_marked(&mut self, now: Instant, sent: Instant) {
        if let Some(sent) = self.clock.sent(sent) {
            let now = self.begin(now);
            let event = self.sampler.on_ecn_mark(now, sent);
            self.controller.on_congestion(&event);
            self.refresh();
        }
    }

    /// Packets that counted as lost have arrived after all. The time is that of the last event.
    pub fn loss_was_spurious(&mut self) {
        self.end_run();
        self.controller.on_spurious_loss(self.clock.last());
        self.refresh();
    }

    /// The MTU of the path has changed.
    pub fn mtu_updated(&mut self, mtu: Bytes) {
        self.end_run();
        self.mtu = mtu;
        self.transmit = self.transmit.max(mtu);
        self.controller.on_mtu_update(mtu);
        self.refresh();
    }

    /// An event other than an acknowledgement. Fires the timers that were due before it.
    fn begin(&mut self, now: Instant) -> Timestamp {
        if self.run.is_some() {
            self.end_run();
        }
        let now = self.clock.now(now);
        if self.timer <= now {
            self.fire_timers(now);
        }
        now
    }

    #[cold]
    fn fire_timers(&mut self, now: Timestamp) {
        for _ in 0..MAX_TIMERS_AT_ONCE {
            match self.controller.next_timer() {
                Some(due) if due <= now => self.controller.on_timer(due),
                _ => break,
            }
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        self.control = self.controller.control();
        self.timer = self.controller.next_timer().unwrap_or(Timestamp::MAX);
        self.report();
        if watch::is_watched(&self.published) {
            self.publish();
        }
    }

    #[inline(never)]
    fn publish(&mut self) {
        if watch::publish(&self.published, self.bandwidth_estimate()) {
            let next = self.clock.last().as_nanos().saturating_add(watch::PERIOD);
            self.publish_at = Timestamp::from_nanos(next);
        }
    }

    fn report(&mut self) {
        let in_flight = self.sampler.in_flight();
        self.reported = refilled_window(&self.control, in_flight, self.mtu, self.transmit);
    }
}

impl Clone for Adapter {
    fn clone(&self) -> Self {
        Self {
            controller: self.controller.clone_box(),
            sampler: self.sampler.clone(),
            published: Arc::clone(&self.published),
            ..*self
        }
    }
}

/// The maximum number of timers fired at one event after a long idle time: enough for every filter, and a bound on the
/// work.
pub const MAX_TIMERS_AT_ONCE: usize = 16;
