//! What limits a link's rate.

use super::ConfigError;
use super::error::{positive, schedule};
use crate::time::Nanos;
use crate::trace::Trace;

/// What limits a link's rate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Shaper {
    /// No limit: a packet leaves the queue immediately.
    Unlimited,
    /// A serial line: each packet occupies it for its size divided by the rate.
    ConstantRate {
        /// The rate, in bytes per second; positive.
        bytes_per_second: u64,
    },
    /// Mahimahi's delivery opportunities. The trace starts at time 0.
    Trace(Trace),
    /// A token bucket, full at time 0. Every byte takes a token, and waits for one if there is none. A packet larger
    /// than the bucket is sent too: it takes tokens as they come.
    TokenBucket {
        /// How fast tokens accrue, in bytes per second; positive.
        bytes_per_second: u64,
        /// How many tokens the bucket holds, in bytes; positive.
        burst: u64,
        /// The rate of the line behind the bucket, in bytes per second; at least the tokens' rate. Without it a burst
        /// leaves at once.
        peak: Option<u64>,
    },
    /// A serial line whose rate changes at given times, also while a packet is being sent.
    Schedule(Vec<RateStep>),
}

impl Shaper {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::ConstantRate {
                bytes_per_second: 0,
            } => Err(ConfigError::ZeroRate),
            Self::Unlimited | Self::ConstantRate { .. } | Self::Trace(_) => Ok(()),
            Self::TokenBucket {
                bytes_per_second,
                burst,
                peak,
            } => {
                bucket(*bytes_per_second, *burst)?;
                match *peak {
                    Some(peak) if peak < *bytes_per_second => Err(ConfigError::PeakBelowRate {
                        peak,
                        rate: *bytes_per_second,
                    }),
                    _ => Ok(()),
                }
            }
            Self::Schedule(steps) => {
                schedule("rates", steps.iter().map(|step| step.from))?;
                match steps.last() {
                    Some(RateStep {
                        bytes_per_second: 0,
                        ..
                    }) => Err(ConfigError::EndlessBlackout),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// A rate that holds from a time until the next step's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RateStep {
    /// When it begins. The first step begins at time 0.
    pub from: Nanos,
    /// The rate, in bytes per second; 0 sends nothing, and must not be the last step's.
    pub bytes_per_second: u64,
}

/// A token bucket before the queue, full at time 0. A packet with more bytes than there are tokens is dropped and takes
/// none. A packet larger than the bucket never passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Policer {
    /// How fast tokens accrue, in bytes per second; positive.
    pub bytes_per_second: u64,
    /// How many tokens the bucket holds, in bytes; positive.
    pub burst: u64,
}

impl Policer {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        bucket(self.bytes_per_second, self.burst)
    }
}

fn bucket(bytes_per_second: u64, burst: u64) -> Result<(), ConfigError> {
    positive("a token bucket's rate", bytes_per_second)?;
    positive("a token bucket's burst", burst)
}
