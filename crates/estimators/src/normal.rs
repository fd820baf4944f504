//! The standard normal distribution truncated and censored from above.
//!
//! `Z` is a standard normal variable throughout, and all functions are dimensionless. A measurement that
//! saturates at a limit is a censored normal variable: its moments, which the Tobit Kalman filter needs, are
//! made of those of the variable truncated at the limit, `Z | Z < a`.
//!
//! Written out, the truncated moments lose all their digits for `a` far below zero: `1 - lambda (lambda - a)`
//! cancels to about `eps a^4`. Below -4 every function here uses the continued fraction of
//! the Mills ratio (Laplace; Abramowitz and Stegun 26.2.14) instead, in which nothing cancels.
//!
//! The cumulative distribution comes from `libm`'s `erfc`, whose relative error is at most 2e-13 at the
//! arguments -30, -29.5, ..., 30; that of `statrs` 0.19 reaches 9e-11 there, more than the 1e-11 required here.

use core::f64::consts::SQRT_2;

/// The density of the standard normal distribution at `a`.
#[must_use]
pub fn density(a: f64) -> f64 {
    libm::exp(-0.5 * a * a) * INVERSE_SQRT_TWO_PI
}

/// The probability that `Z < a`. In 0..=1.
#[must_use]
pub fn cumulative(a: f64) -> f64 {
    0.5 * libm::erfc(-a / SQRT_2)
}

/// `lambda(a) = E[Z | Z < a] = -density(a) / cumulative(a)`: the mean below `a`. Negative or zero.
///
/// BBR-S, eq. (12). The negative of what is elsewhere called the inverse Mills ratio.
#[must_use]
pub fn truncated_mean(a: f64) -> f64 {
    truncated(a).mean
}

/// `a - lambda(a)`: how far the mean below `a` lies from `a`. Positive.
#[must_use]
pub fn distance_to_truncated_mean(a: f64) -> f64 {
    truncated(a).distance
}

/// `Var[Z | Z < a] = 1 - eth(a)`, with `eth(a) = lambda(a) (lambda(a) - a)` (BBR-S, eq. (13)). In 0..=1.
#[must_use]
pub fn truncated_variance(a: f64) -> f64 {
    truncated(a).variance
}

/// `a - E[min(a, Z)]`: by how much censoring at `a` lowers the mean below the limit. Positive.
///
/// `cumulative(a) (a - lambda(a))`, formed directly: the subtraction in the definition cancels below zero.
#[must_use]
pub fn censored_shortfall(a: f64) -> f64 {
    Limit::at(a).shortfall()
}

/// `E[min(a, Z)]`: the mean of the variable censored at `a`. Negative or zero, and at most `a`.
///
/// Above zero it is the negative of the shortfall at `-a`, by symmetry, which tends to zero without cancellation.
#[must_use]
pub fn censored_mean(a: f64) -> f64 {
    if a > 0.0 {
        -censored_shortfall(-a)
    } else {
        a - censored_shortfall(a)
    }
}

/// The moments of `Z | Z < a`: all of them cost as much as one.
pub(crate) struct Truncated {
    /// As [`truncated_mean`].
    pub(crate) mean: f64,
    /// As [`distance_to_truncated_mean`].
    distance: f64,
    /// As [`truncated_variance`].
    pub(crate) variance: f64,
}

/// Evaluates the moments of `Z | Z < a`.
#[inline]
pub(crate) fn truncated(a: f64) -> Truncated {
    truncated_with(a, || cumulative(a))
}

/// The same with `cumulative(a)` from the caller: the tail does without it.
#[inline]
fn truncated_with(a: f64, cumulative: impl FnOnce() -> f64) -> Truncated {
    if a < TAIL {
        let Tail { distance, fraction } = tail(-a);
        Truncated {
            mean: a - distance,
            distance,
            variance: distance * (fraction - distance),
        }
    } else if a > NO_MASS_ABOVE {
        Truncated {
            mean: 0.0,
            distance: a,
            variance: 1.0,
        }
    } else {
        let mean = -density(a) / cumulative();
        Truncated {
            mean,
            distance: a - mean,
            variance: 1.0 - mean * (mean - a),
        }
    }
}

/// What the linear filter asks of the distribution at its limit `a`, evaluated once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// As [`cumulative`].
    pub(crate) cumulative: f64,
    /// As [`truncated_variance`].
    pub(crate) truncated_variance: f64,
    /// As [`distance_to_truncated_mean`].
    distance: f64,
}

impl Limit {
    /// Evaluates the distribution at `a`.
    pub(crate) fn at(a: f64) -> Self {
        let cumulative = cumulative(a);
        let truncated = truncated_with(a, || cumulative);
        Self {
            cumulative,
            truncated_variance: truncated.variance,
            distance: truncated.distance,
        }
    }

    /// As [`censored_shortfall`].
    pub(crate) fn shortfall(&self) -> f64 {
        self.cumulative * self.distance
    }
}

/// The parts of the truncated moments far out in the lower tail.
struct Tail {
    /// `a - lambda(a)`.
    distance: f64,
    /// `2/(u + 3/(u + 4/(u + ...)))`, with which the truncated variance is `distance (fraction - distance)`.
    fraction: f64,
}

/// Evaluates the continued fraction at `u = -a`, for `u` of at least 4.
///
/// `cumulative(-u) = density(u) / (u + 1/(u + 2/(u + ...)))`, so that `-lambda(-u) = u + 1/(u + fraction)`.
fn tail(u: f64) -> Tail {
    let mut denominator = u;
    let mut term = TAIL_TERMS;
    while term > 2.0 {
        denominator = u + term / denominator;
        term -= 1.0;
    }
    let fraction = 2.0 / denominator;
    Tail {
        distance: 1.0 / (u + fraction),
        fraction,
    }
}

/// Below this the continued fraction is used. Dimensionless; above it the direct form loses at most 1e-13.
const TAIL: f64 = -4.0;

/// Above this the density is below 1e-313, and nothing is left to truncate. Dimensionless.
const NO_MASS_ABOVE: f64 = 38.0;

/// Terms of the continued fraction: at `u = 4`, the worst case, 60 leave a relative error below 1e-15.
const TAIL_TERMS: f64 = 60.0;

/// `1 / sqrt(2 pi)`.
const INVERSE_SQRT_TWO_PI: f64 = 0.398_942_280_401_432_7;

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f64, expected: f64, tolerance: f64) {
        assert!(
            (actual - expected).abs() <= tolerance * expected.abs(),
            "{actual:e} is not {expected:e}"
        );
    }

    #[test]
    fn at_zero_the_moments_are_the_half_normal_ones() {
        let mean = -(2.0 / core::f64::consts::PI).sqrt();
        assert_close(cumulative(0.0), 0.5, 1e-15);
        assert_close(truncated_mean(0.0), mean, 1e-15);
        assert_close(truncated_variance(0.0), 1.0 - mean * mean, 1e-15);
        assert_close(censored_mean(0.0), mean / 2.0, 1e-15);
    }

    #[test]
    fn the_two_forms_meet_at_the_tail() {
        for function in [
            truncated_mean,
            distance_to_truncated_mean,
            truncated_variance,
            censored_shortfall,
            censored_mean,
        ] {
            assert_close(function(TAIL - 1e-13), function(TAIL + 1e-13), 1e-11);
        }
    }

    /// Bit by bit: what the filters learn does not depend on how they ask.
    #[test]
    fn a_limit_is_what_the_functions_are_one_by_one() {
        for step in -400..=400 {
            let a = f64::from(step) / 10.0;
            let limit = Limit::at(a);
            assert_eq!(limit.cumulative, cumulative(a), "{a}");
            assert_eq!(limit.truncated_variance, truncated_variance(a), "{a}");
            let shortfall = cumulative(a) * distance_to_truncated_mean(a);
            assert_eq!(limit.shortfall(), shortfall, "{a}");
        }
        let nothing = Limit::at(f64::INFINITY);
        assert_eq!((nothing.cumulative, nothing.truncated_variance), (1.0, 1.0));
    }

    #[test]
    fn no_argument_yields_anything_but_a_moment() {
        for a in [
            f64::MIN,
            -1e200,
            -1e10,
            -38.5,
            -4.0,
            0.0,
            1e-300,
            4.0,
            38.0,
            38.5,
            1e10,
            f64::MAX,
            f64::INFINITY,
        ] {
            assert!((0.0..=1.0).contains(&cumulative(a)), "{a}");
            assert!(truncated_mean(a) <= 0.0, "{a}");
            assert!((0.0..=1.0).contains(&truncated_variance(a)), "{a}");
            assert!(censored_mean(a) <= 0.0 && censored_mean(a) <= a, "{a}");
        }
    }
}
