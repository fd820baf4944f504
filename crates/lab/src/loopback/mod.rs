//! Bulk transfers over real sockets of this machine, with many controllers, in turns.
//!
//! A [`Plan`] names the controllers, the size of a transfer and the paths. A path without a round-trip time and without a
//! rate is 127.0.0.1 itself; every other path leads through a relay, whose link adds them. [`measure`] carries a plan out
//! and condenses the runs of each controller over each path to a [`Row`].
//!
//! Sender and receiver each have a thread with a tokio runtime of its own, in one process or in two. Runs of different
//! controllers alternate, so that a machine that becomes slower does not make one controller slower than another.

mod child;
mod error;
mod machine;
mod measure;
mod path;
mod plan;
mod receiver;
mod row;
mod run;
mod sides;

pub(crate) use child::RECEIVER_COMMAND;
pub use child::receive;
pub use error::LoopbackError;
pub use machine::Machine;
pub use measure::measure;
pub use path::Path;
pub use plan::{Plan, Processes};
pub use row::Row;
pub use run::{End, Run};
