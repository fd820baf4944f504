//! Congestion controllers for QUIC that run at the knee of the delay/throughput curve: all of the link's
//! throughput, next to none of its queue.
//!
//! With [quinn](https://docs.rs/quinn), three lines:
//!
//! ```
//! # use std::sync::Arc;
//! # let mut client_config = kneepoint::emulator::sim::tls::client_config();
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(kneepoint::quinn::factory(kneepoint::Algorithm::BbrS));
//! client_config.transport_config(Arc::new(transport));
//! ```
//!
//! The side that sends the data is the side to set it on; a server has the same `transport_config`.
//! [`Algorithm`] lists what there is, and parses from a name. A [`Selection`] adds a [`Preset`], as in `bbr:tuned`:
//!
//! ```
//! let selection: kneepoint::Selection = "bbr:tuned".parse()?;
//! let factory = kneepoint::quinn::factory(selection);
//! # drop(factory);
//! # Ok::<(), kneepoint::ParseAlgorithmError>(())
//! ```
//!
//! What a controller believes of the path, its estimate of the bandwidth first, shows in a [`Snapshot`] of a live
//! connection:
//!
//! ```
//! fn bandwidth(connection: &quinn::Connection) -> Option<kneepoint::Bandwidth> {
//!     kneepoint::quinn::snapshot(connection.congestion_state())?.bandwidth
//! }
//! ```
//!
//! # Parts
//!
//! | Module | Feature | Holds |
//! |---|---|---|
//! | [`estimators`] | | Windowed maxima, percentiles, the adaptive Tobit Kalman filter: mathematics only |
//! | [`controllers`] | | The controllers on a trait that knows no transport, for adapters to other QUIC stacks |
//! | `quinn` | `quinn`, on by default | The adapter to quinn |
//! | `noq` | `noq` | The adapter to noq, which lets a controller set its pacing rate |
//! | `emulator` | `emulator` | Links, traces, and a runtime for unmodified quinn in virtual time |
//! | `traces` | `emulator` | Bundled traces of cellular and other wireless links |

#![forbid(unsafe_code)]

#[cfg(feature = "emulator")]
pub mod traces;

#[doc(inline)]
pub use kneepoint_controllers as controllers;
#[doc(inline)]
pub use kneepoint_controllers::{
    Algorithm, Bandwidth, BbrConfig, BbrSConfig, ParseAlgorithmError, Preset, Selection, Snapshot,
};
#[cfg(feature = "emulator")]
#[doc(inline)]
pub use kneepoint_emulator as emulator;
#[doc(inline)]
pub use kneepoint_estimators as estimators;
#[cfg(feature = "noq")]
#[doc(inline)]
pub use kneepoint_noq as noq;
#[cfg(feature = "quinn")]
#[doc(inline)]
pub use kneepoint_quinn as quinn;
