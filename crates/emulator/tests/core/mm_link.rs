//! Logs of a real mm-link, replayed: every departure's size, time and delay, and the drops.

use kneepoint_emulator::link::{
    DropCause, EnqueueResult, Limit, Link, LinkConfig, MAHIMAHI_OVERHEAD, PacketOutcome, Queue,
    Shaper,
};
use kneepoint_emulator::log_format::{EventKind, Log};
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace};

use crate::common::{drain, folder, ms, packet};

#[test]
fn a_replay_departs_and_drops_as_recorded() {
    for (name, departures, drops, queue) in [
        (
            "droptail-bytes.log",
            3044,
            257,
            Queue::DropTail(Limit::bytes(60_000)),
        ),
        (
            "droptail-packets.log",
            2786,
            558,
            Queue::DropTail(Limit::packets(40)),
        ),
        ("infinite.log", 4524, 0, Queue::Infinite),
    ] {
        let log = Recording::load(name);
        let counts = (log.departures.len(), log.drops.len());
        assert_eq!(counts, (departures, drops), "{name}");
        log.replay(queue);
    }
}

/// What a log says; times in milliseconds, relative to the start of the trace.
#[derive(Debug, Default)]
struct Recording {
    /// Time and size.
    arrivals: Vec<(u64, u64)>,
    /// Time, size and delay.
    departures: Vec<(u64, u64, u64)>,
    /// Times.
    drops: Vec<u64>,
    /// Times.
    opportunities: Vec<u64>,
}

impl Recording {
    fn load(name: &str) -> Self {
        let mut recording = Self::default();
        for event in Log::load(folder().join(name)).unwrap().events() {
            let time = event.time;
            match event.kind {
                EventKind::Arrival { bytes } => recording.arrivals.push((time, bytes)),
                EventKind::Departure { bytes, delay } => {
                    recording.departures.push((time, bytes, delay));
                }
                EventKind::Drop { packets, .. } => {
                    let packets = usize::try_from(packets).unwrap();
                    recording.drops.extend(vec![time; packets]);
                }
                EventKind::Opportunity { .. } => recording.opportunities.push(time),
            }
        }
        recording
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
