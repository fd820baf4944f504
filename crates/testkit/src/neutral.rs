//! The neutral trait's controllers, with the accounting that feeds them.

use std::time::Duration;

use kneepoint_controllers::transport::WindowRule;
use kneepoint_controllers::{Bytes, Controller, DeliveryRateSampler, Loss, Snapshot, Timestamp};
use kneepoint_testkit::{Adapter, Lost};

/// A controller and its accounting: what every adapter keeps.
#[derive(Debug)]
pub struct Neutral {
    /// The controller.
    pub controller: Box<dyn Controller>,
    /// Its accounting.
    pub sampler: DeliveryRateSampler,
    rule: WindowRule,
}

impl Neutral {
    /// A connection that begins now, on a transport whose window may be full.
    pub fn new(controller: Box<dyn Controller>) -> Self {
        Self::with_rule(controller, WindowRule::UpTo)
    }

    /// The same on a transport with this rule.
    pub fn with_rule(controller: Box<dyn Controller>, rule: WindowRule) -> Self {
        let sampler = if controller.wants_rate_samples() {
            DeliveryRateSampler::new(Timestamp::ZERO)
        } else {
            DeliveryRateSampler::without_rate_samples(Timestamp::ZERO)
        };
        Self {
            controller,
            sampler,
            rule,
        }
    }

    /// The controller's state, and the connection's.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.controller.snapshot();
        self.sampler.describe(&mut snapshot);
        snapshot
    }
}

impl Clone for Neutral {
    fn clone(&self) -> Self {
        Self {
            controller: self.controller.clone_box(),
            sampler: self.sampler.clone(),
            rule: self.rule,
        }
    }
}

impl Adapter for Neutral {
    fn on_sent(&mut self, now: Duration, bytes: u64) {
        let event = self.sampler.on_sent(time(now), Bytes(bytes));
        self.controller.on_sent(&event);
    }

    fn on_packet_acked(&mut self, now: Duration, sent: Duration, bytes: u64) {
        self.sampler
            .on_run_acked(time(now), time(sent), Bytes(bytes), 1);
    }

    fn on_end_acks(&mut self, now: Duration, in_flight: u64, app_limited: bool) {
        let (now, in_flight) = (time(now), Bytes(in_flight));
        if let Some(event) = self.sampler.on_ack_end(now, in_flight, app_limited) {
            self.controller.on_ack(event);
        }
    }

    fn on_lost(&mut self, now: Duration, lost: &Lost) {
        let mut loss = Loss::new(time(lost.newest_sent), Bytes(lost.bytes));
        loss.persistent_congestion = lost.persistent;
        let event = self.sampler.on_lost(time(now), &loss);
        self.controller.on_congestion(&event);
    }

    fn on_ecn_mark(&mut self, now: Duration, sent: Duration) {
        let event = self.sampler.on_ecn_mark(time(now), time(sent));
        self.controller.on_congestion(&event);
    }

    fn on_spurious_loss(&mut self, now: Duration) {
        self.controller.on_spurious_loss(time(now));
    }

    fn next_timer(&self) -> Option<Duration> {
        let due = self.controller.next_timer()?;
        Some(Duration::from_nanos(due.as_nanos()))
    }

    fn on_timer(&mut self, now: Duration) {
        self.controller.on_timer(time(now));
    }

    fn window(&self) -> u64 {
        self.controller.control().window.0
    }

    fn may_send(&self, in_flight: u64, datagram: u64) -> bool {
        let window = self.rule.reported(self.controller.control().window);
        self.rule.admits(window, Bytes(in_flight), Bytes(datagram))
    }

    fn pacing_rate(&self) -> Option<u64> {
        let rate = self.controller.control().pacing_rate?;
        Some(rate.bytes_per_second())
    }
}

fn time(since_begin: Duration) -> Timestamp {
    Timestamp::from_origin(since_begin)
}
