//! tokio inside of the simulation: its tasks, and its timers in virtual time.
//!
//! A single-threaded tokio runtime stands beside the [executor](super::executor). Its clock is paused and shows the virtual time
//! to the nanosecond. Tasks of `tokio::spawn` run on it, in turns that the executor grants.
//!
//! Timers of tokio expire at whole milliseconds of its clock, the ticks, and never early. At one instant packets come first,
//! then hosts, then timers of the simulation, then tasks of the simulation. When none of these is ready, tokio's ready tasks
//! have their turn. When neither side is ready, and before time moves past a tick, tokio's timers of that tick expire.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::runtime::{Builder, Handle, Runtime, RuntimeMetrics};
use tokio::time::{Instant as PausedInstant, advance, sleep_until};

use super::lock;
use super::ready::ReadyQueue;
use crate::time::Nanos;

/// A tokio runtime whose clock follows virtual time. What is said of its methods holds [inside](Self::handle) of it.
#[derive(Debug)]
pub(super) struct Tokio {
    runtime: Runtime,
    metrics: RuntimeMetrics,
    sentinel: Arc<Sentinel>,
    jump: Arc<Jump>,
    /// The virtual time that tokio's clock shows.
    now: Nanos,
    /// What tokio's clock has counted since it was made. Ticks are its whole milliseconds.
    counted: Nanos,
    /// The last tick whose timers have expired.
    expired: Nanos,
}

/// A task that tells whether others were ready: tokio polls tasks in the order in which they were woken.
#[derive(Debug, Default)]
struct Sentinel {
    waker: Mutex<Option<Waker>>,
    polled: AtomicBool,
}

/// tokio's callbacks wake a future that lets time pass.
#[derive(Debug)]
struct Jump {
    /// The future, and the time at which it began.
    waiting: Mutex<Option<(PausedInstant, Waker)>>,
    /// A task asked for a thread for blocking work.
    blocking: AtomicBool,
    /// Tasks of the simulation that have work to do.
    ready: Arc<ReadyQueue>,
}

impl Sentinel {
    async fn watch(self: Arc<Self>) {
        poll_fn(|cx| {
            self.polled.store(true, Ordering::Relaxed);
            *lock(&self.waker) = Some(cx.waker().clone());
            Poll::<()>::Pending
        })
        .await;
    }

    fn wake(&self) {
        if let Some(waker) = &*lock(&self.waker) {
            waker.wake_by_ref();
        }
    }
}

impl Jump {
    fn new(ready: Arc<ReadyQueue>) -> Self {
        Self {
            waiting: Mutex::default(),
            blocking: AtomicBool::new(false),
            ready,
        }
    }

    /// There is something to do before more time may pass.
    fn is_over(&self) -> bool {
        !self.ready.is_empty() || self.blocking.load(Ordering::Acquire)
    }

    fn wake_if(&self, condition: impl FnOnce(PausedInstant) -> bool) {
        if let Some((began, waker)) = &*lock(&self.waiting)
            && condition(*began)
        {
            waker.wake_by_ref();
        }
    }
}

impl Tokio {
    /// A runtime at time zero, for the simulation whose tasks wait in `ready`. Without I/O, tokio has no reason to fail.
    ///
    /// Only an unstable version of tokio takes the seed of its `select!`, in tasks of its own.
    #[cfg_attr(not(tokio_unstable), expect(unused_variables))]
    pub(super) fn new(seed: u64, ready: Arc<ReadyQueue>) -> Option<Self> {
        let jump = Arc::new(Jump::new(ready));
        let [asked, parked, unparked] = [(); 3].map(|()| Arc::clone(&jump));
        let mut builder = Builder::new_current_thread();
        #[cfg(tokio_unstable)]
        builder.rng_seed(tokio::runtime::RngSeed::from_bytes(&seed.to_le_bytes()));
        let runtime = builder
            .enable_time()
            .start_paused(true)
            // The future of `block_on` has its turn after every task.
            .event_interval(1)
            // A single-threaded runtime starts threads only for blocking work, and asks for a name where the work is asked for.
            // What the thread itself did would be seen now or later.
            .thread_name_fn(move || {
                asked.blocking.store(true, Ordering::Release);
                asked.wake_if(|_| true);
                "refused".to_owned()
            })
            // A task of tokio may have woken one of the simulation.
            .on_thread_park(move || parked.wake_if(|_| parked.is_over()))
            // To wake it before time has passed would keep time from passing.
            .on_thread_unpark(move || {
                unparked.wake_if(|began| unparked.is_over() || PausedInstant::now() > began);
            })
            .build()
            .ok()?;
        let sentinel = Arc::<Sentinel>::default();
        runtime.spawn(Arc::clone(&sentinel).watch());
        Some(Self {
            metrics: runtime.metrics(),
            runtime,
            sentinel,
            jump,
            now: Nanos::ZERO,
            counted: Nanos::ZERO,
            expired: Nanos::ZERO,
        })
    }

    /// While it is entered, code finds this runtime.
    pub(super) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Time zero as an `Instant`, before time passes.
    pub(super) fn epoch(&self) -> Instant {
        let _inside = self.runtime.enter();
        PausedInstant::now().into_std()
    }

    /// The tasks that are not done.
    pub(super) fn tasks(&self) -> usize {
        self.metrics.num_alive_tasks().saturating_sub(1)
    }

    /// A task asked for a thread.
    pub(super) fn is_blocking(&self) -> bool {
        self.jump.blocking.load(Ordering::Acquire)
    }

    /// Tasks were woken or spawned since the last turn.
    pub(super) fn is_ready(&self) -> bool {
        self.metrics.global_queue_depth() > 0
    }

    /// The virtual time that tokio's clock shows.
    pub(super) fn now(&self) -> Nanos {
        self.now
    }

    /// The first tick whose timers have not expired, or now if that is later.
    pub(super) fn next_tick(&self) -> Nanos {
        self.now + (self.expired + TICK - self.counted)
    }

    /// Lets tokio's clock show `now`. No timer expires by that.
    pub(super) fn set(&mut self, now: Nanos) {
        let passed = now - self.now;
        if passed > Nanos::ZERO {
            // It moves the clock at its first poll. The second would only wait for the runtime.
            let _ = pin!(advance(passed.into())).poll(&mut Context::from_waker(Waker::noop()));
            self.counted = self.counted + passed;
            self.now = now;
        }
    }

    /// Takes the time that the clock shows for `now`: what it has counted beyond that was nothing.
    pub(super) fn forget(&mut self, now: Nanos) {
        self.now = now;
    }

    /// Polls tasks and lets timers expire, at this instant, until none is ready. Returns how many polls that took, and gives up when
    /// they are more than `limit`.
    pub(super) fn run(&mut self, limit: u64) -> u64 {
        if self.tasks() == 0 {
            // Timers may be those of the simulation's tasks, which the executor polls. They expire between two polls of this.
            let mut polled = false;
            self.runtime.block_on(poll_fn(|cx| {
                if mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            }));
        }
        // The waker of a timer may have spawned one.
        let polls = if self.tasks() > 0 {
            self.run_tasks(limit)
        } else {
            0
        };
        self.expired = Nanos(self.counted.0 / TICK.0 * TICK.0);
        polls
    }

    fn run_tasks(&mut self, limit: u64) -> u64 {
        let (mut polls, mut alone) = (0, 0);
        self.sentinel.polled.store(true, Ordering::Relaxed);
        let turn = poll_fn(|cx| {
            if !self.sentinel.polled.swap(false, Ordering::Relaxed) {
                (polls, alone) = (polls + 1, 0);
            } else if self.is_ready() {
                alone = 0;
            } else {
                alone += 1;
            }
            // Timers expired between the first and the second time that no task but the sentinel was there.
            if alone > 2 || polls > limit {
                return Poll::Ready(());
            }
            self.sentinel.wake();
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        self.runtime.block_on(turn);
        polls
    }

    /// From a tick, and with no task ready, moves on to the next tick at which a timer may expire, but not beyond `limit`. Timers
    /// of that tick have expired then; [`run`](Self::run) polls their tasks. Stops early if a task asks for a thread, and where it
    /// begins if timers of that tick wake a task of the simulation.
    pub(super) fn jump(&mut self, limit: Nanos) -> Nanos {
        let ticks = (limit - self.now).0 / TICK.0;
        if ticks > 0 {
            self.pass(Nanos(ticks * TICK.0));
        }
        self.now
    }

    /// As [`jump`](Self::jump), without a limit; `None` if no timer is left.
    pub(super) fn jump_to_timer(&mut self) -> Option<Nanos> {
        // The place of this one in tokio's wheel is exact, so that only others make it stop before.
        let last = Nanos(
            (self.counted.0 / SLOT.0)
                .saturating_add(2)
                .saturating_mul(SLOT.0),
        );
        let span = last - self.counted;
        (self.pass(span) < span || self.jump.is_over()).then_some(self.now)
    }

    /// Lets up to `span` pass, and returns what has passed.
    fn pass(&mut self, span: Nanos) -> Nanos {
        let jump = &self.jump;
        let passed = self.runtime.block_on(async {
            let began = PausedInstant::now();
            let mut end = pin!(sleep_until(began + span.into()));
            poll_fn(|cx| {
                *lock(&jump.waiting) = Some((began, cx.waker().clone()));
                let passed: Nanos = began.elapsed().into();
                if jump.is_over() || passed > Nanos::ZERO {
                    return Poll::Ready(passed);
                }
                end.as_mut().poll(cx).map(|()| passed)
            })
            .await
        });
        *lock(&jump.waiting) = None;
        self.now = self.now + passed;
        self.counted = self.counted + passed;
        self.expired = self.counted;
        passed
    }

    /// Drops all tasks, wherever it is called: to wait for threads, as dropping a runtime does, is not allowed inside of another.
    pub(super) fn shut_down(self) {
        self.runtime.shutdown_background();
    }
}

/// The granularity of tokio's timers.
pub(super) const TICK: Nanos = Nanos::from_millis(1);
/// The span of a slot in the highest level of tokio's timer wheel, twelve days: 64^5 ticks.
const SLOT: Nanos = Nanos(TICK.0 << 30);
