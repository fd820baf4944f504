//! By how much the path's delay exceeds its minimum on average.

use crate::units::Timestamp;

/// The mean RTT less the minimum of packets that found no queue of this sender.
///
/// The delay of a path is a distribution: radio links and hosts hold packets back. A window of min RTT holds less than the path,
/// and samples over such a window show the sender. What a packet of a full window waits for is this sender's queue or the
/// path, which its RTT does not tell. In a drain the flight is half a bandwidth-delay product, and a flight includes its queue. A
/// burst after silence is no drain: it queues, however small it is.
///
/// Mean and minimum are of one drain: a queue of others that stands throughout is in both, and does not count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DelaySpread {
    drain: Drain,
    /// Of the last two drains, in nanoseconds.
    spreads: [Option<u64>; 2],
    /// The smaller one of them: it is read several times per acknowledgement, and they change once in a drain.
    smaller: u64,
}

/// Consecutive packets that found no queue.
#[derive(Debug, Clone, Copy)]
struct Drain {
    min: u64,
    sum: u64,
    samples: u64,
    began: Timestamp,
    /// The time of the newest sample.
    until: Timestamp,
}

impl Drain {
    /// As long as a round trip: delays of neighbouring packets are alike.
    const fn is_enough(&self) -> bool {
        self.samples >= ENOUGH && self.until.nanos_since(self.began) >= self.min
    }
}

impl Default for Drain {
    fn default() -> Self {
        Self {
            min: u64::MAX,
            sum: 0,
            samples: 0,
            began: Timestamp::ZERO,
            until: Timestamp::ZERO,
        }
    }
}

impl DelaySpread {
    /// Handles the RTT, in nanoseconds, of a packet that left in a drain, with so little in flight.
    pub(crate) fn add(&mut self, now: Timestamp, rtt: u64) {
        let drain = &mut self.drain;
        if drain.samples == 0 {
            drain.began = now;
        }
        drain.until = now;
        drain.min = drain.min.min(rtt);
        drain.sum = drain.sum.saturating_add(rtt);
        drain.samples += 1;
    }

    /// A packet was acknowledged that left in no drain.
    pub(crate) fn end_drain(&mut self) {
        if self.drain.samples == 0 {
            return;
        }
        let drain = core::mem::take(&mut self.drain);
        if drain.is_enough() {
            let spread = drain.sum / drain.samples - drain.min;
            self.set([Some(spread), self.spreads[0]]);
        }
    }

    /// A mark says that packets wait in a queue: what they waited for was not the path's own delay. Two drains without marks say
    /// more.
    pub(crate) fn forget(&mut self) {
        self.drain = Drain::default();
        self.set([Some(0); 2]);
    }

    fn set(&mut self, spreads: [Option<u64>; 2]) {
        let [last, before] = spreads;
        let spread = last.unwrap_or_default();
        self.spreads = spreads;
        self.smaller = before.map_or(spread, |before| spread.min(before));
    }

    /// Whether there are enough samples of one drain.
    pub(crate) fn is_known(&self) -> bool {
        self.spreads[0].is_some() || self.drain.is_enough()
    }

    /// The smaller one of the last two drains, in nanoseconds: others drained as well in one of them, or their queue did not change.
    pub(crate) fn get(&self) -> u64 {
        self.smaller
    }
}

/// Enough samples of an RTT (RFC 9406, section 4.3: N_RTT_SAMPLE).
const ENOUGH: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn add(spread: &mut DelaySpread, millis: impl IntoIterator<Item = u64>) {
        for (number, millis) in (0..).zip(millis) {
            let now = Timestamp::from_nanos(20_000_000 * number);
            spread.add(now, millis * 1_000_000);
        }
    }

    fn drain(spread: &mut DelaySpread, millis: impl IntoIterator<Item = u64>) {
        add(spread, millis);
        spread.end_drain();
    }

    #[test]
    fn it_is_the_mean_above_the_minimum() {
        let mut spread = DelaySpread::default();
        assert_eq!(spread.get(), 0);
        drain(&mut spread, 10..19);
        assert_eq!(spread.get(), 4_000_000);
    }

    /// Trap: with the min RTT of a time without rivals, flows that fill the queue together would take each other's queue for the
    /// path and make it longer and longer.
    #[test]
    fn a_queue_that_stands_is_no_spread() {
        let mut spread = DelaySpread::default();
        drain(&mut spread, [90; 20]);
        assert_eq!(spread.get(), 0);
    }

    #[test]
    fn few_samples_say_nothing() {
        let mut spread = DelaySpread::default();
        drain(&mut spread, 10..17);
        drain(&mut spread, 200..209);
        assert!(!spread.is_known());
        assert_eq!(spread.get(), 0);
        add(&mut spread, 10..18);
        assert!(spread.is_known());
    }

    #[test]
    fn the_smaller_one_of_two_drains_counts() {
        let mut spread = DelaySpread::default();
        let wide = || (0..9).map(|sample| 10 + 2 * sample);
        drain(&mut spread, wide());
        assert_eq!(spread.get(), 8_000_000);
        drain(&mut spread, 10..19);
        drain(&mut spread, wide());
        assert_eq!(spread.get(), 4_000_000);
        drain(&mut spread, wide());
        assert_eq!(spread.get(), 8_000_000);
    }

    #[test]
    fn a_mark_ends_it_until_two_drains_show_it_again() {
        let mut spread = DelaySpread::default();
        drain(&mut spread, 10..19);
        spread.forget();
        assert_eq!(spread.get(), 0);
        drain(&mut spread, 10..19);
        assert_eq!(spread.get(), 0);
        drain(&mut spread, 10..19);
        assert_eq!(spread.get(), 4_000_000);
    }
}
