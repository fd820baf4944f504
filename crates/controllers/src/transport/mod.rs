//! What adapters to transports share: all but the transports' own calls and their order.

mod adapter;
mod builder;
mod clock;
mod estimate;
mod refill;
mod watch;
mod window_rule;

pub use adapter::{Adapter, MAX_TIMERS_AT_ONCE};
pub use builder::ControllerBuilder;
pub use estimate::BandwidthEstimate;
pub use watch::BandwidthWatch;
pub use window_rule::WindowRule;
