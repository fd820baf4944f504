//! Waiting for a spawned task.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::lock;

/// Completes with the output of a task; see [`Handle::spawn`](super::Handle::spawn).
///
/// Dropping it lets the task go on. A task that panics ends the run with that panic, so the handle
/// has no error to report. It yields the output once.
#[derive(Debug)]
pub struct JoinHandle<T>(Arc<Mutex<Joint<T>>>);

#[derive(Debug)]
struct Joint<T> {
    output: Option<T>,
    finished: bool,
    waiter: Option<Waker>,
}

impl<T> JoinHandle<T> {
    /// Whether the task has completed.
    pub fn is_finished(&self) -> bool {
        lock(&self.0).finished
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut joint = lock(&self.0);
        if let Some(output) = joint.output.take() {
            return Poll::Ready(output);
        }
        joint.waiter = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Splits `future` into the task to spawn and the handle that yields its output.
pub(super) fn split<F>(future: F) -> (impl Future<Output = ()> + Send, JoinHandle<F::Output>)
where
    F: Future<Output: Send> + Send,
{
    let joint = Arc::new(Mutex::new(Joint {
        output: None,
        finished: false,
        waiter: None,
    }));
    let handle = JoinHandle(Arc::clone(&joint));
    let task = async move {
        let output = future.await;
        let mut joint = lock(&joint);
        joint.output = Some(output);
        joint.finished = true;
        let waiter = joint.waiter.take();
        drop(joint);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    };
    (task, handle)
}
