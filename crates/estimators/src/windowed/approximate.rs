//! The extremum as Linux estimates it, with three samples.

use core::marker::PhantomData;

use super::{Extremum, Sample, WindowedFilter};

/// An approximate extremum of a sliding window, from three samples.
///
/// The algorithm is that of Linux's `lib/win_minmax.c` (K. Nichols), which Linux's BBR and many of its ports use: the
/// best sample of the window, the best of those after it, and the best of those after that one, where the second and
/// third are also renewed when a quarter and a half of the window have passed without one. It never exceeds the exact
/// extremum, is never less extreme than the newest sample, and is exact as long as the extreme samples come in order;
/// it may fall short when the best sample expires and the true runner-up was not among the three.
#[derive(Debug, Clone, Copy)]
pub struct ApproximateWindow<T, E> {
    window: u64,
    /// The best, the second and the third, in the order of their keys; `None` before the first sample.
    best: Option<[Sample<T>; 3]>,
    newest_key: u64,
    extremum: PhantomData<E>,
}

impl<T, E> ApproximateWindow<T, E> {
    /// An empty window that reaches `window` back, in the key's unit.
    #[must_use]
    pub const fn new(window: u64) -> Self {
        Self {
            window,
            best: None,
            newest_key: 0,
            extremum: PhantomData,
        }
    }
}

impl<T: Copy + PartialOrd, E: Extremum> WindowedFilter<T> for ApproximateWindow<T, E> {
    #[inline]
    fn update(&mut self, key: u64, value: T) -> T {
        if value.partial_cmp(&value).is_none() {
            return self.get().unwrap_or(value);
        }
        self.newest_key = self.newest_key.max(key);
        let new = Sample {
            key: self.newest_key,
            value,
        };
        let best = self.best.get_or_insert([new; 3]);
        admit::<T, E>(best, self.window, new);
        best[0].value
    }

    fn get(&self) -> Option<T> {
        self.best.map(|[first, ..]| first.value)
    }

    fn clear(&mut self) {
        self.best = None;
        self.newest_key = 0;
    }

    fn window(&self) -> u64 {
        self.window
    }
}

/// Takes `new`, whose key is at least theirs, into the three samples.
fn admit<T: Copy + PartialOrd, E: Extremum>(
    best: &mut [Sample<T>; 3],
    window: u64,
    new: Sample<T>,
) {
    let [first, second, third] = best;
    if E::supersedes(&new.value, &first.value) || third.is_older_than(window, new.key) {
        *best = [new; 3];
        return;
    }
    if E::supersedes(&new.value, &second.value) {
        (*second, *third) = (new, new);
    } else if E::supersedes(&new.value, &third.value) {
        *third = new;
    }
    if first.is_older_than(window, new.key) {
        // The third sample is in the window, so that two shifts suffice.
        *best = if second.is_older_than(window, new.key) {
            [*third, new, new]
        } else {
            [*second, *third, new]
        };
    } else if second.key == first.key && first.is_older_than(window / SECOND_AFTER, new.key) {
        (*second, *third) = (new, new);
    } else if third.key == second.key && first.is_older_than(window / THIRD_AFTER, new.key) {
        *third = new;
    }
}

/// The share of the window, as a divisor, after which a second sample is taken whatever its value. Linux, `lib/win_minmax.c`.
const SECOND_AFTER: u64 = 4;

/// The share of the window, as a divisor, after which a third sample is taken whatever its value. Linux, `lib/win_minmax.c`.
const THIRD_AFTER: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windowed::Max;

    #[test]
    fn the_best_of_the_later_samples_succeeds() {
        let mut max = ApproximateWindow::<u32, Max>::new(100);
        for (key, value, expected) in [
            (0, 50, 50),
            (30, 40, 50),
            (60, 30, 50),
            (100, 10, 50),
            (101, 10, 40),
            (131, 5, 30),
        ] {
            assert_eq!(max.update(key, value), expected, "at {key}");
        }
    }

    #[test]
    fn a_quarter_and_half_of_the_window_renew_the_successors() {
        let mut max = ApproximateWindow::<u32, Max>::new(100);
        for (key, value) in [(0, 50), (26, 3), (51, 2), (80, 1)] {
            assert_eq!(max.update(key, value), 50);
        }
        assert_eq!(max.update(101, 1), 3);
        assert_eq!(max.update(127, 1), 2);
    }

    #[test]
    fn silence_longer_than_the_window_forgets_everything() {
        let mut max = ApproximateWindow::<u32, Max>::new(100);
        max.update(0, 50);
        assert_eq!(max.update(101, 7), 7);
    }
}
