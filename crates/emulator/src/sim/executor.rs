//! The single-threaded executor: polls ready tasks, and moves time on when there are none.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;

use super::error::SimError;
use super::lock;
use super::ready::{BoxFuture, Ready, TaskWaker, wake_all};
use super::shared::Shared;
use super::task::{Identity, TaskName};
use super::tokio_runtime::{TICK, Tokio};
use super::unfinished::{Unfinished, UnfinishedTask, Wait};
use crate::time::Nanos;

/// Owns the tasks. Nothing that a task can hold owns the executor.
pub(super) struct Executor {
    tasks: Vec<Option<Task>>,
    free: Vec<usize>,
    /// Tasks begun so far.
    begun: u64,
    /// Runs begun so far.
    runs: usize,
    /// Steps taken at the present instant.
    steps: u64,
    step_limit: u64,
    /// Where tasks of tokio run, if they can.
    tokio: Option<Tokio>,
    /// Wakers to call; empty but for its capacity.
    wakers: Vec<Waker>,
    /// A task panicked. Locks that it held are poisoned, and destructors that find them so panic
    /// again, even while unwinding: from then on futures are leaked.
    panicked: bool,
}

/// When a run ends though its future has not completed.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) deadline: Nanos,
    /// Whether to find out if a timer of tokio is left, beyond the deadline too. If one is, the next run starts at its time.
    pub(super) look_beyond: bool,
}

impl End {
    /// At `deadline`, or when nothing is left that could happen.
    pub(super) fn at(deadline: Nanos) -> Self {
        Self {
            deadline,
            look_beyond: true,
        }
    }
}

struct Task {
    future: BoxFuture,
    identity: Arc<Identity>,
    /// Its place in the order in which tasks were begun.
    number: u64,
    handle: Arc<TaskWaker>,
    waker: Waker,
}

/// The payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// Why [`Executor::run`] returned without the output of its future.
pub(super) enum Halt {
    Error(SimError),
    /// A task or the future itself panicked.
    Panic(TaskName, Payload),
}

impl From<SimError> for Halt {
    fn from(error: SimError) -> Self {
        Self::Error(error)
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("tasks", &self.len())
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl Executor {
    pub(super) fn new(step_limit: u64, tokio: Option<Tokio>) -> Self {
        Self {
            tasks: Vec::new(),
            free: Vec::new(),
            begun: 0,
            runs: 0,
            steps: 0,
            step_limit,
            tokio,
            wakers: Vec::new(),
            panicked: false,
        }
    }

    /// The number of tasks that have been polled and are not done.
    pub(super) fn len(&self) -> usize {
        self.tasks.len() - self.free.len()
    }

    /// A handle to tokio's runtime, if there is one.
    pub(super) fn tokio(&self) -> Option<tokio::runtime::Handle> {
        self.tokio.as_ref().map(|tokio| tokio.handle().clone())
    }

    /// Runs every task until `main` completes, or until nothing is left to do up to the deadline.
    ///
    /// Not generic, so that it is compiled here, as much optimised as this crate, and not where it is called.
    pub(super) fn run(
        &mut self,
        shared: &Shared,
        mut main: Pin<&mut dyn Future<Output = ()>>,
        end: End,
    ) -> Result<(), Halt> {
        let tokio = self.tokio();
        let _inside = tokio.as_ref().map(tokio::runtime::Handle::enter);
        if let Some(tokio) = &mut self.tokio {
            // Its clock is ahead if the last run looked for a timer beyond its deadline.
            shared.clock.advance(tokio.now());
            tokio.set(shared.clock.now());
        }
        // No task's, and no other run's.
        self.runs += 1;
        let main_key = usize::MAX - self.runs;
        let main_handle = TaskWaker::new(main_key, Arc::clone(&shared.ready));
        let main_waker = Waker::from(Arc::clone(&main_handle));
        main_waker.wake_by_ref();
        loop {
            while let Some(ready) = shared.ready.pop() {
                if self.step() {
                    let task = self.name(&ready);
                    return Err(self.livelock(shared, task).into());
                }
                self.refuse_threads(shared)?;
                match ready {
                    Ready::Spawned(future, identity) => {
                        let key = self.insert(shared, future, identity);
                        self.poll(key)?;
                    }
                    Ready::Woken(key) if key == main_key => {
                        main_handle.begin();
                        let mut context = Context::from_waker(&main_waker);
                        let poll = guard(|| poll_fully(main.as_mut(), &mut context));
                        let poll = poll.map_err(|payload| self.panic(TaskName::Main, payload));
                        if poll?.is_ready() {
                            main_handle.finish();
                            return Ok(self.refuse_threads(shared)?);
                        }
                    }
                    // A task, or the future of an earlier run, which is none.
                    Ready::Woken(key) => self.poll(key)?,
                }
            }
            self.refuse_threads(shared)?;
            if self.tokio.as_ref().is_some_and(Tokio::is_ready) {
                self.run_tokio(shared)?;
            } else {
                self.advance(shared, &main_waker, end)?;
            }
        }
    }

    /// The tasks that are not done, and what they wait for.
    pub(super) fn unfinished(&self, shared: &Shared, main: Option<&Waker>) -> Unfinished {
        let mut tasks: Vec<&Task> = self.tasks.iter().flatten().collect();
        tasks.sort_unstable_by_key(|task| task.number);
        let unfinished = |name: &TaskName, waker: &Waker| {
            let joined = tasks.iter().filter(|task| {
                let joiner = lock(&task.identity.joiner);
                joiner
                    .as_ref()
                    .is_some_and(|joiner| joiner.will_wake(waker))
            });
            let joined = joined.map(|task| Wait::Task(task.identity.name.clone()));
            UnfinishedTask {
                name: name.clone(),
                waits_for: shared.waits(waker).into_iter().chain(joined).collect(),
            }
        };
        let spawned = tasks
            .iter()
            .map(|task| unfinished(&task.identity.name, &task.waker));
        let main = main.map(|waker| unfinished(&TaskName::Main, waker));
        Unfinished {
            at: shared.clock.now(),
            tasks: main.into_iter().chain(spawned).collect(),
            tokio_tasks: self.tokio.as_ref().map_or(0, Tokio::tasks),
            packets: lock(&shared.wire).network.in_transit(),
        }
    }

    /// Drops every task, those in the queue included.
    pub(super) fn clear(&mut self, queued: VecDeque<Ready>) -> Result<(), Payload> {
        let tokio = self.tokio();
        let _inside = tokio.as_ref().map(tokio::runtime::Handle::enter);
        self.free.clear();
        let tasks = std::mem::take(&mut self.tasks);
        if self.panicked {
            std::mem::forget((tasks, queued, self.tokio.take()));
            return Ok(());
        }
        let mut result = Ok(());
        for task in tasks.into_iter().flatten() {
            task.handle.finish();
            result = result.and(guard(|| drop(task)));
        }
        for entry in queued {
            result = result.and(guard(|| drop(entry)));
        }
        result.and(guard(|| self.tokio.take().map_or((), Tokio::shut_down)))
    }

    /// Moves time on to the next event and lets it happen.
    fn advance(&mut self, shared: &Shared, main: &Waker, end: End) -> Result<(), SimError> {
        let now = shared.clock.now();
        let mut events = shared.events();
        let next = events.next();
        let tick = self.tokio.as_ref().map(Tokio::next_tick);
        if let Some(tick) = tick.filter(|tick| next.is_none_or(|next| *tick < next)) {
            drop(events);
            return self.advance_tokio(shared, main, tick, next, end);
        }
        let Some(next) = next else {
            drop(events);
            let unfinished = self.unfinished(shared, Some(main));
            return Err(SimError::Deadlock(Box::new(unfinished)));
        };
        let next = next.max(now);
        if next > end.deadline {
            return Err(self.stop(shared, end.deadline));
        }
        self.pass(shared, next);
        if self.step() {
            return Err(self.livelock(shared, None));
        }
        events.run(next, &mut self.wakers);
        drop(events);
        wake_all(&mut self.wakers);
        Ok(())
    }

    /// Moves time on to the next timer of tokio, or as far as `next`, the simulation's next event, and the deadline allow.
    fn advance_tokio(
        &mut self,
        shared: &Shared,
        main: &Waker,
        tick: Nanos,
        next: Option<Nanos>,
        end: End,
    ) -> Result<(), SimError> {
        let now = shared.clock.now();
        if tick > end.deadline {
            return Err(self.stop(shared, end.deadline));
        }
        self.pass(shared, tick);
        let limit = next.map_or(Nanos::MAX, |next| next - Nanos(1));
        let limit = limit.min(end.deadline);
        let beyond = end.look_beyond && next.is_none();
        let jumps = beyond || limit - tick >= TICK;
        // Timers of this tick expire in a jump too. Only tasks of tokio have to be polled before.
        if !jumps || self.has_tokio_tasks() {
            let polled = self.run_tokio(shared)?;
            if !jumps || polled || !shared.ready.is_empty() {
                return Ok(());
            }
        }
        let Some(tokio) = &mut self.tokio else {
            return Ok(());
        };
        let reached = if beyond {
            match tokio.jump_to_timer() {
                Some(timer) if timer > end.deadline => return Err(self.stop(shared, end.deadline)),
                Some(timer) => timer,
                None => {
                    tokio.forget(now);
                    shared.clock.rewind(now);
                    let unfinished = self.unfinished(shared, Some(main));
                    return Err(SimError::Deadlock(Box::new(unfinished)));
                }
            }
        } else {
            tokio.jump(limit)
        };
        self.pass(shared, reached);
        if self.has_tokio_tasks() {
            self.run_tokio(shared)?;
        }
        Ok(())
    }

    /// Lets the clocks show `time`.
    fn pass(&mut self, shared: &Shared, time: Nanos) {
        if time > shared.clock.now() {
            shared.clock.advance(time);
            self.steps = 0;
            if let Some(tokio) = &mut self.tokio {
                tokio.set(time);
            }
        }
    }

    /// Ends the run at its deadline.
    fn stop(&mut self, shared: &Shared, deadline: Nanos) -> SimError {
        shared.clock.advance(deadline);
        self.steps = 0;
        SimError::Deadline { at: deadline }
    }

    fn has_tokio_tasks(&self) -> bool {
        self.tokio.as_ref().is_some_and(|tokio| tokio.tasks() > 0)
    }

    /// Gives tokio's tasks their turn; returns whether there was one to poll.
    fn run_tokio(&mut self, shared: &Shared) -> Result<bool, SimError> {
        let Some(tokio) = &mut self.tokio else {
            return Ok(false);
        };
        let polls = tokio.run(self.step_limit.saturating_sub(self.steps));
        self.steps += polls;
        if self.steps > self.step_limit {
            return Err(self.livelock(shared, Some(TaskName::Tokio)));
        }
        Ok(polls > 0)
    }

    /// Virtual time does not wait for threads: what they do would happen at another time in every run.
    fn refuse_threads(&self, shared: &Shared) -> Result<(), SimError> {
        match &self.tokio {
            Some(tokio) if tokio.is_blocking() => Err(SimError::Blocking {
                at: shared.clock.now(),
            }),
            _ => Ok(()),
        }
    }

    /// Counts a step; returns whether it is one too many.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps > self.step_limit
    }

    fn name(&self, ready: &Ready) -> Option<TaskName> {
        Some(match ready {
            Ready::Spawned(_, identity) => identity.name.clone(),
            Ready::Woken(key) => match self.tasks.get(*key) {
                Some(Some(task)) => task.identity.name.clone(),
                _ => TaskName::Main,
            },
        })
    }

    fn livelock(&self, shared: &Shared, task: Option<TaskName>) -> SimError {
        SimError::Livelock {
            at: shared.clock.now(),
            steps: self.step_limit,
            task,
        }
    }

    fn insert(&mut self, shared: &Shared, future: BoxFuture, identity: Arc<Identity>) -> usize {
        let key = self.free.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() - 1
        });
        let handle = TaskWaker::new(key, Arc::clone(&shared.ready));
        let waker = Waker::from(Arc::clone(&handle));
        self.begun += 1;
        self.tasks[key] = Some(Task {
            future,
            identity,
            number: self.begun,
            handle,
            waker,
        });
        key
    }

    fn poll(&mut self, key: usize) -> Result<(), Halt> {
        let Some(Some(task)) = self.tasks.get_mut(key) else {
            return Ok(());
        };
        task.handle.begin();
        let mut context = Context::from_waker(&task.waker);
        let poll = guard(|| poll_fully(task.future.as_mut(), &mut context));
        if let Ok(Poll::Pending) = poll {
            return Ok(());
        }
        task.handle.finish();
        let identity = Arc::clone(&task.identity);
        let done = self.tasks[key].take();
        self.free.push(key);
        let result = match poll {
            Ok(_) => guard(|| drop(done)),
            Err(payload) => {
                std::mem::forget(done);
                Err(payload)
            }
        };
        result.map_err(|payload| self.panic(identity.name.clone(), payload))
    }

    fn panic(&mut self, task: TaskName, payload: Payload) -> Halt {
        self.panicked = true;
        Halt::Panic(task, payload)
    }
}

/// Polls `future` without tokio's cooperative budget.
///
/// tokio grants a budget to each poll of a task of its own. A simulation inside of such a task, as in `#[tokio::test]`, runs within
/// one poll, and would spend the budget on its first packets. tokio's primitives, which quinn and applications use, would then
/// return `Pending` and wake their task at once, for ever.
pub(super) fn poll_fully<F: Future + ?Sized>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<F::Output> {
    pin!(unconstrained(future)).poll(context)
}

/// Catches a panic, so that the simulation is left in order before the panic goes on.
pub(super) fn guard<T>(f: impl FnOnce() -> T) -> Result<T, Payload> {
    // Whatever the panic left half done is never used again.
    catch_unwind(AssertUnwindSafe(f))
}
