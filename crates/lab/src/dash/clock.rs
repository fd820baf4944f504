//! The time of whatever runtime the endpoints are on.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::Runtime;

/// Tells the time since a session began, and waits: in virtual time on a simulation's runtime, in real time on any other.
/// Clones share the beginning.
#[derive(Debug, Clone)]
pub struct Clock {
    runtime: Arc<dyn Runtime>,
    start: Instant,
}

impl Clock {
    /// Time zero is now.
    pub fn start(runtime: Arc<dyn Runtime>) -> Self {
        let start = runtime.now();
        Self { runtime, start }
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.runtime.now().saturating_duration_since(self.start)
    }

    /// Completes after `duration`.
    pub async fn sleep(&self, duration: Duration) {
        let mut timer = self.runtime.new_timer(self.runtime.now() + duration);
        poll_fn(|cx| timer.as_mut().poll(cx)).await;
    }
}
