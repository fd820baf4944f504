use std::time::Duration;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kneepoint_controllers::host::MAX_TIMERS_AT_ONCE;
use kneepoint_controllers::{
    AckEvent, Algorithm, Bandwidth, BbrConfig, CongestionEvent, CongestionSignal, ControllerConfig,
    Environment, FilterSnapshot, Mode, OperatingPoint, Selection, SentEvent,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quinn_proto::congestion::{ControllerFactory, NewRenoConfig};

use super::*;
use crate::closed_loop::{build, origin};
use crate::observe::{bandwidth_estimate, snapshot};

const MTU: u64 = 1200;

/// What a controller is told.
#[derive(Debug, Clone)]
enum Told {
    Sent(SentEvent),
    Acked(AckEvent),
    Congestion(CongestionEvent),
    Mtu(Bytes),
    Timer(Timestamp),
}

/// Notes what it is told, and answers what it was set to.
#[derive(Debug, Clone)]
struct Recorder {
    told: Arc<Mutex<Vec<Told>>>,
    asked: Arc<AtomicUsize>,
    control: Control,
    /// Timers fall due each so often.
    period: Option<Duration>,
    next_timer: Timestamp,
}

impl Recorder {
    fn new() -> Self {
        Self {
            told: Arc::default(),
            asked: Arc::default(),
            control: Control {
                window: Bytes(100_000),
                pacing_rate: Some(Bandwidth::from_bytes_per_second(1_250_000)),
                send_quantum: Bytes(MTU),
                operating_point: None,
                self_limited: false,
            },
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
        Snapshot {
            algorithm: "recorder",
            mode: Mode::Startup,
            bandwidth: None,
            min_rtt: None,
            congestion_window: self.control.window,
            slow_start_threshold: None,
            pacing_rate: self.control.pacing_rate,
            in_flight: Bytes::ZERO,
            rounds: 0,
            app_limited: false,
            filter: FilterSnapshot::Max,
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// The adapter around a recorder.
struct Fixture {
    adapter: QuinnController,
    recorder: Recorder,
    start: Instant,
}

impl Fixture {
    fn new(recorder: Recorder) -> Self {
        Self::with(recorder, WindowPolicy::Rate)
    }

    fn with(recorder: Recorder, policy: WindowPolicy) -> Self {
        let start = origin();
        let inner = Box::new(recorder.clone());
        Self {
            adapter: QuinnController::new(inner, policy, start, Bytes(MTU)),
            recorder,
            start,
        }
    }

    fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    fn send(&mut self, millis: u64, packets: u64) {
        let now = self.at(millis);
        // Packet numbers begin anew in each space: they mean nothing.
        self.adapter.on_sent(now, packets * MTU, 0);
    }

    fn acked(&mut self, millis: u64, sent: u64) {
        let (now, sent) = (self.at(millis), self.at(sent));
        self.adapter.packet_acked(now, sent, MTU);
    }

    fn end(&mut self, millis: u64, in_flight: u64) {
        let now = self.at(millis);
        self.adapter.on_end_acks(now, in_flight, false, Some(0));
    }

    fn told(&self) -> Vec<Told> {
        std::mem::take(&mut *self.recorder.told.lock().expect("no panics"))
    }

    fn ack_told(&self) -> AckEvent {
        match &self.told()[..] {
            [Told::Acked(ack)] => *ack,
            other => panic!("one acknowledgement, not {other:?}"),
        }
    }
}

fn millis(count: u64) -> Timestamp {
    Timestamp::from_origin(Duration::from_millis(count))
}

/// Trap: one acknowledgement is one event, after all its packets, and credits them all.
#[test]
fn packets_are_folded_into_one_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.told();
    for _ in 0..10 {
        quinn.acked(40, 0);
    }
    assert!(quinn.told().is_empty(), "told before the end");
    quinn.end(40, 0);
    let ack = quinn.ack_told();
    assert_eq!((ack.acked, ack.acked_packets), (Bytes(10 * MTU), 10));
    // Not the 333 ms that quinn's own estimator still has.
    assert_eq!(ack.rtt, Duration::from_millis(40));
    assert_eq!(quinn.adapter.path().smoothed_rtt, Duration::from_millis(40));
}

#[test]
fn losses_and_marks_come_after_the_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.told();
    quinn.acked(40, 0);
    quinn.end(40, 9 * MTU);
    let (now, sent) = (quinn.at(40), quinn.at(0));
    quinn.adapter.on_congestion_event(now, sent, false, 3 * MTU);
    quinn.adapter.on_congestion_event(now, sent, true, MTU);
    quinn.adapter.on_congestion_event(now, sent, false, 0);
    let told = quinn.told();
    let [
        Told::Acked(ack),
        Told::Congestion(lost),
        Told::Congestion(persistent),
        Told::Congestion(mark),
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    // Packets about to be declared lost are still in flight.
    assert_eq!(ack.in_flight, Bytes(9 * MTU));
    assert_eq!(lost.signal, CongestionSignal::Loss);
    assert_eq!(
        (lost.lost, lost.in_flight),
        (Bytes(3 * MTU), Bytes(6 * MTU))
    );
    assert_eq!(persistent.signal, CongestionSignal::PersistentCongestion);
    // Nothing lost: ECN.
    assert_eq!(mark.signal, CongestionSignal::EcnMark);
    assert_eq!((mark.lost, mark.in_flight), (Bytes::ZERO, Bytes(5 * MTU)));
}

/// Two packets every two milliseconds, a thousand in flight, then so many acknowledgements of two, each answered by two more.
fn in_a_large_flight(acks: u64) -> Fixture {
    let mut quinn = Fixture::new(Recorder::new());
    for sent in (0..1000).step_by(2) {
        quinn.send(sent, 2);
    }
    quinn.told();
    for sent in (0..2 * acks).step_by(2) {
        let now = 1000 + sent;
        quinn.acked(now, sent);
        quinn.acked(now, sent);
        quinn.end(now, 998 * MTU);
        quinn.send(now, 2);
    }
    quinn
}

/// Packets acknowledged and packets sent.
fn packets_told(told: &[Told]) -> (u64, u64) {
    let (mut acked, mut sent) = (0, 0);
    for told in told {
        match told {
            Told::Acked(ack) => {
                assert_eq!(ack.acked, Bytes(ack.acked_packets * MTU));
                acked += ack.acked_packets;
            }
            Told::Sent(event) => sent += event.bytes.0 / MTU,
            _ => {}
        }
    }
    (acked, sent)
}

/// In a large flight the controller sees 64 acknowledgements per round trip, and every packet in one of them.
#[test]
fn acknowledgements_of_a_small_share_of_the_flight_are_gathered() {
    let mut quinn = in_a_large_flight(1020);
    let mut told = quinn.told();
    let acks: Vec<AckEvent> = told
        .iter()
        .filter_map(|told| match told {
            Told::Acked(ack) => Some(*ack),
            _ => None,
        })
        .collect();
    assert!((124..=160).contains(&acks.len()), "{}", acks.len());
    for ack in &acks[1..] {
        assert!(ack.acked_packets <= 18, "{ack:?}");
        assert_eq!(ack.acked_packets, 2 * ack.acks);
        assert_eq!(ack.rtt, Duration::from_secs(1));
        assert_eq!(ack.in_flight, Bytes(998 * MTU));
        assert_eq!(ack.prior_in_flight, Bytes(1000 * MTU));
        // Before the second round, samples begin with the connection.
        if ack.round > 2 {
            let rate = ack.rate.expect("a sample").delivery_rate.as_f64();
            assert!((rate / 1_200_000.0 - 1.0).abs() < 0.02, "{rate}");
        }
    }

    // A loss ends the waiting: nothing is missing then.
    let (now, sent) = (quinn.at(3040), quinn.at(2046));
    quinn.adapter.on_congestion_event(now, sent, false, 3 * MTU);
    told.extend(quinn.told());
    assert_eq!(packets_told(&told), (2040, 2040));
    let starts = |told: &&Told| matches!(told, Told::Acked(ack) if ack.round_start);
    assert_eq!(told.iter().filter(starts).count(), 3);
    let Some(Told::Congestion(loss)) = told.pop() else {
        panic!("the loss comes last");
    };
    assert_eq!(loss.delivered, Bytes(2040 * MTU));
    assert_eq!(loss.in_flight, Bytes(997 * MTU));
    assert!(matches!(told.pop(), Some(Told::Acked(_))));
}

#[test]
fn nothing_waits_for_longer_than_a_small_share_of_the_round_trip() {
    // The first acknowledgement shows how much is in flight; the next one would wait.
    for waiting in 2..5 {
        let mut quinn = in_a_large_flight(waiting);
        let told = quinn.told();
        assert_eq!(packets_told(&told).0, 2);
        // Another one, and another packet, too late to wait.
        let mut acked = in_a_large_flight(waiting);
        acked.told();
        acked.acked(1040, 100);
        acked.end(1040, 999 * MTU);
        assert_eq!(packets_told(&acked.told()).0, 2 * waiting - 1);
        quinn.send(1040, 1);
        assert_eq!(
            packets_told(&quinn.told()),
            (2 * waiting - 2, 2 * waiting - 1)
        );
    }
}

#[test]
fn nothing_waits_when_the_application_is_the_limit_or_nothing_is_in_flight() {
    for (in_flight, app_limited) in [(998 * MTU, true), (0, false)] {
        let mut quinn = in_a_large_flight(1);
        quinn.told();
        quinn.acked(1002, 2);
        let now = quinn.at(1002);
        quinn
            .adapter
            .on_end_acks(now, in_flight, app_limited, Some(0));
        assert_eq!(packets_told(&quinn.told()).0, 1);
    }
}

#[test]
fn packets_out_of_order_are_counted_with_those_that_wait() {
    let mut quinn = in_a_large_flight(3);
    quinn.told();
    for sent in [40, 20, 30] {
        quinn.acked(1008, sent);
    }
    quinn.end(1008, 990 * MTU);
    let told = quinn.told();
    assert_eq!(packets_told(&told).0, 7);
    let [.., Told::Acked(ack)] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(ack.newest_sent, millis(40));
}

#[test]
fn an_end_without_packets_is_no_acknowledgement() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 1);
    quinn.told();
    quinn.end(10, MTU);
    assert!(quinn.told().is_empty());
}

#[test]
fn the_hosts_bytes_in_flight_are_believed() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 10);
    quinn.told();
    quinn.acked(40, 0);
    // Keys were discarded, and with them four packets.
    quinn.end(40, 5 * MTU);
    assert_eq!(quinn.ack_told().in_flight, Bytes(5 * MTU));
    quinn.send(41, 1);
    let told = quinn.told();
    assert!(
        matches!(&told[..], [Told::Sent(sent)] if sent.prior_in_flight == Bytes(5 * MTU)),
        "{told:?}"
    );
}

/// Trap: packets of the Initial, Handshake and Data spaces bear the same numbers.
#[test]
fn packets_of_several_spaces_are_told_apart() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 1);
    quinn.send(10, 1);
    quinn.send(20, 1);
    quinn.told();
    for (now, sent) in [(50, 20), (55, 0), (58, 10)] {
        quinn.acked(now, sent);
        quinn.end(now, 2 * MTU);
        let ack = quinn.ack_told();
        assert_eq!(ack.rtt, Duration::from_millis(now - sent));
        assert_eq!(ack.newest_sent, millis(sent));
    }
}

/// Trap: what a controller measures while it holds itself back says nothing about the path.
#[test]
fn a_controller_that_limits_itself_gets_marked_samples() {
    for self_limited in [true, false] {
        let mut recorder = Recorder::new();
        recorder.control.self_limited = self_limited;
        let mut quinn = Fixture::new(recorder);
        quinn.send(0, 2);
        quinn.acked(40, 0);
        quinn.end(40, MTU);
        quinn.send(41, 1);
        quinn.told();
        quinn.acked(81, 41);
        quinn.end(81, MTU);
        let sample = quinn.ack_told().rate.expect("a sample");
        assert_eq!(sample.app_limited, self_limited);
    }
}

#[test]
fn timers_are_caught_up_before_each_event() {
    let mut recorder = Recorder::new();
    recorder.period = Some(Duration::from_millis(10));
    recorder.next_timer = millis(10);
    let mut quinn = Fixture::new(recorder);
    quinn.send(5, 1);
    assert!(matches!(&quinn.told()[..], [Told::Sent(_)]), "too early");
    quinn.acked(30, 5);
    quinn.end(30, 0);
    let told = quinn.told();
    let [
        Told::Timer(first),
        Told::Timer(second),
        Told::Timer(third),
        Told::Acked(_),
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!([*first, *second, *third], [10, 20, 30].map(millis));
    let (now, sent) = (quinn.at(45), quinn.at(5));
    quinn.adapter.on_congestion_event(now, sent, false, 0);
    assert!(
        matches!(&quinn.told()[..], [Told::Timer(at), Told::Congestion(_)] if *at == millis(40))
    );
}

#[test]
fn a_long_silence_fires_a_bounded_number_of_timers() {
    let mut recorder = Recorder::new();
    recorder.period = Some(Duration::ZERO);
    let mut quinn = Fixture::new(recorder);
    quinn.send(60_000, 1);
    assert_eq!(quinn.told().len(), MAX_TIMERS_AT_ONCE + 1);
}

#[test]
fn reading_the_window_changes_nothing_and_asks_nobody() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.send(0, 1);
    quinn.told();
    let asked = quinn.recorder.asked.load(Ordering::Relaxed);
    for _ in 0..10 {
        assert_eq!(quinn.adapter.window(), 100_000);
        assert_eq!(quinn.adapter.initial_window(), 100_000);
        quinn.adapter.metrics();
    }
    assert_eq!(quinn.recorder.asked.load(Ordering::Relaxed), asked);
    assert!(quinn.told().is_empty());
}

#[test]
fn the_window_is_mapped_once_there_is_an_operating_point() {
    let mut recorder = Recorder::new();
    let rate = Bandwidth::from_bytes_per_second(1_250_000);
    recorder.control.operating_point = Some(OperatingPoint {
        bandwidth: rate,
        rate,
        min_rtt: Duration::from_millis(40),
    });
    let mut quinn = Fixture::new(recorder);
    quinn.send(0, 2);
    quinn.acked(40, 0);
    quinn.end(40, MTU);
    // 1.25 MB/s x 40 ms and a packet.
    assert_eq!(quinn.adapter.window(), 51_200);
    quinn.acked(48, 0);
    quinn.end(48, 0);
    // Smoothed: (7 x 40 ms + 48 ms) / 8.
    assert_eq!(quinn.adapter.path().smoothed_rtt, Duration::from_millis(41));
    assert_eq!(quinn.adapter.window(), 51_250 + 1200);
}

#[test]
fn the_window_follows_every_event_at_once() {
    let start = origin();
    let mut adapter = build(Algorithm::Bbr.into(), start);
    drive(&mut adapter, start, 0..500);
    assert!(adapter.window() > 4 * MTU);
    let now = start + Duration::from_secs(1);
    adapter.on_congestion_event(now, start, true, MTU);
    assert_eq!(adapter.window(), 4 * MTU);
    adapter.on_mtu_update(9000);
    assert_eq!(adapter.window(), 4 * 9000);
}

#[test]
fn silence_of_the_application_is_no_pause_of_the_path() {
    let mut quinn = Fixture::with(Recorder::new(), WindowPolicy::Cap);
    quinn.send(0, 1);
    quinn.acked(40, 0);
    quinn.end(40, 0);
    quinn.send(41, 2);
    quinn.acked(75, 41);
    quinn.end(75, MTU);
    assert_eq!(quinn.adapter.path().ack_gap, Duration::ZERO);
    quinn.acked(78, 41);
    quinn.end(78, 0);
    assert_eq!(quinn.adapter.path().ack_gap, Duration::from_millis(3));
}

#[test]
fn the_mtu_is_passed_on() {
    let mut quinn = Fixture::new(Recorder::new());
    quinn.adapter.on_mtu_update(1452);
    assert!(matches!(&quinn.told()[..], [Told::Mtu(Bytes(1452))]));
    assert_eq!(quinn.adapter.path().mtu, Bytes(1452));
}

#[test]
fn metrics_are_in_bytes_and_bits_per_second() {
    let quinn = Fixture::new(Recorder::new());
    let metrics = quinn.adapter.metrics();
    assert_eq!(metrics.congestion_window, 100_000);
    assert_eq!(metrics.pacing_rate, Some(10_000_000));
    assert_eq!(metrics.ssthresh, None);
    let mut recorder = Recorder::new();
    recorder.control.pacing_rate = None;
    assert_eq!(Fixture::new(recorder).adapter.metrics().pacing_rate, None);
}

/// Trap: an instant before the connection began, or before the last one, must not wrap.
#[test]
fn time_before_the_origin_counts_as_the_origin() {
    let early = origin();
    let inner = Box::new(Recorder::new());
    let start = early + Duration::from_secs(1);
    let mut adapter = QuinnController::new(inner, WindowPolicy::Window, start, Bytes(MTU));
    adapter.on_sent(early, MTU, 0);
    adapter.packet_acked(early, start, MTU);
    adapter.on_end_acks(early, 0, false, None);
    assert_eq!(adapter.path().smoothed_rtt, Duration::ZERO);
}

#[test]
fn snapshots_are_of_our_controllers_only() {
    let ours = build(Algorithm::BbrS.into(), origin());
    let expected = ours.snapshot();
    assert_eq!(snapshot(ours.clone_box()), Some(expected));
    assert_eq!(expected.algorithm, "bbr-s");
    let foreign = Arc::new(NewRenoConfig::default()).build(origin(), 1200);
    assert_eq!(snapshot(foreign.clone_box()), None);
    assert_eq!(bandwidth_estimate(foreign), None);
}

/// Sends two packets each 2 ms, acknowledged 40 ms later.
fn drive(
    adapter: &mut QuinnController,
    start: Instant,
    rounds: std::ops::Range<u64>,
) -> Vec<(u64, Duration)> {
    let at = |millis: u64| start + Duration::from_millis(millis);
    rounds
        .map(|round| {
            let now = at(2 * round);
            if round >= 20 {
                let sent = at(2 * (round - 20));
                adapter.packet_acked(now, sent, MTU);
                adapter.packet_acked(now, sent, MTU);
                adapter.on_end_acks(now, 38 * MTU, false, None);
            }
            adapter.on_sent(now, 2 * MTU, 0);
            (adapter.window(), adapter.path().ack_gap)
        })
        .collect()
}

#[test]
fn a_clone_goes_on_by_itself() {
    for selection in Selection::all() {
        let start = origin();
        let mut original = build(selection.into(), start);
        drive(&mut original, start, 0..500);
        let clone = |adapter: &QuinnController| {
            adapter
                .clone_box()
                .into_any()
                .downcast::<QuinnController>()
                .expect("one of ours")
        };
        let (mut first, mut second) = (clone(&original), clone(&original));
        // The packets in flight are known to the clones as well.
        let windows = drive(&mut first, start, 500..1000);
        assert_eq!(drive(&mut second, start, 500..1000), windows, "{selection}");
        assert_eq!(drive(&mut original, start, 500..1000), windows);
        assert_eq!(first.snapshot(), original.snapshot());
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Wait { nanos: u64 },
    Send { packets: u8 },
    Ack { packets: u8, app_limited: bool },
    Lose { packets: u8, persistent: bool },
    Mark,
    Mtu { bytes: u16 },
}

fn steps() -> impl Strategy<Value = Step> {
    let spans = prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ];
    prop_oneof![
        10 => spans.prop_map(|nanos| Step::Wait { nanos }),
        10 => (1..=64u8).prop_map(|packets| Step::Send { packets }),
        10 => (0..=64u8, any::<bool>())
            .prop_map(|(packets, app_limited)| Step::Ack { packets, app_limited }),
        1 => (1..=64u8, any::<bool>())
            .prop_map(|(packets, persistent)| Step::Lose { packets, persistent }),
        1 => Just(Step::Mark),
        1 => (1200..=65_527u16).prop_map(|bytes| Step::Mtu { bytes }),
    ]
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 128,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn whatever_happens_two_packets_fit_and_the_controllers_window_is_the_most(
        steps in prop::collection::vec(steps(), 1..400),
        policy in prop::sample::select(vec![
            WindowPolicy::Window,
            WindowPolicy::Rate,
            WindowPolicy::Cap,
            WindowPolicy::Bdp { gain: kneepoint_controllers::Gain::new(5, 4) },
            BbrConfig::tuned().window_policy(),
            kneepoint_controllers::BbrSConfig::tuned().window_policy(),
        ]),
    ) {
        for selection in Selection::all() {
            let start = origin();
            let environment = Environment { now: Timestamp::ZERO, mtu: Bytes(MTU), seed: 1 };
            let inner = selection.config().build(&environment).expect("presets are valid");
            let mut adapter = QuinnController::new(inner, policy, start, Bytes(MTU));
            let mut now = start;
            let mut mtu = MTU;
            let mut flight: Vec<(Instant, u64)> = Vec::new();
            for &step in &steps {
                let total = |flight: &[(Instant, u64)]| flight.iter().map(|&(_, bytes)| bytes).sum();
                match step {
                    Step::Wait { nanos } => now += Duration::from_nanos(nanos),
                    Step::Send { packets } => {
                        adapter.on_sent(now, mtu * u64::from(packets), 0);
                        flight.extend((0..packets).map(|_| (now, mtu)));
                    }
                    Step::Ack { packets, app_limited } => {
                        let count = flight.len().min(usize::from(packets));
                        for (sent, bytes) in flight.drain(..count) {
                            adapter.packet_acked(now, sent, bytes);
                        }
                        adapter.on_end_acks(now, total(&flight), app_limited, None);
                    }
                    Step::Lose { packets, persistent } => {
                        let count = flight.len().min(usize::from(packets));
                        let lost: Vec<_> = flight.drain(..count).collect();
                        if let Some(&(sent, _)) = lost.last() {
                            adapter.on_congestion_event(now, sent, persistent, total(&lost));
                        }
                    }
                    Step::Mark => adapter.on_congestion_event(now, now, false, 0),
                    Step::Mtu { bytes } => {
                        mtu = u64::from(bytes);
                        adapter.on_mtu_update(bytes);
                    }
                }
                prop_assert!(adapter.window() >= 2 * mtu, "{selection} {policy:?}");
                prop_assert!(Bytes(adapter.window()) <= adapter.control.window);
                prop_assert_eq!(adapter.metrics().congestion_window, adapter.window());
            }
        }
    }
}
