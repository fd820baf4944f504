//! Which of many has the next event.

use crate::time::Nanos;

/// The earliest of a fixed number of times, each of which may change: a tournament, in which a change plays only the
/// matches on its way to the top. Of equal times the first wins.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// A complete binary tree; the node at `n` has its children at `2n` and `2n + 1`, and the leaves come last.
    times: Vec<Nanos>,
    leaves: usize,
}

impl Schedule {
    /// So many times, all of them never.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.max(1).next_power_of_two();
        Self {
            times: vec![Nanos::MAX; 2 * leaves],
            leaves,
        }
    }

    /// Changes a time; `None` is never.
    #[inline]
    pub(crate) fn set(&mut self, place: usize, time: Option<Nanos>) {
        let mut node = self.leaves + place;
        self.times[node] = time.unwrap_or(Nanos::MAX);
        while node > 1 {
            node /= 2;
            self.times[node] = self.times[2 * node].min(self.times[2 * node + 1]);
        }
    }

    /// The earliest time; `None` if all are never.
    #[inline]
    pub(crate) fn next(&self) -> Option<Nanos> {
        Some(self.times[1]).filter(|time| *time < Nanos::MAX)
    }

    /// The place of the earliest time and that time, if it is due by `now`.
    #[inline]
    pub(crate) fn due(&self, now: Nanos) -> Option<(usize, Nanos)> {
        let time = self.next().filter(|time| *time <= now)?;
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.times[node] > time);
        }
        Some((node - self.leaves, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_first_of_the_least_is_next(
            count in 1..9_usize,
            changes in proptest::collection::vec((0..9_usize, proptest::option::of(0..5_u64)), 0..40),
        ) {
            let mut schedule = Schedule::new(count);
            let mut times = vec![None; count];
            for (place, time) in changes {
                let time = time.map(Nanos);
                times[place % count] = time;
                schedule.set(place % count, time);
                let min = times.iter().copied().flatten().min();
                proptest::prop_assert_eq!(schedule.next(), min);
                let place = times.iter().position(|time| time.is_some() && *time == min);
                let expected = place.zip(min).filter(|(_, time)| time.0 <= 3);
                proptest::prop_assert_eq!(schedule.due(Nanos(3)), expected);
            }
        }
    }
}
