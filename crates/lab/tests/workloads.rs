//! Applications other than bulk transfers, over real QUIC connections in virtual time: what their users wait for under our
//! controllers, beside quinn's CUBIC.

use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_lab::compare::{Extras, compare, compare_mix};
use kneepoint_lab::metrics::Row;
use kneepoint_lab::scenario::{Link, Scenario};
use kneepoint_lab::units::QueueSize;

const REFERENCE: &str = "quinn-cubic";

fn scenario(rate: &str, rtt: Duration, queue: QueueSize, workload: &str) -> Scenario {
    let link = Link::constant(rate.parse().expect("a rate"));
    Scenario {
        rtt,
        queue,
        workload: workload.parse().expect("a workload"),
        ..Scenario::bulk(link, Duration::from_secs(5))
    }
}

fn rows(scenarios: &[Scenario], controllers: &[&str]) -> Vec<Row> {
    let controllers: Vec<_> = controllers.iter().map(|name| (*name).to_owned()).collect();
    let outcomes = compare(scenarios, &controllers, &Extras::default(), &|_| ()).expect("they run");
    outcomes.into_iter().map(|outcome| outcome.row).collect()
}

fn row(scenario: Scenario, controller: &str) -> Row {
    rows(&[scenario], &[controller]).remove(0)
}

/// 100 kB every 100 ms at 1 Gb/s.
fn calls(micros: u64) -> Scenario {
    let rtt = Duration::from_micros(micros);
    scenario("1Gbps", rtt, QueueSize::Bytes(3_000_000), "rpc:100kB@100ms")
}

/// Round-trip times in microseconds.
const RTTS: [u64; 6] = [100, 300, 1_000, 2_000, 5_000, 10_000];

/// The controllers whose calls take no more than 1.1 times as long as under quinn's CUBIC.
const SWIFT: [&str; 9] = [
    "knee",
    "bbr-s",
    "bbr",
    "bbr3",
    "bbr3-s",
    "cubic",
    "noq:knee",
    "noq:bbr-s",
    "noq:bbr3",
];

/// Trap: an acknowledgement that its receiver delays by 25 ms is late on a path of 1 ms. A controller that treats the
/// delay as an outage has an estimate of zero when the next message comes.
#[test]
fn calls_on_short_paths_take_as_long_as_under_cubic() {
    let scenarios: Vec<_> = RTTS.into_iter().map(calls).collect();
    let ours = rows(&scenarios, &SWIFT);
    let reference = rows(&scenarios, &[REFERENCE]);
    for ((rtt, reference), ours) in RTTS.iter().zip(&reference).zip(ours.chunks(SWIFT.len())) {
        assert_eq!(reference.messages_unfinished, Some(0), "{rtt} us");
        for row in ours {
            let name = &row.controller;
            assert_eq!(row.messages_unfinished, Some(0), "{name}, {rtt} us");
            for (ours, theirs) in [
                (row.message_p50_ms, reference.message_p50_ms),
                (row.message_p95_ms, reference.message_p95_ms),
            ] {
                let (ours, theirs) = (ours.expect("calls"), theirs.expect("calls"));
                assert!(
                    ours <= 1.1 * theirs,
                    "{name}, {rtt} us: {ours} ms, {REFERENCE} {theirs} ms"
                );
            }
        }
    }
}

/// A call with an I-frame of 100 kB every 2 s, a fifth of the link, and 0.3 BDP of buffer.
fn video() -> Scenario {
    Scenario {
        duration: Duration::from_secs(30),
        ..scenario(
            "20Mbps",
            Duration::from_millis(40),
            QueueSize::Bytes(30_000),
            "media:4Mbps,i=100kB@2s",
        )
    }
}

/// The controllers that lose no more than this share of the packets of [`video`].
const GENTLE: [(&str, f64); 5] = [
    (REFERENCE, 0.01),
    ("cubic", 0.01),
    ("bbr3", 0.01),
    ("bbr3-s", 0.01),
    ("knee", 0.01),
];

#[test]
fn i_frames_go_through_a_shallow_buffer() {
    let names = GENTLE.map(|(name, _)| name);
    for (row, (name, max)) in rows(&[video()], &names).iter().zip(GENTLE) {
        assert!(row.loss_rate <= max, "{name}: {}", row.loss_rate);
        assert_eq!(row.frame_loss_rate, Some(0.0), "{name}");
        let delay = row.frame_delay_p95_ms.expect("frames");
        assert!((20.0..200.0).contains(&delay), "{name}: {delay} ms");
    }
}

#[test]
fn a_call_takes_its_round_trip_and_its_sending() {
    let scenario = scenario(
        "8Mbps",
        Duration::from_millis(40),
        QueueSize::Infinite,
        "rpc:10kB@200msx20",
    );
    // noq paces at the rate that the controller asks for, quinn sends its first ten packets at once.
    for (name, max) in [(REFERENCE, 53.0), ("noq:cubic", 70.0)] {
        let row = row(scenario.clone(), name);
        assert_eq!((row.messages, row.messages_unfinished), (Some(20), Some(0)));
        // 10 kB are 10 ms of the link, and their headers some more.
        let median = row.message_p50_ms.expect("calls");
        assert!((50.0..max).contains(&median), "{name}: {median} ms");
        assert_eq!(row.frames, None);
    }
}

#[test]
fn frames_that_arrive_too_late_are_lost() {
    // Twice as much as the link carries: the delay grows by a second in a second.
    let scenario = Scenario {
        duration: Duration::from_secs(4),
        ..scenario(
            "1Mbps",
            Duration::from_millis(40),
            QueueSize::Infinite,
            "media:2Mbps,deadline=500ms",
        )
    };
    let row = row(scenario, "new-reno");
    // 30 frames a second, of which those due in the last half second are not judged.
    assert!(
        row.frames
            .is_some_and(|frames| (100..=105).contains(&frames))
    );
    // In order, those of the first half second would arrive in time: a seventh. Streams that wait share the link, so that
    // late ones delay those after them.
    let loss = row.frame_loss_rate.expect("frames");
    assert!((0.85..0.97).contains(&loss), "{loss}");
    assert!(row.frame_delay_p95_ms > row.frame_delay_p50_ms);
}

#[test]
fn hosts_that_take_time_delay_calls() {
    let scenario = |host| Scenario {
        host: HostConfig::named(host).expect("a preset"),
        ..calls(1_000)
    };
    let median = |host| {
        row(scenario(host), REFERENCE)
            .message_p50_ms
            .expect("calls")
    };
    let (ideal, phone) = (median("ideal"), median("phone"));
    assert!(phone > 2.0 * ideal, "{phone} ms, {ideal} ms");
}

#[test]
fn on_off_traffic_sends_for_its_share_of_the_time() {
    let scenario = |workload| Scenario {
        duration: Duration::from_secs(9),
        ..scenario(
            "8Mbps",
            Duration::from_millis(20),
            QueueSize::Bytes(40_000),
            workload,
        )
    };
    let bulk = row(scenario("bulk"), REFERENCE);
    let turns = row(scenario("on-off:2s/1s"), REFERENCE);
    let share = turns.goodput_mbps / bulk.goodput_mbps;
    assert!((0.62..0.7).contains(&share), "{share}");
}

#[test]
fn a_mix_has_one_row_and_its_flows() {
    let mix = ["knee", "knee", "quinn-cubic", "noq:bbr"].map(str::to_owned);
    let scenario = Scenario {
        duration: Duration::from_secs(12),
        start_gap: Duration::from_secs(2),
        ..scenario(
            "20Mbps",
            Duration::from_millis(40),
            QueueSize::Bytes(200_000),
            "bulk",
        )
    };
    let outcomes = compare_mix(&[scenario], &mix, &Extras::default(), &|_| ()).expect("it runs");
    let [outcome] = &outcomes[..] else {
        panic!("one outcome");
    };
    let row = &outcome.row;
    assert_eq!(row.controller, "knee,knee,quinn-cubic,noq:bbr");
    assert_eq!((row.flow_count, row.start_gap_s), (4, 2.0));
    let names: Vec<_> = row
        .flows
        .iter()
        .map(|flow| flow.controller.clone())
        .collect();
    assert_eq!(names, mix);
    let goodput: f64 = row.flows.iter().map(|flow| flow.goodput_mbps).sum();
    assert!((goodput - row.goodput_mbps).abs() < 1e-5, "{goodput}");
    // Flows that fill the queue lose packets, and the row has the mean.
    let losses: Vec<_> = row.flows.iter().map(|flow| flow.loss_rate).collect();
    let (min, max) = losses.iter().fold((1.0_f64, 0.0_f64), |(min, max), loss| {
        (min.min(*loss), max.max(*loss))
    });
    assert!(min < row.loss_rate && row.loss_rate < max, "{losses:?}");
    for (number, windows) in (0_u32..).zip(&outcome.windows) {
        let (first, _) = windows[0];
        let start = Duration::from_secs(2) * number;
        assert!(first >= start && first < start + Duration::from_millis(200));
    }
}

#[test]
fn a_mix_of_one_controller_is_several_flows_of_it() {
    let scenario = Scenario {
        flows: 2,
        duration: Duration::from_secs(3),
        ..scenario(
            "10Mbps",
            Duration::from_millis(40),
            QueueSize::Bytes(100_000),
            "bulk",
        )
    };
    let both = row(scenario.clone(), "knee");
    let mix = ["knee", "knee"].map(str::to_owned);
    let mixed = compare_mix(&[scenario], &mix, &Extras::default(), &|_| ()).expect("it runs");
    let expected = Row {
        controller: "knee,knee".to_owned(),
        ..both
    };
    assert_eq!(mixed[0].row, expected);
}

#[test]
fn the_last_third_decides_fairness() {
    // The second flow starts late; what it has missed does not count.
    let scenario = Scenario {
        duration: Duration::from_secs(18),
        flows: 2,
        start_gap: Duration::from_secs(8),
        ..scenario(
            "10Mbps",
            Duration::from_millis(40),
            QueueSize::Bytes(400_000),
            "bulk",
        )
    };
    let row = row(scenario, "bbr");
    let [first, second] = &row.flows[..] else {
        panic!("two flows");
    };
    assert!(first.goodput_mbps > 2.0 * second.goodput_mbps, "{row:?}");
    assert!(row.jain.is_some_and(|jain| jain > 0.95), "{:?}", row.jain);
}
