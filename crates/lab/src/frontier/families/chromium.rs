//! The networks and transfers of Chromium's tests of BBRv2 over a simulated network: github.com/google/quiche,
//! quiche/quic/core/congestion_control/bbr2_simulator_test.cc.
//!
//! There a transfer must end in a given time; here it also must not take much longer than under the best controller.

use std::time::Duration;

use kneepoint_emulator::link::{Loss, RateStep, Shaper};

use crate::frontier::case::Sender;
use crate::frontier::path::{MIN_BUFFER, bytes_per_second, rate};
use crate::frontier::{Case, Family, Path, ms, seconds};
use crate::workload::{Load, Phase};

pub(super) fn cases() -> Vec<Case> {
    let single = [
        ("12MiB", plain(2.0), 12, 30.0),
        ("12MiB, 0.5bdp", plain(0.5), 12, 30.0),
        // Two round trips.
        (
            "12MiB, ACKs every 144ms",
            plain(2.0).ack_batches(2.0 * RTT_MS),
            12,
            35.0,
        ),
        ("12MiB, one ACK of 5", fewer_acks(plain(2.0)), 12, 35.0),
        (
            "3MiB, policer 1Mbps",
            plain(2.0).policer(1.0, 100_000),
            3,
            30.0,
        ),
        // 8 MB at 100 kb/s take 640 s.
        (
            "20MiB, 10Mbps to 100kbps",
            step(10.0, 10.0, 0.1, 68.0),
            20,
            810.0,
        ),
        (
            "10MiB, 100kbps to 10Mbps",
            step(0.1, 15.0, 10.0, 298.0),
            10,
            65.0,
        ),
        (
            "2MiB, 100kbps to 10Mbps, ACKs every 596ms",
            step(0.1, 15.0, 10.0, 298.0).ack_batches(596.0),
            2,
            200.0,
        ),
    ];
    let single = single.into_iter().map(|(name, path, mebibytes, limit)| {
        let sender = Sender::transfer(mebibytes * MIB, Duration::ZERO, seconds(limit));
        case(name.to_owned(), path, vec![sender], limit)
    });
    let several = {
        // 21 s for each of them.
        let senders = (0..6).map(|index| {
            let start = seconds(2.0 * f64::from(index));
            Sender::transfer(10 * MIB, start, seconds(150.0))
        });
        let name = "6 x 10MiB 2s apart".to_owned();
        case(name, plain(2.0), senders.collect(), 150.0)
    };
    let beside = BESIDE.iter().map(|&(other, mebibytes, start, limit)| {
        let first = Sender::transfer(mebibytes * MIB, Duration::ZERO, seconds(limit));
        let second = Sender::transfer(mebibytes * MIB, seconds(start), seconds(limit));
        let name = format!("{mebibytes}MiB beside {other}");
        case(name, plain(2.0), vec![first, second.under(other)], limit)
    });
    single
        .chain([several])
        .chain(beside)
        .chain([little()])
        .collect()
}

/// 20 messages of 512 bytes, 3 s apart, then 1 MiB.
fn little() -> Case {
    let calls = |bytes, count, until| Phase {
        until: seconds(until),
        load: Load::Calls {
            bytes,
            interval: ms(3000),
            count: Some(count),
        },
    };
    let phases = vec![calls(512, 20, 60.0), calls(MIB, 1, 75.0)];
    let name = "512B every 3s, then 1MiB".to_owned();
    case(name, plain(2.0), vec![Sender::doing(phases)], 75.0)
}

fn case(name: String, path: Path, senders: Vec<Sender>, limit: f64) -> Case {
    Case::bulk(Family::Chromium, name, path, seconds(limit)).senders(senders)
}

/// 4 Mb/s in both directions.
fn plain(bdps: f64) -> Path {
    Path::constant(MBPS, RTT_MS, bdps).way_back(|link| link.shaper = rate(MBPS))
}

/// Acknowledgements of ten packets instead of two.
fn fewer_acks(path: Path) -> Path {
    path.way_back(|link| {
        link.loss = Loss::Burst {
            every: 5,
            length: 4,
        };
    })
}

/// A rate until a time in seconds, another one from then on, and two BDP of the first one.
fn step(before: f64, at: f64, after: f64, rtt_ms: f64) -> Path {
    let shaper = Shaper::Schedule(vec![
        RateStep {
            from: Duration::ZERO.into(),
            bytes_per_second: bytes_per_second(before),
        },
        RateStep {
            from: seconds(at).into(),
            bytes_per_second: bytes_per_second(after),
        },
    ]);
    let buffer = (2.0 * before * 125.0 * rtt_ms) as u64;
    // Of the round-trip time at 100 kb/s most is the time of sending.
    Path::new(shaper, PROPAGATION_MS, buffer.max(MIN_BUFFER))
}

/// The other controller, MiB of each transfer, and in seconds when it starts and when all must be over.
const BESIDE: [(&str, u64, f64, f64); 2] =
    [("bbr", 10, 2.2, 66.0), ("quinn-cubic", 50, 11.0, 320.0)];

const MBPS: f64 = 4.0;

/// 32 ms each way, and a packet's and an acknowledgement's time on links of 4 and 10 Mb/s.
const RTT_MS: f64 = 72.0;

const PROPAGATION_MS: f64 = 64.0;

const MIB: u64 = 1 << 20;
