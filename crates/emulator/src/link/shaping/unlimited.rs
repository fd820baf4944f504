//! No limit.

use crate::time::Nanos;

/// Sends each packet immediately.
#[derive(Debug)]
pub(in crate::link) struct Unlimited {
    now: Nanos,
}

impl Unlimited {
    pub(super) const fn new() -> Self {
        Self { now: Nanos::ZERO }
    }

    pub(super) fn wake(&mut self, now: Nanos) {
        self.now = self.now.max(now);
    }

    pub(super) const fn ready(&self) -> Nanos {
        self.now
    }

    /// Any number of bytes in a positive time, and zero in an empty interval.
    pub(super) const fn capacity(from: Nanos, to: Nanos) -> u64 {
        if to.0 > from.0 { u64::MAX } else { 0 }
    }
}
