//! The unfinished tasks of a simulation.

use std::fmt;
use std::net::SocketAddr;

use super::task::TaskName;
use crate::time::Nanos;

/// The unfinished tasks of a simulation; see [`Simulation::unfinished`](super::Simulation::unfinished).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfinished {
    /// The virtual time.
    pub at: Nanos,
    /// The tasks that are not done: first the future of the run, then the others in the order in which they were spawned.
    pub tasks: Vec<UnfinishedTask>,
    /// How many tasks of `tokio::spawn` are not done. What they wait for is tokio's secret.
    pub tokio_tasks: usize,
    /// How many packets are on the network's links.
    pub packets: u64,
}

/// A task that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfinishedTask {
    /// Which.
    pub name: TaskName,
    /// The events that will wake it. Empty if it waits for a timer of tokio, for a thread, or for another task, through a
    /// channel, a lock or a stream of quinn.
    pub waits_for: Vec<Wait>,
}

/// An event that a task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// A packet to an address.
    Packet(SocketAddr),
    /// A timer. [`Nanos::MAX`] never comes.
    Timer(Nanos),
    /// The end of another task.
    Task(TaskName),
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at {}, with {} packets in the network",
            self.at, self.packets
        )?;
        for task in &self.tasks {
            write!(f, "\n  {task}")?;
        }
        match self.tokio_tasks {
            0 => Ok(()),
            1 => f.write_str("\n  a task of `tokio::spawn` is not done"),
            more => write!(f, "\n  {more} tasks of `tokio::spawn` are not done"),
        }
    }
}

impl fmt::Display for UnfinishedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for ", self.name)?;
        if self.waits_for.is_empty() {
            return f.write_str("what another task or a thread does, or a timer of tokio");
        }
        for (place, wait) in self.waits_for.iter().enumerate() {
            let or = if place > 0 { " or " } else { "" };
            write!(f, "{or}{wait}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(address) => write!(f, "a packet to {address}"),
            Self::Timer(Nanos::MAX) => f.write_str("a timer that never expires"),
            Self::Timer(time) => write!(f, "a timer at {time}"),
            Self::Task(name) => write!(f, "the end of {name}"),
        }
    }
}
