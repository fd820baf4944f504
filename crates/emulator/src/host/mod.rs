//! End hosts: the time between the network and the application.
//!
//! A host reads datagrams in batches after a wake-up, sends them in bursts, and has one processor for all of its sockets. A
//! [`HostConfig`] says how long each of these takes; [`HostConfig::ideal`], which is what a simulation has unless told
//! otherwise, takes no time.

mod clock;
mod config;
mod distribution;
mod error;
#[cfg(feature = "serde")]
mod file;
mod machine;
mod write;

pub use config::{HostConfig, OtherWork, Processor, Receiving, Sending};
pub use distribution::Distribution;
pub use error::HostError;
pub use machine::ReceiveStatistics;
#[cfg(feature = "quinn")]
pub(crate) use machine::{Effect, Machine, PortId, Ticket};
