//! The sans-IO core: traces, links and networks.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod combinations;
mod common;
mod configuration;
mod link;
mod log_format;
mod mm_link;
mod network;
mod properties;
mod queues;
mod stages;
mod strategies;
mod topology;
#[cfg(feature = "serde")]
mod topology_file;
mod trace;
mod trace_tools;
