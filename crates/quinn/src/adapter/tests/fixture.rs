//! A controller that notes what it is told, and the adapter around it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint_controllers::{
    AckEvent, Bandwidth, CongestionEvent, Control, Mode, SentEvent, Snapshot, Timestamp,
};

use kneepoint_testkit::events::origin;

use super::super::*;
use super::MTU;

/// What a controller is told.
#[derive(Debug, Clone)]
pub(super) enum Told {
    Sent(SentEvent),
    Acked(AckEvent),
    Congestion(CongestionEvent),
    Mtu(Bytes),
    Timer(Timestamp),
}

/// Notes what it is told, and answers what it was set to.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    pub(super) told: Arc<Mutex<Vec<Told>>>,
    pub(super) asked: Arc<AtomicUsize>,
    pub(super) control: Control,
    /// Timers fall due each so often.
    pub(super) period: Option<Duration>,
    pub(super) next_timer: Timestamp,
}

impl Recorder {
    pub(super) fn new() -> Self {
        let mut control = Control::window(Bytes(100_000), Bytes(MTU));
        control.pacing_rate = Some(Bandwidth::from_bytes_per_second(1_250_000));
        Self {
            told: Arc::default(),
            asked: Arc::default(),
            control,
            period: None,
            next_timer: Timestamp::ZERO,
        }
    }

    fn note(&self, told: Told) {
        self.told.lock().expect("no panics").push(told);
    }
}

impl Controller for Recorder {
    fn on_sent(&mut self, event: &SentEvent) {
        self.note(Told::Sent(*event));
    }

    fn on_ack(&mut self, event: &AckEvent) {
        self.note(Told::Acked(*event));
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.note(Told::Congestion(*event));
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.note(Told::Mtu(mtu));
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.period.map(|_| self.next_timer)
    }

    fn on_timer(&mut self, now: Timestamp) {
        self.note(Told::Timer(now));
        self.next_timer = now + self.period.unwrap_or_default();
    }

    fn control(&self) -> Control {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.control
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new("recorder", Mode::Startup, self.control.window);
        snapshot.pacing_rate = self.control.pacing_rate;
        snapshot
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// The adapter around a recorder.
pub(super) struct Fixture {
    pub(super) adapter: QuinnController,
    pub(super) recorder: Recorder,
    pub(super) start: Instant,
}

impl Fixture {
    pub(super) fn new(recorder: Recorder) -> Self {
        let start = origin();
        let inner = Box::new(recorder.clone());
        Self {
            adapter: QuinnController::new(inner, start, Bytes(MTU)),
            recorder,
            start,
        }
    }

    pub(super) fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    pub(super) fn send(&mut self, millis: u64, packets: u64) {
        let now = self.at(millis);
        // Packet numbers begin anew in each space: they mean nothing.
        self.adapter.on_sent(now, packets * MTU, 0);
    }

    pub(super) fn acked(&mut self, millis: u64, sent: u64) {
        let (now, sent) = (self.at(millis), self.at(sent));
        self.adapter.packet_acked(now, sent, MTU);
    }

    pub(super) fn end(&mut self, millis: u64, in_flight: u64) {
        let now = self.at(millis);
        self.adapter.on_end_acks(now, in_flight, false, Some(0));
    }

    pub(super) fn told(&self) -> Vec<Told> {
        std::mem::take(&mut *self.recorder.told.lock().expect("no panics"))
    }

    pub(super) fn ack_told(&self) -> AckEvent {
        match &self.told()[..] {
            [Told::Acked(ack)] => *ack,
            other => panic!("one acknowledgement, not {other:?}"),
        }
    }
}

pub(super) fn millis(count: u64) -> Timestamp {
    Timestamp::from_origin(Duration::from_millis(count))
}
