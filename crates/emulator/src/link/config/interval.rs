//! Intervals of time.

use super::ConfigError;
use crate::time::Nanos;

/// The times from one, inclusive, to another, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The first moment.
    pub from: Nanos,
    /// The moment after the last.
    pub to: Nanos,
}

/// Checks that intervals are not empty, in order and without overlap.
pub(super) fn validate(what: &'static str, intervals: &[Interval]) -> Result<(), ConfigError> {
    let mut end = Nanos::ZERO;
    for (index, interval) in intervals.iter().enumerate() {
        if interval.from >= interval.to {
            return Err(ConfigError::EmptyInterval { what, index });
        }
        if interval.from < end {
            return Err(ConfigError::Unordered { what, index });
        }
        end = interval.to;
    }
    Ok(())
}
