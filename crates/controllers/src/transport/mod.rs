//! The parts that adapters to transports share: time, timers, coalescing, and the builder of controllers.
//!
//! An adapter itself holds only what differs between transports: their calls, the order of these calls, and how a
//! [`Control`](crate::Control) reaches the transport.

mod acked_run;
mod builder;
mod clock;
mod refill;
mod sent_run;
mod timers;
mod window_rule;

pub use acked_run::AckedRun;
pub use builder::ControllerBuilder;
pub use clock::Clock;
pub use refill::refilled_window;
pub use sent_run::SentRun;
pub use timers::{MAX_TIMERS_AT_ONCE, fire_timers};
pub use window_rule::WindowRule;
