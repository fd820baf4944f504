//! A ratio of two sums that are forgotten exponentially.

/// The ratio of two sums, both forgotten exponentially: bytes over time make a rate.
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

    /// Keeps e^-elapsed of both sums, after `elapsed` time constants, and adds to them.
    pub fn add(&mut self, numerator: f64, denominator: f64, elapsed: f64) {
        if is_valid(numerator, denominator, elapsed) {
            self.add_valid(numerator, denominator, elapsed);
        }
    }

    /// As `add`, of input that is finite and not negative.
    pub(crate) fn add_valid(&mut self, numerator: f64, denominator: f64, elapsed: f64) {
        let kept = decay(elapsed);
        self.numerator = (self.numerator * kept + numerator).min(MAX_SUM);
        self.denominator = (self.denominator * kept + denominator).min(MAX_SUM);
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

/// e^-x: the eighth power of the reciprocal of e^(x/8), whose series ends with the third power.
///
/// It is less than 0.01 % too large up to 1, and less than 1 % up to 3. An exponential that is exact takes 40 instructions, on each of
/// three averages for each acknowledgement.
fn decay(x: f64) -> f64 {
    let x = x / 8.0;
    let root = 1.0 / (1.0 + x * (1.0 + x * (0.5 + x / 6.0)));
    let square = root * root;
    let fourth = square * square;
    fourth * fourth
}

/// Whether all values are finite, and none is negative.
pub(crate) fn is_valid(a: f64, b: f64, c: f64) -> bool {
    a >= 0.0 && b >= 0.0 && c >= 0.0 && a + b + c < f64::INFINITY
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
    fn time_leaves_a_power_of_e() {
        for (elapsed, error) in [
            (0.0, 0.0),
            (0.02, 2e-11),
            (0.2, 2e-7),
            (1.0, 1e-4),
            (3.0, 0.01),
        ] {
            let mut ratio = DecayingRatio::new(100.0, 10.0);
            ratio.add(0.0, 0.0, elapsed);
            let expected = 100.0 * libm::exp(-elapsed);
            let off = ratio.numerator / expected - 1.0;
            assert!((-1e-14..=error + 1e-14).contains(&off), "{elapsed}: {off}");
        }
        let mut forgotten = DecayingRatio::new(100.0, 10.0);
        forgotten.add(7.0, 1.0, 1e300);
        assert_eq!(forgotten.ratio(), 7.0);
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
