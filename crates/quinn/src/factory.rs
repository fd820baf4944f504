//! quinn's factory for any of our configurations.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use kneepoint_controllers::transport::ControllerBuilder;
use kneepoint_controllers::{
    Algorithm, Bytes, ConfigError, ControllerConfig, ControllerSpec, Transport,
};
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::adapter::QuinnController;

/// A factory for `TransportConfig::congestion_controller_factory`.
///
/// Each connection's controller gets a seed of its own, so that the connections of one factory do not probe in step: the factory's
/// seed and the number of controllers built before. No random number of the system is read: factories, and programs, whose connections share
/// a path need seeds that differ.
#[derive(Debug)]
pub struct Factory(ControllerBuilder);

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

/// `algorithm.factory()`, for whatever names or configures a controller.
///
/// A trait, and not a method of [`Algorithm`] itself: controllers know no transport, and an adapter to another one has a
/// trait of its own. Bring it into scope without its name where there are two.
///
/// ```
/// use kneepoint_quinn::{Algorithm, BbrConfig, Factory, IntoFactory as _, ControllerSpec};
///
/// let mut transport = quinn_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Algorithm::default().factory());
/// // From a configuration file or a variable of the environment:
/// transport.congestion_controller_factory("bbr:tuned".parse::<ControllerSpec>()?.factory());
/// // With values of one's own, which can be wrong:
/// let mut config = BbrConfig::tuned();
/// config.core.min_rtt_window = std::time::Duration::from_secs(20);
/// transport.congestion_controller_factory(Factory::new(config)?.factory());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IntoFactory: Into<Factory> {
    /// A factory that quinn's `TransportConfig` takes.
    fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        Arc::new(self.into())
    }
}

impl<T: Into<Factory>> IntoFactory for T {}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mtu = Bytes(u64::from(current_mtu));
        // quinn 0.11 takes no rate from a controller: it paces at 1.25 windows per smoothed RTT.
        Box::new(QuinnController::new(
            self.0.build(mtu, Transport::WINDOW_ONLY),
            now,
            mtu,
        ))
    }
}
