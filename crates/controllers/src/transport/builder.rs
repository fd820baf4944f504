//! Builds the controllers of many connections from one configuration.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::algorithms::Algorithm;
use crate::config::{ConfigError, ControllerConfig, Environment, Transport};
use crate::controller::Controller;
use crate::spec::ControllerSpec;
use crate::units::{Bytes, Timestamp};

/// Builds a controller for each connection of a transport.
///
/// Each controller gets its own seed, so that the connections of one builder do not probe in step: the builder's seed and the number of
/// controllers built before. Builders with equal seeds build alike.
#[derive(Debug)]
pub struct ControllerBuilder {
    config: Box<dyn ControllerConfig>,
    seed: u64,
    built: AtomicU64,
}

impl ControllerBuilder {
    /// A builder for the configuration.
    ///
    /// # Errors
    /// If the configuration holds a value out of its range.
    pub fn new(config: impl ControllerConfig + 'static) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::of(Box::new(config)))
    }

    /// Sets the seed of the controllers' random numbers; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn of(config: Box<dyn ControllerConfig>) -> Self {
        Self {
            config,
            seed: 0,
            built: AtomicU64::new(0),
        }
    }

    /// A controller for a connection that begins now, at time zero, on a path that carries datagrams of `mtu`.
    pub fn build(&self, mtu: Bytes, transport: Transport) -> Box<dyn Controller> {
        let ordinal = self.built.fetch_add(1, Ordering::Relaxed);
        let environment = Environment {
            now: Timestamp::ZERO,
            mtu,
            seed: self.seed.wrapping_mul(SEED_STRIDE).wrapping_add(ordinal),
            transport,
        };
        self.config
            .build(&environment)
            .expect("the configuration was validated when the builder was created")
    }
}

impl From<ControllerSpec> for ControllerBuilder {
    fn from(spec: ControllerSpec) -> Self {
        Self::of(spec.config())
    }
}

impl From<Algorithm> for ControllerBuilder {
    fn from(algorithm: Algorithm) -> Self {
        ControllerSpec::from(algorithm).into()
    }
}

/// Separates the connections of neighbouring seeds: an odd constant, the golden ratio of 2^64.
const SEED_STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;
