//! A serial line.

use std::num::NonZeroU64;

use crate::link::ConfigError;
use crate::time::Nanos;

/// Sends at a constant rate. Exact: a busy period's end is rounded up to whole nanoseconds, but no rounding accumulates.
#[derive(Debug)]
pub(in crate::link) struct ConstantRate {
    bytes_per_second: NonZeroU64,
    /// When the line falls idle, rounded down.
    end: Nanos,
    /// The rounding remainder, in nanoseconds / `bytes_per_second`; less than one nanosecond.
    remainder: u64,
}

impl ConstantRate {
    pub(super) fn new(bytes_per_second: u64) -> Result<Self, ConfigError> {
        let bytes_per_second = NonZeroU64::new(bytes_per_second).ok_or(ConfigError::ZeroRate)?;
        Ok(Self {
            bytes_per_second,
            end: Nanos::ZERO,
            remainder: 0,
        })
    }

    pub(super) fn wake(&mut self, now: Nanos) {
        if now > self.ready() {
            self.end = now;
            self.remainder = 0;
        }
    }

    /// When the line falls idle.
    pub(super) fn ready(&self) -> Nanos {
        self.end + Nanos(u64::from(self.remainder > 0))
    }

    pub(super) fn serve(&mut self, bytes: u64) -> Nanos {
        let work = bytes
            .saturating_mul(NANOS_PER_SECOND)
            .saturating_add(self.remainder);
        self.end = self.end + Nanos(work / self.bytes_per_second);
        self.remainder = work % self.bytes_per_second;
        self.ready()
    }

    pub(super) fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        let until = |time: Nanos| {
            let bytes = u128::from(time.0) * u128::from(self.bytes_per_second.get())
                / u128::from(NANOS_PER_SECOND);
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        until(to).saturating_sub(until(from))
    }
}

/// Nanoseconds per second.
const NANOS_PER_SECOND: u64 = 1_000_000_000;
