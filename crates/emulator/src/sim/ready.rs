//! The queue of tasks that have work to do, and the wakers that fill it.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use super::lock;
use super::task::Identity;

/// A spawned future.
pub(super) type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// First in, first out, so that the order of execution follows from the order of events.
#[derive(Debug, Default)]
pub(super) struct ReadyQueue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Ready>,
    closed: bool,
}

pub(super) enum Ready {
    /// A future that has not been polled yet.
    Spawned(BoxFuture, Arc<Identity>),
    /// A known task that was woken.
    Woken(Arc<TaskWaker>),
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawned(_, identity) => f.debug_tuple("Spawned").field(identity).finish(),
            Self::Woken(task) => f.debug_tuple("Woken").field(&task.key).finish(),
        }
    }
}

impl ReadyQueue {
    /// Hands `entry` back if the simulation is gone.
    pub(super) fn push(&self, entry: Ready) -> Result<(), Ready> {
        let mut state = lock(&self.0);
        if state.closed {
            return Err(entry);
        }
        state.queue.push_back(entry);
        Ok(())
    }

    pub(super) fn pop(&self) -> Option<Ready> {
        lock(&self.0).queue.pop_front()
    }

    /// Accepts nothing from now on; returns what was still queued.
    pub(super) fn close(&self) -> VecDeque<Ready> {
        let mut state = lock(&self.0);
        state.closed = true;
        std::mem::take(&mut state.queue)
    }
}

/// Puts one task back into the ready queue, at most once at a time.
///
/// It knows the task only by its key: tasks own their wakers and wakers do not own their tasks, so
/// a waker stored inside a task's own state closes no reference cycle.
#[derive(Debug)]
pub(super) struct TaskWaker {
    key: usize,
    /// Set while the task is in the queue, and for ever once it has finished.
    queued: AtomicBool,
    ready: Arc<ReadyQueue>,
}

impl TaskWaker {
    pub(super) fn new(key: usize, ready: Arc<ReadyQueue>) -> Arc<Self> {
        Arc::new(Self {
            key,
            queued: AtomicBool::new(false),
            ready,
        })
    }

    pub(super) fn key(&self) -> usize {
        self.key
    }

    /// The task is about to be polled: from here on it can be woken again.
    pub(super) fn begin(&self) {
        self.queued.store(false, Ordering::Release);
    }

    /// The task is done: waking it has no effect any more.
    pub(super) fn finish(&self) {
        self.queued.store(true, Ordering::Release);
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let ready = Arc::clone(&self.ready);
            // A task of a simulation that is gone needs no waking.
            let _ = ready.push(Ready::Woken(self));
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.load(Ordering::Acquire) {
            Arc::clone(self).wake();
        }
    }
}

/// Wakes in order, outside of all locks, and keeps the buffer.
pub(super) fn wake_all(wakers: &mut Vec<Waker>) {
    wakers.drain(..).for_each(Waker::wake);
}
