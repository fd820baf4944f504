//! How long acknowledgements keep silent while data flows.

use core::time::Duration;

use kneepoint_estimators::{ExactWindow, Max, WindowedFilter};

use crate::units::{Bytes, Timestamp, saturating_nanos as nanos};

/// The longest pause between acknowledgements of the last rounds, outages excepted: those are longer than a round trip, and do not
/// recur.
///
/// A receiver that acknowledges every second packet, or a link that hands over packets in batches, leaves the
/// sender without news for a while; a window that is to keep the path busy has to cover that pause too.
#[derive(Debug, Clone)]
pub(super) struct AckGap {
    max: ExactWindow<u64, Max>,
    previous: Option<Timestamp>,
    medium: Duration,
    /// The round of the last pause and the longest one of that round: nothing shorter in it can matter.
    newest: Option<(u64, u64)>,
    recurring: Recurring,
}

/// The pauses that bytes waited for in the last rounds, on average, however long these are. In one round that may be an outage; what
/// most rounds have is how the path acknowledges.
#[derive(Debug, Clone, Copy, Default)]
struct Recurring {
    round: u64,
    /// The last pause: what several acknowledgements of one instant bring has waited for it together.
    gap: u64,
    /// Of the round under way: bytes, and bytes times their pauses.
    bytes: f64,
    weighted: f64,
    rounds: [u64; RECURRING_ROUNDS],
    next: usize,
    median: u64,
}

impl Recurring {
    #[inline]
    fn add(&mut self, round: u64, gap: u64, bytes: Bytes) {
        if round != self.round {
            self.end_round(round);
        }
        if gap > 0 {
            self.gap = gap;
        }
        let bytes = bytes.0 as i64 as f64;
        self.bytes += bytes;
        self.weighted += bytes * self.gap as i64 as f64;
    }

    fn end_round(&mut self, next: u64) {
        if self.bytes > 0.0 {
            self.rounds[self.next % RECURRING_ROUNDS] = (self.weighted / self.bytes) as u64;
            self.next = (self.next + 1) % RECURRING_ROUNDS;
            let mut sorted = self.rounds;
            sorted.sort_unstable();
            self.median = sorted[RECURRING_ROUNDS / 2];
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
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        Self {
            max: ExactWindow::new(ROUNDS),
            previous: None,
            medium: Duration::ZERO,
            newest: None,
            recurring: Recurring::default(),
        }
    }

    /// An acknowledgement of so many bytes arrived; `limit` is what still counts as a pause.
    pub(super) fn on_ack(&mut self, now: Timestamp, round: u64, bytes: Bytes, limit: Duration) {
        if let Some(previous) = self.previous.replace(now) {
            let gap = now.nanos_since(previous);
            self.recurring.add(round, gap, bytes);
            let matters = self
                .newest
                .is_none_or(|(newest, max)| round != newest || gap > max);
            if matters && gap <= nanos(limit) {
                self.newest = Some((round, gap));
                self.medium = Duration::from_nanos(self.max.update(round, gap));
            }
        }
    }

    /// Nothing was in flight: the next pause is the application's.
    pub(super) fn on_idle(&mut self) {
        self.previous = None;
    }

    /// The longest pause that counts.
    pub(super) fn max(&self) -> Duration {
        self.medium.max(self.recurring())
    }

    /// The pause that bytes wait for on average in most rounds, be it longer than a round trip.
    pub(super) fn recurring(&self) -> Duration {
        Duration::from_nanos(self.recurring.median)
    }
}

/// How many rounds the filter remembers: as many as BBR's bandwidth filter.
const ROUNDS: u64 = 10;

/// Rounds of which three have the pause that recurs: fewer than Startup takes, so that it is known when Startup ends.
const RECURRING_ROUNDS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(40);
    const BYTES: Bytes = Bytes(2400);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn the_longest_pause_of_the_last_rounds_counts() {
        let mut gap = AckGap::new();
        assert_eq!(gap.max(), Duration::ZERO);
        gap.on_ack(at(100), 1, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::ZERO, "nothing to compare with");
        gap.on_ack(at(102), 1, BYTES, LIMIT);
        gap.on_ack(at(112), 2, BYTES, LIMIT);
        gap.on_ack(at(113), 3, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::from_millis(10));
        gap.on_ack(at(115), 2 + ROUNDS, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::from_millis(10));
        gap.on_ack(at(116), 3 + ROUNDS, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::from_millis(2));
    }

    #[test]
    fn an_outage_is_not_a_pause() {
        let mut gap = AckGap::new();
        gap.on_ack(at(0), 1, BYTES, LIMIT);
        gap.on_ack(at(41), 1, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::ZERO);
        // But one of the limit is.
        gap.on_ack(at(81), 1, BYTES, LIMIT);
        assert_eq!(gap.max(), LIMIT);
    }

    /// Trap: where a receiver or a radio hands on acknowledgements at longer intervals than a round trip, none of these counts,
    /// the window holds one round trip of data per interval, and the estimate follows it down.
    #[test]
    fn what_most_rounds_have_is_no_outage() {
        let mut gap = AckGap::new();
        for round in 0..5 {
            gap.on_ack(at(100 * round), round, BYTES, LIMIT);
        }
        assert_eq!(gap.max(), Duration::from_millis(100));
        // One outage is forgotten, and so is the interval once it is no more.
        gap.on_ack(at(1400), 5, BYTES, LIMIT);
        for round in 6..10 {
            gap.on_ack(at(1350 + 10 * round), round, BYTES, LIMIT);
        }
        assert_eq!(gap.max(), Duration::from_millis(10));
    }

    #[test]
    fn silence_of_the_application_is_not_a_pause() {
        let mut gap = AckGap::new();
        gap.on_ack(at(0), 1, BYTES, LIMIT);
        gap.on_idle();
        gap.on_ack(at(30), 1, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::ZERO);
        gap.on_ack(at(33), 1, BYTES, LIMIT);
        assert_eq!(gap.max(), Duration::from_millis(3));
    }

    #[test]
    fn time_that_stands_still_or_runs_backwards_is_no_pause() {
        let mut gap = AckGap::new();
        for millis in [50, 50, 20] {
            gap.on_ack(at(millis), 1, BYTES, LIMIT);
        }
        assert_eq!(gap.max(), Duration::ZERO);
    }
}
