//! A look at the path without a queue of the sender's own.

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bytes, Timestamp};

/// The sender keeps a part of its window in flight, until packets that left with so little in flight have been acknowledged.
///
/// As BBR's ProbeRTT (draft-ietf-ccwg-bbr, section 5.3.4), but what is taken is their mean, and a standard deviation: see [`PathRtt`](super::path::PathRtt).
#[derive(Debug, Clone, Copy)]
pub(super) struct Drain {
    least: f64,
    /// Since when the flight is small.
    small_since: Option<Timestamp>,
    sum: f64,
    squares: f64,
    samples: u32,
}

/// What a drain has found, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drained {
    pub(super) least: f64,
    /// Of the packets that left with a small flight: their mean and a standard deviation.
    pub(super) mean: Option<f64>,
}

impl Drain {
    pub(super) const fn new() -> Self {
        Self {
            least: f64::INFINITY,
            small_since: None,
            sum: 0.0,
            squares: 0.0,
            samples: 0,
        }
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
        if ack.newest_sent >= since {
            self.sum += rtt;
            self.squares += rtt * rtt;
            self.samples += 1;
        }
        let enough = since + Duration::from_secs_f64(HOLD * base_rtt);
        (ack.newest_sent >= enough).then_some(Drained {
            least: self.least,
            mean: (self.samples > 1).then(|| {
                let n = f64::from(self.samples);
                let mean = self.sum / n;
                let variance = (self.squares / n - mean * mean).max(0.0);
                mean + SPREAD * variance.sqrt()
            }),
        })
    }
}

/// Standard deviations on top of the mean: what is in flight covers the spread of the delay.
const SPREAD: f64 = 1.0;

/// Packets of half a round trip are looked at: a few would show noise.
const HOLD: f64 = 0.5;

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
        let mut drain = Drain::new();
        let window = Bytes(10_000);
        assert_eq!(drain.on_ack(&ack(0, 0, 50_000), 0.08, window, 0.04), None);
        assert_eq!(
            drain.on_ack(&ack(100, 20, 10_000), 0.08, window, 0.04),
            None
        );
        // It left before the flight was small.
        assert_eq!(
            drain.on_ack(&ack(139, 99, 10_000), 0.04, window, 0.04),
            None
        );
        assert_eq!(
            drain.on_ack(&ack(150, 105, 10_000), 0.045, window, 0.04),
            None
        );
        let found = drain.on_ack(&ack(175, 120, 10_000), 0.055, window, 0.04);
        let found = found.expect("half a round trip was seen");
        assert_eq!(found.least, 0.04);
        // 50 ms, and a deviation of 5.
        assert!((found.mean.expect("two packets") - 0.055).abs() < 1e-9);
    }
}
