//! Comparisons, conversions and spans of time on the way of every acknowledgement.
//!
//! `f64::min` and `f64::max` look for NaN, which takes four more instructions each. The law divides by nothing that may be zero, and its
//! estimators take no NaN.
//!
//! Processors convert signed integers in one instruction, unsigned ones in six, and floats to unsigned ones in ten. Sizes and times
//! saturate at 2^63: that is 292 years.

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
    size.0.min(MOST) as i64 as f64
}

/// The size below a float. It saturates; NaN is zero.
pub(super) fn whole(size: f64) -> Bytes {
    Bytes((size as i64).max(0) as u64)
}

/// The time from `earlier` to `later` in seconds; zero if `earlier` is in fact later.
pub(super) fn seconds_between(earlier: Timestamp, later: Timestamp) -> f64 {
    later.nanos_since(earlier).min(MOST) as i64 as f64 / 1e9
}

const MOST: u64 = i64::MAX as u64;

/// The packets that left after one time, up to another. An end that is known stays.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) after: Timestamp,
    pub(super) up_to: Timestamp,
}

impl Span {
    pub(super) fn since(now: Timestamp) -> Self {
        Self {
            after: now,
            up_to: Timestamp::MAX,
        }
    }

    pub(super) fn end(&mut self, now: Timestamp) {
        self.up_to = self.up_to.min(now);
    }

    pub(super) fn contains(&self, sent: Timestamp) -> bool {
        self.after < sent && sent <= self.up_to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_saturate() {
        assert_eq!(float(Bytes(u64::MAX)), i64::MAX as f64);
        assert_eq!(whole(float(Bytes(1_500))), Bytes(1_500));
        assert_eq!(whole(f64::INFINITY), Bytes(MOST));
        assert_eq!(whole(-1.0), Bytes::ZERO);
        assert_eq!(whole(f64::NAN), Bytes::ZERO);
        let ages = seconds_between(Timestamp::ZERO, Timestamp::from_nanos(u64::MAX));
        assert!(ages > 292.0 * 365.0 * 86_400.0);
    }
}
