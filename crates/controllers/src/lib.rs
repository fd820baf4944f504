//! Congestion controllers with one transport-neutral trait, and the delivery-rate sampler that feeds them.
//!
//! A transport (a QUIC implementation, through an adapter) reports packets to a [`DeliveryRateSampler`], which combines
//! the packets of each acknowledgement into one [`AckEvent`]. A [`Controller`] updates its model once per event and
//! answers with a [`Control`]. The crate has no transport, no clock and no source of randomness.

#![forbid(unsafe_code)]

// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The tests compile a part of the testkit, which uses this crate by its name.
#[cfg(test)]
extern crate self as kneepoint_controllers;

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
#[cfg(feature = "serde")]
mod names;
mod observe;
mod rate_sample;
mod registry;
mod snapshot;
pub mod transport;
mod units;
mod window;

pub use algorithms::*;
pub use bbr::{BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, Probing, RecoveryRule};
pub use bbr3::{Bbr3CoreConfig, UpExit};
pub use config::{
    ConfigError, ControllerConfig, Environment, QueueTarget, Transport, WindowPolicy,
};
pub use controller::{Control, Controller, Refill};
pub use event::{AckEvent, CongestionEvent, CongestionSignal, FlightSample, RateSample, SentEvent};
pub use filter::{
    CorrectedMaxFilterConfig, MaxFilterConfig, PercentileFilterConfig, SkipFilterConfig,
};
pub use rate_sample::{DeliveryRateSampler, Loss};
pub use registry::{ControllerSpec, ParseAlgorithmError, Preset};
pub use snapshot::{FilterSnapshot, Mode, Snapshot};
pub use units::{Bandwidth, Bytes, Gain, Timestamp};
