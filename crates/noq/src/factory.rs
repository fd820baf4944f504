//! noq's factory for any of our configurations.

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
/// Each path's controller gets a seed of its own, so that the paths of one factory do not probe in step: the factory's seed and the number of
/// controllers built before. No random number of the system is read: factories, and programs, whose paths share a link
/// need seeds that differ.
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

    /// The seed for whatever the controllers draw at random; 0 unless set. `knee` draws nothing.
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

/// `algorithm.factory()`, for whatever names or configures a controller: the one way to what noq takes, and the same as
/// `kneepoint-quinn`'s. Bring it into scope without its name where there are two.
pub trait IntoFactory: Into<Factory> {
    /// A factory that noq's `TransportConfig` takes.
    fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        Arc::new(self.into())
    }
}

impl<T: Into<Factory>> IntoFactory for T {}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mtu = Bytes(u64::from(current_mtu));
        // noq paces at the rate that it is told; at 1.25 windows per smoothed RTT without one.
        Box::new(NoqController::new(
            self.0.build(mtu, Transport::PACES),
            now,
            mtu,
        ))
    }
}
