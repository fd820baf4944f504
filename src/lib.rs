//! Congestion controllers for QUIC that run at the knee of the delay/throughput curve: they fill the link and keep its queue short.
//!
//! With [quinn](https://docs.rs/quinn):
//!
//! ```
//! # use std::sync::Arc;
//! # let mut client_config = kneepoint::emulator::sim::tls::client_config();
//! use kneepoint::Algorithm;
//! use kneepoint::quinn::IntoFactory as _;
//!
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(Algorithm::default().factory());
//! client_config.transport_config(Arc::new(transport));
//! ```
//!
//! Set it on the side that sends the data. A server's configuration has the same `transport_config`.
//!
//! # Which controller
//!
//! [`Algorithm`] lists all controllers, and parses from a name. A [`ControllerSpec`] adds a [`Preset`], as in `bbr:tuned`, and values. Read a
//! `ControllerSpec` from a configuration file or from the environment:
//!
//! ```
//! use kneepoint::ControllerSpec;
//! use kneepoint::quinn::IntoFactory as _;
//!
//! let name = std::env::var("KNEEPOINT_CONTROLLER").unwrap_or_else(|_| "knee".to_owned());
//! let factory = name.parse::<ControllerSpec>()?.factory();
//! # drop(factory);
//! # Ok::<(), kneepoint::ParseAlgorithmError>(())
//! ```
//!
//! For values of your own, change the fields of a configuration. [`Factory::new`](quinn::Factory::new) refuses a value out of its range:
//!
//! ```
//! use kneepoint::controllers::KneeConfig;
//! use kneepoint::quinn::{Factory, IntoFactory as _};
//!
//! let mut config = KneeConfig::default();
//! // Less delay for less throughput on a link that varies: the queue target grows half as fast.
//! config.target_growth = 0.25;
//! let factory = Factory::new(config)?.factory();
//! # drop(factory);
//! # Ok::<(), kneepoint::controllers::ConfigError>(())
//! ```
//!
//! A [`ControllerSpec`] holds such a configuration as text: `bbr3:core.min_rtt_window=20s` is `bbr3` with another value. It parses and prints,
//! and with the feature `serde` it deserializes and serializes. With that feature a configuration is a table, whose fields keep their
//! defaults if they are left out. `examples/server_from_toml.rs` reads a server's settings from TOML.
//!
//! ```
//! use kneepoint::quinn::IntoFactory as _;
//! use kneepoint::ControllerSpec;
//! use kneepoint::controllers::Bbr3Config;
//!
//! let mut config = Bbr3Config::tuned();
//! config.core.min_rtt_window = std::time::Duration::from_secs(20);
//! let spec = ControllerSpec::try_from(config)?;
//! assert_eq!(spec.to_string(), "bbr3:core.min_rtt_window=20s");
//! let factory = spec.factory();
//! # drop(factory);
//! # Ok::<(), kneepoint::controllers::ConfigError>(())
//! ```
//!
//! # One for each connection
//!
//! A client names its configuration when it connects (`Endpoint::connect_with`), a server when it accepts:
//!
//! ```
//! # use std::sync::Arc;
//! use kneepoint::Algorithm;
//! use kneepoint::quinn::IntoFactory as _;
//!
//! /// A configuration for each controller, made once.
//! struct Configs {
//!     local: Arc<quinn::ServerConfig>,
//!     others: Arc<quinn::ServerConfig>,
//! }
//!
//! impl Configs {
//!     fn new(config: quinn::ServerConfig) -> Self {
//!         let with = |algorithm: Algorithm| {
//!             let (mut config, mut transport) = (config.clone(), quinn::TransportConfig::default());
//!             transport.congestion_controller_factory(algorithm.factory());
//!             config.transport_config(Arc::new(transport));
//!             Arc::new(config)
//!         };
//!         let (local, others) = (with(Algorithm::Cubic), with(Algorithm::default()));
//!         Self { local, others }
//!     }
//!
//!     /// Connections within this machine get CUBIC, all others the default, `knee`.
//!     fn accept(
//!         &self,
//!         incoming: quinn::Incoming,
//!     ) -> Result<quinn::Connecting, quinn::ConnectionError> {
//!         let config = match incoming.remote_address().ip().is_loopback() {
//!             true => &self.local,
//!             false => &self.others,
//!         };
//!         incoming.accept_with(Arc::clone(config))
//!     }
//! }
//! ```
//!
//! One factory gives each of its connections a seed of its own. Factories that were not given different seeds draw the same random numbers, so
//! that the connections of a factory each would probe in step.
//!
//! # What a controller believes
//!
//! A [`BandwidthEstimate`] is for encoders that adapt: it says whether the rate is a lower bound, and how old it is. A
//! [`BandwidthWatch`] reads it for each frame, on either side of a connection. A [`Snapshot`] has everything:
//!
//! ```
//! fn bandwidth(connection: &quinn::Connection) -> Option<kneepoint::BandwidthEstimate> {
//!     kneepoint::quinn::bandwidth_estimate(connection.congestion_state())
//! }
//!
//! fn watch(connection: &quinn::Connection) -> Option<kneepoint::BandwidthWatch> {
//!     kneepoint::quinn::watch_bandwidth(connection.congestion_state())
//! }
//!
//! fn is_starting(connection: &quinn::Connection) -> bool {
//!     let state = kneepoint::quinn::snapshot(connection.congestion_state());
//!     state.is_some_and(|state| state.mode == kneepoint::controllers::Mode::Startup)
//! }
//! ```
//!
//! quinn's feature `qlog` writes the window, the pacing rate and the slow-start threshold of these controllers as of its own.
//!
//! # Parts
//!
//! | Module | Feature | Holds |
//! |---|---|---|
//! | [`controllers`] | | The controllers' configurations, and the trait to write one of your own on |
//! | `quinn` | `quinn`, on by default | The adapter to quinn |
//! | `noq` | `noq` | The adapter to noq, which lets a controller set its pacing rate |
//! | `emulator` | `emulator` | Links, traces, and a runtime for unmodified quinn in virtual time |
//! | `traces` | `emulator` | Bundled traces of cellular and other wireless links |
//!
//! Each public item has one path in this crate, and `docs/FACADE.md` lists them. Parts for adapters to other QUIC stacks and tools for
//! researchers are in `kneepoint-controllers`, `kneepoint-estimators` and `kneepoint-emulator`.

#![forbid(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod controllers;
#[cfg(feature = "emulator")]
pub mod emulator;
#[cfg(feature = "emulator")]
pub mod traces;

pub use kneepoint_controllers::transport::{BandwidthEstimate, BandwidthWatch};
pub use kneepoint_controllers::{
    Algorithm, Bandwidth, BbrConfig, BbrSConfig, ControllerSpec, ParseAlgorithmError, Preset,
    Snapshot,
};

/// The adapter to noq, which lets a controller set its pacing rate.
#[cfg(feature = "noq")]
pub mod noq {
    pub use kneepoint_noq::{Factory, IntoFactory, bandwidth_estimate, snapshot, watch_bandwidth};
}

/// The adapter to quinn.
#[cfg(feature = "quinn")]
pub mod quinn {
    pub use kneepoint_quinn::{
        Factory, IntoFactory, bandwidth_estimate, snapshot, watch_bandwidth,
    };
}
