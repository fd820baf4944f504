//! What controllers have in common that have a window and no model of the path's bandwidth.
//!
//! [`controller`] is the skeleton of RFC 9002, section 7: slow start, recovery, persistent congestion, the undoing of
//! spurious losses. An algorithm gives it the two parts in which it differs: a [`SlowStart`](slow_start::SlowStart) and
//! an [`Avoidance`](avoidance::Avoidance). `ebcc` has the states of BBR instead and only shares the measurements.

pub(crate) mod avoidance;
pub(crate) mod controller;
pub(crate) mod hystart;
pub(crate) mod round_trips;
pub(crate) mod slow_start;
mod state;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod utilization;
pub(crate) mod window;

use crate::config::ConfigError;
use crate::units::{Bytes, Gain};

/// The smallest window (RFC 9002, section 7.2).
pub(crate) fn min_window(mtu: Bytes) -> Bytes {
    mtu.packets(MIN_WINDOW_PACKETS)
}

/// Refuses a share of the window to keep after a loss that is none.
pub(crate) fn require_reduction(field: &'static str, gain: Gain) -> Result<(), ConfigError> {
    let share = gain.as_f64();
    ConfigError::require(
        share > 0.0 && share < 1.0,
        field,
        share,
        "above 0 and below 1: a window that does not shrink after a loss collapses the path",
    )
}

/// RFC 9002, section 7.2 (kMinimumWindow), in packets.
const MIN_WINDOW_PACKETS: u64 = 2;
