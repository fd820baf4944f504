//! What the path has carried of late.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::{Bandwidth, Bytes, Gain, Timestamp};

/// The delivery rate over the last two thirds of a minimum RTT.
///
/// It needs no model and lags by half a round trip only. It says nothing about what the path could carry while
/// nothing is queued.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carried {
    acknowledged: VecDeque<(Timestamp, Bytes)>,
    sum: Bytes,
    span: Duration,
}

impl Carried {
    /// An acknowledgement arrived on a path of this minimum RTT.
    pub(crate) fn on_ack(&mut self, now: Timestamp, acked: Bytes, min_rtt: Duration) {
        self.span = SPAN * min_rtt;
        self.acknowledged.push_back((now, acked));
        self.sum += acked;
        self.advance(now);
    }

    /// Time has passed. Returns whether that has changed the rate.
    pub(crate) fn advance(&mut self, now: Timestamp) -> bool {
        let before = self.acknowledged.len();
        while let Some(&(at, bytes)) = self.acknowledged.front()
            && now.saturating_since(at) >= self.span
        {
            self.sum -= bytes;
            self.acknowledged.pop_front();
        }
        self.acknowledged.len() != before
    }

    /// The rate, as of the last event.
    pub(crate) fn rate(&self) -> Bandwidth {
        Bandwidth::from_delivery(self.sum, self.span).unwrap_or_default()
    }
}

/// The share of the minimum RTT looked back on: short enough to see a drop before the queue is long, long enough for
/// two dozen packets on a path of 10 Mb/s and 40 ms.
const SPAN: Gain = Gain::new(2, 3);

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn the_rate_follows_the_last_span() {
        let mut carried = Carried::default();
        assert_eq!(carried.rate(), Bandwidth::ZERO);
        let min_rtt = Duration::from_millis(240);
        for millis in 0..1000 {
            carried.on_ack(
                Timestamp::from_nanos(millis * MILLISECOND),
                Bytes(1000),
                min_rtt,
            );
        }
        assert_eq!(carried.rate(), Bandwidth::from_bytes_per_second(1_000_000));
        // Ten milliseconds without an acknowledgement.
        carried.advance(Timestamp::from_nanos(1009 * MILLISECOND));
        let span = SPAN * min_rtt;
        let remaining = (span - Duration::from_millis(10)).as_millis();
        let remaining = Bytes(1000).packets(u64::try_from(remaining).expect("a short span"));
        assert_eq!(
            Some(carried.rate()),
            Bandwidth::from_delivery(remaining, span)
        );
        carried.advance(Timestamp::from_nanos(5000 * MILLISECOND));
        assert_eq!(carried.rate(), Bandwidth::ZERO);
    }

    #[test]
    fn history_ends_with_the_span() {
        let mut carried = Carried::default();
        for millis in 0..10_000 {
            carried.on_ack(
                Timestamp::from_nanos(millis * MILLISECOND),
                Bytes(1000),
                Duration::from_millis(40),
            );
        }
        assert!(
            (carried.acknowledged.len() as u128)
                <= (SPAN * Duration::from_millis(40)).as_millis() + 1
        );
        // A round trip of no length at all is not divided by.
        carried.on_ack(
            Timestamp::from_nanos(10_000 * MILLISECOND),
            Bytes(1000),
            Duration::ZERO,
        );
        assert_eq!(carried.rate(), Bandwidth::ZERO);
    }
}
