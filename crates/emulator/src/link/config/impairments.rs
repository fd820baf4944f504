//! What else happens to packets before they reach the queue.

use super::ConfigError;
use super::error::{positive, probability};
use super::interval::{self, Interval};
use crate::time::Nanos;

/// What happens to packets before they reach the policer and the queue, apart from [`Loss`](super::Loss). A packet passes
/// the fields in their order; loss comes behind the blackouts. The default does nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Impairments {
    /// The largest packet that passes, in bytes on the wire; positive. Larger ones are dropped.
    pub mtu: Option<u64>,
    /// When everything that arrives is dropped; in order and without overlap.
    pub blackouts: Vec<Interval>,
    /// The probability that a packet is duplicated. The copy comes right behind it; what follows happens to each
    /// independently.
    pub duplication: f64,
    /// The probability that a byte of the payload is inverted. The packet is delivered: dropping it is for the transport.
    pub corruption: f64,
    /// What makes packets come late, so that others overtake them.
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
