//! The networks and transfers of the tests of picoquic and of C4, its congestion control for media: github.com/private-octopus/picoquic,
//! picoquictest/ (`cc_compete_test.c`, `congestion_test.c`, `satellite_test.c`, `wifitest.c`), draft-huitema-ccwg-c4-test, and
//! github.com/private-octopus/c4, sim_specs/.
//!
//! Queues have a limit of time there, and one of as many bytes here. Where these tests have C4 beside C4, here is the controller under test beside
//! itself; `bbr3` takes the place of picoquic's BBR. Wi-Fi that fades has the same jitter throughout, and none of the scenarios knows the path from
//! an earlier connection.

use kneepoint_emulator::link::{Limit, LinkConfig, Loss, Queue, RateStep, Shaper};

use crate::frontier::case::Sender;
use crate::frontier::path::{FULL_PACKET, MIN_BUFFER, bytes_per_second, rate};
use crate::frontier::{Case, Family, Path, millis, seconds};
use crate::workload::Load;

pub(super) fn cases() -> Vec<Case> {
    [
        alone(),
        satellites(),
        slow_returns(),
        wifi(),
        beside(),
        media(),
    ]
    .concat()
}

/// One transfer.
fn alone() -> Vec<Case> {
    vec![
        transfer("10MB, 20Mbps 80ms", path(20.0, 80.0, 80.0), 10, 30.0),
        transfer("20MB, 200Mbps 40ms", path(200.0, 40.0, 40.0), 20, 20.0),
        transfer("4MB, 1.5Mbps 40ms", path(1.536, 40.0, 50.0), 4, 60.0),
        transfer("1MB, 512kbps 34ms", path(0.512, 34.0, 50.0), 1, 50.0),
        transfer(
            "7MB, 5Mbps to 10Mbps 100ms",
            steps(&[(0.0, 5.0), (2.5, 10.0)], 100.0, 80.0),
            7,
            30.0,
        ),
        transfer(
            "7MB, 10Mbps to 5Mbps and back 100ms",
            steps(&[(0.0, 10.0), (1.5, 5.0), (3.5, 10.0)], 100.0, 80.0),
            7,
            30.0,
        ),
        transfer(
            "10MB, 25Mbps 70ms, stopped for 2s",
            steps(&[(0.0, 25.0), (2.0, 0.0), (4.0, 25.0)], 70.0, 80.0),
            10,
            40.0,
        ),
        transfer(
            "20MB, 10Mbps 30ms to 200ms",
            path(10.0, 30.0, 200.0).rtt_steps(&[(0.0, 30.0), (1.0, 200.0)]),
            20,
            90.0,
        ),
        transfer(
            "30MB, 20Mbps 80ms 20s of queue",
            path(20.0, 80.0, 20_000.0),
            30,
            60.0,
        ),
        transfer(
            "10MB, 100Mbps 20ms jitter",
            path(100.0, 20.0, 26.0).jitter(3.0, false),
            10,
            15.0,
        ),
        transfer(
            "10MB, 1Gbps 8ms jitter",
            path(1000.0, 8.0, 12.0).jitter(2.0, false),
            10,
            10.0,
        ),
        transfer(
            "10MB, 1Mbps 600ms jitter",
            path(1.0, 600.0, 606.0).jitter(3.0, false),
            10,
            200.0,
        ),
        transfer(
            "10MB, 1Mbps 2s jitter",
            path(1.0, 2000.0, 2006.0).jitter(3.0, false),
            10,
            250.0,
        ),
        transfer(
            "4MB, 1Mbps 20ms to 100ms",
            path(1.0, 20.0, 100.0).rtt_steps(&[(0.0, 20.0), (2.0, 100.0)]),
            4,
            100.0,
        ),
    ]
}

/// 100 MB over 600 ms, with a slow way back.
fn satellites() -> Vec<Case> {
    let satellite =
        |down, up: f64| path(down, 600.0, 600.0).way_back(|link| limit(link, up, 600.0));
    let lossy = |path: Path| {
        path.loss(Loss::Burst {
            every: 64,
            length: 1,
        })
    };
    vec![
        transfer(
            "100MB, satellite 250/3Mbps",
            satellite(250.0, 3.0),
            100,
            60.0,
        ),
        transfer(
            "100MB, satellite 250/3Mbps, one of 64 lost",
            lossy(satellite(250.0, 3.0)),
            100,
            120.0,
        ),
        transfer(
            "100MB, satellite 250/3Mbps jitter",
            satellite(250.0, 3.0).jitter(3.0, false),
            100,
            60.0,
        ),
        transfer(
            "100MB, satellite 100Mbps",
            path(100.0, 600.0, 600.0),
            100,
            60.0,
        ),
        transfer(
            "100MB, satellite 50/10Mbps",
            satellite(50.0, 10.0),
            100,
            90.0,
        ),
        transfer(
            "100MB, satellite 10/2Mbps",
            satellite(10.0, 2.0),
            100,
            200.0,
        ),
        transfer(
            "10MB, satellite 20/2Mbps, one of 64 lost",
            lossy(satellite(20.0, 2.0)),
            10,
            90.0,
        ),
    ]
}

/// Acknowledgements over a slow link.
fn slow_returns() -> Vec<Case> {
    let slow = |mbps: f64, up: f64, rtt_ms, queue_ms| {
        path(mbps, rtt_ms, queue_ms).way_back(|link| limit(link, up, queue_ms))
    };
    vec![
        transfer(
            "10MB, 10Mbps/100kbps 2ms jitter",
            slow(10.0, 0.1, 2.0, 50.0).jitter(0.75, false),
            10,
            60.0,
        ),
        transfer(
            "10MB, 40Mbps/400kbps 2ms jitter",
            slow(40.0, 0.4, 2.0, 50.0).jitter(0.75, false),
            10,
            30.0,
        ),
        transfer(
            "4MB, 10/1Mbps 600ms",
            slow(10.0, 1.0, 600.0, 600.0),
            4,
            40.0,
        ),
    ]
}

fn wifi() -> Vec<Case> {
    // As a transfer sees it that suspends at these times, in seconds, for so long.
    let stopped = |mbps: f64, rtt_ms, queue_ms, starts: &[f64], span: f64| {
        let stops = starts
            .iter()
            .flat_map(|&start| [(start, 0.0), (start + span, mbps)]);
        let rates: Vec<_> = [(0.0, mbps)].into_iter().chain(stops).collect();
        steps(&rates, rtt_ms, queue_ms)
    };
    let every: Vec<f64> = (0_u32..15)
        .map(|number| 1.8 + 2.0 * f64::from(number))
        .collect();
    let hard: Vec<f64> = (0_u32..6)
        .map(|number| 1.0 + 0.255 * f64::from(number))
        .collect();
    let many: Vec<f64> = (0_u32..6)
        .map(|number| 1.0 + 0.5 * f64::from(number))
        .collect();
    vec![
        transfer(
            "4MB, bad Wi-Fi 10Mbps 2ms",
            path(10.0, 2.0, 250.0).wifi(7.0),
            4,
            30.0,
        ),
        transfer(
            "10MB, Wi-Fi 20Mbps to 2Mbps and back 80ms",
            steps(&[(0.0, 20.0), (1.0, 2.0), (3.0, 20.0)], 80.0, 80.0).wifi(1.0),
            10,
            40.0,
        ),
        transfer(
            "10MB, Wi-Fi stopped for 0.2s of 2s, 20Mbps 10ms",
            stopped(20.0, 10.0, 20.0, &every, 0.2),
            10,
            30.0,
        ),
        transfer(
            "3MB, Wi-Fi stopped once, 10Mbps 6ms",
            stopped(10.0, 6.0, 260.0, &[1.0], 0.25),
            3,
            20.0,
        ),
        transfer(
            "3MB, Wi-Fi stopped six times in a row, 10Mbps 6ms",
            stopped(10.0, 6.0, 260.0, &hard, 0.25),
            3,
            20.0,
        ),
        transfer(
            "3MB, Wi-Fi stopped six times, 10Mbps 6ms",
            stopped(10.0, 6.0, 260.0, &many, 0.25),
            3,
            20.0,
        ),
        transfer(
            "3MB, Wi-Fi stopped once, 10Mbps 100ms",
            stopped(10.0, 100.0, 260.0, &[1.0], 0.25),
            3,
            20.0,
        ),
    ]
}

/// Bulk data beside that of another controller, or of the same where none is named, for about as long as the transfers of these tests take.
fn beside() -> Vec<Case> {
    let plain = path(20.0, 80.0, 80.0);
    let later = path(10.0, 70.0, 80.0);
    let deep = path(20.0, 80.0, 20_000.0);
    let bad = path(10.0, 2.0, 250.0).wifi(7.0);
    let mut cases = Vec::new();
    for other in [None, Some("quinn-cubic"), Some("bbr3")] {
        for (path, name, starts, until) in [
            (&plain, "20Mbps 80ms, 8s", (0.0, 0.0), 8.0),
            (&plain, "20Mbps 80ms, 20s", (0.0, 0.0), 20.0),
            (&later, "10Mbps 70ms, 1s before", (0.0, 1.0), 20.0),
            (&deep, "20Mbps 80ms 20s of queue", (0.0, 0.0), 20.0),
            (&bad, "bad Wi-Fi 10Mbps 2ms, 1s after", (1.0, 0.0), 12.0),
        ] {
            let bulk = |start| Sender::bulk(seconds(start), seconds(until));
            let (tested, second) = (bulk(starts.0), bulk(starts.1));
            let (second, with) = match other {
                Some(other) => (second.under(other), other),
                None => (second, "itself"),
            };
            let name = format!("beside {with}, {name}");
            let case = Case::bulk(Family::Picoquic, name, path.clone(), seconds(until));
            cases.push(case.senders(vec![tested, second]));
        }
    }
    cases
}

/// Two streams of video at once, 30 frames a second: of 3,750 and 6,250 bytes, and of ten times as much each second.
fn media() -> Vec<Case> {
    let video = Load::Video {
        bytes: 10_000,
        i_bytes: 100_000,
        group: 30,
        period: millis(1000.0 / 30.0),
    };
    let suspended = {
        let stops = (0_u32..5).flat_map(|number| {
            let end = 2.0 * f64::from(number) + 2.0;
            [(end - 0.2, 0.0), (end, 20.0)]
        });
        let rates: Vec<_> = [(0.0, 20.0)].into_iter().chain(stops).collect();
        steps(&rates, 10.0, 20.0)
    };
    let fades = steps(&[(0.0, 20.0), (1.0, 2.0), (3.0, 20.0)], 40.0, 100.0).wifi(1.0);
    [
        ("100Mbps 30ms", path(100.0, 30.0, 100.0), 20.0),
        ("10Mbps 40ms", path(10.0, 40.0, 100.0), 10.0),
        (
            "100Mbps 30ms to 100ms",
            path(100.0, 30.0, 100.0).rtt_steps(&[(0.0, 30.0), (1.0, 100.0)]),
            10.0,
        ),
        (
            "bad Wi-Fi 20Mbps 2ms",
            path(20.0, 2.0, 100.0).wifi(7.0),
            10.0,
        ),
        ("Wi-Fi 20Mbps to 2Mbps and back 40ms", fades, 10.0),
        ("Wi-Fi stopped for 0.2s of 2s, 20Mbps 10ms", suspended, 9.5),
    ]
    .map(|(name, path, until)| {
        let senders = vec![Sender::doing(vec![video.until(seconds(until))])];
        let name = format!("media, {name}");
        Case::bulk(Family::Picoquic, name, path, seconds(until + 10.0)).senders(senders)
    })
    .to_vec()
}

fn transfer(name: &str, path: Path, megabytes: u64, limit: f64) -> Case {
    let sender = Sender::transfer(megabytes * MB, seconds(0.0), seconds(limit));
    Case::bulk(Family::Picoquic, name, path, seconds(limit)).senders(vec![sender])
}

/// A rate in both directions, and buffers of so many milliseconds.
fn path(mbps: f64, rtt_ms: f64, queue_ms: f64) -> Path {
    let buffer = (125.0 * mbps * queue_ms) as u64;
    Path::new(rate(mbps), rtt_ms, buffer.max(MIN_BUFFER))
        .way_back(|link| limit(link, mbps, queue_ms))
}

/// A way back of this rate, with a buffer of so many milliseconds, which holds a full packet at least.
fn limit(link: &mut LinkConfig, mbps: f64, queue_ms: f64) {
    link.shaper = rate(mbps);
    let buffer = (125.0 * mbps * queue_ms).max(FULL_PACKET);
    link.queue = Queue::DropTail(Limit::bytes(buffer as u64));
}

/// The same with rates that hold from given seconds on.
fn steps(rates: &[(f64, f64)], rtt_ms: f64, queue_ms: f64) -> Path {
    let most = rates.iter().map(|&(_, mbps)| mbps).fold(0.0, f64::max);
    let steps = rates.iter().map(|&(from, mbps)| RateStep {
        from: seconds(from).into(),
        bytes_per_second: if mbps > 0.0 {
            bytes_per_second(mbps)
        } else {
            0
        },
    });
    let shaper = Shaper::Schedule(steps.collect());
    let mut path = path(most, rtt_ms, queue_ms);
    path.forward.shaper = shaper.clone();
    path.reverse.shaper = shaper;
    path
}

const MB: u64 = 1_000_000;
