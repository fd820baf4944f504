//! Comparisons and conversions on the way of every acknowledgement.
//!
//! `f64::min` and `f64::max` look for NaN, which takes four more instructions each. The law divides by nothing that may be zero, and its
//! estimators take no NaN.
//!
//! Processors convert signed integers in one instruction, unsigned ones in six, and floats to unsigned ones in ten. No size and no time
//! is 2^63 or more: that is 292 years.

use core::time::Duration;

use crate::units::{Bytes, Timestamp};

/// The smaller of two numbers.
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two numbers.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// A size as a float.
pub(super) fn float(size: Bytes) -> f64 {
    size.0 as i64 as f64
}

/// The size below a float that is not negative. It saturates; NaN is zero.
pub(super) fn whole(size: f64) -> Bytes {
    Bytes(size as i64 as u64)
}

/// A span in seconds.
pub(super) fn seconds(span: Duration) -> f64 {
    span.as_secs() as i64 as f64 + f64::from(span.subsec_nanos()) / 1e9
}

/// The time from `earlier` to `later` in seconds; zero if `earlier` is in fact later.
pub(super) fn seconds_between(earlier: Timestamp, later: Timestamp) -> f64 {
    later.nanos_since(earlier) as i64 as f64 / 1e9
}
