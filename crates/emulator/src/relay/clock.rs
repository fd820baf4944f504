//! The only place that reads the clock.

use std::time::Instant;

use crate::time::Nanos;

/// The time since the start of the relay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the relay works in real time")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn now(self) -> Nanos {
        self.0.elapsed().into()
    }
}
