//! The functions of the normal distribution against an independent implementation: the distribution function of
//! `statrs`, and integrals of it.

use kneepoint_estimators::normal;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

#[test]
fn density_and_probabilities() {
    let theirs = Normal::standard();
    for a in arguments() {
        assert_close(a, normal::density(a), theirs.pdf(a));
        assert_close(a, normal::cumulative(a), theirs.cdf(a));
        assert_close(a, normal::cumulative(-a), theirs.sf(a));
    }
}

/// With `Y = max(a - Z, 0)`: `E[Y]` is the integral of the distribution function up to `a`, and `E[Y^2]` that of
/// twice its product with the distance to `a`.
#[test]
fn moments() {
    for a in arguments() {
        let below = Normal::standard().cdf(a);
        let first = integral(a, |_| 1.0);
        let second = integral(a, |distance| 2.0 * distance);
        assert_close(a, normal::censored_shortfall(a), first);
        let (first, second) = (first / below, second / below);
        assert_close(a, normal::distance_to_truncated_mean(a), first);
        assert_close(a, normal::truncated_variance(a), second - first * first);
    }
}

/// The integral of `weight(a - t) cdf(t)` over all `t` up to `a`, by Simpson's rule. Nothing in it cancels.
fn integral(a: f64, weight: impl Fn(f64) -> f64) -> f64 {
    // Beyond the reach the distribution function is below 1e-16 of its value at `a`.
    let reach = a.max(0.0) + 9.0;
    let step = reach / f64::from(INTERVALS);
    let theirs = Normal::standard();
    let sum: f64 = (0..=INTERVALS)
        .map(|n| {
            let distance = step * f64::from(n);
            let factor = match n {
                0 | INTERVALS => 1.0,
                _ if n % 2 == 1 => 4.0,
                _ => 2.0,
            };
            factor * weight(distance) * theirs.cdf(a - distance)
        })
        .sum();
    sum * step / 3.0
}

fn arguments() -> impl Iterator<Item = f64> {
    (-32..=32).map(|n| f64::from(n) / 4.0)
}

#[track_caller]
fn assert_close(a: f64, ours: f64, theirs: f64) {
    assert!(
        (ours - theirs).abs() <= TOLERANCE * theirs.abs(),
        "at {a}: {ours:e} is not {theirs:e}"
    );
}

/// Relative: ten times what `statrs` itself is off by.
const TOLERANCE: f64 = 1e-9;

/// Of Simpson's rule; even.
const INTERVALS: i32 = 16_000;
