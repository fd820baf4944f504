//! Whole connections over one queue.

use std::time::Duration;

use kneepoint_controllers::transport::WindowRule;
use kneepoint_controllers::{
    Algorithm, Bytes, ControllerSpec, Environment, Mode, Snapshot, Transport,
};
use kneepoint_testkit::{
    AckPolicy, Adapter, Application, LinkConfig, Lost, Neutral, Packets, Scenario, Sender,
};

const SECOND: Duration = Duration::from_secs(1);
const MTU: u64 = 1200;
const PLAIN: Scenario = Scenario::PLAIN;

fn connect(spec: &ControllerSpec, scenario: Scenario) -> Sender<Neutral> {
    connect_by(WindowRule::UpTo, spec, scenario)
}

fn connect_by(rule: WindowRule, spec: &ControllerSpec, scenario: Scenario) -> Sender<Neutral> {
    let controller = spec.build(&Environment::new(Bytes(MTU), 1, Transport::PACES));
    Sender::new(Neutral::with_rule(controller, rule), &scenario)
}

/// The share of the link that is used for a span after another.
fn used(spec: &ControllerSpec, scenario: Scenario, after: Duration, span: Duration) -> f64 {
    let mut sender = connect(spec, scenario);
    sender.run_for(after);
    sender.utilization(span)
}

fn snapshot(sender: &Sender<Neutral>) -> Snapshot {
    sender.adapter.snapshot()
}

fn bandwidth(sender: &Sender<Neutral>) -> f64 {
    snapshot(sender).bandwidth.expect("an estimate").as_f64()
}

/// Every preset on BBRv1's core.
fn bbr() -> impl Iterator<Item = ControllerSpec> {
    use Algorithm::{Bbr, BbrFair, BbrS, BbrSampled, BbrX};
    presets(&[Bbr, BbrX, BbrS, BbrSampled, BbrFair])
}

/// The presets of the draft's core.
fn bbr3() -> impl Iterator<Item = ControllerSpec> {
    use Algorithm::{Bbr2, Bbr3, Bbr3S};
    presets(&[Bbr3, Bbr2, Bbr3S])
}

/// Every preset whose window follows no model of the path.
fn window_based() -> impl Iterator<Item = ControllerSpec> {
    use Algorithm::{Compound, Cubic, Ebcc, NewReno, Vegas};
    presets(&[NewReno, Cubic, Vegas, Compound, Ebcc])
}

fn presets(algorithms: &[Algorithm]) -> impl Iterator<Item = ControllerSpec> {
    ControllerSpec::all().filter(|spec| algorithms.contains(&spec.algorithm()))
}

/// The plain path at another rate.
fn link_at(rate: u64) -> LinkConfig {
    Scenario { rate, ..PLAIN }.link()
}

fn mean(rtts: &[Duration]) -> Duration {
    rtts.iter().sum::<Duration>() / u32::try_from(rtts.len()).expect("a short test")
}

fn median(mut rtts: Vec<Duration>) -> Duration {
    rtts.sort();
    rtts[rtts.len() / 2]
}

/// Trap: a transport whose window of whole packets is never full keeps a controller from growing that waits for a full
/// window.
#[test]
fn every_hosts_rule_makes_the_same_sender() {
    let lossy = Scenario {
        lose: Packets::Every(300),
        ..PLAIN
    };
    for spec in ControllerSpec::all() {
        for scenario in [PLAIN, lossy] {
            let [one, other] = [WindowRule::UpTo, WindowRule::Below].map(|rule| {
                let mut sender = connect_by(rule, &spec, scenario);
                sender.run_for(5 * SECOND);
                let counts = (sender.delivered, sender.lost, sender.largest_window);
                (counts, snapshot(&sender))
            });
            assert_eq!(one, other, "{spec}");
        }
    }
}

#[test]
fn fills_the_pipe_and_leaves_no_lasting_queue() {
    for spec in bbr().chain(bbr3()) {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(2 * SECOND);
        sender.take_rtts();
        let used = sender.utilization(30 * SECOND);
        assert!(used > 0.9, "{spec}: {used}");
        // Ten and a half bandwidth-delay products: the largest gain, 10, and the quanta.
        let snapshot = snapshot(&sender);
        let window = snapshot.congestion_window;
        assert!(window < Bytes(525_000), "{spec}: {window}");
        let rtts = sender.take_rtts();
        let mean = mean(&rtts);
        assert!(mean < 2 * PLAIN.rtt, "{spec}: mean {mean:?}");
        let median = median(rtts);
        assert!(median < 3 * PLAIN.rtt / 2, "{spec}: median {median:?}");
        let min_rtt = snapshot.min_rtt.expect("an estimate");
        assert!(min_rtt < Duration::from_millis(45), "{spec}: {min_rtt:?}");
        assert_eq!(sender.lost, 0, "{spec}");
    }
}

#[test]
fn finds_a_doubled_rate() {
    for spec in bbr3() {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(10 * SECOND);
        sender.set_link(link_at(2 * PLAIN.rate));
        // Three waits for a probe of at most 3 s.
        sender.run_for(9 * SECOND);
        let used = sender.utilization(10 * SECOND);
        assert!(used > 0.88, "{spec}: {used}");
    }
}

#[test]
fn follows_a_halved_rate() {
    for spec in bbr3() {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(10 * SECOND);
        sender.set_link(link_at(PLAIN.rate / 2));
        // The maximum is forgotten after two cycles.
        sender.run_for(12 * SECOND);
        sender.take_rtts();
        let used = sender.utilization(10 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
        let mean = mean(&sender.take_rtts());
        assert!(mean < 2 * PLAIN.rtt, "{spec}: mean {mean:?}");
        let ratio = bandwidth(&sender) / (PLAIN.rate / 2) as f64;
        assert!((0.85..1.15).contains(&ratio), "{spec}: {ratio}");
    }
}

/// In the draft single losses limit a path of fewer than fifty packets; the tuned presets tolerate them.
#[test]
fn one_percent_of_random_loss_does_not_stop_it() {
    for spec in bbr3() {
        let min = match spec.to_string().as_str() {
            "bbr3:paper" => 0.4,
            "bbr2:paper" => 0.35,
            // It holds to rate x smoothed RTT besides.
            "bbr3-s:paper" => 0.7,
            _ => 0.8,
        };
        for every in [89, 97, 100, 103] {
            let lossy = Scenario {
                lose: Packets::Every(every),
                ..PLAIN
            };
            let used = used(&spec, lossy, 3 * SECOND, 30 * SECOND);
            assert!(used > min, "{spec}, one of {every}: {used}");
        }
    }
}

#[test]
fn five_percent_of_random_loss_do_not_stop_bbr() {
    // Conservation leads the percentile down (its tuned preset does without), and the article's bbr-fair means to give way.
    let excluded = ["bbr-sampled:paper", "bbr-fair:paper", "bbr-fair:own-queue"];
    for spec in bbr().filter(|name| !excluded.contains(&name.to_string().as_str())) {
        let lossy = Scenario {
            lose: Packets::Every(20),
            ..PLAIN
        };
        let used = used(&spec, lossy, 3 * SECOND, 20 * SECOND);
        assert!(used > 0.8, "{spec}: {used}");
    }
}

/// A buffer of a fifth of the pipe drops what is above the rate, as a policer does. A bound that losses have set is raised again
/// by the probes of a path that has grown.
#[test]
fn a_shallow_buffer_loses_little_of_what_it_is_sent_and_hides_no_faster_path() {
    for spec in bbr3() {
        let shallow = Scenario {
            buffer: 10_000,
            ..PLAIN
        };
        let mut sender = connect(&spec, shallow);
        sender.run_for(5 * SECOND);
        sender.lost = 0;
        let used = sender.utilization(30 * SECOND);
        assert!(used > 0.7, "{spec}: {used}");
        let sent = (30 * PLAIN.rate) as f64 * used;
        let lost = (sender.lost * MTU) as f64 / sent;
        assert!(lost < 0.03, "{spec}: {lost}");
        assert!(lost > 0.0, "{spec}");
        sender.set_link(link_at(10 * PLAIN.rate));
        sender.run_for(20 * SECOND);
        let used = sender.utilization(10 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
    }
}

/// Trap: an estimator that uses every sample below its own sending rate follows itself down.
#[test]
fn the_estimate_does_not_spiral_down() {
    for spec in bbr3().chain(presets(&[Algorithm::BbrS])) {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(120 * SECOND);
        let ratio = bandwidth(&sender) / PLAIN.rate as f64;
        assert!((0.85..1.15).contains(&ratio), "{spec}: {ratio}");
    }
}

/// Trap: limited by the application from birth, for an hour: neither may the minimum RTT stay unknown, nor may the window
/// grow without bound, nor may waiting for data count as a slow path.
#[test]
fn a_trickle_leaves_the_window_bounded_and_the_round_trip_time_known() {
    for spec in bbr().chain(bbr3()) {
        let trickle = Scenario {
            application: Application::Rate(12_500),
            // A receiver that waits for a second packet would add its own delay to every round trip.
            acks: AckPolicy::every(1),
            ..PLAIN
        };
        let mut sender = connect(&spec, trickle);
        sender.run_for(3600 * SECOND);
        let window = sender.largest_window;
        assert!(window <= 40 * MTU, "{spec}: {window}");
        let min_rtt = snapshot(&sender).min_rtt.expect("an estimate").as_millis();
        assert!((40..50).contains(&min_rtt), "{spec}: {min_rtt} ms");
        // And it still finds the bandwidth once there is something to send.
        sender.application = Application::Greedy;
        sender.run_for(5 * SECOND);
        let used = sender.utilization(5 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
    }
}

/// Trap: paths get longer.
#[test]
fn the_minimum_round_trip_time_can_rise() {
    // ProbeRTT comes after 10 s at most. `bbr-fair:own-queue` then fills the longer path by one queue of its own a round.
    let waits = bbr().map(|spec| (spec, 45, 5));
    for (spec, wait, span) in waits.chain(bbr3().map(|spec| (spec, 35, 15))) {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(5 * SECOND);
        sender.return_delay = Duration::from_millis(120);
        sender.run_for(wait * SECOND);
        let min_rtt = snapshot(&sender).min_rtt.expect("an estimate").as_millis();
        assert!((120..150).contains(&min_rtt), "{spec}: {min_rtt} ms");
        let used = sender.utilization(span * SECOND);
        assert!(used > 0.8, "{spec}: {used}");
    }
}

/// Trap: what ProbeRTT delivers says nothing about the path.
#[test]
fn probe_rtt_does_not_lower_the_estimate() {
    // These drain their queue by themselves, and see the minimum too often to have to probe for it.
    let drained =
        |spec: &ControllerSpec| [Algorithm::BbrX, Algorithm::BbrFair].contains(&spec.algorithm());
    for spec in bbr().filter(|spec| !drained(spec)).chain(bbr3()) {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(4 * SECOND);
        let before = bandwidth(&sender);
        let (mut probes, mut probing) = (0, false);
        for _ in 0..3_000 {
            sender.run_for(Duration::from_millis(10));
            // No round trip is ever as short as an earlier one.
            sender.return_delay += Duration::from_nanos(100);
            let was_probing = probing;
            probing = snapshot(&sender).mode == Mode::ProbeRtt;
            probes += u32::from(was_probing && !probing);
        }
        assert!(probes > 0, "{spec} never probed");
        let ratio = bandwidth(&sender) / before;
        assert!((ratio - 1.0).abs() < 0.15, "{spec}: {ratio}");
    }
}

/// Trap: persistent congestion is a signal too.
#[test]
fn persistent_congestion_closes_the_window_for_a_while() {
    for spec in bbr().chain(bbr3()) {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(5 * SECOND);
        let now = sender.now();
        let lost = Lost {
            newest_sent: now - PLAIN.rtt,
            bytes: MTU,
            packets: 1,
            persistent: true,
        };
        sender.adapter.on_lost(now, &lost);
        assert_eq!(sender.adapter.window(), 4 * MTU, "{spec}");
        sender.run_for(3 * SECOND);
        let used = sender.utilization(5 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
    }
}

#[test]
fn a_pipe_of_less_than_a_packet_is_filled() {
    for spec in bbr3() {
        let slow = Scenario {
            rate: 8_000,
            rtt: Duration::from_millis(20),
            ..PLAIN
        };
        let mut sender = connect(&spec, slow);
        sender.run_for(30 * SECOND);
        let used = sender.utilization(30 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
        let window = sender.adapter.window();
        assert!(window >= 4 * MTU, "{spec}: {window}");
    }
}

#[test]
fn lumps_of_acknowledgements_leave_the_pipe_full() {
    for spec in bbr3() {
        let lumpy = Scenario {
            // Twelve milliseconds of the link's time in one acknowledgement.
            acks: AckPolicy::every(12),
            ..PLAIN
        };
        let used = used(&spec, lumpy, 3 * SECOND, 20 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
    }
}

/// The share of the path that a greedy flow gets between the fifth and the 65th second.
fn share(spec: impl Into<ControllerSpec>, scenario: Scenario) -> (f64, Sender<Neutral>) {
    let mut sender = connect(&spec.into(), scenario);
    sender.run_for(5 * SECOND);
    sender.take_rtts();
    (sender.utilization(60 * SECOND), sender)
}

/// How many packets wait, as often as not.
fn usual_queue(sender: &mut Sender<Neutral>) -> f64 {
    let waiting = median(sender.take_rtts()) - PLAIN.rtt;
    waiting.as_secs_f64() * PLAIN.rate as f64 / MTU as f64
}

/// Trap: the window stays bounded while an application trickles for an hour; and the path is found afterwards.
#[test]
fn a_trickle_leaves_the_window_of_controllers_without_a_model_bounded() {
    for spec in window_based() {
        let trickle = Scenario {
            application: Application::Rate(12_500),
            acks: AckPolicy::every(1),
            ..Scenario::SHALLOW
        };
        let mut sender = connect(&spec, trickle);
        sender.run_for(3600 * SECOND);
        let window = sender.largest_window;
        assert!(window <= 14 * MTU, "{spec}: {window}");
        sender.application = Application::Greedy;
        sender.run_for(10 * SECOND);
        let used = sender.utilization(20 * SECOND);
        assert!(used > 0.85, "{spec}: {used}");
    }
}

#[test]
fn greedy_flows_fill_the_path() {
    for spec in window_based() {
        let (share, sender) = share(spec.clone(), Scenario::SHALLOW);
        assert!(share > 0.9, "{spec}: {share}");
        // Two bandwidth-delay products, and what slow start went past them: another two.
        let window = sender.largest_window;
        assert!(window <= 210_000, "{spec}: {window}");
    }
}

#[test]
fn cubic_and_compound_fill_deep_and_shallow_buffers() {
    for scenario in [Scenario::SHALLOW, PLAIN] {
        for (algorithm, min) in [(Algorithm::Cubic, 0.97), (Algorithm::Compound, 0.95)] {
            let used = used(&algorithm.into(), scenario, 5 * SECOND, 60 * SECOND);
            assert!(used > min, "{algorithm}: {used}");
        }
    }
}

#[test]
fn new_renos_sawtooth_fills_a_path_with_one_bdp_of_buffer() {
    let (share, sender) = share(Algorithm::NewReno, Scenario::SHALLOW);
    assert!(share > 0.95, "{share}");
    // Half of two bandwidth-delay products.
    let threshold = snapshot(&sender).slow_start_threshold.expect("a loss").0;
    assert!((45_000..56_000).contains(&threshold), "{threshold}");
}

/// Two to four packets wait, one more for the hosts' millisecond; eight leave room for acknowledgements of two.
#[test]
fn vegas_keeps_a_queue_of_a_few_packets() {
    for scenario in [Scenario::SHALLOW, PLAIN] {
        let (share, mut sender) = share(Algorithm::Vegas, scenario);
        assert!(share > 0.95, "{share}");
        let queue = usual_queue(&mut sender);
        assert!((1.0..8.0).contains(&queue), "{queue} packets");
    }
}

/// The queue is gamma at most, as long as it is the queue and not the buffer that bounds the window.
#[test]
fn ebcc_keeps_a_queue_near_gamma() {
    let (share, mut sender) = share(Algorithm::Ebcc, PLAIN);
    assert!(share > 0.95, "{share}");
    let queue = usual_queue(&mut sender);
    assert!((15.0..42.0).contains(&queue), "{queue} packets");
}

/// Five rounds of conservative slow start make three windows of one: the buffer has to hold them.
#[test]
fn hystart_leaves_slow_start_without_a_loss() {
    let deep = Scenario {
        buffer: 1_000_000,
        ..PLAIN
    };
    let mut sender = connect(&Algorithm::Cubic.into(), deep);
    let mut modes = Vec::new();
    for _ in 0..2000 {
        sender.run_for(Duration::from_millis(1));
        let mode = snapshot(&sender).mode;
        if modes.last() != Some(&mode) {
            modes.push(mode);
        }
    }
    use Mode::{CongestionAvoidance, ConservativeSlowStart, SlowStart};
    assert_eq!(
        modes,
        [SlowStart, ConservativeSlowStart, CongestionAvoidance]
    );
    assert!(sender.largest_window < 700_000);
}

/// Trap: where the transport paces at the controller's rate, a base round-trip time far above the path's gives a pace that never
/// fills the window: a flow that waits for a full window waits for ever.
#[test]
fn a_path_that_becomes_much_shorter_is_filled_again() {
    let late = 2 * SECOND;
    for spec in ControllerSpec::all() {
        let mut sender = connect(&spec, PLAIN);
        sender.run_for(18 * SECOND);
        sender.return_delay = late;
        sender.run_for(10 * SECOND);
        sender.return_delay = PLAIN.rtt;
        // Acknowledgements do not overtake each other.
        sender.run_for(late + 5 * SECOND);
        let used = sender.utilization(5 * SECOND);
        assert!(used > 0.9, "{spec}: {used}");
    }
}
