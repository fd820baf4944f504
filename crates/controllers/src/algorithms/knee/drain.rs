//! A look at the path without a queue of the sender's own.

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bytes, Timestamp};

/// The sender keeps a part of its window in flight, until packets that left with so little in flight have been acknowledged.
///
/// As BBR's ProbeRTT (draft-ietf-ccwg-bbr, section 5.3.4), but what is taken is their mean, and a standard deviation: see
/// [`PathRtt`](super::path::PathRtt). Other flows see the queue fall, and drain as well, a round trip later. So packets of the
/// first round trip are one sample and those of the half after it another one, and the smaller is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drain {
    began: Timestamp,
    before: f64,
    least: f64,
    /// Since when the flight is small.
    small_since: Option<Timestamp>,
    first: Sample,
    second: Sample,
}

/// Round-trip times.
#[derive(Debug, Clone, Copy)]
struct Sample {
    sum: f64,
    squares: f64,
    packets: u32,
}

impl Sample {
    const NONE: Self = Self {
        sum: 0.0,
        squares: 0.0,
        packets: 0,
    };

    fn add(&mut self, rtt: f64) {
        self.sum += rtt;
        self.squares += rtt * rtt;
        self.packets += 1;
    }

    /// The mean and a standard deviation: what is in flight covers the spread of the delay.
    fn level(&self) -> Option<f64> {
        (self.packets > 1).then(|| {
            let mean = self.sum / f64::from(self.packets);
            let variance = (self.squares / f64::from(self.packets) - mean * mean).max(0.0);
            mean + variance.sqrt()
        })
    }
}

/// What a drain has found, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drained {
    /// With the full window.
    pub(super) before: f64,
    /// Of all packets in the drain.
    pub(super) least: f64,
    /// Of the packets that left with a small flight: their mean and a standard deviation.
    pub(super) mean: f64,
}

impl Drain {
    /// `before` is the round-trip time with the full window, in seconds.
    pub(super) const fn new(now: Timestamp, before: f64) -> Self {
        Self {
            began: now,
            before,
            least: f64::INFINITY,
            small_since: None,
            first: Sample::NONE,
            second: Sample::NONE,
        }
    }

    /// Whether a packet left with the full window, before the drain.
    pub(super) fn is_before(&self, ack: &AckEvent) -> bool {
        ack.newest_sent <= self.began
    }

    /// Takes an acknowledgement. Returns what was found once that is enough.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent,
        rtt: f64,
        window: Bytes,
        base_rtt: f64,
    ) -> Option<Drained> {
        self.least = self.least.min(rtt);
        let Some(since) = self.small_since else {
            if ack.in_flight <= window {
                self.small_since = Some(ack.now);
            }
            return None;
        };
        let after = |round_trips: f64| since + Duration::from_secs_f64(round_trips * base_rtt);
        if ack.newest_sent >= after(FIRST) {
            self.second.add(rtt);
        } else if ack.newest_sent >= since {
            self.first.add(rtt);
        }
        (ack.newest_sent >= after(FIRST + SECOND)).then(|| {
            let levels = [self.first.level(), self.second.level()];
            Drained {
                before: self.before,
                least: self.least,
                mean: levels
                    .into_iter()
                    .flatten()
                    .reduce(f64::min)
                    .unwrap_or(self.least),
            }
        })
    }
}

/// In base round trips: until others have seen the drain and joined it.
const FIRST: f64 = 1.0;

/// In base round trips. A few packets would show noise.
const SECOND: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: u64, sent: u64, in_flight: u64) -> AckEvent {
        let at = |millis: u64| Timestamp::from_nanos(millis * 1_000_000);
        AckEvent {
            newest_sent: at(sent),
            in_flight: Bytes(in_flight),
            ..AckEvent::nothing_yet(at(now))
        }
    }

    /// Only packets that left with a small flight are in the mean; the least is of all.
    #[test]
    fn the_mean_is_of_packets_that_found_no_queue() {
        let mut drain = Drain::new(Timestamp::from_nanos(0), 0.08);
        let mut take = |now, sent, in_flight, rtt| {
            drain.on_ack(&ack(now, sent, in_flight), rtt, Bytes(10_000), 0.04)
        };
        assert_eq!(take(0, 0, 50_000, 0.08), None);
        assert_eq!(take(100, 20, 10_000, 0.08), None);
        // It left before the flight was small.
        assert_eq!(take(139, 99, 10_000, 0.04), None);
        assert_eq!(take(150, 105, 10_000, 0.045), None);
        assert_eq!(take(175, 120, 10_000, 0.055), None);
        let found = take(220, 160, 10_000, 0.07).expect("one and a half round trips were seen");
        assert_eq!((found.before, found.least), (0.08, 0.04));
        // 50 ms, and a deviation of 5: one packet of the second part is no sample.
        assert!((found.mean - 0.055).abs() < 1e-9);
    }

    /// Others drain a round trip later: what is left then is what counts.
    #[test]
    fn the_queue_of_others_has_time_to_go() {
        let mut drain = Drain::new(Timestamp::from_nanos(0), 0.1);
        let mut found = None;
        for (now, sent, rtt) in [
            (100, 0, 0.1),
            (180, 100, 0.08),
            (185, 105, 0.08),
            (191, 150, 0.041),
            (196, 155, 0.041),
            (201, 160, 0.041),
        ] {
            found = drain.on_ack(&ack(now, sent, 10_000), rtt, Bytes(10_000), 0.04);
        }
        assert!((found.expect("it has ended").mean - 0.041).abs() < 1e-9);
    }
}
