//! Kneepoint's congestion controllers for [quinn](https://docs.rs/quinn).
//!
//! ```
//! # use std::sync::Arc;
//! use kneepoint_quinn::{Algorithm, factory};
//!
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(factory(Algorithm::default()));
//! # let _ = Arc::new(transport);
//! ```
//!
//! [`snapshot`] reads the controller's state from a live connection.

#![forbid(unsafe_code)]

mod adapter;
#[cfg(test)]
mod closed_loop;
mod factory;

pub use adapter::{QuinnController, snapshot};
pub use factory::{Factory, factory};
pub use kneepoint_controllers::host::mapping::Path;
pub use kneepoint_controllers::{
    Algorithm, BbrConfig, BbrSConfig, Preset, Selection, Snapshot, WindowPolicy,
};
