//! Capacity samples: from acknowledged packets to what the filters are fed with.
//!
//! [`CapacityInterval`] takes every acknowledged packet, in constant time and memory, and closes an interval about once per
//! round trip. Two [`Method`]s measure the rate at which the path delivered:
//!
//! | Method | Rate | Needs | Weakness |
//! |---|---|---|---|
//! | [`DeliveryRate`](Method::DeliveryRate) | bytes over the longer of the sending and the acknowledging time | nothing | the jitter of the two end points |
//! | [`RttGradient`](Method::RttGradient) | `S / (1 + b)`, `b` the slope of round-trip time on sending time | a constant sending rate | bursts and aggregated acknowledgements bias it |
//!
//! Packets of one acknowledgement that covers several have round-trip times that *fall* with slope -1, which is why
//! aggregation biases the gradient.
//!
//! # Which samples are real
//!
//! A path that delivers all that is sent shows the sending rate, not its capacity. Comparing the two rates does not tell:
//! in noise, `C < S` half of the time, and 18 to 44 % of the intervals on an idle path would pass for measurements. What
//! tells is a queue. An interval counts as queueing if the round-trip time rose significantly,
//!
//! ```text
//! b > max(3 se(b), 0.03)
//! ```
//!
//! or if a queue stood throughout it: the least queueing delay exceeded two packets' service time, 2 % of the minimal
//! round-trip time, and three deviations of the jitter. Then the rate is real, even if more was delivered than sent, and the
//! sample's sending rate is infinite. Otherwise the sample is censored: the path carries at least the measured or the sending
//! rate, whichever is less. This holds for a burst that was sent at one instant, too: its packets may be acknowledged late
//! because the receiver waited for more of them (RFC 9000, section 13.2.1).
//!
//! Both rates are of the same packets. A sending rate taken from the pacer instead of the packets does not do: if the
//! true one is 3 % lower, every sample passes for a measurement, and the estimate settles 7 to 17 % low.
//!
//! # Errata
//!
//! BBR-S, eq. (8), prints for the slope an expression that multiplies and divides by packet sizes and is not of unit 1. The
//! ordinary least-squares slope of `tau` on `t` is meant by its text and used here:
//! `b = sum (t_i - mean t)(tau_i - mean tau) / sum (t_i - mean t)^2`.
//! The text's "norm of the residual error" is taken as the residual deviation, with `n - 2` degrees of freedom.

mod delivery_rate;
mod estimate;
mod interval;
mod interval_config;
mod linear_fit;

pub use delivery_rate::{DeliveryRate, DeliveryRateError};
pub use estimate::{CapacityEstimate, Method, RttGradient};
pub use interval::{AckedPacket, CapacityInterval, CloseError, PacketError};
pub use interval_config::IntervalConfig;
pub use linear_fit::LinearFit;

use crate::float::as_f64;

/// `later - earlier` in seconds, for times in ns of at most [`LATEST`]; negative if they are the other way round.
#[inline]
fn seconds_between(earlier: u64, later: u64) -> f64 {
    (later as i64 - earlier as i64) as f64 * SECONDS_PER_NANOSECOND
}

/// A time of ns in seconds.
fn seconds(nanos: u64) -> f64 {
    as_f64(nanos) * SECONDS_PER_NANOSECOND
}

/// The latest time that a signed integer holds, ns.
const LATEST: u64 = i64::MAX as u64;

/// Seconds per nanosecond.
const SECONDS_PER_NANOSECOND: f64 = 1e-9;
