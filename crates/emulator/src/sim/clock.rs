//! The virtual clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::time::Nanos;

/// Virtual time, and its translation to the `Instant`s that quinn computes with.
#[derive(Debug)]
pub(super) struct Clock {
    epoch: Instant,
    now: AtomicU64,
}

impl Clock {
    /// A clock that shows zero, which is `epoch`.
    pub(super) fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            now: AtomicU64::new(0),
        }
    }

    /// An epoch for a clock.
    #[expect(
        clippy::disallowed_methods,
        reason = "std has no other constructor of Instant; only differences to it are observable"
    )]
    pub(super) fn epoch() -> Instant {
        Instant::now()
    }

    pub(super) fn now(&self) -> Nanos {
        Nanos(self.now.load(Ordering::Relaxed))
    }

    /// Moves on to `time`, unless that is past.
    pub(super) fn advance(&self, time: Nanos) {
        // Only the thread that runs the simulation does this.
        if time > self.now() {
            self.now.store(time.0, Ordering::Relaxed);
        }
    }

    /// Takes back an advance from `time`, since which nobody has looked.
    pub(super) fn rewind(&self, time: Nanos) {
        self.now.store(time.0, Ordering::Relaxed);
    }

    pub(super) fn instant(&self, time: Nanos) -> Instant {
        let since_epoch = Duration::from(time);
        // Platforms whose `Instant` cannot count that far saturate somewhere in the far future.
        self.epoch
            .checked_add(since_epoch)
            .unwrap_or_else(|| self.epoch + FAR_FUTURE)
    }

    pub(super) fn nanos(&self, instant: Instant) -> Nanos {
        instant.saturating_duration_since(self.epoch).into()
    }
}

/// A hundred years.
const FAR_FUTURE: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
