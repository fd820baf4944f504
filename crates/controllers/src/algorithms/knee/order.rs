//! Comparisons on the way of every acknowledgement.
//!
//! `f64::min` and `f64::max` look for NaN, which takes four more instructions each. The law divides by nothing that may be zero, and its
//! estimators take no NaN.

/// The smaller of two numbers.
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two numbers.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
