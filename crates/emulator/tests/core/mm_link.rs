//! Logs of a real mm-link, replayed: every departure's size, time and delay, and the drops.

use std::path::{Path, PathBuf};

use kneepoint_emulator::link::{
    DropCause, EnqueueResult, Limit, Link, LinkConfig, MAHIMAHI_OVERHEAD, PacketOutcome, Queue,
    Shaper,
};
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace};

use crate::common::{drain, ms, packet};

#[test]
fn drop_tail_in_bytes() {
    let log = Log::load("droptail-bytes.log");
    assert_eq!((log.departures.len(), log.drops.len()), (3044, 257));
    log.replay(Queue::DropTail(Limit::bytes(60_000)));
}

#[test]
fn drop_tail_in_packets() {
    let log = Log::load("droptail-packets.log");
    assert_eq!((log.departures.len(), log.drops.len()), (2786, 558));
    log.replay(Queue::DropTail(Limit::packets(40)));
}

#[test]
fn infinite() {
    let log = Log::load("infinite.log");
    assert_eq!((log.departures.len(), log.drops.len()), (4524, 0));
    log.replay(Queue::Infinite);
}

/// A log's lines; times in milliseconds, relative to the start of the trace.
#[derive(Debug, Default)]
struct Log {
    /// Time and size.
    arrivals: Vec<(u64, u64)>,
    /// Time, size and delay.
    departures: Vec<(u64, u64, u64)>,
    /// Times.
    drops: Vec<u64>,
    /// Times.
    opportunities: Vec<u64>,
}

impl Log {
    fn load(name: &str) -> Self {
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let mut log = Self::default();
        let mut base = 0;
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix('#') {
                if let Some(value) = comment.trim().strip_prefix("base timestamp: ") {
                    base = value.parse().unwrap();
                }
                continue;
            }
            let fields: Vec<&str> = line.split(' ').collect();
            let number = |index: usize| fields[index].parse::<u64>().unwrap();
            let time = number(0) - base;
            match fields[1] {
                "+" => log.arrivals.push((time, number(2))),
                "-" => log.departures.push((time, number(2), number(3))),
                "d" => log
                    .drops
                    .extend(vec![time; usize::try_from(number(2)).unwrap()]),
                "#" => log.opportunities.push(time),
                other => panic!("unknown event {other}"),
            }
        }
        log
    }

    fn replay(&self, queue: Queue) {
        let trace = Trace::load(folder().join("link.trace")).unwrap();
        let expected = trace.opportunities().map(|time| time.0 / 1_000_000);
        assert!(
            expected
                .take(self.opportunities.len())
                .eq(self.opportunities.iter().copied())
        );
        let (first, last) = (self.opportunities[0], *self.opportunities.last().unwrap());
        let between = self
            .opportunities
            .iter()
            .filter(|time| **time > first)
            .count() as u64;
        assert_eq!(
            trace.capacity(ms(first), ms(last)),
            between * OPPORTUNITY_BYTES
        );

        let config = LinkConfig {
            queue,
            overhead: MAHIMAHI_OVERHEAD,
            log: true,
            ..LinkConfig::new(Shaper::Trace(trace))
        };
        let mut link = Link::new(config, 1).unwrap();
        let mut drops = Vec::new();
        for &(time, size) in &self.arrivals {
            let payload = usize::try_from(size - u64::from(MAHIMAHI_OVERHEAD)).unwrap();
            match link.offer(ms(time), packet(payload, 0)) {
                EnqueueResult::Accepted => {}
                EnqueueResult::Dropped(cause) => {
                    assert_eq!(cause, DropCause::QueueFull);
                    drops.push(time);
                }
            }
        }
        assert_eq!(drops, self.drops);

        drain(&mut link);
        let mut departures: Vec<_> = link
            .log()
            .unwrap()
            .records()
            .iter()
            .filter_map(|record| match record.outcome {
                PacketOutcome::Sent { departure, .. } => {
                    let delay = departure - record.arrival;
                    assert_eq!((departure.0 % 1_000_000, delay.0 % 1_000_000), (0, 0));
                    Some((departure.0 / 1_000_000, record.size, delay.0 / 1_000_000))
                }
                _ => None,
            })
            .collect();
        // What was still queued when the recording stopped leaves no line in it.
        let recorded_until = self.departures.last().unwrap().0;
        departures.retain(|(time, ..)| *time <= recorded_until);
        assert_eq!(departures, self.departures);
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mm-link")
}
