//! Losses and the other impairments before the queue.

use super::ConfigError;
use super::error::{increasing, positive, probability};
use crate::time::Nanos;

/// Which packets are lost before they reach the queue.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Loss {
    /// Each packet with this probability, independently.
    Random(f64),
    /// In bursts: a chain of two states, good and bad, that takes one step for every packet (Gilbert, 1960; Elliott,
    /// 1963). It starts in the good state. With `good: 0.0` and `bad: 1.0` the share of packets lost is `p / (p + r)`,
    /// and `1 / r` packets are lost in a row on average.
    GilbertElliott {
        /// The probability of the step from good to bad.
        p: f64,
        /// The probability of the step from bad to good.
        r: f64,
        /// The probability that a packet is lost in the good state.
        good: f64,
        /// The probability that a packet is lost in the bad state.
        bad: f64,
    },
    /// Given packets: their places in the order in which they reach this stage, from 0, increasing.
    Packets(Vec<u64>),
    /// All packets that arrive at given times.
    Intervals(Vec<Interval>),
    /// The last packets of every n packets, in a row.
    Burst {
        /// From one burst's end to the next one's, in packets; positive.
        every: u64,
        /// A burst's length in packets; positive and at most `every`.
        length: u64,
    },
}

impl Loss {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Random(loss) if !(0.0..=1.0).contains(loss) => Err(ConfigError::Loss(*loss)),
            Self::Random(_) => Ok(()),
            Self::GilbertElliott { p, r, good, bad } => {
                probability("the probability of a turn for the worse", *p)?;
                probability("the probability of a turn for the better", *r)?;
                probability("the loss probability in the good state", *good)?;
                probability("the loss probability in the bad state", *bad)
            }
            Self::Packets(places) => increasing("lost packets", places.iter().copied()),
            Self::Intervals(intervals) => validate_intervals("losses", intervals),
            Self::Burst { every, length } => {
                positive("the distance of loss bursts", *every)?;
                positive("the length of a loss burst", *length)?;
                if length > every {
                    return Err(ConfigError::OutOfRange {
                        what: "the length of a loss burst",
                        value: *length as f64,
                        range: "at most the distance of bursts",
                    });
                }
                Ok(())
            }
        }
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::Random(0.0)
    }
}

impl From<f64> for Loss {
    fn from(probability: f64) -> Self {
        Self::Random(probability)
    }
}

/// The times from one, inclusive, to another, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Interval {
    /// The first moment.
    pub from: Nanos,
    /// The moment after the last.
    pub to: Nanos,
}

/// Checks that intervals are not empty, in order and without overlap.
fn validate_intervals(what: &'static str, intervals: &[Interval]) -> Result<(), ConfigError> {
    let mut end = Nanos::ZERO;
    for (index, interval) in intervals.iter().enumerate() {
        let Interval { from, to } = *interval;
        if from >= to {
            return Err(ConfigError::EmptyInterval {
                what,
                index,
                from,
                to,
            });
        }
        if from < end {
            return Err(ConfigError::Unordered { what, index });
        }
        end = to;
    }
    Ok(())
}

/// The impairments before the policer and the queue, other than [`Loss`]. They apply in the order of the
/// fields; loss applies after the blackouts. The default has none.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Impairments {
    /// The largest packet that passes, in bytes on the wire; positive. Larger ones are dropped.
    pub mtu: Option<u64>,
    /// The intervals in which all arrivals are dropped; in order and without overlap.
    pub blackouts: Vec<Interval>,
    /// The probability that a packet is duplicated. The copy comes right behind it; what follows happens to each
    /// independently.
    pub duplication: f64,
    /// The probability that a byte of the payload is inverted. The packet is delivered: dropping it is for the transport.
    pub corruption: f64,
    /// Delays packets, so that others overtake them.
    pub reordering: Option<Reordering>,
}

impl Impairments {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        positive("the MTU", self.mtu.unwrap_or(1))?;
        validate_intervals("blackouts", &self.blackouts)?;
        probability("duplication probability", self.duplication)?;
        probability("corruption probability", self.corruption)?;
        self.reordering.map_or(Ok(()), |reordering| {
            probability("reordering probability", reordering.probability)
        })
    }
}

/// Holds some of the packets back.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Reordering {
    /// The probability that a packet is held back.
    pub probability: f64,
    /// How long.
    pub delay: Nanos,
}
