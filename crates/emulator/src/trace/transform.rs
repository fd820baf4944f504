//! Traces made of others.

use thiserror::Error;

use super::{MAX_OPPORTUNITIES, NANOS_PER_MILLI, Trace};
use crate::number::Number;
use crate::time::Nanos;

/// Why a trace cannot be scaled.
#[derive(Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// The factor is no positive number.
    #[error("{} is not a positive number", Number(*.0))]
    Factor(f64),
    /// The result would be too large to handle.
    #[error("a factor of {} makes more than {MAX_OPPORTUNITIES} opportunities", Number(*.factor))]
    TooLarge {
        /// The factor.
        factor: f64,
    },
}

debug_as_display!(ScaleError);

/// Why a trace cannot be cut.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CutError {
    /// The end does not come after the start.
    #[error("nothing lies between {from} and {to}")]
    Empty {
        /// The start.
        from: Nanos,
        /// The end.
        to: Nanos,
    },
    /// The end lies beyond the end of the trace's cycle.
    #[error("{to} is beyond the trace's end at {end}")]
    BeyondEnd {
        /// The end of the cut.
        to: Nanos,
        /// The end of the cycle.
        end: Nanos,
    },
    /// A border lies within a millisecond.
    #[error("{0} is not a whole number of milliseconds")]
    NotWhole(Nanos),
    /// There is nothing to send with.
    #[error("the trace has no opportunity after {from} and up to {to}")]
    NoOpportunity {
        /// The start.
        from: Nanos,
        /// The end.
        to: Nanos,
    },
}

debug_as_display!(CutError);

impl Trace {
    /// A trace with the same period and `factor` times as many opportunities, rounded, but at least one. They are spread
    /// evenly over the old ones: some of these occur several times, or not at all, but the last one always stays.
    ///
    /// # Errors
    /// The factor is not positive, or would give more than [`MAX_OPPORTUNITIES`].
    pub fn scaled(&self, factor: f64) -> Result<Self, ScaleError> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(ScaleError::Factor(factor));
        }
        let exact = self.millis().len() as f64 * factor;
        if exact > MAX_OPPORTUNITIES as f64 {
            return Err(ScaleError::TooLarge { factor });
        }
        let total = (exact.round() as usize).max(1);
        // So that the sum of all shares is whole, and the last opportunity completes it.
        let offset = total as f64 - exact;
        let last = self.millis().len() - 1;
        let mut millis = Vec::with_capacity(total);
        for (index, time) in self.millis().iter().enumerate() {
            let until = if index == last {
                total
            } else {
                let share = (index + 1) as f64 * factor + offset;
                // A conversion from floating point saturates.
                (share as usize).min(total - 1)
            };
            millis.resize(until.max(millis.len()), *time);
        }
        Ok(Self::from_ordered(millis, self.name().to_owned()))
    }

    /// The opportunities of the first cycle after `from` and up to `to`, inclusive, with `from` as the new time 0. Those
    /// at time 0 belong to a cut from there, so that a cut from 0 to the period is the trace itself.
    ///
    /// No opportunity is added: the period is the last one's time, and shorter than the cut if that ends in a gap.
    ///
    /// # Errors
    /// The borders are not whole milliseconds within the cycle and in order, or there is no opportunity to keep.
    pub fn cut(&self, from: Nanos, to: Nanos) -> Result<Self, CutError> {
        for border in [from, to] {
            if border.0 % NANOS_PER_MILLI != 0 {
                return Err(CutError::NotWhole(border));
            }
        }
        if from >= to {
            return Err(CutError::Empty { from, to });
        }
        let (start, end) = (from.0 / NANOS_PER_MILLI, to.0 / NANOS_PER_MILLI);
        if end > self.period_millis() {
            let end = self.period();
            return Err(CutError::BeyondEnd { to, end });
        }
        let kept = |time: &&u64| (**time > start || start == 0) && **time <= end;
        let millis: Vec<u64> = self
            .millis()
            .iter()
            .filter(kept)
            .map(|time| time - start)
            .collect();
        match millis.last() {
            Some(1..) => Ok(Self::from_ordered(millis, self.name().to_owned())),
            _ => Err(CutError::NoOpportunity { from, to }),
        }
    }
}
