//! The exact extremum, with a monotonic queue.

use alloc::collections::VecDeque;
use core::marker::PhantomData;

use super::{Extremum, Sample, WindowedFilter};

/// The exact extremum of a sliding window, at O(1) amortised per sample.
///
/// Only samples that may yet become the extremum are kept: each is more extreme than all newer ones, so that the front
/// of the queue is the extremum, and a new sample drops from the back all that it supersedes. At most one sample is
/// kept per key, hence at most `window + 1` of them; once the queue has grown to what the traffic needs, nothing is
/// allocated.
///
/// ```
/// use kneepoint_estimators::{ExactWindow, Max, WindowedFilter};
///
/// let mut max = ExactWindow::<u64, Max>::new(10);
/// assert_eq!(max.update(0, 7), 7);
/// assert_eq!(max.update(5, 3), 7);
/// assert_eq!(max.update(11, 2), 3);
/// ```
#[derive(Debug, Clone)]
pub struct ExactWindow<T, E> {
    window: u64,
    /// Keys increase and values become strictly less extreme from front to back.
    candidates: VecDeque<Sample<T>>,
    newest_key: u64,
    extremum: PhantomData<E>,
}

impl<T, E> ExactWindow<T, E> {
    /// An empty window that reaches `window` back, in the key's unit.
    #[must_use]
    pub const fn new(window: u64) -> Self {
        Self {
            window,
            candidates: VecDeque::new(),
            newest_key: 0,
            extremum: PhantomData,
        }
    }

    /// A window with room for `candidates`, so that fewer or no allocations follow.
    #[must_use]
    pub fn with_capacity(window: u64, candidates: usize) -> Self {
        Self {
            candidates: VecDeque::with_capacity(candidates),
            ..Self::new(window)
        }
    }
}

impl<T: Copy + PartialOrd, E: Extremum> WindowedFilter<T> for ExactWindow<T, E> {
    fn update(&mut self, key: u64, value: T) -> T {
        self.newest_key = self.newest_key.max(key);
        while self
            .candidates
            .front()
            .is_some_and(|oldest| oldest.is_older_than(self.window, self.newest_key))
        {
            self.candidates.pop_front();
        }
        if value.partial_cmp(&value).is_some() {
            while self
                .candidates
                .back()
                .is_some_and(|last| E::supersedes(&value, &last.value))
            {
                self.candidates.pop_back();
            }
            // A less extreme sample of the same key leaves the window together with the better one.
            if self
                .candidates
                .back()
                .is_none_or(|last| last.key != self.newest_key)
            {
                self.candidates.push_back(Sample {
                    key: self.newest_key,
                    value,
                });
            }
        }
        self.get().unwrap_or(value)
    }

    fn get(&self) -> Option<T> {
        self.candidates.front().map(|sample| sample.value)
    }

    fn clear(&mut self) {
        self.candidates.clear();
        self.newest_key = 0;
    }

    fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windowed::{Max, Min};

    #[test]
    fn samples_leave_one_past_the_window() {
        let mut min = ExactWindow::<u32, Min>::new(10);
        min.update(0, 1);
        assert_eq!(min.update(10, 5), 1);
        assert_eq!(min.update(11, 9), 5);
    }

    #[test]
    fn a_key_that_goes_back_counts_as_the_newest() {
        let mut max = ExactWindow::<u32, Max>::new(10);
        max.update(100, 1);
        assert_eq!(max.update(3, 9), 9);
        assert_eq!(max.update(110, 2), 9);
        assert_eq!(max.update(111, 1), 2);
    }

    #[test]
    fn keys_at_the_end_of_their_range_do_not_wrap() {
        let mut max = ExactWindow::<u32, Max>::new(u64::MAX);
        max.update(0, 3);
        assert_eq!(max.update(u64::MAX, 1), 3);
    }

    #[test]
    fn a_warm_queue_does_not_allocate() {
        let mut max = ExactWindow::<u64, Max>::with_capacity(10, 11);
        let warm = max.candidates.capacity();
        for key in 0..10_000u64 {
            max.update(key, 10_000 - key);
        }
        assert_eq!(
            (max.candidates.len(), max.candidates.capacity()),
            (11, warm)
        );
    }
}
