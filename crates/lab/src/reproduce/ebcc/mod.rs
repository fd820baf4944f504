//! eBCC: an enhanced BBR congestion control for QUIC.

mod bandwidths;
mod buffer;
mod course;
mod delays;
mod dumbbell;
mod flows;
mod grid;
mod verdicts;

pub(super) use self::bandwidths::Bandwidths;
pub(super) use self::course::SingleFlow;
pub(super) use self::delays::Delays;
pub(super) use self::flows::Flows;
