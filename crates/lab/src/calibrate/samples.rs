//! Spans of time that were measured.

use std::time::Duration;

/// Spans of time, in ascending order; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Sorts them; `None` of none.
    pub(super) fn new(mut spans: Vec<Duration>) -> Option<Self> {
        spans.sort_unstable();
        (!spans.is_empty()).then_some(Self(spans))
    }

    /// Those of several together; `None` of none.
    pub(super) fn all<'a>(several: impl Iterator<Item = &'a Self>) -> Option<Self> {
        Self::new(several.flat_map(|samples| &samples.0).copied().collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The span at a probability from 0 (the shortest) to 1 (the longest), linear between neighbours.
    pub fn quantile(&self, probability: f64) -> Duration {
        let last = self.0.len().saturating_sub(1);
        let place = probability.clamp(0.0, 1.0) * last as f64;
        let (index, part) = (place as usize, place.fract());
        let at = |index: usize| self.0.get(index.min(last)).copied().unwrap_or_default();
        let (low, high) = (at(index), at(index + 1));
        low + (high - low).mul_f64(part)
    }

    /// The quantiles at `count` evenly spaced probabilities, from 0 to 1.
    pub fn quantiles(&self, count: usize) -> Vec<Duration> {
        let steps = count.saturating_sub(1).max(1) as f64;
        (0..count)
            .map(|step| self.quantile(step as f64 / steps))
            .collect()
    }

    /// Evenly spaced quantiles between which the mean above the last but one is that of the samples. The longest of thousands of
    /// samples is rare; linear interpolation towards it would make it common.
    pub(super) fn table(&self, count: usize) -> Vec<Duration> {
        let mut spans = self.quantiles(count);
        if let [.., below, last] = spans.as_mut_slice() {
            let share = 1.0 / count.saturating_sub(1).max(1) as f64;
            let max = (self.0.len() as f64 * share).ceil() as u32;
            let sum: Duration = self.0.iter().rev().take(max as usize).sum();
            let mean = sum / max.max(1);
            *last = (*last).min((mean * 2).saturating_sub(*below)).max(*below);
        }
        spans
    }

    /// Those up to a limit, and those above it.
    pub(super) fn split(&self, limit: Duration) -> (Option<Self>, Option<Self>) {
        let (below, above) = self
            .0
            .split_at(self.0.partition_point(|&span| span <= limit));
        (Self::new(below.to_vec()), Self::new(above.to_vec()))
    }

    /// All together.
    pub fn sum(&self) -> Duration {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(spans: &[u64]) -> Option<Samples> {
        Samples::new(
            spans
                .iter()
                .map(|&span| Duration::from_millis(span))
                .collect(),
        )
    }

    #[test]
    fn quantiles_are_linear_between_samples() {
        assert_eq!(millis(&[]), None);
        let samples = millis(&[30, 10, 20]).unwrap();
        assert_eq!((samples.count(), samples.sum().as_millis()), (3, 60));
        let at = |probability| samples.quantile(probability).as_micros();
        assert_eq!(
            [at(0.0), at(0.25), at(0.5), at(1.0)],
            [10_000, 15_000, 20_000, 30_000]
        );
        assert_eq!([at(-1.0), at(2.0)], [10_000, 30_000]);
        let five = samples.quantiles(5);
        assert_eq!(five, [10, 15, 20, 25, 30].map(Duration::from_millis));
        let one = millis(&[7]).unwrap();
        assert_eq!(one.quantiles(2), [Duration::from_millis(7); 2]);
    }

    #[test]
    fn a_table_keeps_the_mean_of_the_longest() {
        // One of a thousand takes a thousand times as long.
        let spans: Vec<u64> = (0..1000).map(|n| if n == 0 { 1000 } else { 1 }).collect();
        let samples = millis(&spans).unwrap();
        let table = samples.table(201);
        // The longest five have a mean of 200.8 ms, and so has the line from 1 ms to the last.
        let last: Vec<_> = table[199..].iter().map(Duration::as_micros).collect();
        assert_eq!(last, [1_000, 2 * 200_800 - 1_000]);
        assert_eq!(
            millis(&[7]).unwrap().table(3),
            [Duration::from_millis(7); 3]
        );
    }

    #[test]
    fn samples_are_split_at_a_limit() {
        let split = |limit| {
            let samples = millis(&[30, 10, 20]).unwrap();
            samples.split(Duration::from_millis(limit))
        };
        assert_eq!(split(20), (millis(&[10, 20]), millis(&[30])));
        assert_eq!(split(9), (None, millis(&[10, 20, 30])));
        assert_eq!(split(30), (millis(&[10, 20, 30]), None));
    }
}
