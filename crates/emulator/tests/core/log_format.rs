//! Mahimahi's log format, read.

use std::fmt::Write;

use kneepoint_emulator::log_format::{EventKind, Log, LogStatistics};

use crate::common::folder;

#[test]
fn nothing_of_a_real_log_is_lost() {
    for name in REAL {
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let log = Log::parse(&text, name).unwrap();
        let mut written = String::new();
        for comment in log.comments() {
            writeln!(written, "# {comment}").unwrap();
        }
        for event in log.events() {
            assert_eq!(event.rest, "");
            let time = log.base() + event.time;
            match event.kind {
                EventKind::Arrival { bytes } => writeln!(written, "{time} + {bytes}"),
                EventKind::Drop { packets, bytes } => {
                    writeln!(written, "{time} d {packets} {bytes}")
                }
                EventKind::Opportunity { bytes } => writeln!(written, "{time} # {bytes}"),
                EventKind::Departure { bytes, delay } => {
                    writeln!(written, "{time} - {bytes} {delay}")
                }
            }
            .unwrap();
        }
        assert!(written == text, "{name}");
    }
}

#[test]
fn real_logs_in_numbers() {
    for (name, departed, dropped) in [
        ("droptail-bytes.log", 3044, 257),
        ("droptail-packets.log", 2786, 558),
        ("infinite.log", 4524, 0),
    ] {
        let log = Log::load(folder().join(name)).unwrap();
        let statistics = log.statistics();
        let counts = (statistics.departed_packets, statistics.dropped_packets);
        assert_eq!(counts, (departed, dropped), "{name}");
        assert_eq!(statistics, by_hand(&log), "{name}");
        let on_the_way = statistics.arrived_packets - departed - dropped;
        assert!(on_the_way < 1000, "{name}: {on_the_way}");
        assert!(statistics.utilization().is_some_and(|used| used <= 1.0));
    }
}

/// The numbers again, by mahimahi's scripts word for word.
fn by_hand(log: &Log) -> LogStatistics {
    let mut expected = LogStatistics::default();
    let end = log.events().iter().map(|event| event.time).max().unwrap();
    expected.duration_ms = end - log.events()[0].time;
    let mut delays = Vec::new();
    let mut table: Vec<Option<u64>> = vec![None; usize::try_from(end).unwrap() + 1];
    for event in log.events() {
        match event.kind {
            EventKind::Arrival { bytes } => {
                expected.arrived_packets += 1;
                expected.arrived_bytes += bytes;
            }
            EventKind::Drop { packets, bytes } => {
                expected.dropped_packets += packets;
                expected.dropped_bytes += bytes;
            }
            EventKind::Opportunity { bytes } => {
                expected.opportunities += 1;
                expected.capacity_bytes += bytes;
            }
            EventKind::Departure { bytes, delay } => {
                expected.departed_packets += 1;
                expected.departed_bytes += bytes;
                delays.push(delay);
                let entry = &mut table[usize::try_from(event.time - delay).unwrap()];
                *entry = Some(entry.map_or(delay, |known| known.min(delay)));
            }
        }
    }
    let percentile = |mut values: Vec<u64>| {
        values.sort_unstable();
        values[(0.95 * values.len() as f64) as usize]
    };
    expected.queue_delay_p95_ms = Some(percentile(delays));
    let first = table.iter().position(Option::is_some).unwrap();
    let last = table.iter().rposition(Option::is_some).unwrap();
    for millisecond in (first..last).rev() {
        if table[millisecond].is_none() {
            table[millisecond] = table[millisecond + 1].map(|next| next + 1);
        }
    }
    let signal = table[first..=last].iter().map(|delay| delay.unwrap());
    expected.signal_delay_p95_ms = Some(percentile(signal.collect()));
    expected
}

#[test]
fn a_small_log_by_hand() {
    let text = "# queue: infinite\n# base timestamp: 1000\n1000 + 500\n1002 # 1504\n1002 - 500 2\n\
                1006 + 1504\n1006 d 2 3008\n1010 # 1504\n1010 - 1504 4 late 17\n";
    let log = Log::parse(text, "t").unwrap();
    assert_eq!(log.comments(), ["queue: infinite", "base timestamp: 1000"]);
    assert_eq!(log.base(), 1000);
    assert_eq!(log.events().last().unwrap().rest, "late 17");
    let statistics = log.statistics();
    let expected = LogStatistics {
        duration_ms: 10,
        opportunities: 2,
        capacity_bytes: 3008,
        arrived_packets: 2,
        arrived_bytes: 2004,
        departed_packets: 2,
        departed_bytes: 2004,
        dropped_packets: 2,
        dropped_bytes: 3008,
        queue_delay_p95_ms: Some(4),
        // Sent at 0: 2; at 1 to 5: 9, 8, 7, 6, 5; at 6: 4. The last of seven in order.
        signal_delay_p95_ms: Some(9),
    };
    assert_eq!(statistics, expected);
    assert_eq!(statistics.capacity(), Some(300_800.0));
    assert_eq!(statistics.throughput(), Some(200_400.0));
    assert_eq!(statistics.utilization(), Some(2004.0 / 3008.0));
}

#[test]
fn a_log_of_one_moment_has_no_rates() {
    let log = Log::parse("# base timestamp: 0\r\n5 + 100\r\n", "t").unwrap();
    let statistics = log.statistics();
    assert_eq!(statistics.throughput(), None);
    assert_eq!(statistics.utilization(), None);
    assert_eq!(statistics.queue_delay_p95_ms, None);
    assert_eq!(statistics.signal_delay_p95_ms, None);
}

#[test]
fn bad_logs_are_rejected_with_their_line_and_value() {
    // A log, in which \n ends a line, and why it is refused.
    let cases = r##"
 => t: the log has no events
# base timestamp: 1\n => t: the log has no events
5 + 100\n => t:1: an event before the line "# base timestamp: N"
# base timestamp: x\n => t:1: the base timestamp "x" is not a whole number
# base timestamp: 1\n# base timestamp: 2\n => t:2: a second base timestamp, 2
# base timestamp: 10\n9 + 1\n => t:2: 9 ms is before the base timestamp, 10 ms
# base timestamp: 10\n11 ? 1\n => t:2: unknown event "?": expected one of +, -, # and d
# base timestamp: 10\n11 - 1\n => t:2: the delay is missing in "11 - 1"
# base timestamp: 10\n11\n => t:2: the event is missing in "11"
# base timestamp: 10\n11 + -1\n => t:2: the size "-1" is not a whole number
# base timestamp: 10\n11 + 18446744073709551616\n => t:2: the size "18446744073709551616" is not a whole number
# base timestamp: 10\n11 - 100 2\n => t:2: a delay of 2 ms at 1 ms after the base timestamp
"##;
    for (text, message) in cases.lines().filter_map(|case| case.split_once(" => ")) {
        let text = text.replace("\\n", "\n");
        let error = Log::parse(&text, "t").unwrap_err();
        assert_eq!(error.to_string(), message, "{text:?}");
    }
    let error = Log::parse(b"# base timestamp: 1\n\xff\n", "t").unwrap_err();
    assert_eq!(error.to_string(), "t:2: \"\u{fffd}\" is not text");
    let error = Log::load("no/such.log").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read log no/such.log: ")
    );
}

const REAL: [&str; 3] = ["droptail-bytes.log", "droptail-packets.log", "infinite.log"];
