//! Errors in a link's configuration.

use std::ops::RangeInclusive;

use crate::number::Number;
use crate::time::Nanos;

/// Why a configuration is not valid.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A constant rate of zero never sends.
    #[error("the rate of a link must be positive")]
    ZeroRate,
    /// A queue was given no limit where it needs one.
    #[error("a queue needs a limit in bytes, in packets or in time")]
    NoLimit,
    /// A queue without room drops all packets.
    #[error("a queue's limit in {unit} must be positive")]
    ZeroLimit {
        /// Which of the limits.
        unit: &'static str,
    },
    /// The loss probability lies outside `[0, 1]` or is not a number.
    #[error("loss probability {} is not between 0 and 1", Number(*.0))]
    Loss(f64),
    /// Another probability lies outside `[0, 1]` or is not a number.
    #[error("{what} {} is not between 0 and 1", Number(*.value))]
    Probability {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must be positive is zero.
    #[error("{what} must be positive")]
    Zero {
        /// Which one.
        what: &'static str,
    },
    /// A parameter is out of its range.
    #[error("{what} {} is not {range}", Number(*.value))]
    OutOfRange {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// A token bucket's line is slower than its tokens.
    #[error("peak rate {peak} B/s is below rate {rate} B/s")]
    PeakBelowRate {
        /// The line's rate, in bytes per second.
        peak: u64,
        /// The tokens' rate, in bytes per second.
        rate: u64,
    },
    /// A schedule has no value at time 0.
    #[error("a schedule of {what} must begin with a step at time 0")]
    NoFirstStep {
        /// Of what.
        what: &'static str,
    },
    /// A list is not in order. Entries are counted from 0.
    #[error("{what}: entry {index} does not come after the one before")]
    Unordered {
        /// Which list.
        what: &'static str,
        /// The first entry out of order.
        index: usize,
    },
    /// A schedule of rates ends with a blackout: waiting packets would wait forever.
    #[error("a schedule of rates must not end with rate 0")]
    EndlessBlackout,
    /// An interval ends before it begins, or where it begins. Intervals are counted from 0.
    #[error("{what}: interval {index} is empty: {from} to {to}")]
    EmptyInterval {
        /// Which list.
        what: &'static str,
        /// Which interval.
        index: usize,
        /// Where it begins.
        from: Nanos,
        /// Where it ends.
        to: Nanos,
    },
    /// The minimum of a range is above its maximum.
    #[error("{what}: nothing lies between {from} and {to}")]
    EmptyRange {
        /// Which range.
        what: &'static str,
        /// Its minimum.
        from: Nanos,
        /// Its greatest.
        to: Nanos,
    },
}

debug_as_display!(ConfigError);

/// Checks that a number is positive.
pub(super) fn positive(what: &'static str, value: u64) -> Result<(), ConfigError> {
    if value == 0 {
        return Err(ConfigError::Zero { what });
    }
    Ok(())
}

/// Checks that a number lies in `[0, 1]`.
pub(super) fn probability(what: &'static str, value: f64) -> Result<(), ConfigError> {
    if !(0.0..=1.0).contains(&value) {
        return Err(ConfigError::Probability { what, value });
    }
    Ok(())
}

/// Checks that a number lies in a range, which is also given in words.
pub(super) fn in_range(
    what: &'static str,
    value: f64,
    range: RangeInclusive<f64>,
    words: &'static str,
) -> Result<(), ConfigError> {
    if !range.contains(&value) {
        return Err(ConfigError::OutOfRange {
            what,
            value,
            range: words,
        });
    }
    Ok(())
}

/// Checks that keys increase strictly.
pub(super) fn increasing(
    what: &'static str,
    mut keys: impl Iterator<Item = u64>,
) -> Result<(), ConfigError> {
    let Some(mut previous) = keys.next() else {
        return Ok(());
    };
    for (index, key) in keys.enumerate() {
        if key <= previous {
            return Err(ConfigError::Unordered {
                what,
                index: index + 1,
            });
        }
        previous = key;
    }
    Ok(())
}

/// Checks that a schedule begins at time 0 and that its times increase.
pub(super) fn schedule(
    what: &'static str,
    mut times: impl Iterator<Item = Nanos>,
) -> Result<(), ConfigError> {
    let first = times.next();
    if first != Some(Nanos::ZERO) {
        return Err(ConfigError::NoFirstStep { what });
    }
    increasing(what, first.into_iter().chain(times).map(|time| time.0))
}
