//! How a run can end other than by its future completing.

use thiserror::Error;

use crate::time::Nanos;

/// Why a run stopped before its future completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SimError {
    /// Nothing can ever happen again: no task is ready, no timer is armed and no packet is in
    /// flight, yet the future is not done.
    #[error("deadlock at {at}: no ready task, no timer and no packet in flight")]
    Deadlock {
        /// The time of the last event.
        at: Nanos,
    },
    /// Time stopped: tasks, timers or the network keep causing work at one instant.
    #[error("livelock at {at}: {steps} steps without time advancing")]
    Livelock {
        /// The instant that does not end.
        at: Nanos,
        /// The steps taken at that instant; see [`Builder::step_limit`](super::Builder::step_limit).
        steps: u64,
    },
    /// The deadline of the run was reached. The simulation can be continued.
    #[error("deadline reached at {at}")]
    Deadline {
        /// The deadline.
        at: Nanos,
    },
    /// The simulation is already running: a run was started from within a run.
    #[error("the simulation is already running")]
    Nested,
}

/// A [`timeout`](super::Handle::timeout) elapsed before its future completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("timeout elapsed at {at}")]
pub struct Elapsed {
    /// When it elapsed.
    pub at: Nanos,
}
