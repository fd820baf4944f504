//! The sans-IO core: traces, links and networks.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
mod link;
mod mm_link;
mod network;
mod properties;
mod trace;
