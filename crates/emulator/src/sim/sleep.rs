//! Timers on the virtual clock.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use quinn::AsyncTimer;

use super::lock;
use super::shared::Shared;
use super::timers::TimerId;
use crate::time::Nanos;

/// Completes at a point in virtual time; see [`Handle::sleep`](super::Handle::sleep).
///
/// The deadline is exact to the nanosecond. Of several timers with one deadline, the one armed
/// first wakes its task first.
#[derive(Debug)]
#[must_use = "a sleep does nothing unless it is awaited"]
pub struct Sleep {
    shared: Arc<Shared>,
    deadline: Nanos,
    id: Option<TimerId>,
}

impl Sleep {
    pub(super) fn new(shared: Arc<Shared>, deadline: Nanos) -> Self {
        Self {
            shared,
            deadline,
            id: None,
        }
    }

    /// When it completes.
    pub fn deadline(&self) -> Nanos {
        self.deadline
    }

    /// Moves the deadline. A waiting task is woken at the new one.
    pub fn reset(&mut self, deadline: Nanos) {
        if self.deadline == deadline {
            return;
        }
        self.deadline = deadline;
        if let Some(id) = self.id {
            lock(&self.shared.timers).postpone(id, deadline);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut timers = lock(&this.shared.timers);
        if this.shared.clock.now() >= this.deadline {
            let waker = this.id.and_then(|id| timers.disarm(id));
            drop(timers);
            drop(waker);
            return Poll::Ready(());
        }
        this.id = Some(timers.arm(this.id, this.deadline, cx.waker()));
        Poll::Pending
    }
}

impl AsyncTimer for Sleep {
    fn reset(self: Pin<&mut Self>, instant: Instant) {
        let deadline = self.shared.clock.nanos(instant);
        Sleep::reset(self.get_mut(), deadline);
    }

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(self, cx)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let waker = lock(&self.shared.timers).remove(id);
            drop(waker);
        }
    }
}
