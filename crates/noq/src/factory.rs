//! The factory that noq's transport configuration takes.

use std::sync::Arc;
use std::time::Instant;

use kneepoint_controllers::transport::ControllerBuilder;
use kneepoint_controllers::{
    Algorithm, Bytes, ConfigError, ControllerConfig, ControllerSpec, Transport,
};
use noq_proto::congestion::{Controller, ControllerFactory};

use crate::adapter::NoqController;

/// A factory for `TransportConfig::congestion_controller_factory`.
///
/// Each controller gets its own seed, so that paths do not probe in step: the factory's seed and the number of
/// controllers built before.
#[derive(Debug)]
pub struct Factory(pub(crate) ControllerBuilder);

impl Factory {
    /// A factory for the configuration.
    ///
    /// # Errors
    /// If the configuration holds a value out of its range.
    pub fn new(config: impl ControllerConfig + 'static) -> Result<Self, ConfigError> {
        ControllerBuilder::new(config).map(Self)
    }

    /// Sets the seed of the controllers' random numbers; 0 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self(self.0.seed(seed))
    }
}

impl From<ControllerSpec> for Factory {
    fn from(spec: ControllerSpec) -> Self {
        Self(spec.into())
    }
}

impl From<Algorithm> for Factory {
    fn from(algorithm: Algorithm) -> Self {
        Self(algorithm.into())
    }
}

/// A factory for an [`Algorithm`] or a [`ControllerSpec`], ready for noq's `TransportConfig`.
pub fn factory(algorithm: impl Into<Factory>) -> Arc<dyn ControllerFactory + Send + Sync> {
    Arc::new(algorithm.into())
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mtu = Bytes(u64::from(current_mtu));
        Box::new(NoqController::new(self.0.build(mtu, NOQ), now, mtu))
    }
}

/// noq paces at the controller's rate, or at 1.25 windows per smoothed RTT without one.
pub(crate) const NOQ: Transport = Transport { paces: true };
