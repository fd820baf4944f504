//! What adapters to transports share: all but the transports' own calls and their order.

mod adapter;
mod builder;
mod clock;
mod estimate;
mod reported;
mod watch;

pub use adapter::{Adapter, MAX_TIMERS_AT_ONCE};
pub use builder::ControllerBuilder;
pub use estimate::BandwidthEstimate;
pub use reported::WindowRule;
pub use watch::BandwidthWatch;
