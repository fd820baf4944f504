//! Plain statistics over samples.

use std::time::Duration;

/// A time in nanoseconds, as samples have it.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The arithmetic mean; `None` of no samples.
pub fn mean(samples: &[u64]) -> Option<f64> {
    let sum: u128 = samples.iter().map(|&sample| u128::from(sample)).sum();
    (!samples.is_empty()).then(|| sum as f64 / samples.len() as f64)
}

/// The nearest-rank percentile: the smallest sample that at least the fraction `p` of all samples do not exceed.
/// `sorted` is in ascending order; `None` of no samples.
pub fn percentile(sorted: &[u64], p: f64) -> Option<u64> {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1)))
        .copied()
}

/// Jain's fairness index of the flows' shares: 1 when all are equal, 1/n when one has everything. `None` when nobody
/// has anything.
pub fn jain(shares: &[u64]) -> Option<f64> {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// Rounded to six decimals, as all printed numbers are.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1, 2, 6]), Some(3.0));
        assert_eq!(mean(&[u64::MAX, u64::MAX]), Some(u64::MAX as f64));
    }

    #[test]
    fn percentiles_are_nearest_rank() {
        assert_eq!(percentile(&[], 0.95), None);
        assert_eq!(percentile(&[7], 0.0), Some(7));
        assert_eq!(percentile(&[7], 1.0), Some(7));
        // The textbook example of the nearest-rank method.
        let sorted = [15, 20, 35, 40, 50];
        for (p, expected) in [(0.05, 15), (0.3, 20), (0.4, 20), (0.5, 35), (1.0, 50)] {
            assert_eq!(percentile(&sorted, p), Some(expected), "{p}");
        }
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 0.95), Some(95));
        assert_eq!(percentile(&hundred, 0.99), Some(99));
    }

    #[test]
    fn jains_index() {
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0, 0]), None);
        assert_eq!(jain(&[5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[9, 0, 0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[1, 3]), Some(16.0 / 20.0));
    }
}
