//! eBCC: an enhanced BBR congestion control for QUIC.

mod bandwidths;
mod buffer;
mod delays;
mod dumbbell;
mod flows;
mod tables;
mod time_series;
mod verdicts;

pub(super) use self::bandwidths::BANDWIDTHS;
pub(super) use self::delays::DELAYS;
pub(super) use self::flows::FLOWS;
pub(super) use self::time_series::SINGLE_FLOW;
