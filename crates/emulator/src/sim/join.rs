//! Waiting for a spawned task.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::lock;
use super::task::Identity;

/// Completes with the output of a task; see [`Handle::spawn`](super::Handle::spawn).
///
/// Dropping it lets the task go on. A task that panics ends the run with that panic, so the handle
/// has no error to report. It yields the output once.
#[derive(Debug)]
pub struct JoinHandle<T> {
    joint: Arc<Mutex<Joint<T>>>,
    identity: Arc<Identity>,
}

#[derive(Debug)]
struct Joint<T> {
    output: Option<T>,
    finished: bool,
}

impl<T> JoinHandle<T> {
    /// Whether the task has completed.
    pub fn is_finished(&self) -> bool {
        lock(&self.joint).finished
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut joint = lock(&self.joint);
        if let Some(output) = joint.output.take() {
            return Poll::Ready(output);
        }
        self.identity.join(cx.waker());
        Poll::Pending
    }
}

/// Splits `future` into the task to spawn and the handle that yields its output.
pub(super) fn split<F>(
    future: F,
    identity: Arc<Identity>,
) -> (impl Future<Output = ()> + Send, JoinHandle<F::Output>)
where
    F: Future<Output: Send> + Send,
{
    let joint = Arc::new(Mutex::new(Joint {
        output: None,
        finished: false,
    }));
    let handle = JoinHandle {
        joint: Arc::clone(&joint),
        identity: Arc::clone(&identity),
    };
    let task = async move {
        let output = future.await;
        let mut joint = lock(&joint);
        joint.output = Some(output);
        joint.finished = true;
        drop(joint);
        let joiner = lock(&identity.joiner).take();
        if let Some(joiner) = joiner {
            joiner.wake();
        }
    };
    (task, handle)
}
