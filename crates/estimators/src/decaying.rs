//! A ratio of two sums that are forgotten exponentially.

use libm::exp;

/// The ratio of two sums, both forgotten exponentially: bytes over time make a rate, squares over sizes a weighted mean.
///
/// Input that is not finite or is negative is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DecayingRatio {
    numerator: f64,
    denominator: f64,
}

impl DecayingRatio {
    /// Sums that begin with these values. Zero and zero know nothing.
    pub fn new(numerator: f64, denominator: f64) -> Self {
        let mut ratio = Self::default();
        ratio.add(numerator, denominator, 0.0);
        ratio
    }

    /// Forgets what `elapsed` time constants leave none of, e^-elapsed of it being kept, and adds to both sums.
    pub fn add(&mut self, numerator: f64, denominator: f64, elapsed: f64) {
        let valid = |value: f64| value.is_finite() && value >= 0.0;
        if ![numerator, denominator, elapsed].into_iter().all(valid) {
            return;
        }
        let keep = exp(-elapsed);
        self.numerator = (self.numerator * keep + numerator).min(MAX_SUM);
        self.denominator = (self.denominator * keep + denominator).min(MAX_SUM);
    }

    /// The ratio; zero if nothing is known.
    pub fn ratio(&self) -> f64 {
        self.numerator / self.denominator.max(MIN_DENOMINATOR)
    }

    /// The ratio, if `prior` counts as much as `weight` of the denominator.
    pub fn ratio_with(&self, prior: f64, weight: f64) -> f64 {
        (self.numerator + prior * weight) / (self.denominator + weight).max(MIN_DENOMINATOR)
    }
}

/// No sum is larger, so that no ratio overflows.
const MAX_SUM: f64 = 1e290;

/// Nothing is divided by less.
const MIN_DENOMINATOR: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    /// Trap: an infinite sum that is forgotten at once, infinity times zero, is no number ever after.
    #[test]
    fn sums_do_not_overflow() {
        let mut ratio = DecayingRatio::new(f64::MAX, 0.0);
        ratio.add(f64::MAX, 0.0, 0.0);
        assert!(ratio.ratio().is_finite());
        ratio.add(1.0, 1.0, f64::MAX);
        assert_eq!(ratio.ratio(), 1.0);
    }

    #[test]
    fn a_time_constant_leaves_a_part_in_e() {
        let mut ratio = DecayingRatio::new(100.0, 10.0);
        assert_eq!(ratio.ratio(), 10.0);
        ratio.add(0.0, 10.0, 1.0);
        let kept = exp(-1.0);
        assert!((ratio.ratio() - 100.0 * kept / (10.0 * kept + 10.0)).abs() < 1e-12);
    }

    #[test]
    fn a_prior_counts_by_its_weight() {
        let ratio = DecayingRatio::new(30.0, 10.0);
        assert_eq!(ratio.ratio_with(1.0, 10.0), 2.0);
        assert_eq!(DecayingRatio::default().ratio_with(5.0, 1.0), 5.0);
        assert_eq!(DecayingRatio::default().ratio(), 0.0);
    }

    #[test]
    fn nonsense_changes_nothing() {
        let before = DecayingRatio::new(30.0, 10.0);
        for value in [f64::NAN, f64::INFINITY, -1.0] {
            for (numerator, denominator, elapsed) in
                [(value, 1.0, 1.0), (1.0, value, 1.0), (1.0, 1.0, value)]
            {
                let mut after = before;
                after.add(numerator, denominator, elapsed);
                assert_eq!(after, before);
            }
        }
    }
}
