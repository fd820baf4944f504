//! What a link is made of.

use crate::time::Nanos;
use crate::trace::Trace;

/// One direction of a path: loss, then a queue, then a shaper, then propagation.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// What limits the rate.
    pub shaper: Shaper,
    /// Where packets wait for the shaper.
    pub queue: Queue,
    /// Propagation delay: from a packet's departure from the shaper to its delivery.
    pub delay: Nanos,
    /// The probability that a packet is lost before it reaches the queue, in `[0, 1]`.
    pub loss: f64,
    /// What a datagram occupies on the wire beyond its UDP payload, in bytes.
    pub overhead: u32,
    /// Whether to keep a record of every packet, see [`Link::log`](super::Link::log). Counters are always kept.
    pub log: bool,
}

impl LinkConfig {
    /// A link with an infinite queue, no delay, no loss, [`UDP_IPV4_OVERHEAD`] and no log.
    pub fn new(shaper: Shaper) -> Self {
        let overhead = UDP_IPV4_OVERHEAD;
        Self {
            shaper,
            queue: Queue::Infinite,
            delay: Nanos::ZERO,
            loss: 0.0,
            overhead,
            log: false,
        }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if matches!(
            self.shaper,
            Shaper::ConstantRate {
                bytes_per_second: 0
            }
        ) {
            return Err(ConfigError::ZeroRate);
        }
        if let Queue::DropTail(Limit { bytes, packets }) = self.queue {
            match (bytes, packets) {
                (None, None) => return Err(ConfigError::NoLimit),
                (Some(0), _) => return Err(ConfigError::ZeroLimit { unit: "bytes" }),
                (_, Some(0)) => return Err(ConfigError::ZeroLimit { unit: "packets" }),
                _ => {}
            }
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return Err(ConfigError::Loss(self.loss));
        }
        Ok(())
    }
}

/// What limits a link's rate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shaper {
    /// A serial line: each packet occupies it for its size divided by the rate.
    ConstantRate {
        /// The rate, in bytes per second; positive.
        bytes_per_second: u64,
    },
    /// Mahimahi's delivery opportunities. The trace starts at time 0.
    Trace(Trace),
}

/// Where packets wait. The packet being sent has left the queue and does not count towards its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Queue {
    /// First in, first out, without a limit.
    Infinite,
    /// First in, first out; an arrival that would exceed the limit is dropped.
    DropTail(Limit),
}

/// How much a queue holds, in bytes on the wire, in packets, or both. A queue filled exactly to its limit is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The most bytes in the queue; positive, or `None` for no such limit.
    pub bytes: Option<u64>,
    /// The most packets in the queue; positive, or `None` for no such limit.
    pub packets: Option<u64>,
}

impl Limit {
    /// A limit in bytes on the wire.
    pub const fn bytes(bytes: u64) -> Self {
        Self {
            bytes: Some(bytes),
            packets: None,
        }
    }

    /// A limit in packets.
    pub const fn packets(packets: u64) -> Self {
        Self {
            bytes: None,
            packets: Some(packets),
        }
    }
}

/// Why a configuration is not valid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A constant rate of zero never sends.
    #[error("the rate of a link must be positive")]
    ZeroRate,
    /// A drop-tail queue was given neither limit.
    #[error("a drop-tail queue needs a limit in bytes, in packets or in both")]
    NoLimit,
    /// A queue that holds nothing drops everything.
    #[error("a queue's limit in {unit} must be positive")]
    ZeroLimit {
        /// Which of the limits.
        unit: &'static str,
    },
    /// The loss probability lies outside `[0, 1]` or is not a number.
    #[error("loss probability {0} is not between 0 and 1")]
    Loss(f64),
}

/// An IPv4 and a UDP header without options, in bytes (RFC 791, section 3.1; RFC 768).
pub const UDP_IPV4_OVERHEAD: u32 = 28;

/// What mahimahi counts for a UDP datagram over IPv4 beyond its payload, in bytes: it also counts the TUN device's
/// 4-byte header.
pub const MAHIMAHI_OVERHEAD: u32 = UDP_IPV4_OVERHEAD + 4;
