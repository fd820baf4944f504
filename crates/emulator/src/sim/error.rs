//! How a run can end other than by its future completing.

use thiserror::Error;

use super::task::TaskName;
use super::unfinished::Unfinished;
use crate::time::Nanos;

/// Why a run stopped before its future completed.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SimError {
    /// Nothing can ever happen again: no task is ready, no timer is armed and no packet is in
    /// flight, yet the future is not done.
    #[error("deadlock: nothing can ever happen again, {0}")]
    Deadlock(Box<Unfinished>),
    /// Time stopped: tasks, timers or the network keep causing work at one instant.
    #[error("livelock at {at}: {steps} steps without time advancing, and next is {}", next(task.as_ref()))]
    Livelock {
        /// The instant that does not end.
        at: Nanos,
        /// The steps taken at that instant; see [`Builder::step_limit`](super::Builder::step_limit).
        steps: u64,
        /// The task that would be polled next; `None` if it is the network's or a timer's turn.
        task: Option<TaskName>,
    },
    /// The deadline of the run was reached. The simulation can be continued.
    #[error("deadline reached at {at}")]
    Deadline {
        /// The deadline.
        at: Nanos,
    },
    /// A task panicked. Runs that [catch](super::Simulation::try_block_on_until) panics end so, others unwind.
    #[error("{task} panicked at {at}: {message}")]
    Panic {
        /// When, in virtual time.
        at: Nanos,
        /// Which.
        task: TaskName,
        /// The message of the panic.
        message: String,
    },
    /// A task asked tokio for a thread, by `tokio::task::spawn_blocking` or by what uses it: `tokio::fs`, name resolution.
    #[error(
        "a task asked for a thread by {at}: what `tokio::task::spawn_blocking`, `tokio::fs` and name resolution do takes no virtual time"
    )]
    Blocking {
        /// The virtual time by which it asked.
        at: Nanos,
    },
    /// The simulation is already running: a run was started from within a run.
    #[error("the simulation is already running")]
    Nested,
}

debug_as_display!(SimError);

fn next(task: Option<&TaskName>) -> String {
    task.map_or_else(|| "the network".to_owned(), TaskName::to_string)
}

/// A [`timeout`](super::Handle::timeout) elapsed before its future completed.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error("timeout elapsed at {at}")]
pub struct Elapsed {
    /// When it elapsed.
    pub at: Nanos,
}

debug_as_display!(Elapsed);
