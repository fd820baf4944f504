//! The mean of the last samples.

use alloc::boxed::Box;
use alloc::vec;

/// The mean of the last `length` samples, at O(1) amortised per sample and without any drift.
///
/// A running sum from which old samples are subtracted keeps every rounding error, and after one huge sample it is all
/// rounding error. Here nothing is subtracted. The samples come in blocks of `length`; a window is always a tail of the
/// last complete block and a head of the current one. When a block is complete, its tail sums are computed once, exactly
/// where its samples were stored; the head's sum grows sample by sample.
///
/// The mean of non-negative samples is therefore never negative, and never more than a rounding error above the
/// largest of them.
#[derive(Debug, Clone)]
pub struct SlidingMean {
    /// Before `filled`: the current block's samples. From there on: the previous block's sums to its end.
    slots: Box<[f64]>,
    filled: usize,
    head_sum: f64,
    /// Whether there is a previous block.
    warm: bool,
}

impl SlidingMean {
    /// An empty window of `length` samples; a length of 0 counts as 1.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self {
            slots: vec![0.0; length.max(1)].into_boxed_slice(),
            filled: 0,
            head_sum: 0.0,
            warm: false,
        }
    }

    /// Adds a sample, in any unit, and returns the mean in that unit. A sample that is no number is ignored, and one beyond 1e290
    /// counts as that, so that no sum overflows.
    pub fn push(&mut self, sample: f64) -> f64 {
        if sample.is_nan() {
            return self.mean();
        }
        let sample = sample.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE);
        if let Some(slot) = self.slots.get_mut(self.filled) {
            *slot = sample;
        }
        self.filled += 1;
        self.head_sum += sample;
        if self.filled == self.slots.len() {
            let mut sum = 0.0;
            for slot in self.slots.iter_mut().rev() {
                sum += *slot;
                *slot = sum;
            }
            self.filled = 0;
            self.head_sum = 0.0;
            self.warm = true;
        }
        self.mean()
    }

    /// The mean of what is in the window; 0 if nothing is.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let tail_sum = self
            .slots
            .get(self.filled)
            .filter(|_| self.warm)
            .copied()
            .unwrap_or(0.0);
        (tail_sum + self.head_sum) / self.len().max(1) as i64 as f64
    }

    /// How many samples are in the window.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.warm {
            self.slots.len()
        } else {
            self.filled
        }
    }

    /// Whether there has not been a sample yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The largest sample, in its unit.
const MAX_MAGNITUDE: f64 = 1e290;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sums_do_not_overflow() {
        let mut mean = SlidingMean::new(2);
        for sample in [f64::INFINITY, f64::MAX, f64::NAN, f64::NEG_INFINITY] {
            assert!(mean.push(sample).is_finite(), "{sample}");
        }
        assert_eq!([1.0, 3.0].map(|sample| mean.push(sample))[1], 2.0);
    }

    proptest! {
        #[test]
        fn equals_the_definition(samples in prop::collection::vec(-1e6..1e6, 1..200), length in 1usize..40) {
            let mut mean = SlidingMean::new(length);
            for index in 0..samples.len() {
                let window = &samples[(index + 1).saturating_sub(length)..=index];
                let expected = window.iter().sum::<f64>() / window.len() as f64;
                prop_assert!((mean.push(samples[index]) - expected).abs() < 1e-7);
                prop_assert_eq!(mean.len(), window.len());
            }
        }
    }

    #[test]
    fn a_huge_sample_leaves_no_trace() {
        let mut mean = SlidingMean::new(3);
        assert!(mean.is_empty() && mean.mean() == 0.0);
        mean.push(1e30);
        for _ in 0..3 {
            mean.push(0.125);
        }
        assert_eq!(mean.mean(), 0.125);
    }

    #[test]
    fn a_window_of_nothing_is_one_of_one() {
        assert_eq!(SlidingMean::new(0).push(3.0), 3.0);
    }
}
