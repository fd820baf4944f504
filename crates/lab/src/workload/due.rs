//! What was to be sent, and when.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Messages that are due one after the other, at equal distances, whatever becomes of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    /// When the first one is due.
    pub first: Duration,
    /// From one to the next; not zero.
    pub period: Duration,
    /// None is due at this time or later.
    pub until: Duration,
    /// No more than so many are due.
    pub max: Option<u32>,
}

impl Series {
    /// When each is due.
    pub fn times(self) -> impl Iterator<Item = Duration> + Send {
        let until = self.until;
        (0..self.max.unwrap_or(u32::MAX))
            .map(move |number| {
                self.first
                    .saturating_add(self.period.saturating_mul(number))
            })
            .take_while(move |due| *due < until)
    }

    /// How many are due before a time.
    pub fn due_before(self, time: Duration) -> u64 {
        let span = self.until.min(time).saturating_sub(self.first).as_nanos();
        let count = span.div_ceil(self.period.as_nanos().max(1));
        let max = self.max.unwrap_or(u32::MAX);
        u64::try_from(count).unwrap_or(u64::MAX).min(max.into())
    }
}

/// The series that a flow has begun. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Due(Arc<Mutex<Vec<Series>>>);

impl Due {
    /// The series, in the order in which they began.
    pub fn series(&self) -> Vec<Series> {
        let series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        series.clone()
    }

    /// One more begins.
    pub(super) fn begin(&self, series: Series) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn times_and_counts_agree() {
        let series = Series {
            first: ms(30),
            period: ms(20),
            until: ms(110),
            max: None,
        };
        let times: Vec<_> = series.times().collect();
        assert_eq!(times, [30, 50, 70, 90].map(ms));
        for time in 0..150 {
            let before = times.iter().filter(|due| **due < ms(time)).count();
            assert_eq!(series.due_before(ms(time)), before as u64, "{time}");
        }
        let few = Series {
            max: Some(2),
            ..series
        };
        assert_eq!(few.times().count(), 2);
        assert_eq!(few.due_before(ms(1000)), 2);
    }
}
