//! Bandwidth filters: what turns noisy rates into the estimate that a model-based controller runs on.
//!
//! A controller core takes its filter as a type parameter; a filter knows nothing of the core's states.

mod max;
mod skip;

pub use max::MaxFilter;
pub use skip::{SkipFilter, SkipFilterConfig};

use core::fmt::Debug;
use core::time::Duration;

use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// What a filter may know besides the acknowledgement itself.
#[derive(Debug, Clone, Copy)]
pub struct FilterContext {
    /// The estimate of the round-trip time without queues.
    pub min_rtt: Duration,
    /// The path's MTU.
    pub mtu: Bytes,
    /// What windows of samples are counted in: rounds in BBRv1, probing cycles in BBRv2 and BBRv3.
    pub epoch: u64,
    /// Whether the controller is still searching for the bandwidth, at a rate well above the estimate.
    pub filling_pipe: bool,
}

/// A bandwidth estimator fed by acknowledgements.
pub trait BandwidthFilter: Clone + Debug + Send + Sync + 'static {
    /// One acknowledgement: the model is updated once for it, whatever it holds.
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext);

    /// The estimate, once there is one.
    fn bandwidth(&self) -> Option<Bandwidth>;

    /// The next time at which silence would itself be a sample, if data is in flight.
    fn next_timer(&self) -> Option<Timestamp> {
        None
    }

    /// That time has come, and no acknowledgement.
    fn on_timer(&mut self, _now: Timestamp) {}

    /// Whether the filter has nothing but lower bounds to go by, and the sender should keep probing.
    fn wants_probe(&self) -> bool {
        false
    }

    /// One standard deviation of the path's bandwidth around the estimate; zero if the filter does not know.
    fn deviation(&self) -> Bandwidth {
        Bandwidth::ZERO
    }

    /// The inside, for people and their tools.
    fn snapshot(&self) -> FilterSnapshot;
}
