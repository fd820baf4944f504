//! End hosts: the time between the network and the application.
//!
//! A host reads datagrams in batches after a wake-up, sends them in bursts, and has one processor for all of its sockets. A
//! [`HostConfig`] says how long each of these takes; [`HostConfig::ideal`], which is what a simulation has unless told
//! otherwise, takes no time.

#[cfg_attr(
    not(feature = "quinn"),
    allow(
        dead_code,
        reason = "hosts take time in the simulations of a runtime only"
    )
)]
mod clock;
mod config;
#[cfg_attr(
    not(feature = "quinn"),
    allow(
        dead_code,
        reason = "hosts take time in the simulations of a runtime only"
    )
)]
mod distribution;
mod error;
#[cfg(feature = "serde")]
mod file;
#[cfg_attr(
    not(feature = "quinn"),
    allow(
        dead_code,
        reason = "hosts take time in the simulations of a runtime only"
    )
)]
mod machine;
mod write;

pub use config::{HostConfig, OtherWork, Processor, Receiving, Sending};
pub use distribution::Distribution;
pub use error::HostError;
pub use machine::ReceiveStatistics;
#[cfg(feature = "quinn")]
pub(crate) use machine::{Effect, Machine, PortId, Ticket};
