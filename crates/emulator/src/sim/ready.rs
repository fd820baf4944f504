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
pub(super) struct ReadyQueue {
    state: Mutex<State>,
    /// Whether the queue is empty is asked for at every instant, and a lock costs as much as a few dozen instructions.
    any: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Ready>,
    closed: bool,
}

pub(super) enum Ready {
    /// A future that has not been polled yet.
    Spawned(BoxFuture, Arc<Identity>),
    /// The task of this key was woken.
    Woken(usize),
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawned(_, identity) => f.debug_tuple("Spawned").field(identity).finish(),
            Self::Woken(key) => f.debug_tuple("Woken").field(key).finish(),
        }
    }
}

impl ReadyQueue {
    /// Hands `entry` back if the simulation is gone.
    pub(super) fn push(&self, entry: Ready) -> Result<(), Ready> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(entry);
        }
        state.queue.push_back(entry);
        self.any.store(true, Ordering::Release);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    pub(super) fn pop(&self) -> Option<Ready> {
        if self.is_empty() {
            return None;
        }
        let mut state = lock(&self.state);
        let entry = state.queue.pop_front();
        if state.queue.is_empty() {
            self.any.store(false, Ordering::Release);
        }
        entry
    }

    /// Accepts nothing from now on; returns what was still queued.
    pub(super) fn close(&self) -> VecDeque<Ready> {
        let mut state = lock(&self.state);
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
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.load(Ordering::Acquire) && !self.queued.swap(true, Ordering::AcqRel) {
            // A task of a simulation that is gone needs no waking.
            let _ = self.ready.push(Ready::Woken(self.key));
        }
    }
}

/// Wakes in order, outside of all locks, and keeps the buffer.
pub(super) fn wake_all(wakers: &mut Vec<Waker>) {
    wakers.drain(..).for_each(Waker::wake);
}
