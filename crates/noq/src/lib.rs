//! Kneepoint's congestion controllers for [noq](https://docs.rs/noq).
//!
//! ```
//! # use std::sync::Arc;
//! use kneepoint_noq::{Algorithm, factory};
//!
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(factory(Algorithm::default()));
//! # let _ = Arc::new(transport);
//! ```
//!
//! noq paces at the controller's rate and sends at most its quantum at once. It gets window, rate and quantum
//! unchanged. A controller that limits by its window sets no rate: noq then paces by the window, as quinn does.
//!
//! The adapter does not use three of noq's values: whether the window was full, which controllers derive from the
//! flight; packet numbers; and the peer's ACK frequency.
//!
//! [`snapshot`] reads the controller's state from a live connection.

#![forbid(unsafe_code)]

mod adapter;
#[cfg(test)]
mod closed_loop;
mod factory;

pub use adapter::{NoqController, snapshot};
pub use factory::{Factory, factory};
pub use kneepoint_controllers::{
    Algorithm, BbrConfig, BbrSConfig, ControllerSpec, Preset, Snapshot, WindowPolicy,
};
