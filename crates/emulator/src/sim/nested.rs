//! Runs inside of another tokio runtime, as in `#[tokio::test]`.
//!
//! tokio refuses to run a runtime inside of another one's task. The executor then has a thread of its own, and the future of the
//! run, which need not be `Send`, is polled on the calling thread. One thread waits while the other one works, so that all happens
//! in the same order as on one.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use tokio::task::yield_now;

use super::executor::{End, Executor, Halt, guard, poll_fully};
use super::shared::Shared;

/// As [`Executor::run`].
pub(super) fn run(
    executor: &mut Executor,
    shared: &Shared,
    mut main: Pin<&mut dyn Future<Output = ()>>,
    end: End,
) -> Result<(), Halt> {
    let (ask, asked) = channel::<Waker>();
    let (answer, answered) = channel();
    let remote = move |cx: &mut Context<'_>| {
        // The calling thread answers until the executor hangs up.
        let _ = ask.send(cx.waker().clone());
        match answered.recv() {
            Ok(Ok(poll)) => poll,
            Ok(Err(payload)) => resume_unwind(payload),
            Err(_) => Poll::Pending,
        }
    };
    thread::scope(|scope| {
        let thread = scope.spawn(move || executor.run(shared, pin!(poll_fn(remote)), end));
        let yields = Yields::default();
        for waker in asked {
            let mut context = Context::from_waker(&waker);
            let poll = || poll_fully(main.as_mut(), &mut context);
            let (poll, yielded) = yields.during(|| guard(poll));
            if yielded {
                waker.wake_by_ref();
            }
            let _ = answer.send(poll);
        }
        thread
            .join()
            .unwrap_or_else(|payload| resume_unwind(payload))
    })
}

/// Tells whether `tokio::task::yield_now` was polled.
///
/// It leaves its waker with the runtime of its thread, which does not run meanwhile. A waker that is the last one left already is
/// not left again, so that another one left in between shows.
#[derive(Default)]
struct Yields(Arc<Mark>);

#[derive(Default)]
struct Mark;

impl Wake for Mark {
    fn wake(self: Arc<Self>) {}
}

impl Yields {
    fn during<T>(&self, f: impl FnOnce() -> T) -> (T, bool) {
        let before = [self.leave(), self.leave()];
        let result = f();
        // If marks are left twice, nothing can be told.
        (result, before[0] == before[1] && self.leave() > before[1])
    }

    /// Leaves a mark; returns how many there are.
    fn leave(&self) -> usize {
        let waker = Waker::from(Arc::clone(&self.0));
        let _ = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
        Arc::strong_count(&self.0)
    }
}
