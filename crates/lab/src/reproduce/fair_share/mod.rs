//! "Pacing at the fair-share of the bottleneck bandwidth without explicit network-level feedback".

mod network;
mod round_trips;

pub(super) use self::round_trips::ROUND_TRIPS;
