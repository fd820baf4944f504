//! No limit.

use crate::time::Nanos;

/// Sends everything in no time.
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

    /// It could send anything in any time, but nothing in none.
    pub(super) const fn capacity(from: Nanos, to: Nanos) -> u64 {
        if to.0 > from.0 { u64::MAX } else { 0 }
    }
}
