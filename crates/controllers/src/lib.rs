//! Congestion controllers on one transport-neutral trait, and the accounting that feeds them.
//!
//! A host (a QUIC implementation, through an adapter) reports packets to a [`DeliveryRateSampler`], which folds each
//! acknowledgement into one [`AckEvent`]. A [`Controller`] updates its model once per event and answers with a
//! [`Control`]. Nothing here knows a transport, a clock or an RNG.

#![forbid(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// So that its example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The tests compile a part of the testkit, which uses this crate by its name.
#[cfg(test)]
extern crate self as kneepoint_controllers;

#[macro_use]
mod debug_as_display;

mod algorithms;
mod bbr;
mod bbr3;
mod composed;
mod config;
mod controller;
#[cfg(test)]
mod driver;
mod event;
mod filter;
mod loss_based;
mod model;
mod observe;
mod rate_sample;
mod registry;
mod snapshot;
mod spec;
mod text;
pub mod transport;
mod units;
mod window;

pub use algorithms::*;
pub use bbr::{BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, RecoveryRule};
pub use bbr3::{Bbr3CoreConfig, Probing, UpExit};
pub use config::{ConfigError, ControllerConfig, Environment, Transport, WindowPolicy};
pub use controller::{Control, Controller, Refill};
pub use event::{
    AckEvent, CongestionEvent, CongestionSignal, FlightSample, Loss, RateSample, SentEvent,
};
pub use filter::{
    CorrectedMaxFilterConfig, MaxFilterConfig, PercentileFilterConfig, SkipFilterConfig,
};
pub use rate_sample::DeliveryRateSampler;
pub use registry::{ParseAlgorithmError, Preset};
pub use snapshot::{FilterSnapshot, Mode, Snapshot};
pub use spec::ControllerSpec;
pub use units::{Bandwidth, Bytes, Gain, Timestamp};
