//! The configuration of a link.

mod aqm;
mod delay;
mod error;
mod loss;
mod marking;
mod queue;
mod shaper;

pub use aqm::{
    CODEL_INTERVAL, CODEL_TARGET, CoDel, FQ_CODEL_FLOWS, FQ_CODEL_LIMIT, FQ_CODEL_QUANTUM, FqCoDel,
    MAHIMAHI_PIE_UPDATE, PIE_ALPHA, PIE_BETA, PIE_BURST, PIE_ECN_THRESHOLD, PIE_MIN_UPDATE,
    PIE_TARGET, PIE_UPDATE, Pie,
};
pub use delay::{Aggregation, Delay, DelayStep, Jitter, TRUNCATION};
pub use error::ConfigError;
pub use loss::{Impairments, Interval, Loss, Reordering};
pub use marking::{RED_MAX_PROBABILITY, RED_PACKET_TIME, RED_WEIGHT, Red, StepMark};
pub use queue::{Limit, Queue};
pub use shaper::{Policer, RateStep, Shaper};

/// One direction of a path: impairments, then a policer, then a queue, then a shaper, then aggregation, then propagation.
///
/// ```
/// use kneepoint_emulator::link::{FqCoDel, LinkConfig, Loss, Queue, Shaper};
/// use kneepoint_emulator::time::Nanos;
///
/// let cable = LinkConfig {
///     queue: Queue::FqCoDel(FqCoDel::default()),
///     delay: Nanos::from_millis(12).into(),
///     loss: Loss::GilbertElliott { p: 0.0001, r: 0.3, good: 0.0, bad: 1.0 },
///     ..LinkConfig::new(Shaper::TokenBucket {
///         bytes_per_second: 5_000_000,
///         burst: 60_000,
///         peak: Some(125_000_000),
///     })
/// };
/// assert!(cable.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LinkConfig {
    /// The shaper, which limits the rate.
    pub shaper: Shaper,
    /// Where packets wait for the shaper.
    pub queue: Queue,
    /// Propagation delay: from a packet's departure from the shaper to its delivery.
    pub delay: Delay,
    /// Which packets are lost before they reach the queue.
    pub loss: Loss,
    /// Further impairments before the queue.
    pub impairments: Impairments,
    /// The policer before the queue.
    pub policer: Option<Policer>,
    /// The aggregation after the shaper, which releases packets in batches.
    pub aggregation: Option<Aggregation>,
    /// The overhead of a datagram on the wire beyond its UDP payload, in bytes.
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
            delay: Delay::default(),
            loss: Loss::default(),
            impairments: Impairments::default(),
            policer: None,
            aggregation: None,
            overhead,
            log: false,
        }
    }

    /// The same link of one rate.
    pub fn constant(bytes_per_second: u64) -> Self {
        Self::new(Shaper::ConstantRate { bytes_per_second })
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.shaper.validate()?;
        self.queue.validate()?;
        self.delay.validate()?;
        self.loss.validate()?;
        self.impairments.validate()?;
        self.policer.map_or(Ok(()), |policer| policer.validate())?;
        self.aggregation
            .map_or(Ok(()), |aggregation| aggregation.validate())
    }
}

/// An IPv4 and a UDP header without options, in bytes (RFC 791, section 3.1; RFC 768).
pub const UDP_IPV4_OVERHEAD: u32 = 28;

/// An IPv6 header without extensions and a UDP header, in bytes (RFC 8200, section 3; RFC 768).
pub const UDP_IPV6_OVERHEAD: u32 = 48;

/// mahimahi's overhead for a UDP datagram over IPv4, in bytes: it includes the TUN device's 4-byte header.
pub const MAHIMAHI_OVERHEAD: u32 = UDP_IPV4_OVERHEAD + 4;
