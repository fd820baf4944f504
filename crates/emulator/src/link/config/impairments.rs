//! Further impairments before the queue.

use super::ConfigError;
use super::error::{positive, probability};
use super::interval::{self, Interval};
use crate::time::Nanos;

/// The impairments before the policer and the queue, other than [`Loss`](super::Loss). They apply in the order of the
/// fields; loss applies after the blackouts. The default has none.
#[derive(Debug, Clone, Default, PartialEq)]
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
        interval::validate("blackouts", &self.blackouts)?;
        probability("duplication probability", self.duplication)?;
        probability("corruption probability", self.corruption)?;
        self.reordering.map_or(Ok(()), |reordering| {
            probability("reordering probability", reordering.probability)
        })
    }
}

/// Holds some of the packets back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reordering {
    /// The probability that a packet is held back.
    pub probability: f64,
    /// How long.
    pub delay: Nanos,
}
