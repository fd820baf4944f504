//! Traces of measured rates.

use thiserror::Error;

use super::{OPPORTUNITY_BYTES, Trace};
use crate::number::Number;

/// A rate that holds from a time until the next sample's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSample {
    /// When it begins, in milliseconds.
    pub millis: f64,
    /// The rate, in bytes per second; not negative.
    pub bytes_per_second: f64,
}

/// Why rates do not make a trace. Samples are counted from 0.
#[derive(Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RatesError {
    /// The last sample's length is that of the one before, so there must be one.
    #[error("a trace takes at least two samples")]
    TooFew,
    /// A time is not a number, or does not come after the sample before.
    #[error("time {} ms does not come after the sample before", Number(*.millis))]
    Time {
        /// Which sample.
        index: usize,
        /// Its time, in milliseconds.
        millis: f64,
    },
    /// A rate is negative, or not a number.
    #[error("rate {} B/s is not zero or a positive number", Number(*.bytes_per_second))]
    Rate {
        /// Which sample.
        index: usize,
        /// Its rate, in bytes per second.
        bytes_per_second: f64,
    },
    /// The samples are too close together: the trace would have no whole millisecond.
    #[error("the samples span less than a millisecond")]
    TooShort,
    /// The samples span more than a year.
    #[error("the samples span {} ms, but {MAX_DURATION_MILLIS} ms is the most", Number(*.millis))]
    TooLong {
        /// Their span, in milliseconds.
        millis: f64,
    },
    /// The trace would be too large to handle.
    #[error("the samples make more than {MAX_OPPORTUNITIES} opportunities")]
    TooLarge,
}

debug_as_display!(RatesError);

impl Trace {
    /// A trace that delivers at given rates. The first sample's time becomes 0, and the last sample holds as long as the
    /// one before it.
    ///
    /// An opportunity comes in the millisecond in which the rates have added up to [`OPPORTUNITY_BYTES`]. The last
    /// millisecond always holds one, so that the trace's period is the samples' span, rounded down.
    ///
    /// # Errors
    /// There are too few samples, they are not in order, or one is out of its range.
    pub fn from_rates(samples: &[RateSample], name: impl Into<String>) -> Result<Self, RatesError> {
        validate(samples)?;
        let ([first, ..], [.., before, last]) = (samples, samples) else {
            return Err(RatesError::TooFew);
        };
        let span = last.millis - first.millis + (last.millis - before.millis);
        if span > MAX_DURATION_MILLIS as f64 {
            return Err(RatesError::TooLong { millis: span });
        }
        let end = (span + ROUNDING).floor();
        if end < 1.0 {
            return Err(RatesError::TooShort);
        }
        let ends = samples
            .iter()
            .skip(1)
            .map(|next| next.millis - first.millis);
        let mut millis = Vec::with_capacity(opportunities(samples, end)?);
        // The bytes since the latest opportunity.
        let mut bytes = 0.0;
        for (sample, until) in samples.iter().zip(ends.chain([end])) {
            let from = sample.millis - first.millis;
            let per_milli = sample.bytes_per_second / 1e3;
            let sum = bytes + per_milli * (until - from);
            let count = ((sum + ROUNDING) / SHARE).floor();
            for index in 1..=count as u64 {
                let time = from + (index as f64 * SHARE - bytes) / per_milli;
                // A conversion from floating point saturates.
                millis.push((time - ROUNDING).ceil().clamp(1.0, end) as u64);
            }
            bytes = (sum - count * SHARE).max(0.0);
        }
        if millis.last() != Some(&(end as u64)) {
            millis.push(end as u64);
        }
        Ok(Self::from_ordered(millis, name.into()))
    }
}

/// About how many opportunities the samples make: a vector that grows takes three times its memory for a moment.
fn opportunities(samples: &[RateSample], end: f64) -> Result<usize, RatesError> {
    let first = samples.first().map_or(0.0, |first| first.millis);
    let ends = samples.iter().skip(1).map(|next| next.millis - first);
    let amounts = samples.iter().zip(ends.chain([end]));
    let amounts = amounts
        .map(|(sample, until)| sample.bytes_per_second / 1e3 * (until - (sample.millis - first)));
    let count = amounts.sum::<f64>() / SHARE;
    if count > MAX_OPPORTUNITIES as f64 {
        return Err(RatesError::TooLarge);
    }
    // The last one may be added, and one more for rounding.
    Ok(count as usize + 2)
}

fn validate(samples: &[RateSample]) -> Result<(), RatesError> {
    let mut previous = f64::NEG_INFINITY;
    for (index, sample) in samples.iter().enumerate() {
        let RateSample {
            millis,
            bytes_per_second,
        } = *sample;
        if !(millis.is_finite() && millis > previous) {
            return Err(RatesError::Time { index, millis });
        }
        if !(bytes_per_second.is_finite() && bytes_per_second >= 0.0) {
            return Err(RatesError::Rate {
                index,
                bytes_per_second,
            });
        }
        previous = millis;
    }
    Ok(())
}

/// The most opportunities of a trace that is computed, 56 MB of memory: a minute of 1.4 Gb/s, fourteen minutes of 100 Mb/s. A line
/// of text can ask for any number.
pub const MAX_OPPORTUNITIES: usize = 7_000_000;

/// The longest span of rates, in milliseconds: a year.
const MAX_DURATION_MILLIS: u64 = 365 * 86_400_000;

/// [`OPPORTUNITY_BYTES`] as a number to calculate with.
const SHARE: f64 = OPPORTUNITY_BYTES as f64;

/// What counts as a rounding error, in milliseconds and in bytes: decimal times and rates have no exact binary value.
const ROUNDING: f64 = 1e-6;
