//! quinn's factory for any of our configurations.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use kneepoint_controllers::{
    Algorithm, Bytes, ConfigError, ControllerConfig, Environment, Selection, Timestamp,
};
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::adapter::QuinnController;

/// A factory for `TransportConfig::congestion_controller_factory`.
///
/// Each connection's controller gets a seed of its own, so that connections do not probe in step: the factory's
/// seed and the number of controllers built before.
#[derive(Debug)]
pub struct Factory {
    config: Box<dyn ControllerConfig>,
    seed: u64,
    built: AtomicU64,
}

impl Factory {
    /// A factory for the configuration.
    ///
    /// # Errors
    /// If the configuration holds a value out of its range.
    pub fn new(config: impl ControllerConfig + 'static) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::of(Box::new(config)))
    }

    /// The seed for whatever the controllers draw at random; 0 unless set.
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
}

impl From<Selection> for Factory {
    fn from(selection: Selection) -> Self {
        Self::of(selection.config())
    }
}

impl From<Algorithm> for Factory {
    fn from(algorithm: Algorithm) -> Self {
        Selection::from(algorithm).into()
    }
}

/// A factory for an [`Algorithm`] or a [`Selection`], ready for quinn's `TransportConfig`.
pub fn factory(algorithm: impl Into<Factory>) -> Arc<dyn ControllerFactory + Send + Sync> {
    Arc::new(algorithm.into())
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let ordinal = self.built.fetch_add(1, Ordering::Relaxed);
        let environment = Environment {
            now: Timestamp::ZERO,
            mtu: Bytes(u64::from(current_mtu)),
            seed: self.seed.wrapping_mul(SEED_STRIDE).wrapping_add(ordinal),
        };
        let controller = self
            .config
            .build(&environment)
            .expect("the configuration was validated when the factory was made");
        let policy = self.config.window_policy();
        Box::new(QuinnController::new(
            controller,
            policy,
            now,
            environment.mtu,
        ))
    }
}

/// Keeps neighbouring seeds' connections apart: an odd constant, the golden ratio of 2^64.
const SEED_STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;
