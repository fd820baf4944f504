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
    #[expect(
        clippy::disallowed_methods,
        reason = "std has no other constructor of Instant; only differences to it are observable"
    )]
    pub(super) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            now: AtomicU64::new(0),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        Nanos(self.now.load(Ordering::Relaxed))
    }

    /// Moves on to `time`; the clock never goes back.
    pub(super) fn advance(&self, time: Nanos) {
        // Only the thread that runs the simulation does this.
        if time > self.now() {
            self.now.store(time.0, Ordering::Relaxed);
        }
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
