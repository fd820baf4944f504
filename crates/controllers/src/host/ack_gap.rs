//! How long acknowledgements keep silent while data flows.

use core::time::Duration;

use kneepoint_estimators::{ExactWindow, Max, WindowedFilter};

use crate::units::{Timestamp, saturating_nanos as nanos};

/// The longest pause between acknowledgements of the last rounds, outages excepted.
///
/// A receiver that acknowledges every second packet, or a link that hands over packets in batches, leaves the
/// sender without news for a while; a window that is to keep the path busy has to cover that pause too.
#[derive(Debug, Clone)]
pub struct AckGap {
    longest: ExactWindow<u64, Max>,
    previous: Option<Timestamp>,
    current: Duration,
    /// The round of the last pause and the longest one of that round: nothing shorter in it can matter.
    newest: Option<(u64, u64)>,
}

impl Default for AckGap {
    fn default() -> Self {
        Self::new()
    }
}

impl AckGap {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self {
            longest: ExactWindow::new(ROUNDS),
            previous: None,
            current: Duration::ZERO,
            newest: None,
        }
    }

    /// An acknowledgement arrived; `limit` is what still counts as a pause.
    pub fn on_ack(&mut self, now: Timestamp, round: u64, limit: Duration) {
        if let Some(previous) = self.previous.replace(now) {
            let gap = now.nanos_since(previous);
            let matters = self
                .newest
                .is_none_or(|(newest, longest)| round != newest || gap > longest);
            if matters && gap <= nanos(limit) {
                self.newest = Some((round, gap));
                self.current = Duration::from_nanos(self.longest.update(round, gap));
            }
        }
    }

    /// Nothing was in flight: the next pause is the application's.
    pub fn on_idle(&mut self) {
        self.previous = None;
    }

    /// The longest pause that counts.
    pub fn longest(&self) -> Duration {
        self.current
    }
}

/// How many rounds the filter remembers: as many as BBR's bandwidth filter.
const ROUNDS: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(40);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn the_longest_pause_of_the_last_rounds_counts() {
        let mut gap = AckGap::new();
        assert_eq!(gap.longest(), Duration::ZERO);
        gap.on_ack(at(100), 1, LIMIT);
        assert_eq!(gap.longest(), Duration::ZERO, "nothing to compare with");
        gap.on_ack(at(102), 1, LIMIT);
        gap.on_ack(at(112), 2, LIMIT);
        gap.on_ack(at(113), 3, LIMIT);
        assert_eq!(gap.longest(), Duration::from_millis(10));
        gap.on_ack(at(115), 2 + ROUNDS, LIMIT);
        assert_eq!(gap.longest(), Duration::from_millis(10));
        gap.on_ack(at(116), 3 + ROUNDS, LIMIT);
        assert_eq!(gap.longest(), Duration::from_millis(2));
    }

    #[test]
    fn an_outage_is_not_a_pause() {
        let mut gap = AckGap::new();
        gap.on_ack(at(0), 1, LIMIT);
        gap.on_ack(at(41), 1, LIMIT);
        assert_eq!(gap.longest(), Duration::ZERO);
        // But one of the limit is.
        gap.on_ack(at(81), 1, LIMIT);
        assert_eq!(gap.longest(), LIMIT);
    }

    #[test]
    fn silence_of_the_application_is_not_a_pause() {
        let mut gap = AckGap::new();
        gap.on_ack(at(0), 1, LIMIT);
        gap.on_idle();
        gap.on_ack(at(30), 1, LIMIT);
        assert_eq!(gap.longest(), Duration::ZERO);
        gap.on_ack(at(33), 1, LIMIT);
        assert_eq!(gap.longest(), Duration::from_millis(3));
    }

    #[test]
    fn time_that_stands_still_or_runs_backwards_is_no_pause() {
        let mut gap = AckGap::new();
        for millis in [50, 50, 20] {
            gap.on_ack(at(millis), 1, LIMIT);
        }
        assert_eq!(gap.longest(), Duration::ZERO);
    }
}
