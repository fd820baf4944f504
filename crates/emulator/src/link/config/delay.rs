//! How long propagation takes.

use std::time::Duration;

use super::ConfigError;
use super::error::{positive, schedule};
use crate::time::Nanos;

/// Propagation delay: from a packet's departure from the shaper to its delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Delay {
    /// One delay for all packets.
    Fixed(Nanos),
    /// Changes at given times, as at a handover of a satellite or a mobile network. A packet has the delay of the time
    /// at which it departs.
    Steps {
        /// The delays, in the order of time.
        steps: Vec<DelayStep>,
        /// Whether a packet may overtake one that departed before a shorter delay began. If not, it arrives with it.
        reordering: bool,
    },
    /// Drawn for every packet.
    Jittered {
        /// From what.
        jitter: Jitter,
        /// Whether a packet may overtake one that drew a longer delay. If not, it arrives with it, so that the mean
        /// delay is above the distribution's mean.
        reordering: bool,
    },
}

impl Delay {
    /// The shortest delay that a packet may have.
    pub fn min(&self) -> Nanos {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Steps { steps, .. } => {
                let delays = steps.iter().map(|step| step.delay);
                delays.min().unwrap_or(Nanos::ZERO)
            }
            Self::Jittered { jitter, .. } => match *jitter {
                Jitter::Uniform { from, .. } | Jitter::Wifi { from, .. } => from,
                Jitter::Normal { mean, deviation } => Nanos(
                    mean.0
                        .saturating_sub(deviation.0.saturating_mul(TRUNCATION)),
                ),
            },
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Fixed(_) => Ok(()),
            Self::Steps { steps, .. } => schedule("delays", steps.iter().map(|step| step.from)),
            Self::Jittered { jitter, .. } => jitter.validate(),
        }
    }
}

impl Default for Delay {
    fn default() -> Self {
        Self::Fixed(Nanos::ZERO)
    }
}

impl From<Nanos> for Delay {
    fn from(delay: Nanos) -> Self {
        Self::Fixed(delay)
    }
}

impl From<Duration> for Delay {
    fn from(delay: Duration) -> Self {
        Self::Fixed(delay.into())
    }
}

/// A delay that holds from a time until the next step's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DelayStep {
    /// When it begins. The first step begins at time 0.
    pub from: Nanos,
    /// The delay.
    pub delay: Nanos,
}

/// A distribution of delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Jitter {
    /// Every nanosecond of a range is as likely as any other.
    Uniform {
        /// The shortest delay.
        from: Nanos,
        /// The longest delay, inclusive.
        to: Nanos,
    },
    /// Normal, truncated at [`TRUNCATION`] deviations on both sides of the mean: values outside are drawn again.
    Normal {
        /// The mean; at least [`TRUNCATION`] deviations, so that no delay is negative.
        mean: Nanos,
        /// The standard deviation before the truncation.
        deviation: Nanos,
    },
    /// Of Wi-Fi whose neighbours use the same channel: draft-huitema-ccwg-c4-test, "Handling of High Jitter Environments". Every packet waits for a
    /// number of milliseconds with a Poisson distribution of mean 1, less a part of the last. Some packets are sent again and again: they wait for a
    /// number of 7.5 ms with a Poisson distribution of mean 12 as well.
    Wifi {
        /// The delay without jitter.
        from: Nanos,
        /// About the mean of what is added; a third of a millisecond less in fact, 0.7 ms at least, and 91 at most. The more it is above 1 ms, the more packets
        /// are sent again: all of them from 91 ms on.
        mean: Nanos,
    },
}

impl Jitter {
    fn validate(&self) -> Result<(), ConfigError> {
        match *self {
            Self::Uniform { from, to } if from > to => Err(ConfigError::EmptyRange {
                what: "jitter",
                from,
                to,
            }),
            Self::Normal { mean, deviation } if deviation.0.saturating_mul(TRUNCATION) > mean.0 => {
                Err(ConfigError::OutOfRange {
                    what: "the deviation of the delay in seconds",
                    value: deviation.as_secs_f64(),
                    range: "at most a third of its mean",
                })
            }
            _ => Ok(()),
        }
    }
}

/// Holds packets between the shaper and propagation, and releases them in batches: as Wi-Fi and cellular links do with
/// acknowledgements.
///
/// A batch is released at the first multiple of the interval after its first packet's departure, or when its last
/// packet departs if it is full before. A packet that departs at a multiple waits for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Aggregation {
    /// The time between releases; positive.
    pub interval: Nanos,
    /// How many packets make a full batch; positive, or `None` if only the time counts.
    pub packets: Option<u64>,
}

impl Aggregation {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        positive("the interval of aggregation", self.interval.0)?;
        positive("the batch of aggregation", self.packets.unwrap_or(1))
    }
}

/// Where normal jitter ends, in standard deviations: 0.27 % of the draws lie beyond.
pub const TRUNCATION: u64 = 3;
