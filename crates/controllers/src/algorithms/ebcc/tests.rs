use super::*;
use crate::config::ControllerConfig;
use crate::driver::{MTU, environment};
use crate::event::RateSample;
use crate::loss_based::testing::{ack, congestion, loss, round};
use crate::units::Bandwidth;

/// 50 packets of bandwidth-delay product at 40 ms: 12 Mb/s.
const RATE: Bandwidth = Bandwidth::from_bytes_per_second(1_500_000);

fn sample() -> Option<RateSample> {
    Some(RateSample {
        delivery_rate: RATE,
        delivered: MTU,
        app_limited: false,
        prior_delivered: Bytes::ZERO,
        in_flight_at_send: MTU,
        lost: Bytes::ZERO,
    })
}

fn measured_round(now_millis: u64, rtt_millis: u64) -> AckEvent {
    AckEvent {
        rate: sample(),
        acked: MTU * 40,
        ..round(now_millis, rtt_millis)
    }
}

/// In ProbeBW with 60 packets, after a round of 40 ms.
fn probing() -> Ebcc {
    let mut ebcc = Ebcc::new(EbccConfig::paper(), &environment());
    ebcc.on_ack(&AckEvent {
        acked: MTU * 50,
        ..measured_round(40, 40)
    });
    ebcc.on_congestion(&loss(50, 20));
    assert_eq!(ebcc.state, State::ProbeBandwidth);
    assert_eq!(ebcc.window.bytes(), MTU * 60);
    ebcc.measured = Some(MTU * 60);
    ebcc.filled = true;
    ebcc.doubled = Bytes::ZERO;
    ebcc
}

/// The flight fills the window for a round, and then that round is acknowledged.
fn tried(ebcc: &mut Ebcc, now_millis: u64, rtt_millis: u64) {
    for now in [now_millis, now_millis + rtt_millis] {
        ebcc.on_ack(&measured_round(now, rtt_millis));
    }
}

fn packets(ebcc: &Ebcc) -> f64 {
    ebcc.window.bytes().0 as f64 / MTU.0 as f64
}

#[test]
fn a_short_queue_moves_the_window_half_way_to_the_target() {
    let mut ebcc = probing();
    // The target is twice 50 packets.
    assert_eq!(ebcc.target(), Some(MTU * 100));
    ebcc.on_ack(&measured_round(80, 40));
    assert_eq!(packets(&ebcc), 80.0);
    tried(&mut ebcc, 120, 40);
    assert_eq!(packets(&ebcc), 90.0);
    // Once per round only.
    ebcc.on_ack(&AckEvent {
        round_start: false,
        ..measured_round(170, 40)
    });
    assert_eq!(packets(&ebcc), 90.0);
}

/// Trap: a round in which startup ends grew the window twice, by each acknowledgement and by the first step.
#[test]
fn no_byte_grows_the_window_twice() {
    let mut ebcc = Ebcc::new(EbccConfig::paper(), &environment());
    let initial = ebcc.window.bytes();
    ebcc.on_ack(&measured_round(40, 40));
    ebcc.on_congestion(&loss(50, 20));
    ebcc.on_ack(&measured_round(80, 40));
    assert_eq!(ebcc.window.bytes(), initial + MTU * 40);
    tried(&mut ebcc, 120, 40);
    assert!(ebcc.window.bytes() > initial + MTU * 40);
}

#[test]
fn the_target_is_the_limit_at_once() {
    // With a short queue, and with a long one.
    for (rtt, packets_left) in [(40, 100.0), (400, 100.0)] {
        let mut ebcc = probing();
        ebcc.on_ack(&measured_round(40 + rtt, rtt));
        ebcc.window = Window::new(MTU * 180);
        ebcc.last_short = MTU * 170;
        tried(&mut ebcc, 80 + rtt, rtt);
        assert_eq!(packets(&ebcc), packets_left);
    }
}

#[test]
fn a_step_is_at_most_the_acknowledged_bytes() {
    let mut ebcc = probing();
    ebcc.trips = RoundTrips::default();
    ebcc.on_ack(&AckEvent {
        acked: MTU * 3,
        ..measured_round(80, 40)
    });
    ebcc.on_ack(&measured_round(120, 40));
    assert_eq!(packets(&ebcc), 63.0);
}

/// Trap: a window that is not used has no queue of its own: it is neither judged nor remembered.
#[test]
fn an_unused_window_is_not_judged() {
    let mut ebcc = probing();
    let last_short = ebcc.last_short;
    ebcc.on_ack(&AckEvent {
        app_limited: true,
        ..measured_round(80, 40)
    });
    assert_eq!((packets(&ebcc), ebcc.last_short), (60.0, last_short));
}

#[test]
fn a_long_queue_moves_the_window_half_way_back() {
    let mut ebcc = probing();
    ebcc.on_ack(&measured_round(80, 40));
    assert_eq!((packets(&ebcc), ebcc.last_short), (80.0, MTU * 60));
    // The round of 80 ms was sent with 80 packets: 40 of them waited.
    tried(&mut ebcc, 120, 80);
    assert_eq!(packets(&ebcc), 70.0);
    // And 35 of 70.
    tried(&mut ebcc, 280, 80);
    assert_eq!((packets(&ebcc), ebcc.last_short), (65.0, MTU * 60));
}

/// A host that paces needs several rounds to fill a window that has grown: until then the queue is that of a smaller one.
#[test]
fn a_window_is_judged_once_the_flight_has_filled_it() {
    let mut ebcc = probing();
    for now in [80, 120, 160, 200] {
        ebcc.on_ack(&AckEvent {
            prior_in_flight: MTU * 70,
            ..measured_round(now, 40)
        });
        assert_eq!(packets(&ebcc), 80.0);
    }
    for now in [240, 280] {
        ebcc.on_ack(&measured_round(now, 40));
        assert_eq!(packets(&ebcc), 80.0);
    }
    ebcc.on_ack(&measured_round(320, 40));
    assert_eq!(packets(&ebcc), 90.0);
}

#[test]
fn gamma_is_where_a_queue_becomes_long() {
    let ebcc = probing();
    assert!(!ebcc.is_long(MTU * 30 - Bytes(1)));
    assert!(ebcc.is_long(MTU * 30));
}

/// Trap: MTU changes rescale what is counted in packets.
#[test]
fn gamma_and_the_silent_window_follow_the_mtu() {
    let mut ebcc = probing();
    let before = ebcc.window;
    ebcc.on_mtu_update(Bytes(2400));
    assert_eq!(ebcc.window, before);
    assert!(!ebcc.is_long(Bytes(71_999)) && ebcc.is_long(Bytes(72_000)));
    assert_eq!(ebcc.probe_window(), Bytes(9_600));
    ebcc.on_mtu_update(Bytes(60_000));
    assert_eq!(ebcc.window.bytes(), Bytes(120_000));
    let mut new = Ebcc::new(EbccConfig::paper(), &environment());
    new.on_mtu_update(Bytes(1400));
    assert_eq!(new.window.bytes(), Bytes(14_000));
}

/// A long queue: 60 packets, of which 30 wait.
fn queued() -> Ebcc {
    let mut ebcc = probing();
    ebcc.on_ack(&measured_round(80, 80));
    ebcc.window = Window::new(MTU * 60);
    ebcc
}

#[test]
fn a_loss_with_a_short_queue_means_nothing() {
    let mut ebcc = probing();
    ebcc.on_congestion(&loss(100, 60));
    assert_eq!(ebcc.state, State::ProbeBandwidth);
    assert_eq!(packets(&ebcc), 60.0);
}

#[test]
fn a_loss_with_a_long_queue_enters_probe_rtt_and_the_next_one_cuts_the_window_once() {
    let mut ebcc = queued();
    ebcc.on_congestion(&loss(100, 60));
    assert!(matches!(ebcc.state, State::ProbeRtt(_)));
    assert_eq!(ebcc.control().window, MTU * 4);
    assert_eq!(packets(&ebcc), 60.0);
    ebcc.last_short = MTU * 50;
    for now in [101, 102] {
        ebcc.on_congestion(&loss(now, 61));
        assert_eq!((packets(&ebcc), ebcc.last_short), (30.0, MTU * 30));
    }
}

/// Trap: late losses of the flight that was answered are not another congestion.
#[test]
fn late_losses_do_not_enter_probe_rtt_again() {
    let mut ebcc = queued();
    ebcc.on_congestion(&loss(100, 60));
    leave_probe_rtt(&mut ebcc, 110, 70);
    ebcc.on_ack(&ack(400));
    ebcc.trips.on_ack(&round(401, 400));
    ebcc.on_congestion(&loss(402, 99));
    assert_eq!(ebcc.state, State::ProbeBandwidth);
    ebcc.on_congestion(&loss(403, 101));
    assert!(matches!(ebcc.state, State::ProbeRtt(_)));
}

fn leave_probe_rtt(ebcc: &mut Ebcc, now_millis: u64, rtt_millis: u64) {
    let small = |now, round| AckEvent {
        in_flight: MTU * 4,
        round,
        ..ack(now).with_rtt(Duration::from_millis(rtt_millis))
    };
    ebcc.on_ack(&small(now_millis, 3));
    // 200 ms have not passed, and then no round has.
    ebcc.on_ack(&small(now_millis + 199, 4));
    ebcc.on_ack(&small(now_millis + 201, 3));
    assert!(matches!(ebcc.state, State::ProbeRtt(_)));
    ebcc.on_ack(&small(now_millis + 202, 4));
    assert_eq!(ebcc.state, State::ProbeBandwidth);
}

/// Trap: one sender's ProbeRTT measures the queue of the others. If it used this RTT as the path's, no queue would ever
/// be long, and no loss would count.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round_and_excludes_queues() {
    for (rtt, base) in [(55, 40), (35, 35)] {
        let mut ebcc = queued();
        ebcc.on_congestion(&loss(100, 60));
        leave_probe_rtt(&mut ebcc, 110, rtt);
        assert_eq!(ebcc.trips.base(), Some(Duration::from_millis(base)));
        assert_eq!(packets(&ebcc), 60.0);
    }
}

#[test]
fn an_old_minimum_is_measured_again() {
    let mut ebcc = probing();
    ebcc.on_ack(&round(10_040, 50));
    assert_eq!(ebcc.state, State::ProbeBandwidth);
    // As small as ever: renewed.
    ebcc.on_ack(&round(10_041, 40));
    ebcc.on_ack(&round(20_041, 50));
    assert_eq!(ebcc.state, State::ProbeBandwidth);
    ebcc.on_ack(&round(20_042, 50));
    assert!(matches!(ebcc.state, State::ProbeRtt(_)));
    // Trap: the minimum RTT must be able to rise.
    leave_probe_rtt(&mut ebcc, 20_100, 55);
    assert_eq!(ebcc.trips.base(), Some(Duration::from_millis(55)));
}

/// Trap: ECN and persistent congestion are not ignored.
#[test]
fn marks_and_persistent_congestion_count_whatever_the_queue() {
    let mut ebcc = probing();
    ebcc.on_congestion(&congestion(100, 60, CongestionSignal::EcnMark));
    assert!(matches!(ebcc.state, State::ProbeRtt(_)));
    ebcc.on_congestion(&congestion(101, 61, CongestionSignal::PersistentCongestion));
    assert_eq!(ebcc.state, State::Startup);
    assert_eq!(packets(&ebcc), 2.0);
    assert_eq!(ebcc.trips.base(), None);
    let smallest = MTU * 2;
    assert_eq!((ebcc.last_short, ebcc.measured), (smallest, Some(smallest)));
}

#[test]
fn startup_doubles_until_the_queue_is_long() {
    let mut ebcc = Ebcc::new(EbccConfig::paper(), &environment());
    ebcc.on_ack(&measured_round(40, 40));
    assert_eq!(packets(&ebcc), 50.0);
    ebcc.on_ack(&measured_round(80, 80));
    assert_eq!(packets(&ebcc), 90.0);
    // The round of 80 ms was sent with 50 packets, the next one with 90: 25 and 45 of them waited.
    ebcc.on_ack(&measured_round(160, 80));
    assert_eq!((ebcc.state, packets(&ebcc)), (State::Startup, 130.0));
    ebcc.on_ack(&measured_round(240, 80));
    assert_eq!(
        (ebcc.state, ebcc.last_short),
        (State::ProbeBandwidth, MTU * 50)
    );
}

#[test]
fn the_round_after_probe_rtt_is_not_judged() {
    let mut ebcc = queued();
    ebcc.on_congestion(&loss(100, 60));
    leave_probe_rtt(&mut ebcc, 110, 40);
    let last_short = ebcc.last_short;
    tried(&mut ebcc, 360, 40);
    assert_eq!((packets(&ebcc), ebcc.last_short), (60.0, last_short));
    ebcc.on_ack(&measured_round(440, 40));
    assert_eq!((packets(&ebcc), ebcc.last_short), (80.0, MTU * 60));
}

/// The recommended preset in ProbeBW with 60 packets.
fn recommended() -> Ebcc {
    let mut ebcc = probing();
    ebcc.config = EbccConfig::default();
    ebcc.congestion_until = None;
    ebcc
}

/// Over a path of 50 us twice the bandwidth-delay product is less than the hosts' bursts, and a window of it locks: its samples are
/// as small.
#[test]
fn the_target_has_room_for_the_hosts() {
    let mut ebcc = recommended();
    ebcc.on_ack(&measured_round(80, 40).with_rtt(Duration::from_micros(1)));
    let target = Gain::new(2, 1) * RATE.bytes_in(Duration::from_micros(1_001));
    assert_eq!(ebcc.target(), Some(target.max(MTU * 4)));
    ebcc.config = EbccConfig::paper();
    assert_eq!(ebcc.target(), Some(MTU * 4));
    // A millisecond of all 60 packets' waiting is no queue.
    let waited = |config| {
        let mut ebcc = probing();
        ebcc.config = config;
        ebcc.is_long(ebcc.backlog(MTU * 3000, Duration::from_micros(41_000)))
    };
    assert!(waited(EbccConfig::paper()) && !waited(EbccConfig::default()));
}

#[test]
fn congestion_reduces_the_window_once_per_round_trip() {
    for (signal, left) in [
        (CongestionSignal::EcnMark, 51.0),
        (CongestionSignal::Loss, 42.0),
    ] {
        let mut ebcc = recommended();
        ebcc.on_ack(&measured_round(280, 200));
        ebcc.window = Window::new(MTU * 60);
        for sent in [260, 270, 300] {
            ebcc.on_congestion(&congestion(300, sent, signal));
            assert_eq!((ebcc.state, packets(&ebcc)), (State::ProbeBandwidth, left));
        }
        ebcc.on_congestion(&congestion(340, 301, signal));
        assert!(packets(&ebcc) < left);
    }
}

/// A search by halves would be back at the window that overflowed within rounds.
#[test]
fn congestion_that_recurs_makes_steps_small_for_a_while() {
    let mut ebcc = recommended();
    ebcc.on_congestion(&congestion(100, 90, CongestionSignal::EcnMark));
    ebcc.on_congestion(&congestion(150, 110, CongestionSignal::EcnMark));
    let before = packets(&ebcc);
    // The first round after a reduction is not judged.
    ebcc.on_ack(&measured_round(190, 40));
    tried(&mut ebcc, 230, 40);
    assert_eq!(packets(&ebcc), before + 1.0);
    tried(&mut ebcc, 10_300, 40);
    assert!(packets(&ebcc) > before + 5.0);
}

/// Losses with a short queue count when they are many.
#[test]
fn more_than_two_percent_of_a_flight_count() {
    for (lost, counts) in [(1, false), (2, true)] {
        let mut ebcc = recommended();
        ebcc.on_congestion(&CongestionEvent {
            flight: Some(crate::event::FlightSample {
                in_flight: MTU * 60,
                lost: MTU * lost,
                app_limited: false,
            }),
            ..loss(100, 90)
        });
        assert_eq!(packets(&ebcc) < 60.0, counts, "{lost}");
    }
}

#[test]
fn one_stray_mark_does_not_end_startup() {
    let mut ebcc = Ebcc::new(EbccConfig::default(), &environment());
    ebcc.on_congestion(&congestion(50, 40, CongestionSignal::EcnMark));
    assert_eq!((ebcc.state, packets(&ebcc)), (State::Startup, 8.5));
    // In the next round, too.
    ebcc.on_congestion(&CongestionEvent {
        round: 2,
        ..congestion(90, 60, CongestionSignal::EcnMark)
    });
    assert_eq!(ebcc.state, State::ProbeBandwidth);
}

#[test]
fn nonsense_is_refused() {
    let valid = EbccConfig::paper();
    let half = Gain::new(1, 2);
    for (config, field) in [
        (EbccConfig { gamma: 0, ..valid }, "gamma"),
        (
            EbccConfig {
                target_gain: half,
                ..valid
            },
            "target_gain",
        ),
        (
            EbccConfig {
                min_rtt_window: Duration::ZERO,
                ..valid
            },
            "min_rtt_window",
        ),
        (
            EbccConfig {
                filter_rounds: 0,
                ..valid
            },
            "filter_rounds",
        ),
    ] {
        assert_eq!(config.validate().expect_err("nonsense").field, field);
    }
}
