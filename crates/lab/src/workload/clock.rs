//! The time, from whichever runtime an application runs in.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use quinn::{AsyncTimer, Runtime};

/// A clock that starts at zero, with timers and tasks.
#[derive(Debug, Clone)]
pub struct Clock {
    runtime: Arc<dyn Runtime>,
    epoch: Instant,
}

/// The time was over before the future was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

impl Clock {
    /// The clock of a runtime. Its zero is now.
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        let epoch = runtime.now();
        Self { runtime, epoch }
    }

    /// This clock's zero.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }

    /// The time since this clock's zero.
    pub fn now(&self) -> Duration {
        self.runtime.now().saturating_duration_since(self.epoch)
    }

    /// Waits until so long after zero; not at all if that has passed.
    pub async fn sleep_until(&self, at: Duration) {
        if at > self.now() {
            let mut timer = self.timer(at);
            poll_fn(|context| timer.as_mut().poll(context)).await;
        }
    }

    /// Waits for so long.
    pub async fn sleep(&self, time: Duration) {
        self.sleep_until(self.now().saturating_add(time)).await;
    }

    /// The future's output, if it is ready before `deadline`.
    ///
    /// # Errors
    /// It was not.
    pub async fn until<F: Future>(
        &self,
        deadline: Duration,
        future: F,
    ) -> Result<F::Output, Elapsed> {
        let mut timer = self.timer(deadline);
        let mut future = pin!(future);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => timer.as_mut().poll(context).map(|()| Err(Elapsed)),
        })
        .await
    }

    /// Runs a future as a task of its own.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(Box::pin(future));
    }

    fn timer(&self, at: Duration) -> Pin<Box<dyn AsyncTimer>> {
        // An instant too far away to be told apart from never is a century ahead.
        let instant = self.epoch.checked_add(at);
        self.runtime
            .new_timer(instant.unwrap_or(self.epoch + CENTURY))
    }
}

const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
