//! Intervals that affect every packet.

use crate::link::Interval;
use crate::time::Nanos;

/// Intervals in order, asked for times in order.
#[derive(Debug)]
pub(in crate::link) struct Intervals {
    intervals: Vec<Interval>,
    over: usize,
}

impl Intervals {
    pub(super) fn new(intervals: Vec<Interval>) -> Self {
        Self { intervals, over: 0 }
    }

    /// Whether one of them contains the time, which must not be before an earlier call's.
    pub(super) fn contain(&mut self, now: Nanos) -> bool {
        loop {
            match self.intervals.get(self.over) {
                Some(interval) if interval.to <= now => self.over += 1,
                interval => return interval.is_some_and(|interval| interval.from <= now),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_contains_its_beginning_but_not_its_end() {
        let interval = |from, to| Interval {
            from: Nanos(from),
            to: Nanos(to),
        };
        let mut intervals = Intervals::new(vec![
            interval(0, 1),
            interval(5, 7),
            interval(7, 8),
            interval(20, 30),
        ]);
        let times = [0, 0, 1, 4, 5, 6, 7, 8, 19, 20, 29, 30, 31];
        let contained = times.map(|time| intervals.contain(Nanos(time)));
        let expected = [0, 0, 5, 6, 7, 20, 29];
        assert!(
            times
                .iter()
                .zip(contained)
                .filter(|(_, contained)| *contained)
                .map(|(time, _)| *time)
                .eq(expected)
        );
        assert!(Intervals::new(vec![interval(0, 1), interval(2, 9)]).contain(Nanos(3)));
    }
}
