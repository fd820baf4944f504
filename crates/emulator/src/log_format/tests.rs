use std::path::Path;

use super::*;
use crate::link::{DropCause, Limit, LinkConfig, MAHIMAHI_OVERHEAD, PacketOutcome, Queue, Shaper};
use crate::packet::Packet;
use crate::trace::Trace;

fn packet(payload: usize) -> Packet {
    let address = |port| ([127, 0, 0, 1], port).into();
    Packet {
        source: address(1),
        destination: address(2),
        ecn: None,
        payload: vec![0; payload],
    }
}

fn written(link: &Link, end: u64, format: LogFormat) -> String {
    let mut text = Vec::new();
    write_link(link, Nanos::from_millis(end), format, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The lines between a real log's first and last moment, in its times, sorted: within a millisecond, mm-link puts what
/// departs behind the opportunity that it departs by.
fn lines(text: &str, base: u64, until: u64) -> Vec<(u64, String)> {
    let events = text.lines().filter(|line| !line.starts_with('#'));
    let split = events.map(|line| line.split_once(' ').unwrap());
    let mut lines: Vec<_> = split
        .map(|(time, event)| (time.parse::<u64>().unwrap() - base, event.to_owned()))
        .filter(|(time, _)| *time < until)
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_real_log_is_written_again_line_for_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mm-link");
    let limits = [
        ("droptail-bytes.log", Queue::DropTail(Limit::bytes(60_000))),
        ("droptail-packets.log", Queue::DropTail(Limit::packets(40))),
        ("infinite.log", Queue::Infinite),
    ];
    for (name, queue) in limits {
        let real = std::fs::read_to_string(folder.join(name)).unwrap();
        let base = real
            .lines()
            .find_map(|line| line.strip_prefix("# base timestamp: "))
            .unwrap();
        let base: u64 = base.parse().unwrap();
        let trace = Trace::load(folder.join("link.trace")).unwrap();
        let config = LinkConfig {
            queue,
            overhead: MAHIMAHI_OVERHEAD,
            log: true,
            ..LinkConfig::new(Shaper::Trace(trace))
        };
        let mut link = Link::new(config, 1).unwrap();
        for line in real.lines() {
            if let [time, "+", bytes] = line.split(' ').collect::<Vec<_>>()[..] {
                let time = Nanos::from_millis(time.parse::<u64>().unwrap() - base);
                let size: u32 = bytes.parse().unwrap();
                let payload = usize::try_from(size - MAHIMAHI_OVERHEAD).unwrap();
                link.offer(time, packet(payload));
            }
        }
        let last = real.lines().last().unwrap().split(' ').next().unwrap();
        let end = last.parse::<u64>().unwrap() - base;
        link.poll(Nanos::from_millis(end), |_, _| ());

        let ours = lines(&written(&link, end, LogFormat::Mahimahi), 0, end);
        let real = lines(&real, base, end);
        assert_eq!(ours.len(), real.len(), "{name}");
        assert!(ours == real, "{name}");
    }
}

/// A packet that is sent, one that is dropped and one that waits, at 1000 B/ms.
fn short() -> Link {
    let config = LinkConfig {
        queue: Queue::DropTail(Limit::packets(1)),
        delay: Nanos::from_millis(5).into(),
        overhead: 0,
        log: true,
        ..LinkConfig::constant(1_000_000)
    };
    let mut link = Link::new(config, 1).unwrap();
    for _ in 0..3 {
        link.offer(Nanos::from_micros(500), packet(1500));
    }
    link
}

#[test]
fn events_after_the_end_are_not_written() {
    let expected = "# base timestamp: 0\n0 + 1500\n0 + 1500\n0 + 1500\n0 d 1 1500\n1 # 1000\n2 # 1000\n2 - 1500 2\n";
    assert_eq!(written(&short(), 2, LogFormat::Mahimahi), expected);
    let lateness = expected.replace("1500 2\n", "1500 2 -\n");
    assert_eq!(written(&short(), 2, LogFormat::Lateness), lateness);
}

#[test]
fn packets_as_csv_and_events_as_json() {
    let csv = written(&short(), 2, LogFormat::Csv);
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    let flow = "127.0.0.1:1,127.0.0.1:2,1500,false";
    let outcomes = ["sent,2,7,,", "queued,,,,", "queue full,,,0.5,"];
    assert_eq!(
        lines,
        outcomes.map(|outcome| format!("0.5,{flow},{outcome}"))
    );
    let names = csv.lines().next().unwrap().split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == names));

    let json = written(&short(), 2, LogFormat::Json);
    let lines: Vec<&str> = json.lines().collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(
        lines[0],
        r#"{"time_ms":0.5,"event":"arrival","bytes":1500}"#
    );
    assert_eq!(
        lines[3],
        r#"{"time_ms":0.5,"event":"drop","packets":1,"bytes":1500,"cause":"queue full"}"#
    );
    assert_eq!(
        lines[6],
        r#"{"time_ms":2,"event":"departure","bytes":1500,"delay_ms":1.5,"lateness_us":null}"#
    );
}

#[test]
fn lateness_stands_behind_its_departure() {
    let link = short();
    let log = link.log().unwrap();
    let record = log.records()[0];
    let flow = log.flow(record.flow).unwrap();
    let mut packet = LoggedPacket {
        flow,
        record,
        lateness: Some(Nanos(12_345)),
    };
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text, LogFormat::Lateness).unwrap();
    writer.packet(&packet).unwrap();
    writer.advance(Nanos::from_millis(1), &link).unwrap();
    packet.record.arrival = Nanos::from_millis(1);
    packet.record.outcome = PacketOutcome::Dropped {
        time: Nanos::from_millis(1),
        cause: DropCause::Loss,
    };
    writer.packet(&packet).unwrap();
    writer.finish(Nanos::from_millis(2), &link).unwrap();
    let expected = "# base timestamp: 0\n0 + 1500\n1 # 1000\n1 + 1500\n1 d 1 1500\n2 # 1000\n2 - 1500 2 12.3\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

/// mahimahi logs the opportunities at the trace's own beginning too, though no packet can use them.
#[test]
fn opportunities_at_time_zero_are_written() {
    let trace = Trace::from_millis(vec![0, 0, 1, 3], "leading zeros").unwrap();
    let config = LinkConfig {
        overhead: 0,
        log: true,
        ..LinkConfig::new(Shaper::Trace(trace))
    };
    let mut link = Link::new(config, 1).unwrap();
    link.offer(Nanos::ZERO, packet(1000));
    link.poll(Nanos::from_millis(4), |_, _| ());
    // The wrap's zeros coincide with the previous cycle's last opportunity.
    let expected = "# base timestamp: 0\n0 # 1504\n0 # 1504\n0 + 1000\n1 - 1000 1\n1 # 1504\n3 # 1504\n3 # 1504\n3 # 1504\n4 # 1504\n";
    let mut ours: Vec<String> = written(&link, 4, LogFormat::Mahimahi)
        .lines()
        .map(str::to_owned)
        .collect();
    let mut expected: Vec<String> = expected.lines().map(str::to_owned).collect();
    assert_eq!(ours[..4], expected[..4]);
    ours.sort();
    expected.sort();
    assert_eq!(ours, expected);
    assert!(written(&link, 0, LogFormat::Mahimahi).contains("0 # 1504\n0 # 1504\n"));
}

/// Without a limit there is no capacity to log, and packets leave as they come.
#[test]
fn a_link_without_a_limit_has_no_opportunities() {
    let config = LinkConfig {
        delay: Nanos::from_millis(5).into(),
        overhead: 0,
        log: true,
        ..LinkConfig::new(Shaper::Unlimited)
    };
    let mut link = Link::new(config, 1).unwrap();
    let mut delivered = Vec::new();
    for micros in [0, 2_500] {
        link.offer(Nanos::from_micros(micros), packet(60_000));
        link.offer(Nanos::from_micros(micros), packet(60_000));
    }
    link.poll(Nanos::from_millis(9), |time, _| delivered.push(time.0));
    assert_eq!(delivered, [5_000_000, 5_000_000, 7_500_000, 7_500_000]);
    let expected = "# base timestamp: 0\n0 + 60000\n0 + 60000\n0 - 60000 0\n0 - 60000 0\n2 + 60000\n2 + 60000\n2 - 60000 0\n2 - 60000 0\n";
    let mut ours: Vec<_> = written(&link, 9, LogFormat::Mahimahi)
        .lines()
        .map(str::to_owned)
        .collect();
    let mut expected: Vec<_> = expected.lines().map(str::to_owned).collect();
    ours.sort();
    expected.sort();
    assert_eq!(ours, expected);
    assert_eq!(link.capacity(Nanos::ZERO, Nanos(1)), u64::MAX);
    assert_eq!(link.capacity(Nanos(1), Nanos(1)), 0);
}

#[test]
fn formats_by_name() {
    for format in LogFormat::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    assert!("pcap".parse::<LogFormat>().is_err());
}

/// Fault: a log whose times go backwards had a duration of zero.
#[test]
fn times_that_go_backwards_are_refused() {
    let text = "# base timestamp: 2\n5 # 1504\n5 # 1504\n4 # 1504\n";
    let error = Log::parse(text, "a.log").expect_err("it is no log");
    assert_eq!(
        error.to_string(),
        "a.log:4: 2 ms after the base timestamp comes after 3 ms"
    );
}
