//! The parts of controllers with a window and without a model of the path's bandwidth.
//!
//! [`controller`] implements RFC 9002, section 7: slow start, recovery, persistent congestion, and the undo of spurious
//! losses. An algorithm provides a [`SlowStart`](slow_start::SlowStart) and an [`Avoidance`](avoidance::Avoidance).
//! `ebcc` has the states of BBR instead and uses only the measurements.

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

use core::time::Duration;

use crate::config::ConfigError;
use crate::event::CongestionSignal;
use crate::units::{Bytes, Gain};

/// The delay that hosts may add to an RTT without a queue: a millisecond.
///
/// Hosts send in bursts of up to a millisecond (draft-ietf-ccwg-bbr, section "Send Quantum: C.send_quantum"), and their
/// timers and wake-ups are as coarse. On a path of 50 us a delay of several RTTs is such a burst, not a queue. A
/// controller that treats it as a queue leaves a short path idle.
pub(crate) const HOST_DELAY: Duration = Duration::from_millis(1);

/// The factor of the window after a congestion signal: larger after a mark than after a loss, because a queue that
/// marks is shorter than one that overflows (RFC 8511, section 3).
pub(crate) fn share_left(signal: CongestionSignal, after_loss: Gain, after_mark: Gain) -> Gain {
    match signal {
        CongestionSignal::EcnMark => after_mark,
        CongestionSignal::Loss | CongestionSignal::PersistentCongestion => after_loss,
    }
}

/// Rejects a host delay that would hide a queue.
pub(crate) fn require_host_delay(host_delay: Duration) -> Result<(), ConfigError> {
    ConfigError::require(
        host_delay <= MAX_HOST_DELAY,
        "host_delay",
        host_delay.as_secs_f64(),
        "at most 100 ms",
    )
}

/// The minimum window (RFC 9002, section 7.2).
pub(crate) fn min_window(mtu: Bytes) -> Bytes {
    mtu * MIN_WINDOW_PACKETS
}

/// Rejects a factor that is no reduction.
pub(crate) fn require_reduction(field: &'static str, gain: Gain) -> Result<(), ConfigError> {
    let share = gain.as_f64();
    ConfigError::require(
        share > 0.0 && share < 1.0,
        field,
        share,
        "above 0 and below 1: a window that does not shrink after a loss collapses the path",
    )
}

/// Delay-based controllers exist to avoid longer delays.
const MAX_HOST_DELAY: Duration = Duration::from_millis(100);

/// RFC 9002, section 7.2 (kMinimumWindow), in packets.
const MIN_WINDOW_PACKETS: u64 = 2;
