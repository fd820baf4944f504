//! `knee` over paths of many kinds. The whole suite is `kneepoint frontier`.

#[path = "paths/mod.rs"]
mod paths;

use std::path::Path;
use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::{Delay, DelayStep, Interval, Limit, Loss, Queue, RateStep, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;
use kneepoint_lab::aqm::Aqm;
use kneepoint_lab::compare::{Extras, compare};
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::metrics::Row;
use kneepoint_lab::scenario::{Link, Scenario};
use kneepoint_lab::trial::{FlowPlan, Trial};
use kneepoint_lab::units::QueueSize;
use paths::{
    batched, bdp, bytes_per_second, constant, goodput, greedy, heeds_a_marker, jittered,
    lengthened, links, loss, mean_rtt, seconds, seeded, time_to,
};

/// On a link of one rate next to nothing waits: 2 ms, or the packets that two acknowledgements release.
#[test]
fn a_constant_link_is_full_and_its_queue_is_not() {
    for (mbps, rtt, most) in [(10.0, 0.04, 47.5), (100.0, 0.04, 42.5), (100.0, 0.01, 12.0)] {
        let outcome = greedy(
            "knee",
            links(constant(mbps), rtt, bdp(mbps, rtt, 2.0)),
            12.0,
        );
        let used = goodput(&outcome, 2.0, 12.0) / mbps;
        assert!(used > 0.93, "{used} of {mbps} Mb/s at {rtt} s");
        let mean = mean_rtt(&outcome, 2.0, 12.0);
        assert!(mean < most, "{mean} ms at {mbps} Mb/s");
        assert!(
            loss(&outcome) < 1e-3,
            "{} lost of {mbps} Mb/s",
            loss(&outcome)
        );
    }
}

/// Trap: a window of rate x min RTT leaves a path idle whose delay varies.
#[test]
fn a_delay_that_varies_is_covered() {
    for (mbps, rtt, jitter) in [(50.0, 0.01, 0.005), (10.0, 0.04, 0.01)] {
        let plain = links(constant(mbps), rtt, bdp(mbps, rtt, 4.0));
        let path = jittered(plain, rtt / 2.0, rtt / 2.0 + jitter);
        let outcome = greedy("knee", path, 15.0);
        let used = goodput(&outcome, 5.0, 15.0) / mbps;
        assert!(used > 0.9, "{used} of {mbps} Mb/s with {jitter} s");
    }
}

/// Fault: drains left half of the link idle, though the base of such a path has a deviation in it. Of the first ten seconds five drains took a tenth:
/// 0.88 and 0.81 of these paths were used.
#[test]
fn drains_leave_a_path_that_varies_in_use() {
    let plain = links(constant(20.0), 0.04, bdp(20.0, 0.04, 2.0));
    let jitter = jittered(plain, 0.02, 0.045);
    let batches = batched(10.0, 0.04, bdp(10.0, 0.04, 2.0), 0.1);
    for (path, mbps, least) in [(jitter, 20.0, 0.9), (batches, 10.0, 0.83)] {
        let used = (1..=4).map(|seed| {
            goodput(&seeded(path.clone(), 10.0, seed), 0.0, 10.0) / (mbps * paths::PAYLOAD)
        });
        let mean = used.sum::<f64>() / 4.0;
        assert!(mean > least, "{mean} of {mbps} Mb/s");
    }
}

/// Trap: what all packets of a round trip wait for may be the path, if its delay wanders. A law that took it for a queue of others used two thirds.
#[test]
fn a_delay_that_wanders_is_covered() {
    for rtt in [0.1, 0.2] {
        let mut path = links(constant(10.0), rtt, bdp(10.0, rtt, 4.0));
        // Half as long again, and back, in 10 s.
        let step = |number: u32| {
            let phase = f64::from(number % 200) / 100.0;
            DelayStep {
                from: seconds(0.05 * f64::from(number)).into(),
                delay: seconds(0.5 * rtt * (2.0 - (phase - 1.0).abs())).into(),
            }
        };
        path.forward.delay = Delay::Steps {
            steps: (0..800).map(step).collect(),
            reordering: false,
        };
        let outcome = greedy("knee", path, 40.0);
        let used = goodput(&outcome, 0.0, 40.0) / (10.0 * paths::PAYLOAD);
        assert!(used > 0.8, "{used} of {rtt} s");
    }
}

/// Fault: what was waited for elsewhere counted as the link's time, so that the rate was what was sent; and the base was the least delay. 0.12 of the first of
/// these links was used, and 0.36 of the second.
#[test]
fn a_delay_that_swings_is_covered() {
    // The delay becomes so much longer, and shorter again, in 600 ms.
    for (mbps, rtt, longest, least) in [(50.0, 0.03, 0.08, 0.5), (200.0, 0.04, 0.06, 0.5)] {
        let used = |seed| {
            let mut path = links(constant(mbps), rtt, bdp(mbps, rtt, 1.0));
            let step = |number: u32| {
                let share = 1.0 - (f64::from(number % 12) / 6.0 - 1.0).abs();
                DelayStep {
                    from: seconds(0.05 * f64::from(number)).into(),
                    delay: seconds(0.5 * rtt + longest * share).into(),
                }
            };
            path.reverse.delay = Delay::Steps {
                steps: (0..600).map(step).collect(),
                reordering: false,
            };
            goodput(&seeded(path, 30.0, seed), 15.0, 30.0) / (mbps * paths::PAYLOAD)
        };
        let mean = (1..=3).map(used).sum::<f64>() / 3.0;
        assert!(mean > least, "{mean} of {mbps} Mb/s");
    }
}

/// Fault: each round with a loss cut the queue target, and a large flight loses a packet in nearly every round of a path that loses one in a
/// thousand. A link that varies was then idle.
#[test]
fn chance_losses_do_not_cut_the_queue_target_of_large_flights() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/wigig-crowd.trace");
    let trace = Trace::load(&trace).expect("it is there");
    let used = |loss: f64| {
        let of_seed = |seed| {
            let link = Link::trace("wigig-crowd", trace.clone());
            row(Scenario {
                loss,
                seed,
                ..Scenario::bulk(link, seconds(30.0))
            })
            .utilization
        };
        (1..=4).map(of_seed).sum::<f64>() / 4.0
    };
    let (without, with) = (used(0.0), used(0.001));
    assert!(with > 0.97 * without, "{with} instead of {without}");
}

/// Trap: a queue that stands while the link is slow goes when it is fast again. A law that took this for others' drain, and joined it after eight rounds of such a
/// queue, halved its flight just then, and used 63 % of the first of these.
#[test]
fn a_link_that_is_slow_and_fast_in_turn_is_used() {
    for (fast, fast_for, slow, slow_for, rtt) in [
        (50.0, 0.16, 50.0 / 6.0, 0.6, 0.02),
        (20.0, 0.8, 5.0, 2.4, 0.1),
    ] {
        let cycle = fast_for + slow_for;
        let step = |from: f64, mbps| RateStep {
            from: seconds(from).into(),
            bytes_per_second: bytes_per_second(mbps),
        };
        let steps = (0..100).map(|number| f64::from(number) * cycle);
        let steps = steps.flat_map(|from| [step(from, fast), step(from + fast_for, slow)]);
        let shaper = Shaper::Schedule(steps.collect());
        let end = 30.0;
        let outcome = greedy("knee", links(shaper, rtt, bdp(fast, rtt, 3.0)), end);
        let mean = (fast * fast_for + slow * slow_for) / cycle;
        let used = goodput(&outcome, 1.0, end) / mean;
        assert!(used > 0.82, "{used} of {mean} Mb/s");
    }
}

/// Fault: after each stop the link was searched for from two packets on, a chance loss ended the search at a tenth of the link, and a probe's
/// acknowledgement after half a second counted as the link's rate.
#[test]
fn a_link_that_stops_is_known_afterwards() {
    let used = |seed| {
        let plain = links(constant(20.0), 0.04, bdp(20.0, 0.04, 2.0));
        let mut path = jittered(plain, 0.02, 0.025);
        path.forward.loss = Loss::Random(0.01);
        path.forward.impairments.blackouts = [1.0, 3.0, 5.5, 7.5, 9.5, 12.0, 14.5, 16.0]
            .map(|from| Interval {
                from: seconds(from).into(),
                to: seconds(from + 0.5).into(),
            })
            .to_vec();
        goodput(&seeded(path, 18.0, seed), 1.0, 18.0) / 20.0
    };
    let mean = (1..=8).map(used).sum::<f64>() / 8.0;
    assert!(mean > 0.5, "{mean}");
}

/// Fault: while the link stood still, its buffer lost the newest packets in flight. Then a drain, or a window that was smaller than this flight, let
/// none out that could have told, and the connection was silent for as long again: its probe timeout had grown by the stop.
///
/// Fault: with a buffer of two bandwidth-delay products what had waited for the link looked like a queue that others drained, and made the round trip
/// with which this flow's drain is timed: it lasted for a second.
#[test]
fn a_stop_that_loses_the_end_of_a_flight_is_over_when_the_link_is_back() {
    for (mbps, rtt, buffer, stop) in [
        (5.0, 0.03, 1.0, 2.6),
        (7.0, 0.017, 1.0, 1.8),
        (10.0, 0.01, 1.0, 2.6),
        (10.0, 0.01, 2.0, 2.6),
        (33.0, 0.008, 1.0, 1.8),
    ] {
        let back = 6.0 + stop;
        let steps = [(0.0, mbps), (6.0, 0.0), (back, mbps)].map(|(from, mbps)| RateStep {
            from: Nanos::from(seconds(from)),
            bytes_per_second: paths::bytes_per_second(mbps),
        });
        let shaper = Shaper::Schedule(steps.to_vec());
        let path = || links(shaper.clone(), rtt, bdp(mbps, rtt, buffer));
        let end = back + 5.0;
        for (what, outcome) in [
            ("quinn", seeded(path(), end, 2)),
            ("noq", greedy("noq:knee", path(), end)),
        ] {
            let used = goodput(&outcome, back, end) / mbps;
            assert!(used > 0.85, "{used} of {mbps} Mb/s after {stop} s, {what}");
        }
    }
}

/// Slow start doubles the flight in each round. Bounded by twice what was delivered, it fits two bandwidth-delay products: beyond, each
/// second packet is lost, and the receiver closes a connection with that many gaps.
#[test]
fn startup_fits_a_buffer_of_one_bandwidth_delay_product() {
    for (mbps, rtt) in [(500.0, 0.05), (100.0, 0.04), (70.0, 0.04), (140.0, 0.04)] {
        let path = links(constant(mbps), rtt, bdp(mbps, rtt, 1.0));
        let outcome = greedy("knee", path, 1.5);
        let (used, lost) = (goodput(&outcome, 0.75, 1.5) / mbps, loss(&outcome));
        assert!(used > 0.85, "{used} of {mbps} Mb/s");
        assert!(lost < 0.01, "{lost} of {mbps} Mb/s");
    }
}

/// Fault: the drain after startup took a round trip and a half to find the delay that startup had begun with: 75, 64 and 49 % of 25 round trips.
#[test]
fn the_drain_after_startup_ends_where_the_path_is_known() {
    for (mbps, rtt, least) in [(5.0, 0.1, 0.763), (100.0, 0.04, 0.653), (500.0, 0.1, 0.5)] {
        let outcome = greedy(
            "knee",
            links(constant(mbps), rtt, bdp(mbps, rtt, 1.0)),
            25.0 * rtt,
        );
        let used = goodput(&outcome, 0.0, 25.0 * rtt) / mbps;
        assert!(used > least, "{used} of {mbps} Mb/s");
    }
}

/// quinn asks for the window of all datagrams that leave together before it tells of them. Told a larger window, so that it paces faster, it
/// sent ten where four fit.
#[test]
fn a_host_that_sends_ten_packets_at_once_does_not_exceed_a_window_of_five() {
    for host in ["ideal", "server", "busy"] {
        let path = links(constant(0.5), 0.002, 6_000);
        let flow = FlowPlan::greedy(
            candidate("knee", 1).expect("it is known"),
            Duration::ZERO,
            seconds(20.0),
        );
        let trial = Trial::new(Topology::point_to_point(path), vec![flow], seconds(20.0));
        let host = HostConfig::preset(host).expect("it is known");
        let outcome = trial.run_on(&host, &|_| ()).expect("it runs");
        let (used, lost) = (goodput(&outcome, 5.0, 20.0) / 0.5, loss(&outcome));
        assert!(used > 0.9, "{used}");
        assert!(lost < 0.05, "{lost}");
    }
}

/// A host that stops for 3 ms delivers what came meanwhile at once. Startup took the acknowledgements of that for the link's rate: the window was ten
/// times what the path holds, and the receiver closed the connection for too many gaps.
#[test]
fn what_a_host_holds_back_is_not_the_links_rate() {
    // From 0.2 s on, while the window grows.
    let stops: Vec<String> = (0..20)
        .map(|n| 200 + 50 * n)
        .map(|at| {
            format!(
                "{{ at_ms = {at}.0, rate_mbps = 0.0 }}, {{ at_ms = {}.0, rate_mbps = 100000.0 }}",
                at + 3
            )
        })
        .collect();
    let file = format!(
        r#"
        [[link]]
        name = "forward"
        from = "left"
        to = "middle"
        rate_mbps = 1000.0
        delay_ms = 10.0
        queue_bytes = 2_500_000

        [[link]]
        name = "host"
        from = "middle"
        to = "right"
        rate_steps = [{{ at_ms = 0.0, rate_mbps = 100000.0 }}, {}]

        [[link]]
        name = "reverse"
        from = "right"
        to = "left"
        rate_mbps = 1000.0
        delay_ms = 10.0
        "#,
        stops.join(", ")
    );
    let (topology, _) =
        Topology::parse(&file, "a host that stops", Path::new(".")).expect("it is valid");
    let flow = FlowPlan::greedy(
        candidate("knee", 1).expect("it is known"),
        Duration::ZERO,
        seconds(2.0),
    );
    let trial = Trial::new(topology, vec![flow], seconds(2.0));
    let outcome = trial.run().expect("it runs");
    assert!(loss(&outcome) < 0.02, "{}", loss(&outcome));
    let used = goodput(&outcome, 0.5, 2.0) / 1000.0;
    assert!(used > 0.85, "{used}");
}

/// Fault: on a path that becomes longer by a millisecond a second no rounds agreed for long, each part of the growth was a queue, and 70 % of the
/// link were used.
#[test]
fn a_path_that_becomes_longer_slowly_is_filled() {
    let mut path = links(constant(50.0), 0.02, bdp(50.0, 0.02, 2.0));
    let step = |number: u32| DelayStep {
        from: seconds(0.02 * f64::from(number)).into(),
        delay: seconds(0.01 + 2e-5 * f64::from(number)).into(),
    };
    path.forward.delay = Delay::Steps {
        steps: (0..1500).map(step).collect(),
        reordering: false,
    };
    let outcome = greedy("knee", path, 30.0);
    let used = goodput(&outcome, 2.0, 30.0) / 50.0;
    assert!(used > 0.87, "{used}");
}

/// A way back that becomes so much longer from 5 s on, within a time, and as short as before within another, after some seconds.
fn longer_for_some_time(mbps: f64, rtt: f64, longer: f64, [rise, stay, fall]: [f64; 3]) -> Duplex {
    let mut path = links(constant(mbps), rtt, bdp(mbps, rtt, 2.0));
    let step = |number: u32| {
        let time = 0.05 * f64::from(number);
        let share = ((time - 5.0) / rise)
            .min(1.0)
            .min((5.0 + rise + stay + fall - time) / fall);
        DelayStep {
            from: seconds(time).into(),
            delay: seconds(rtt / 2.0 + longer * share.max(0.0)).into(),
        }
    };
    path.reverse.delay = Delay::Steps {
        steps: (0..600).map(step).collect(),
        reordering: false,
    };
    path
}

/// Fault: two drains did not agree on a delay that rises by a tenth of itself between them: all of it was a queue, and the rate fell by as much.
#[test]
fn a_path_that_becomes_several_times_as_long_within_seconds_is_used() {
    for (mbps, rtt, longer, rise, least) in [
        (20.0, 0.04, 0.08, 5.0, 0.65),
        (50.0, 0.03, 0.06, 5.0, 0.75),
        (20.0, 0.08, 0.16, 20.0, 0.65),
        (20.0, 0.04, 0.16, 20.0, 0.6),
    ] {
        let path = longer_for_some_time(mbps, rtt, longer, [rise, 60.0, 1.0]);
        let end = 10.0 + rise;
        let used = goodput(&greedy("knee", path, end), 0.0, end) / (mbps * paths::PAYLOAD);
        assert!(used > least, "{used} of {mbps} Mb/s, {longer} s longer");
    }
}

/// Fault: where the path had been longer for some seconds, a queue as long as what had gone stood for a minute. So it was for paths that jump, as the third
/// one does, and for those that rise once two drains found these.
#[test]
fn no_queue_takes_the_place_of_a_longer_path() {
    for (mbps, rtt, longer, times) in [
        (50.0, 0.03, 0.015, [2.0, 0.0, 2.0]),
        (50.0, 0.03, 0.06, [5.0, 0.0, 5.0]),
        (20.0, 0.02, 0.02, [1.0, 3.0, 1.0]),
    ] {
        let path = longer_for_some_time(mbps, rtt, longer, times);
        let outcome = greedy("knee", path, 30.0);
        let mean = mean_rtt(&outcome, 24.0, 30.0) / 1e3;
        assert!(mean < 1.25 * rtt, "{mean} of {rtt} s");
        let used = goodput(&outcome, 24.0, 30.0) / (mbps * paths::PAYLOAD);
        assert!(used > 0.96, "{used}");
    }
}

#[test]
fn a_marking_queue_is_heeded() {
    heeds_a_marker("knee", 20.0, 15.0);
}

/// Fault: half of all marks came without the flight that they belong to, and RED marks by an average, after its queue has gone. The last, smallest flight
/// was taken for the one that was too large: the window went up and down by ten times, and the link was half empty.
#[test]
fn a_queue_that_is_marked_by_its_average_is_used() {
    let link = Link::constant("20Mbps".parse().expect("a rate"));
    let marked = row(Scenario {
        rtt: Duration::from_millis(40),
        queue: QueueSize::Bytes(100_000),
        aqm: Some(Aqm::Red),
        ecn: true,
        ..Scenario::bulk(link, seconds(30.0))
    });
    assert!(marked.goodput_mbps > 14.0, "{} Mb/s", marked.goodput_mbps);
    let mean = marked.rtt_mean_ms.expect("samples");
    assert!(mean < 45.0, "{mean} ms");
}

/// Fault: on a narrow way back acknowledgements wait for each other, and that is a part of the round trip without a queue of the sender's own.
/// Startup's base was the least round trip: the window was a third of what keeps the link busy.
#[test]
fn acknowledgements_may_wait_on_a_narrow_way_back() {
    for kbps in [100.0, 150.0] {
        let mut path = links(constant(20.0), 0.04, 200_000);
        path.reverse.shaper = constant(kbps / 1e3);
        path.reverse.queue = Queue::DropTail(Limit::packets(20));
        let used = goodput(&greedy("knee", path, 15.0), 2.0, 15.0) / 20.0;
        assert!(used > 0.7, "{used} with {kbps} kb/s");
    }
}

/// Fault: eight packets in a row that are lost by chance ended startup, and bounded the window for a second.
#[test]
fn a_burst_of_losses_does_not_end_startup() {
    let mut path = links(constant(85.0), 0.06, 1_275_000);
    path.forward.loss = Loss::Packets((200..208).collect());
    let outcome = greedy("knee", path, 2.0);
    let used = goodput(&outcome, 0.7, 1.2);
    assert!(used > 60.0, "{used} Mb/s");
}

/// Trap: on a path that has become longer by less than a tenth every packet counts as the lowest, so that no drain is due, and the rate
/// is taken for what the window lets through. A large flight shows it soon: it falls, and the delay stays.
#[test]
fn a_path_that_becomes_a_little_longer_is_filled() {
    for (before, after, end) in [
        (0.04, 0.042, 200.0),
        (0.04, 0.044, 200.0),
        (0.15, 0.165, 50.0),
    ] {
        let mut path = links(constant(20.0), before, 400_000);
        path.forward.delay = lengthened(before / 2.0, 10.0, after - before / 2.0);
        let outcome = greedy("knee", path, end);
        let used = goodput(&outcome, 0.75 * end, end) / (20.0 * paths::PAYLOAD);
        assert!(used > 0.97, "{used} from {before} to {after}");
    }
}

/// Trap: the minimum RTT of the shorter path makes the longer one's window.
#[test]
fn a_longer_path_is_filled_within_seconds() {
    for (mbps, before, after, most) in [
        (20.0, 0.02, 0.2, 4.5),
        (20.0, 0.04, 0.05, 12.0),
        (20.0, 0.04, 0.08, 4.0),
        (20.0, 0.04, 0.12, 4.0),
        (20.0, 0.01, 0.6, 14.0),
        (20.0, 0.093, 0.22, 4.5),
        // A packet takes 6 ms: rounds on the longer path differ by one.
        (2.0, 0.066, 0.2, 6.0),
        (2.0, 0.15, 0.4, 8.0),
        // The window falls to a few packets, and the acknowledgements of single ones are late: 18 s.
        (7.0, 0.14, 0.7, 14.0),
    ] {
        let mut path = links(constant(mbps), before, 400_000);
        path.forward.delay = lengthened(before / 2.0, 10.0, after / 2.0);
        path.reverse.delay = lengthened(before / 2.0, 10.0, after / 2.0);
        let outcome = greedy("knee", path, 30.0);
        let taken = time_to(&outcome, 10.0, 0.85 * mbps * paths::PAYLOAD);
        assert!(
            taken < most,
            "{taken} s from {before} to {after} at {mbps} Mb/s"
        );
    }
}

fn row(scenario: Scenario) -> Row {
    let outcomes = compare(
        &[scenario],
        &["knee".to_owned()],
        &Extras::default(),
        &|_| (),
    );
    outcomes.expect("it runs").remove(0).row
}

/// Fault: with large windows half of the window was all that the path held. The whole of it was subtracted as a queue of the sender's
/// own, so jitter was no part of the path, and counted as a queue: all time was busy, and the rate was what was sent.
#[test]
fn requests_over_a_path_with_jitter_find_their_link() {
    let link = Link::constant("50Mbps".parse().expect("a rate"));
    let calls = row(Scenario {
        rtt: Duration::from_millis(30),
        queue: QueueSize::Bytes(400_000),
        jitter: Duration::from_millis(20),
        workload: "rpc:4MB@1s".parse().expect("a workload"),
        ..Scenario::bulk(link, seconds(80.0))
    });
    let late = calls.message_p95_ms.expect("calls");
    assert!(late < 820.0, "{late} ms");
}

/// Fault: the round trip in which a request's first packets were on their way counted as idle time of the link. Requests at half of its rate made the queue
/// target as large as what the path holds, and lost one packet in twenty for as long as they lasted.
#[test]
fn requests_at_half_of_the_rate_lose_next_to_nothing() {
    for (mbps, requests) in [(33.0, "rpc:206kB@100ms"), (100.0, "rpc:600kB@100ms")] {
        let rate = format!("{mbps}Mbps").parse().expect("a rate");
        let calls = row(Scenario {
            rtt: Duration::from_millis(17),
            queue: QueueSize::Bytes(bdp(mbps, 0.017, 0.7)),
            workload: requests.parse().expect("a workload"),
            ..Scenario::bulk(Link::constant(rate), seconds(20.0))
        });
        assert!(
            calls.loss_rate < 0.01,
            "{} lost of {requests}",
            calls.loss_rate
        );
        let late = calls.message_p95_ms.expect("calls");
        assert!(late < 75.0, "{late} ms");
    }
}

/// Fault: the last packet before a drain may be acknowledged alone, and 25 ms late. The link seemed to be slow, and for seconds a queue
/// replaced the rate.
#[test]
fn a_drain_leaves_no_queue_behind() {
    for seed in 1..=4 {
        let link = Link::constant("20Mbps".parse().expect("a rate"));
        let transfer = row(Scenario {
            rtt: Duration::from_millis(100),
            queue: QueueSize::Bytes(500_000),
            seed,
            ..Scenario::bulk(link, seconds(15.0))
        });
        let late = transfer.rtt_p95_ms.expect("samples");
        assert!(late < 112.0, "{late} ms");
    }
}

/// Fault: the LTE-like link slows down for 80 ms after a quarter of a second. That ended startup.
#[test]
fn a_slow_moment_does_not_end_startup() {
    let transfer = row(Scenario {
        workload: "rpc:300kB@10sx1".parse().expect("a workload"),
        ..Scenario::bulk(Link::bundled(), seconds(10.0))
    });
    let taken = transfer.message_p50_ms.expect("it has arrived");
    assert!(taken < 450.0, "{taken} ms");
}

/// Fault: the drain after startup halved the flight for two to four round trips, though startup knows the path's delay. A transfer of a dozen
/// of BDP took a tenth longer, and short transfers beside others half as long again.
#[test]
fn the_drain_after_startup_keeps_the_link_full() {
    let link = |rate: &str| Link::constant(rate.parse().expect("a rate"));
    let alone = row(Scenario {
        rtt: Duration::from_millis(40),
        queue: QueueSize::Bytes(1_000_000),
        workload: "rpc:3MB@60sx1".parse().expect("a workload"),
        ..Scenario::bulk(link("50Mbps"), seconds(5.0))
    });
    let taken = alone.message_p50_ms.expect("it has arrived");
    assert!(taken < 705.0, "{taken} ms");
    let medians = (1..=4).map(|seed| {
        let transfers = row(Scenario {
            rtt: Duration::from_millis(40),
            queue: QueueSize::Bytes(1_000_000),
            workload: "rpc:1MB@60sx1".parse().expect("a workload"),
            flows: 30,
            start_gap: seconds(0.2),
            seed,
            ..Scenario::bulk(link("50Mbps"), seconds(14.0))
        });
        transfers.message_p50_ms.expect("they have arrived")
    });
    let median = medians.sum::<f64>() / 4.0;
    assert!(median < 560.0, "{median} ms");
}
