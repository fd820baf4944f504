//! Which packets are lost before they reach the queue.

use super::ConfigError;
use super::error::{increasing, positive, probability};
use super::interval::{self, Interval};

/// Which packets are lost before they reach the queue.
#[derive(Debug, Clone, PartialEq)]
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
            Self::Intervals(intervals) => interval::validate("losses", intervals),
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
