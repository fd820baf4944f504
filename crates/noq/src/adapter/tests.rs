mod attack;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint_controllers::{
    AckEvent, Algorithm, Bandwidth, BbrConfig, CongestionEvent, CongestionSignal, Control,
    ControllerSpec, Gain, Mode, Refill, SentEvent, Snapshot, Timestamp,
};
use kneepoint_testkit::events::origin;
use noq_proto::congestion::{ControllerFactory, NewRenoConfig};

use super::*;
use crate::factory::{Factory, IntoFactory as _};
use crate::observe::{bandwidth_estimate, snapshot, watch_bandwidth};

const MTU: u64 = 1200;

/// 10 Mb/s in bytes/s.
const RATE: u64 = 1_250_000;

/// What a controller is told.
#[derive(Debug, Clone)]
enum Told {
    Sent(SentEvent),
    Acked(AckEvent),
    Congestion(CongestionEvent),
    Spurious(Timestamp),
    Mtu(Bytes),
    Timer(Timestamp),
}

/// Notes what it is told, and answers what it was set to.
#[derive(Debug, Clone)]
struct Recorder {
    told: Arc<Mutex<Vec<Told>>>,
    control: Control,
    /// A timer falls due once, then.
    timer: Option<Timestamp>,
}

impl Recorder {
    fn new() -> Self {
        let mut control = Control::window(Bytes(200_000), Bytes(2 * MTU));
        control.pacing_rate = Some(Bandwidth::from_bytes_per_second(RATE));
        Self {
            told: Arc::default(),
            control,
            timer: None,
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

    fn on_spurious_loss(&mut self, now: Timestamp) {
        self.note(Told::Spurious(now));
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.note(Told::Mtu(mtu));
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.timer
    }

    fn on_timer(&mut self, now: Timestamp) {
        self.note(Told::Timer(now));
        self.timer = None;
    }

    fn control(&self) -> Control {
        self.control
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new("recorder", Mode::Startup, self.control.window);
        snapshot.pacing_rate = self.control.pacing_rate;
        snapshot.bandwidth = self.control.pacing_rate;
        snapshot.slow_start_threshold = Some(Bytes(100_000));
        snapshot
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// The adapter around a recorder.
struct Fixture {
    adapter: NoqController,
    recorder: Recorder,
    start: Instant,
}

impl Fixture {
    fn new(recorder: Recorder) -> Self {
        let start = origin();
        let inner = Box::new(recorder.clone());
        Self {
            adapter: NoqController::new(inner, start, Bytes(MTU)),
            recorder,
            start,
        }
    }

    fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    fn send(&mut self, millis: u64, packets: u64) {
        let now = self.at(millis);
        for _ in 0..packets {
            // Packet numbers begin anew in each space: they mean nothing.
            self.adapter.on_packet_sent(now, MTU as u16, 0);
        }
        // The transmit that they left in, with an acknowledgement: nothing new.
        self.adapter.on_sent(now, packets * MTU + 50, 0);
    }

    /// One acknowledgement, of packets that had left at these times.
    fn ack(&mut self, millis: u64, sent: &[u64], in_flight: u64) {
        let now = self.at(millis);
        for &sent in sent {
            let sent = self.at(sent);
            self.adapter.packet_acked(now, sent, MTU);
        }
        self.adapter.on_end_acks(now, in_flight, false, Some(0));
    }

    fn lose(&mut self, millis: u64, sent: u64, sizes: &[u16]) {
        let (now, sent) = (self.at(millis), self.at(sent));
        for &size in sizes {
            self.adapter.on_packet_lost(size, 0, now);
        }
        let bytes = sizes.iter().map(|&size| u64::from(size)).sum();
        self.adapter
            .on_congestion_event(now, sent, false, false, bytes, 0);
    }

    fn told(&self) -> Vec<Told> {
        std::mem::take(&mut *self.recorder.told.lock().expect("no panics"))
    }

    fn congestion_told(&self) -> CongestionEvent {
        match self.told().pop() {
            Some(Told::Congestion(event)) => event,
            other => panic!("a congestion event, not {other:?}"),
        }
    }
}

fn millis(count: u64) -> Timestamp {
    Timestamp::from_origin(Duration::from_millis(count))
}

#[test]
fn every_packet_is_reported_once() {
    let mut noq = Fixture::new(Recorder::new());
    noq.send(5, 3);
    let sent: Vec<_> = noq.told();
    let flights: Vec<u64> = sent
        .iter()
        .map(|told| match told {
            Told::Sent(event) if event.now == millis(5) => event.prior_in_flight.0,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(flights, [0, MTU, 2 * MTU]);
    assert_eq!(noq.adapter.adapter.sampler().in_flight(), Bytes(3 * MTU));
}

/// Trap: one acknowledgement is one event, after all its packets, and credits them all, those of one instant too.
#[test]
fn packets_are_folded_into_one_acknowledgement() {
    let mut noq = Fixture::new(Recorder::new());
    noq.send(0, 10);
    noq.send(3, 1);
    noq.told();
    noq.ack(40, &[0; 10], MTU);
    noq.ack(50, &[3], 0);
    let told = noq.told();
    let [Told::Acked(batch), Told::Acked(last)] = &told[..] else {
        panic!("two acknowledgements, not {told:?}");
    };
    assert_eq!(
        (batch.acked, batch.acked_packets, batch.in_flight),
        (Bytes(10 * MTU), 10, Bytes(MTU))
    );
    // Not the 333 ms that noq's own estimator still has.
    assert_eq!(batch.rtt(), Duration::from_millis(40));
    assert_eq!(last.rtt(), Duration::from_millis(47));
    assert_eq!(last.delivered, Bytes(11 * MTU));
}

#[test]
fn losses_are_told() {
    let mut noq = Fixture::new(Recorder::new());
    noq.send(0, 10);
    noq.ack(40, &[0], 9 * MTU);
    noq.lose(40, 0, &[1200, 0, 1200, 700]);
    let event = noq.congestion_told();
    assert_eq!(event.signal, CongestionSignal::Loss);
    assert_eq!(event.lost, Bytes(3100));
    let (now, sent) = (noq.at(60), noq.at(0));
    noq.adapter
        .on_congestion_event(now, sent, true, false, MTU, 0);
    assert_eq!(
        noq.congestion_told().signal,
        CongestionSignal::PersistentCongestion
    );
}

#[test]
fn marks_lose_nothing() {
    let mut noq = Fixture::new(Recorder::new());
    noq.send(0, 4);
    let (now, sent) = (noq.at(40), noq.at(0));
    noq.adapter
        .on_congestion_event(now, sent, false, true, 0, 0);
    let event = noq.congestion_told();
    assert_eq!(event.signal, CongestionSignal::EcnMark);
    assert_eq!((event.lost, event.in_flight), (Bytes::ZERO, Bytes(4 * MTU)));
}

/// noq does not say when it noticed: the time of the event before will do.
#[test]
fn a_spurious_congestion_event_is_undone() {
    let mut noq = Fixture::new(Recorder::new());
    noq.send(0, 4);
    noq.lose(40, 0, &[1200]);
    noq.told();
    noq.adapter.on_spurious_congestion_event();
    let told = noq.told();
    assert!(
        matches!(told[..], [Told::Spurious(now)] if now == millis(40)),
        "{told:?}"
    );
}

#[test]
fn window_rate_and_quantum_go_through_as_they_are() {
    let noq = Fixture::new(Recorder::new());
    let metrics = noq.adapter.metrics();
    assert_eq!(noq.adapter.window(), 200_000);
    assert_eq!(metrics.congestion_window, 200_000);
    assert_eq!(metrics.pacing_rate, Some(RATE));
    assert_eq!(metrics.send_quantum, Some(2 * MTU));
}

/// What compensates a pacer that goes by the window is for controllers without a rate.
#[test]
fn the_window_is_compensated_only_without_a_rate() {
    let mut recorder = Recorder::new();
    recorder.control.refill = Refill::PaceOf(Bytes(500_000));
    let mut unpaced = recorder.clone();
    unpaced.control.pacing_rate = None;
    for (recorder, told) in [(recorder, 200_000), (unpaced, 500_000)] {
        let mut noq = Fixture::new(recorder);
        noq.send(0, 2);
        noq.ack(40, &[0], MTU);
        assert_eq!(noq.adapter.window(), told);
        assert_eq!(noq.adapter.metrics().congestion_window, told);
    }
}

/// `PathStats::bandwidth_estimate` and qlog are made from them.
#[test]
fn the_estimate_and_the_threshold_are_shown() {
    let mut noq = Fixture::new(Recorder::new());
    assert_eq!(noq.adapter.metrics().bandwidth_estimate, None);
    noq.send(0, 2);
    noq.ack(40, &[0], MTU);
    let metrics = noq.adapter.metrics();
    assert_eq!(metrics.bandwidth_estimate, Some(8 * RATE));
    assert_eq!(metrics.ssthresh, Some(100_000));
}

/// Trap: a sender that is paced at its estimate measures its estimate.
#[test]
fn papers_filters_are_paced_and_low_biased_ones_are_not() {
    let paced = |name: &str| {
        let spec = name.parse::<ControllerSpec>().expect("it exists");
        let start = origin();
        let mut controller = *spec
            .factory()
            .build(start, 1200)
            .into_any()
            .downcast::<NoqController>()
            .expect("one of ours");
        let rtt = Duration::from_millis(40);
        controller.on_packet_sent(start, 1200, 0);
        controller.packet_acked(start + rtt, start, 1200);
        controller.on_end_acks(start + rtt, 0, true, None);
        controller.metrics().pacing_rate.is_some()
    };
    for name in ["bbr:paper", "bbr:tuned", "bbr3:paper", "bbr-s"] {
        assert!(paced(name), "{name}");
    }
    for name in ["bbr3-s", "bbr2-sampled", "bbr2-sampled:paper", "cubic"] {
        assert!(!paced(name), "{name}");
    }
}

#[test]
fn timers_fire_before_the_next_event_at_the_time_they_were_due() {
    let recorder = Recorder {
        timer: Some(millis(30)),
        ..Recorder::new()
    };
    let mut noq = Fixture::new(recorder);
    noq.send(40, 1);
    let told = noq.told();
    assert!(
        matches!(told[..], [Told::Timer(due), Told::Sent(_)] if due == millis(30)),
        "{told:?}"
    );
}

#[test]
fn the_mtu_reaches_the_controller() {
    let mut noq = Fixture::new(Recorder::new());
    noq.adapter.on_mtu_update(1452);
    let told = noq.told();
    assert!(matches!(told[..], [Told::Mtu(Bytes(1452))]), "{told:?}");
}

/// A path that its peer moves gets a clone: it goes on where the old one stood.
#[test]
fn a_clone_keeps_the_samplers_state() {
    let mut noq = Fixture::new(Recorder::new());
    noq.send(0, 3);
    noq.ack(40, &[0], 2 * MTU);
    let mut clone = noq.adapter.clone();
    let (now, sent) = (noq.at(50), noq.at(0));
    clone.packet_acked(now, sent, MTU);
    clone.on_end_acks(now, MTU, false, None);
    assert_eq!(clone.adapter.sampler().delivered(), Bytes(2 * MTU));
    assert_eq!(noq.adapter.adapter.sampler().delivered(), Bytes(MTU));
}

#[test]
fn a_snapshot_is_of_ours_only() {
    let ours = Algorithm::BbrS.factory().build(origin(), 1400);
    assert_eq!((ours.window(), ours.initial_window()), (14_000, 14_000));
    let seen = snapshot(ours).map(|seen| seen.algorithm);
    assert_eq!(seen, Some("bbr-s"));
    let stock = Arc::new(NewRenoConfig::default()).build(origin(), 1400);
    assert_eq!(snapshot(stock.clone_box()), None);
    assert_eq!(bandwidth_estimate(stock.clone_box()), None);
    assert!(watch_bandwidth(stock).is_none());
}

#[test]
fn an_invalid_configuration_is_refused() {
    let mut config = BbrConfig::tuned();
    config.core.window_gain = Gain::new(1, 2);
    let refused = Factory::new(config).expect_err("below 1");
    assert_eq!(refused.field, "window_gain");
}
