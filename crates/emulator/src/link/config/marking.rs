//! Active queue management by the queue's length.

use super::error::{in_range, positive, probability};
use super::{ConfigError, Limit};
use crate::time::Nanos;

/// Random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Red {
    /// The average queue below which nothing is dropped, in bytes.
    pub min: u64,
    /// The average queue from which everything is dropped, in bytes; above `min`.
    pub max: u64,
    /// The drop probability just below `max`; in `[0, 1]`.
    pub max_probability: f64,
    /// The weight of each arrival's queue in the average; in `(0, 1]`.
    pub weight: f64,
    /// A packet's typical transmission time: while the queue is empty, the average decays as if one arrived that often.
    /// Positive.
    pub packet_time: Nanos,
    /// The limit above which arrivals are dropped at any average.
    pub limit: Option<Limit>,
    /// Whether packets of an ECN-capable transport are marked where they would be dropped.
    pub ecn: bool,
}

impl Red {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.max <= self.min {
            return Err(ConfigError::OutOfRange {
                what: "RED's upper threshold",
                value: self.max as f64,
                range: "above its lower threshold",
            });
        }
        probability("RED's drop probability", self.max_probability)?;
        let range = "positive and at most 1";
        in_range("RED's weight", self.weight, f64::MIN_POSITIVE..=1.0, range)?;
        positive("RED's packet time", self.packet_time.0)?;
        self.limit.map_or(Ok(()), |limit| limit.validate())
    }
}

/// Marks packets of an ECN-capable transport that meet a queue above a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StepMark {
    /// The threshold of the queue. Bytes and packets are counted when a packet arrives, without it (RFC 8257, section
    /// 3.1); its waiting time is counted when it leaves (RFC 9332, section 2.4).
    pub threshold: Limit,
    /// Whether packets of other transports are dropped where these are marked. If not, they pass.
    pub drop_not_ect: bool,
    /// The limit above which arrivals are dropped.
    pub limit: Option<Limit>,
}

impl StepMark {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        // A threshold of 0 marks packets that arrive at a non-empty queue.
        if self.threshold == Limit::default() {
            return Err(ConfigError::NoLimit);
        }
        self.limit.map_or(Ok(()), |limit| limit.validate())
    }
}
