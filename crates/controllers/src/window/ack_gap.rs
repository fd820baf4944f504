//! The gaps between acknowledgements while data is in flight.

use kneepoint_estimators::{ExactWindow, Max, WindowedFilter};

use crate::units::{Bytes, Timestamp};

/// The maximum gap between acknowledgements in the last rounds, without outages. An outage is longer than the RTT and
/// does not recur.
///
/// A receiver that acknowledges every second packet, or a link that delivers packets in batches, leaves gaps between
/// acknowledgements. A window that keeps the path busy has to cover these gaps. In nanoseconds.
#[derive(Debug, Clone)]
pub(super) struct AckGap {
    max: ExactWindow<u64, Max>,
    /// The previous acknowledgement; the end of time if no gap follows it.
    previous: Timestamp,
    medium: u64,
    /// The maximum gap of the current round, if it has one: a shorter gap changes nothing.
    longest: Option<u64>,
    recurring: Recurring,
}

/// The mean gap that bytes waited for in each of the last rounds, however long. A long gap in one round may be an
/// outage. A gap in most rounds is how the path acknowledges.
#[derive(Debug, Clone, Copy, Default)]
struct Recurring {
    round: u64,
    /// The last gap: acknowledgements of one instant have waited for it together.
    gap: u64,
    /// The bytes of the current round, and the sum of bytes times gap.
    bytes: f64,
    weighted: f64,
    /// The last rounds' means, the oldest first.
    rounds: [u64; RECURRING_ROUNDS],
    median: u64,
}

impl Recurring {
    fn add(&mut self, gap: u64, bytes: Bytes) {
        if gap > 0 {
            self.gap = gap;
        }
        let bytes = bytes.0 as i64 as f64;
        self.bytes += bytes;
        self.weighted += bytes * self.gap as i64 as f64;
    }

    fn end_round(&mut self, next: u64) {
        if self.bytes > 0.0 {
            self.rounds.copy_within(1.., 0);
            self.rounds[RECURRING_ROUNDS - 1] = (self.weighted / self.bytes) as i64 as u64;
            self.median = median(self.rounds);
        }
        (self.round, self.bytes, self.weighted) = (next, 0.0, 0.0);
    }
}

impl Default for AckGap {
    fn default() -> Self {
        Self::new()
    }
}

impl AckGap {
    /// An estimator without samples.
    pub(super) fn new() -> Self {
        Self {
            max: ExactWindow::new(ROUNDS),
            previous: Timestamp::MAX,
            medium: 0,
            longest: None,
            recurring: Recurring::default(),
        }
    }

    /// Handles an acknowledgement of `bytes`. A gap above `limit` does not count for the maximum. Returns whether
    /// [`max`](Self::max) or [`recurring`](Self::recurring) may have changed.
    pub(super) fn on_ack(
        &mut self,
        now: Timestamp,
        round: u64,
        bytes: Bytes,
        limit: impl Fn() -> u64,
    ) -> bool {
        let previous = core::mem::replace(&mut self.previous, now);
        if previous == Timestamp::MAX {
            return false;
        }
        let gap = now.nanos_since(previous);
        // Most gaps are no news, whatever the limit.
        let same_max = self.had_as_long(gap) || gap > limit();
        if same_max && round == self.recurring.round {
            self.recurring.add(gap, bytes);
            return false;
        }
        self.take_news(round, gap, bytes, limit());
        true
    }

    /// As `on_ack`, for a new round or the longest gap of one.
    #[cold]
    fn take_news(&mut self, round: u64, gap: u64, bytes: Bytes, limit: u64) {
        if round != self.recurring.round {
            self.recurring.end_round(round);
            self.longest = None;
        }
        self.recurring.add(gap, bytes);
        if gap <= limit && !self.had_as_long(gap) {
            self.longest = Some(gap);
            self.medium = self.max.update(round, gap);
        }
    }

    /// Whether the current round had a gap as long.
    fn had_as_long(&self, gap: u64) -> bool {
        self.longest.is_some_and(|longest| gap <= longest)
    }

    /// The flight was empty: the application causes the next gap.
    pub(super) fn on_idle(&mut self) {
        self.previous = Timestamp::MAX;
    }

    /// The maximum gap.
    pub(super) fn max(&self) -> u64 {
        self.medium.max(self.recurring())
    }

    /// The mean gap of bytes in most rounds, even if longer than the RTT.
    pub(super) fn recurring(&self) -> u64 {
        self.recurring.median
    }
}

/// The median, without sorting: that of one number, the larger of the lesser ones of two pairs, and the lesser of the larger ones.
fn median([a, b, c, d, e]: [u64; RECURRING_ROUNDS]) -> u64 {
    let low = a.min(b).max(c.min(d));
    let high = a.max(b).min(c.max(d));
    low.min(high).max(low.max(high).min(e))
}

/// The filter's window in rounds: as long as BBR's bandwidth filter.
const ROUNDS: u64 = 10;

/// A gap recurs if three of these rounds have it. Startup takes longer, so the gap is known when Startup ends.
const RECURRING_ROUNDS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;
    const LIMIT: u64 = 40 * MILLI;
    const BYTES: Bytes = Bytes(2400);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * MILLI)
    }

    #[test]
    fn the_longest_pause_of_the_last_rounds_counts() {
        let mut gap = AckGap::new();
        assert_eq!(gap.max(), 0);
        gap.on_ack(at(100), 1, BYTES, || LIMIT);
        assert_eq!(gap.max(), 0, "nothing to compare with");
        gap.on_ack(at(102), 1, BYTES, || LIMIT);
        gap.on_ack(at(112), 2, BYTES, || LIMIT);
        gap.on_ack(at(113), 3, BYTES, || LIMIT);
        assert_eq!(gap.max(), 10 * MILLI);
        gap.on_ack(at(115), 2 + ROUNDS, BYTES, || LIMIT);
        assert_eq!(gap.max(), 10 * MILLI);
        gap.on_ack(at(116), 3 + ROUNDS, BYTES, || LIMIT);
        assert_eq!(gap.max(), 2 * MILLI);
    }

    #[test]
    fn an_outage_is_not_a_pause() {
        let mut gap = AckGap::new();
        gap.on_ack(at(0), 1, BYTES, || LIMIT);
        gap.on_ack(at(41), 1, BYTES, || LIMIT);
        assert_eq!(gap.max(), 0);
        // A gap equal to the limit counts.
        gap.on_ack(at(81), 1, BYTES, || LIMIT);
        assert_eq!(gap.max(), LIMIT);
    }

    /// Trap: if a receiver or a radio delivers acknowledgements at intervals longer than the RTT and no gap counts, the
    /// window holds one RTT of data per interval, and the estimate falls with it.
    #[test]
    fn a_gap_in_most_rounds_is_no_outage() {
        let mut gap = AckGap::new();
        for round in 0..5 {
            gap.on_ack(at(100 * round), round, BYTES, || LIMIT);
        }
        assert_eq!(gap.max(), 100 * MILLI);
        // One outage has no lasting effect, and an interval that ends is forgotten.
        gap.on_ack(at(1400), 5, BYTES, || LIMIT);
        for round in 6..10 {
            gap.on_ack(at(1350 + 10 * round), round, BYTES, || LIMIT);
        }
        assert_eq!(gap.max(), 10 * MILLI);
    }

    #[test]
    fn the_median_is_that_of_sorting() {
        for code in 0..5_u64.pow(5) {
            let numbers: [u64; 5] =
                core::array::from_fn(|place| code / 5_u64.pow(place as u32) % 5);
            let mut sorted = numbers;
            sorted.sort_unstable();
            assert_eq!(median(numbers), sorted[2], "{numbers:?}");
        }
    }

    #[test]
    fn silence_of_the_application_is_not_a_pause() {
        let mut gap = AckGap::new();
        gap.on_ack(at(0), 1, BYTES, || LIMIT);
        gap.on_idle();
        gap.on_ack(at(30), 1, BYTES, || LIMIT);
        assert_eq!(gap.max(), 0);
        gap.on_ack(at(33), 1, BYTES, || LIMIT);
        assert_eq!(gap.max(), 3 * MILLI);
    }

    #[test]
    fn time_that_stands_still_or_runs_backwards_is_no_pause() {
        let mut gap = AckGap::new();
        for millis in [50, 50, 20] {
            gap.on_ack(at(millis), 1, BYTES, || LIMIT);
        }
        assert_eq!(gap.max(), 0);
    }
}
