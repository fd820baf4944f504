//! Kneepoint's congestion controllers for [noq](https://docs.rs/noq).
//!
//! ```
//! # use std::sync::Arc;
//! use kneepoint_noq::{Algorithm, IntoFactory as _};
//!
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Algorithm::default().factory());
//! # let _ = Arc::new(transport);
//! ```
//!
//! noq paces at the rate that a controller asks for, and sends no more at once than its quantum. Window, rate and quantum go
//! to it as they are. A controller whose window is to do the limiting asks for no rate: noq then paces by the window, as quinn does.
//!
//! Not used is what noq tells beyond that: whether the window was full, which controllers see from the flight itself;
//! packet numbers; how often the peer acknowledges.
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
