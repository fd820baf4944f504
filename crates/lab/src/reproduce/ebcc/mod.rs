//! eBCC: an enhanced BBR congestion control for QUIC.

mod bandwidths;
mod buffer;
mod course;
mod delays;
mod dumbbell;
mod flows;
mod tables;
mod verdicts;

pub(super) use self::bandwidths::BANDWIDTHS;
pub(super) use self::course::SINGLE_FLOW;
pub(super) use self::delays::DELAYS;
pub(super) use self::flows::FLOWS;
