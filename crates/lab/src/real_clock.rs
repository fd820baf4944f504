//! The clocks of this machine, for what is measured in real time.

use std::time::{Duration, Instant, SystemTime};

/// The time on the wall.
#[expect(
    clippy::disallowed_methods,
    reason = "real sockets are measured in real time"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time since the beginning of 1970, as files of other programs count it.
#[expect(
    clippy::disallowed_methods,
    reason = "a capture has the time of the day"
)]
pub(crate) fn since_1970() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // A clock that is set to an earlier time is as good as one that is not set.
    now.unwrap_or_default()
}

/// How long the calling thread has had a processor; `None` where the system does not tell.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_vendor = "apple"
))]
pub(crate) fn thread_time() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .ok()
        .map(Duration::from)
}

/// How long the calling thread has had a processor; `None` where the system does not tell.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_vendor = "apple"
)))]
pub(crate) fn thread_time() -> Option<Duration> {
    None
}

/// A time on both clocks. Belongs to the thread that took it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    wall: Instant,
    processor: Option<Duration>,
}

/// The time since a [`Moment`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    /// On the wall.
    pub(crate) wall: Duration,
    /// With a processor.
    pub(crate) processor: Option<Duration>,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self {
            wall: now(),
            processor: thread_time(),
        }
    }

    pub(crate) fn wall(&self) -> Instant {
        self.wall
    }

    /// The time since then, on the same thread.
    pub(crate) fn passed(&self) -> Passed {
        let now = Self::now();
        Passed {
            wall: now.wall.saturating_duration_since(self.wall),
            processor: now
                .processor
                .zip(self.processor)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}
