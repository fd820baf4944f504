//! A percentile of the last samples.

use core::mem;

use thiserror::Error;

/// A percentile of the last `CAPACITY` samples, at O(log `CAPACITY`) per sample and O(1) per query.
///
/// The estimator of BBR-Sampled: the delivery-rate samples that the application did not limit, 100 of them, and their
/// 85th percentile. Bursts are short, so that they make few of the samples and lie above the percentile; a maximum takes
/// just those.
///
/// The rank is the nearest one: of `n` samples the `ceil(p n)`-th smallest, so that the estimate is always one of the
/// samples. A value that does not compare with itself (NaN) is ignored.
///
/// All storage is inline: a clone is a copy, and nothing is ever allocated.
///
/// # Structure
///
/// A ring holds the samples, and two heaps of ring slots divide them around the rank: a max-heap of the `ceil(p n)`
/// smallest, whose top is the estimate, and a min-heap of the rest. A new sample takes the oldest one's slot, wherever
/// that is in its heap, and moves up or down from there; if the two tops are then out of order, they change places.
///
/// ```
/// use kneepoint_estimators::PercentileHistory;
///
/// let mut history: PercentileHistory<u32, 4> = PercentileHistory::new(0.5)?;
/// for sample in [10, 40, 20, 30] {
///     history.push(sample);
/// }
/// assert_eq!(history.get(), Some(20));
/// history.push(50); // 10 leaves
/// assert_eq!(history.get(), Some(30));
/// # Ok::<(), kneepoint_estimators::PercentileError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PercentileHistory<T, const CAPACITY: usize = 100> {
    percentile: f64,
    values: [T; CAPACITY],
    /// Where each slot's index stands in its half's heap.
    places: [Place; CAPACITY],
    low: Heap<CAPACITY>,
    high: Heap<CAPACITY>,
    /// The slot that the next sample takes.
    next: usize,
}

impl<T: Copy + PartialOrd + Default, const CAPACITY: usize> PercentileHistory<T, CAPACITY> {
    /// An empty history whose estimate is the given percentile, 0 < p <= 1.
    ///
    /// # Errors
    ///
    /// If the percentile is out of range, or `CAPACITY` is 0.
    pub fn new(percentile: f64) -> Result<Self, PercentileError> {
        if !(percentile > 0.0 && percentile <= 1.0) {
            return Err(PercentileError::Percentile(percentile));
        }
        if CAPACITY == 0 {
            return Err(PercentileError::Capacity);
        }
        Ok(Self {
            percentile,
            values: [T::default(); CAPACITY],
            places: [Place {
                half: Half::Low,
                index: 0,
            }; CAPACITY],
            low: Heap::new(),
            high: Heap::new(),
            next: 0,
        })
    }

    /// Adds a sample, in place of the oldest if the history is full.
    pub fn push(&mut self, value: T) {
        if value.partial_cmp(&value).is_none() {
            return;
        }
        let slot = self.next;
        self.next = if slot + 1 < CAPACITY { slot + 1 } else { 0 };
        if self.len() == CAPACITY {
            self.replace(slot, value);
            return;
        }
        self.values[slot] = value;
        // The low half grows with the rank; which sample grows it is settled below.
        let half = if self.rank(self.len() + 1) > self.low.len {
            Half::Low
        } else {
            Half::High
        };
        let index = self.heap_mut(half).extend();
        self.put(half, index, slot);
        self.sift_up(half, index);
        self.exchange_tops();
    }

    /// Puts `value` in the place of the newest sample, if there is one.
    pub fn replace_newest(&mut self, value: T) {
        if value.partial_cmp(&value).is_none() || self.is_empty() {
            return;
        }
        self.replace((self.next + CAPACITY - 1) % CAPACITY, value);
    }

    /// The estimate; `None` before the first sample.
    #[must_use]
    pub fn get(&self) -> Option<T> {
        (self.low.len > 0).then(|| self.values[self.low.slots[0]])
    }

    /// How many samples there are. 0..=`CAPACITY`.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.low.len + self.high.len
    }

    /// Whether there has not been a sample yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all samples.
    pub fn clear(&mut self) {
        self.low.len = 0;
        self.high.len = 0;
        self.next = 0;
    }

    /// The nearest rank among `count` samples. 1..=`count`.
    fn rank(&self, count: usize) -> usize {
        (libm::ceil(self.percentile * count as f64) as usize).clamp(1, count)
    }

    /// Puts `value` in the place of a sample.
    fn replace(&mut self, slot: usize, value: T) {
        let old = mem::replace(&mut self.values[slot], value);
        let Place { half, index } = self.places[slot];
        if half.ranks_above(value, old) {
            self.sift_up(half, index);
        } else if half.ranks_above(old, value) {
            self.sift_down(half, index);
        } else {
            return;
        }
        self.exchange_tops();
    }

    /// Restores that no sample of the low half exceeds one of the high half. One sample is new, so one exchange does.
    fn exchange_tops(&mut self) {
        if self.low.len == 0 || self.high.len == 0 {
            return;
        }
        let (lower, higher) = (self.low.slots[0], self.high.slots[0]);
        if self.values[lower] > self.values[higher] {
            self.put(Half::Low, 0, higher);
            self.put(Half::High, 0, lower);
            self.sift_down(Half::Low, 0);
            self.sift_down(Half::High, 0);
        }
    }

    /// Moves the slot at `index` towards the top as far as it belongs.
    fn sift_up(&mut self, half: Half, mut index: usize) {
        let slot = self.heap(half).slots[index];
        while index > 0 {
            let parent = (index - 1) / 2;
            let above = self.heap(half).slots[parent];
            if !self.belongs_above(half, slot, above) {
                break;
            }
            self.put(half, index, above);
            index = parent;
        }
        self.put(half, index, slot);
    }

    /// Moves the slot at `index` away from the top as far as it belongs.
    fn sift_down(&mut self, half: Half, mut index: usize) {
        let len = self.heap(half).len;
        let slot = self.heap(half).slots[index];
        loop {
            let left = 2 * index + 1;
            if left >= len {
                break;
            }
            let slots = &self.heap(half).slots;
            let right = left + 1;
            let child = if right < len && self.belongs_above(half, slots[right], slots[left]) {
                right
            } else {
                left
            };
            let below = slots[child];
            if !self.belongs_above(half, below, slot) {
                break;
            }
            self.put(half, index, below);
            index = child;
        }
        self.put(half, index, slot);
    }

    /// Whether the value of `slot` is strictly nearer to the top of its half than that of `other`.
    fn belongs_above(&self, half: Half, slot: usize, other: usize) -> bool {
        half.ranks_above(self.values[slot], self.values[other])
    }

    fn put(&mut self, half: Half, index: usize, slot: usize) {
        self.heap_mut(half).slots[index] = slot;
        self.places[slot] = Place { half, index };
    }

    const fn heap(&self, half: Half) -> &Heap<CAPACITY> {
        match half {
            Half::Low => &self.low,
            Half::High => &self.high,
        }
    }

    const fn heap_mut(&mut self, half: Half) -> &mut Heap<CAPACITY> {
        match half {
            Half::Low => &mut self.low,
            Half::High => &mut self.high,
        }
    }
}

/// Why there is no such history.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum PercentileError {
    /// The percentile is NaN, not positive, or above 1.
    #[error("a percentile of {0} is not above 0 and at most 1")]
    Percentile(f64),
    /// The history has no room for any sample.
    #[error("a history of no samples has no percentile")]
    Capacity,
}

/// Which heap a slot is in.
#[derive(Debug, Clone, Copy)]
enum Half {
    /// The max-heap of the samples up to the rank.
    Low,
    /// The min-heap of the samples above it.
    High,
}

impl Half {
    /// Whether `value` is strictly nearer to the top of this half than `other`.
    fn ranks_above<T: PartialOrd>(self, value: T, other: T) -> bool {
        match self {
            Self::Low => value > other,
            Self::High => value < other,
        }
    }
}

/// A position in one of the heaps.
#[derive(Debug, Clone, Copy)]
struct Place {
    half: Half,
    index: usize,
}

/// A binary heap of ring slots; the order is that of the slots' values.
#[derive(Debug, Clone, Copy)]
struct Heap<const CAPACITY: usize> {
    slots: [usize; CAPACITY],
    len: usize,
}

impl<const CAPACITY: usize> Heap<CAPACITY> {
    const fn new() -> Self {
        Self {
            slots: [0; CAPACITY],
            len: 0,
        }
    }

    /// Adds a place at the end, for the caller to fill. Returns its index.
    const fn extend(&mut self) -> usize {
        self.len += 1;
        self.len - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Sort and pick: the definition.
    fn definition(samples: &[f64], capacity: usize, percentile: f64) -> f64 {
        let mut window: Vec<f64> = samples.iter().rev().take(capacity).copied().collect();
        window.sort_by(f64::total_cmp);
        let rank = (percentile * window.len() as f64).ceil() as usize;
        window[rank.clamp(1, window.len()) - 1]
    }

    fn check<const CAPACITY: usize>(samples: &[f64], percentile: f64) -> Result<(), TestCaseError> {
        let mut history = PercentileHistory::<f64, CAPACITY>::new(percentile).unwrap();
        for (index, &sample) in samples.iter().enumerate() {
            history.push(sample);
            prop_assert_eq!(
                history.get(),
                Some(definition(&samples[..=index], CAPACITY, percentile))
            );
            prop_assert_eq!(history.len(), (index + 1).min(CAPACITY));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn equals_sort_and_pick(
            samples in prop::collection::vec((-20i8..20).prop_map(f64::from), 1..300),
            percentile in 0.001..=1.0f64,
        ) {
            check::<1>(&samples, percentile)?;
            check::<7>(&samples, percentile)?;
            check::<100>(&samples, percentile)?;
        }

        #[test]
        fn a_constant_is_a_fixed_point(value: f64, percentile in 0.001..=1.0f64) {
            prop_assume!(!value.is_nan());
            check::<10>(&[value; 25], percentile)?;
        }
    }

    #[test]
    fn a_replacement_is_a_history_with_another_newest_sample() {
        let mut history = PercentileHistory::<f64, 3>::new(1.0).unwrap();
        history.replace_newest(9.0);
        assert_eq!(history.get(), None);
        for (sample, largest) in [(1.0, 5.0), (2.0, 6.0), (3.0, 7.0), (0.0, 7.0)] {
            history.push(sample);
            history.replace_newest(f64::NAN);
            history.replace_newest(sample + 4.0);
            assert_eq!(history.get(), Some(largest));
        }
        history.replace_newest(0.0);
        assert_eq!((history.len(), history.get()), (3, Some(7.0)));
    }

    #[test]
    fn a_percentile_is_of_100_by_default() {
        let mut history: PercentileHistory<u32> = PercentileHistory::new(0.85).unwrap();
        for sample in (1..=1000).rev() {
            history.push(sample);
        }
        assert_eq!(history.get(), Some(85));
    }

    #[test]
    fn odd_parameters_are_refused() {
        for percentile in [0.0, -0.5, 1.1, f64::NAN] {
            assert!(matches!(
                PercentileHistory::<f64, 3>::new(percentile),
                Err(PercentileError::Percentile(_))
            ));
        }
        assert_eq!(
            PercentileHistory::<f64, 0>::new(0.5).unwrap_err(),
            PercentileError::Capacity
        );
    }

    #[test]
    fn incomparable_values_are_ignored_and_clearing_forgets() {
        let mut history = PercentileHistory::<f64, 3>::new(1.0).unwrap();
        history.push(f64::NAN);
        assert!(history.is_empty());
        history.push(1.0);
        history.clear();
        assert_eq!(history.get(), None);
        history.push(-2.0);
        assert_eq!(history.get(), Some(-2.0));
    }
}
