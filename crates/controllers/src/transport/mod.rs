//! What adapters to hosts have in common: time, timers, and the building of controllers.
//!
//! An adapter itself is what differs from host to host: which calls it gets, in which order, and how it hands on what a
//! [`Control`](crate::Control) asks for.

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
