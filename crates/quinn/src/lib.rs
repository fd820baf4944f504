//! Kneepoint's congestion controllers for [quinn](https://docs.rs/quinn).
//!
//! ```
//! # use std::sync::Arc;
//! use kneepoint_quinn::{Algorithm, IntoFactory as _};
//!
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Algorithm::default().factory());
//! # let _ = Arc::new(transport);
//! ```
//!
//! [`snapshot`] reads the controller's state from a live connection, [`bandwidth_estimate`] what an encoder wants of it, and
//! [`watch_bandwidth`] makes a handle that reads it for each frame.

#![forbid(unsafe_code)]

// So that its example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod adapter;
#[cfg(test)]
mod closed_loop;
mod factory;
mod observe;

pub use factory::{Factory, IntoFactory};
pub use kneepoint_controllers::transport::{BandwidthEstimate, BandwidthWatch};
pub use kneepoint_controllers::{
    Algorithm, Bandwidth, BbrConfig, BbrSConfig, ConfigError, ControllerSpec, KneeConfig,
    ParseAlgorithmError, Preset, Snapshot, WindowPolicy,
};
pub use observe::{bandwidth_estimate, snapshot, watch_bandwidth};
