//! One sender for tests: it drives any congestion controller over an emulated link, in virtual time.
//!
//! A [`Sender`] keeps to the controller's window and pacing rate, sends numbered packets over a [`Link`], hears of them from a
//! receiver with an [`AckPolicy`], and detects losses as RFC 9002 says. It reaches the controller through a [`Adapter`]:
//! [`Neutral`] is the one for the trait of `kneepoint-controllers`; the adapters to QUIC stacks bring their own in their tests.
//!
//! Times are durations since the connection began. There is no clock, no runtime and no randomness but the link's.
//!
//! [`Link`]: kneepoint_emulator::link::Link

#![forbid(unsafe_code)]

// `neutral.rs` is also compiled into the tests of `kneepoint-controllers`: it names this crate as others do.
extern crate self as kneepoint_testkit;

mod adapter;
pub mod events;
mod lie;
mod neutral;
mod pacer;
mod path;
mod rtt;
mod sender;

pub use adapter::{Adapter, Lost};
pub use kneepoint_emulator::link::LinkConfig;
pub use lie::Lie;
pub use neutral::Neutral;
pub use pacer::Pacing;
pub use path::{AckPolicy, Application, Packets, Scenario};
pub use sender::{Sender, Timeout};
