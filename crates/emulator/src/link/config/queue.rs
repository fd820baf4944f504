//! Where packets wait.

use super::ConfigError;
use super::aqm::{CoDel, FqCoDel, Pie};
use super::marking::{Red, StepMark};
use crate::time::Nanos;

/// The queue. The packet being sent has left it and does not count towards its limit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Queue {
    /// First in, first out, without a limit.
    Infinite,
    /// First in, first out; an arrival that would exceed the limit is dropped.
    DropTail(Limit),
    /// First in, first out; an arrival that would exceed the limit drops the oldest packets. One that exceeds it on its
    /// own empties the queue and is dropped too.
    DropHead(Limit),
    /// Controlled delay (RFC 8289).
    CoDel(CoDel),
    /// Proportional integral controller, enhanced (RFC 8033).
    Pie(Pie),
    /// A queue with CoDel for each flow (RFC 8290).
    FqCoDel(FqCoDel),
    /// Random early detection (Floyd and Jacobson, 1993).
    Red(Red),
    /// Marks packets that arrive at a queue above a threshold, as for DCTCP (RFC 8257, section 3.1).
    StepMark(StepMark),
}

impl Queue {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Infinite => Ok(()),
            Self::DropTail(limit) | Self::DropHead(limit) => limit.validate(),
            Self::CoDel(codel) => codel.validate(),
            Self::Pie(pie) => pie.validate(),
            Self::FqCoDel(fq_codel) => fq_codel.validate(),
            Self::Red(red) => red.validate(),
            Self::StepMark(step) => step.validate(),
        }
    }
}

/// How much a queue holds, in bytes on the wire, in packets, in time, or any of them. A queue filled exactly to its limit
/// is in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Limit {
    /// The maximum number of bytes in the queue; positive, or `None` for no limit.
    pub bytes: Option<u64>,
    /// The maximum number of packets in the queue; positive, or `None` for no limit.
    pub packets: Option<u64>,
    /// The maximum wait; positive, or `None` for no limit. A packet that has waited longer is dropped when the shaper
    /// would take it: the wait of an arrival is not known in advance.
    pub time: Option<Nanos>,
}

impl Limit {
    /// A limit in bytes on the wire.
    pub const fn bytes(bytes: u64) -> Self {
        Self {
            bytes: Some(bytes),
            packets: None,
            time: None,
        }
    }

    /// A limit in packets.
    pub const fn packets(packets: u64) -> Self {
        Self {
            bytes: None,
            packets: Some(packets),
            time: None,
        }
    }

    /// A limit in time.
    pub const fn time(time: Nanos) -> Self {
        Self {
            bytes: None,
            packets: None,
            time: Some(time),
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match (self.bytes, self.packets, self.time) {
            (None, None, None) => Err(ConfigError::NoLimit),
            (Some(0), ..) => Err(ConfigError::ZeroLimit { unit: "bytes" }),
            (_, Some(0), _) => Err(ConfigError::ZeroLimit { unit: "packets" }),
            (.., Some(Nanos::ZERO)) => Err(ConfigError::ZeroLimit { unit: "time" }),
            _ => Ok(()),
        }
    }
}
