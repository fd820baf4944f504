use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::Duplex;
use kneepoint_emulator::time::Nanos;

use super::*;
use crate::controllers::candidate;

const SECOND: Duration = Duration::from_secs(1);

/// 8 Mb/s and 20 ms there and back, with a log.
fn line() -> Topology {
    let link = LinkConfig {
        delay: Nanos::from_millis(10).into(),
        log: true,
        ..LinkConfig::constant(1_000_000)
    };
    Topology::point_to_point(Duplex::both(link))
}

fn flow(name: &str, start: Duration, application: Vec<Phase>) -> FlowPlan {
    FlowPlan {
        application,
        ..FlowPlan::greedy(candidate(name, 1).unwrap(), start, Duration::ZERO)
    }
}

fn trial(flows: Vec<FlowPlan>, seconds: u32) -> Outcome {
    let trial = Trial {
        topology: line(),
        flows,
        duration: seconds * SECOND,
        interval: Some(SECOND / 10),
        seed: 7,
    };
    trial.run().unwrap()
}

fn phase(until: u32, load: Load) -> Phase {
    load.until(until * SECOND)
}

#[test]
fn flows_start_end_and_share() {
    let greedy = |name, from: u32, to| flow(name, from * SECOND, vec![phase(to, Load::Greedy)]);
    let outcome = trial(vec![greedy("bbr", 0, 6), greedy("cubic", 3, 6)], 6);
    let [first, second] = &outcome.flows[..] else {
        panic!("two flows");
    };
    assert_eq!((&first.closed, &second.closed), (&None, &None));
    let alone = first.goodput_mbps(SECOND, 3 * SECOND);
    assert!(alone > 6.5 && alone < 8.0, "{alone}");
    assert_eq!(second.received_between(Duration::ZERO, 3 * SECOND), 0);
    assert!(second.goodput_mbps(4 * SECOND, 6 * SECOND) > 1.0);
    let jain = outcome.jain(4 * SECOND, 6 * SECOND).unwrap();
    assert!(jain > 0.5 && jain <= 1.0, "{jain}");
    assert!(!first.samples.is_empty() && !second.samples.is_empty());
    let link = &outcome.links["forward"];
    assert!(link.delivered(Duration::ZERO, 6 * SECOND) > 5_000_000);
    let min = outcome.rtts(SECOND, 6 * SECOND)[0];
    assert!(min >= 20_000_000, "{min}");
}

#[test]
fn messages_are_timed_by_both_ends() {
    let frames = Load::Frames {
        bytes: 5_000,
        period: SECOND / 10,
    };
    let requests = Load::Requests {
        bytes: 20_000,
        pause: SECOND / 2,
    };
    let outcome = trial(
        vec![
            flow("cubic", Duration::ZERO, vec![phase(2, frames)]),
            flow(
                "new-reno",
                Duration::ZERO,
                vec![phase(1, Load::Silent), phase(4, requests)],
            ),
        ],
        5,
    );
    let messages = &outcome.flows[0].messages;
    // The first one begins when the handshake is over.
    assert!((19..=20).contains(&messages.len()), "{}", messages.len());
    for message in messages {
        assert_eq!(message.bytes, 5_000);
        let took = message.arrived - message.began;
        assert!(took > SECOND / 100 && took < SECOND / 10, "{took:?}");
    }
    let messages = &outcome.flows[1].messages;
    assert!((5..=6).contains(&messages.len()), "{}", messages.len());
    assert!(messages[0].began >= SECOND);
    for pair in messages.windows(2) {
        assert!(pair[1].began >= pair[0].arrived + SECOND / 2);
    }
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let run = || {
        let flows =
            ["knee", "cubic"].map(|name| flow(name, Duration::ZERO, vec![phase(2, Load::Greedy)]));
        trial(flows.into(), 2)
    };
    let (one, other) = (run(), run());
    assert_eq!(one.links["forward"].records, other.links["forward"].records);
    assert_eq!(one.flows[0].rtts, other.flows[0].rtts);
}

#[test]
fn an_unknown_node_is_refused() {
    let flow = flow("bbr", Duration::ZERO, Vec::new()).between("left", "nowhere");
    let error = Trial::new(line(), vec![flow], SECOND)
        .run()
        .unwrap_err()
        .to_string();
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn flows_of_two_stacks_share_a_link() {
    let greedy = |name| flow(name, Duration::ZERO, vec![phase(8, Load::Greedy)]);
    let outcome = trial(vec![greedy("bbr:tuned"), greedy("noq:bbr:tuned")], 9);
    for flow in &outcome.flows {
        assert_eq!(flow.closed, None);
        let goodput = flow.goodput_mbps(2 * SECOND, 8 * SECOND);
        assert!((1.0..6.0).contains(&goodput), "{goodput}");
        assert!(flow.rtts.len() > 1000 && flow.samples.len() > 80);
    }
    let both: f64 = outcome
        .flows
        .iter()
        .map(|flow| flow.goodput_mbps(2 * SECOND, 8 * SECOND))
        .sum();
    assert!(both > 7.0 && both < 8.0, "{both}");
}

/// What distinguishes the two stacks: quinn paces at 1.25 windows per round trip, noq at the rate asked for.
#[test]
fn noq_paces_at_the_rate_of_the_controller() {
    let rtt = |name| {
        let outcome = trial(
            vec![flow(name, Duration::ZERO, vec![phase(8, Load::Greedy)])],
            8,
        );
        let rtts = outcome.rtts(3 * SECOND, 8 * SECOND);
        rtts.iter().sum::<u64>() as f64 / rtts.len() as f64 / 1e6
    };
    let (quinn, noq) = (rtt("bbr"), rtt("noq:bbr"));
    assert!(noq < 0.85 * quinn, "{noq} ms, quinn {quinn} ms");
}

/// Over both stacks, with the same code.
#[test]
fn calls_and_video_count_data_that_was_due() {
    let calls = Load::Calls {
        bytes: 20_000,
        interval: SECOND / 5,
        count: Some(7),
    };
    let video = Load::Video {
        bytes: 1_000,
        i_bytes: 10_000,
        group: 10,
        period: SECOND / 20,
    };
    for name in ["cubic", "noq:cubic"] {
        let plans = [calls, video].map(|load| flow(name, Duration::ZERO, vec![phase(3, load)]));
        let outcome = trial(plans.into(), 4);
        let [called, video] = &outcome.flows[..] else {
            panic!("two flows");
        };
        assert_eq!(called.messages.len(), 7, "{name}");
        for message in &called.messages {
            let took = message.arrived - message.began;
            // The request's way and the response's way, and 20 ms of sending.
            assert!(
                took > 2 * SECOND / 50 && took < SECOND / 10,
                "{name}: {took:?}"
            );
            assert_eq!(message.bytes, 20_000);
        }
        let due: u64 = video
            .due
            .iter()
            .map(|frames| frames.due_before(3 * SECOND))
            .sum();
        assert_eq!(video.messages.len() as u64, due, "{name}");
        let i_frames = video.messages.iter().filter(|frame| frame.bytes == 10_000);
        assert_eq!(i_frames.count(), 6, "{name}");
        let sources = &outcome.links["forward"].sources;
        assert_eq!(sources.len(), 2, "{name}");
        for flow in &outcome.flows {
            let packets = sources[&flow.address.unwrap()];
            assert!(packets.offered > 50 && packets.dropped == 0, "{packets:?}");
        }
    }
}
