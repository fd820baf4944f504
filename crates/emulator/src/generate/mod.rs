//! Traces of links that vary as cellular and other wireless links do, from a seed.
//!
//! Every 100 ms the rate is drawn anew: the exponential of a median, of one or two Ornstein-Uhlenbeck processes and of
//! white noise, between a floor and a cap. Batches of packets are delivered as a Poisson process of this rate, except in outages.
//! The same arguments give the same trace on every platform: all functions of floating-point numbers that platforms
//! compute differently come from `libm`.

mod deliveries;
mod model;
mod outages;
mod profile;
pub(crate) mod random;
mod rate;
#[cfg(test)]
mod tests;

pub use profile::{Profile, UnknownProfile};

use self::deliveries::Deliveries;
use crate::time::Nanos;
use crate::trace::Trace;

/// Generates a trace with the profile's name.
///
/// The duration is rounded down to whole milliseconds and kept between 1 ms and [`MAX_DURATION`]. Its last
/// millisecond always holds one opportunity, even in an outage, so that the trace's period is the duration.
pub fn generate(profile: Profile, seed: u64, duration: Nanos) -> Trace {
    let end = (duration.min(MAX_DURATION).0 / NANOS_PER_MILLI).max(1);
    let mut millis: Vec<u64> = Deliveries::new(profile.model(), seed, end).collect();
    millis.push(end);
    Trace::from_ordered(millis, profile.to_string())
}

/// The longest trace that is generated: an hour, which at WiGig's rate are 40 million opportunities.
pub const MAX_DURATION: Nanos = Nanos::from_millis(3_600_000);

/// The seed of the bundled traces.
pub const BUNDLED_SEED: u64 = 1;

/// Nanoseconds per millisecond.
const NANOS_PER_MILLI: u64 = 1_000_000;
