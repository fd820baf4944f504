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
    /// A queue of at most `limit` bytes whose thresholds are a twelfth and a quarter of it, without ECN, with [`RED_WEIGHT`],
    /// [`RED_MAX_PROBABILITY`] and [`RED_PACKET_TIME`].
    pub fn within(limit: u64) -> Self {
        Self {
            min: limit / 12,
            // Three times the lower one, as Floyd's note of 1997 says; a limit below 4 bytes has no room for two thresholds.
            max: (limit / 4).max(1),
            max_probability: RED_MAX_PROBABILITY,
            weight: RED_WEIGHT,
            packet_time: RED_PACKET_TIME,
            limit: Some(Limit::bytes(limit)),
            ecn: false,
        }
    }

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

/// RED's drop probability at its upper threshold (Floyd, "RED: Discussions of Setting Parameters", 1997).
pub const RED_MAX_PROBABILITY: f64 = 0.1;
/// RED's weight of an arrival (Floyd and Jacobson, 1993, section 4).
pub const RED_WEIGHT: f64 = 0.002;
/// RED's transmission time of a packet, which counts while the queue is empty: that of 1500 bytes at 12 Mb/s.
pub const RED_PACKET_TIME: Nanos = Nanos::from_millis(1);
