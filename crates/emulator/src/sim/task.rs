//! Which task is which, for errors.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::task::Waker;

use super::lock;

/// A task as errors speak of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskName {
    /// The future that a run waits for.
    Main,
    /// A task that the caller spawned.
    Spawned {
        /// Its name, if it was [given one](super::Handle::spawn_named).
        name: Option<String>,
        /// Where it was spawned.
        at: &'static Location<'static>,
    },
    /// A task of the transport's own: quinn spawns one for every endpoint and one for every connection.
    Transport,
    /// A task of `tokio::spawn`.
    Tokio,
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("the future of the run"),
            Self::Spawned {
                name: Some(name),
                at,
            } => write!(f, "task `{name}` spawned at {at}"),
            Self::Spawned { name: None, at } => write!(f, "the task spawned at {at}"),
            Self::Transport => f.write_str("a task of the transport"),
            Self::Tokio => f.write_str("a task of `tokio::spawn`"),
        }
    }
}

/// The state of a task, except its future.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) name: TaskName,
    /// The task that awaits its [`JoinHandle`](super::JoinHandle).
    pub(super) joiner: Mutex<Option<Waker>>,
}

impl Identity {
    pub(super) fn new(name: TaskName) -> Arc<Self> {
        Arc::new(Self {
            name,
            joiner: Mutex::default(),
        })
    }

    /// Remembers who to wake when the task is done.
    pub(super) fn join(&self, waker: &Waker) {
        let mut joiner = lock(&self.joiner);
        match &mut *joiner {
            Some(present) => present.clone_from(waker),
            absent => *absent = Some(waker.clone()),
        }
    }
}
