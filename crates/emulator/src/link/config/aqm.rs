//! Active queue management that controls delay.

use super::error::{in_range, positive, probability};
use super::{ConfigError, Limit};
use crate::time::Nanos;

/// Controlled delay (RFC 8289). The default has the RFC's parameters, no limit and no ECN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CoDel {
    /// The acceptable standing delay; positive.
    pub target: Nanos,
    /// How long the delay may stay above the target before the first drop; positive.
    pub interval: Nanos,
    /// A backlog that is never dropped from, in bytes: a packet of the largest size.
    pub mtu: u64,
    /// The limit above which arrivals are dropped.
    pub limit: Option<Limit>,
    /// Whether packets of an ECN-capable transport are marked where they would be dropped.
    pub ecn: bool,
}

impl CoDel {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        positive("CoDel's target", self.target.0)?;
        positive("CoDel's interval", self.interval.0)?;
        self.limit.map_or(Ok(()), |limit| limit.validate())
    }
}

impl Default for CoDel {
    fn default() -> Self {
        Self {
            target: CODEL_TARGET,
            interval: CODEL_INTERVAL,
            mtu: MTU,
            limit: None,
            ecn: false,
        }
    }
}

/// A queue with CoDel for each flow, and deficit round robin among them (RFC 8290). The default has the RFC's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FqCoDel {
    /// The CoDel parameters of each flow's queue. Their limit applies to all flows together: packets above it are
    /// dropped from the head of the longest queue.
    pub codel: CoDel,
    /// The quantum: the bytes that a flow sends per round; positive.
    pub quantum: u32,
    /// The number of queues, to which flows are assigned by a hash of their addresses; positive.
    pub flows: u16,
}

impl FqCoDel {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.codel.validate()?;
        positive("FQ-CoDel's quantum", self.quantum.into())?;
        positive("FQ-CoDel's number of flows", self.flows.into())
    }
}

impl Default for FqCoDel {
    fn default() -> Self {
        Self {
            codel: CoDel {
                limit: Some(Limit::packets(FQ_CODEL_LIMIT)),
                ecn: true,
                ..CoDel::default()
            },
            quantum: FQ_CODEL_QUANTUM,
            flows: FQ_CODEL_FLOWS,
        }
    }
}

/// Proportional integral controller, enhanced (RFC 8033). The default has the RFC's parameters, no limit, none of the
/// optional elements.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pie {
    /// The delay to keep; positive.
    pub target: Nanos,
    /// The time between updates of the drop probability; at least [`PIE_MIN_UPDATE`]. [`MAHIMAHI_PIE_UPDATE`] is
    /// mahimahi's.
    pub update: Nanos,
    /// The increase of the probability per second of delay above the target; not negative.
    pub alpha: f64,
    /// The increase of the probability per second of growth of the delay; not negative.
    pub beta: f64,
    /// How long a burst is let through after an idle period.
    pub burst: Nanos,
    /// Whether drops are spread evenly: none until the probabilities since the last drop add up to 0.85, one by the time
    /// they add up to 8.5 (RFC 8033, section 5.4).
    pub derandomized: bool,
    /// The limit above which arrivals are dropped at any probability.
    pub limit: Option<Limit>,
    /// Whether packets of an ECN-capable transport are marked where they would be dropped.
    pub ecn: bool,
    /// From which drop probability on packets are dropped that could be marked; in `[0, 1]`.
    pub ecn_threshold: f64,
}

impl Pie {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        positive("PIE's target", self.target.0)?;
        let update = self.update.as_secs_f64();
        let min = PIE_MIN_UPDATE.as_secs_f64();
        let range = "at least 100 microseconds";
        in_range(
            "PIE's update interval in seconds",
            update,
            min..=f64::MAX,
            range,
        )?;
        for (what, value) in [("PIE's alpha", self.alpha), ("PIE's beta", self.beta)] {
            in_range(what, value, 0.0..=f64::MAX, "zero or a positive number")?;
        }
        probability("PIE's ECN threshold", self.ecn_threshold)?;
        self.limit.map_or(Ok(()), |limit| limit.validate())
    }
}

impl Default for Pie {
    fn default() -> Self {
        Self {
            target: PIE_TARGET,
            update: PIE_UPDATE,
            alpha: PIE_ALPHA,
            beta: PIE_BETA,
            burst: PIE_BURST,
            derandomized: false,
            limit: None,
            ecn: false,
            ecn_threshold: PIE_ECN_THRESHOLD,
        }
    }
}

/// CoDel's target (RFC 8289, section 4.4).
pub const CODEL_TARGET: Nanos = Nanos::from_millis(5);
/// CoDel's interval (RFC 8289, section 4.3).
pub const CODEL_INTERVAL: Nanos = Nanos::from_millis(100);
/// The largest packet of Ethernet, in bytes (RFC 894).
const MTU: u64 = 1500;

/// FQ-CoDel's limit, in packets (RFC 8290, section 5.2.3).
pub const FQ_CODEL_LIMIT: u64 = 10_240;
/// FQ-CoDel's quantum, in bytes (RFC 8290, section 5.2.4).
pub const FQ_CODEL_QUANTUM: u32 = 1514;
/// FQ-CoDel's number of queues (RFC 8290, section 5.2.5).
pub const FQ_CODEL_FLOWS: u16 = 1024;

/// PIE's QDELAY_REF (RFC 8033, section 4.2).
pub const PIE_TARGET: Nanos = Nanos::from_millis(15);
/// PIE's T_UPDATE (RFC 8033, section 4.2).
pub const PIE_UPDATE: Nanos = Nanos::from_millis(15);
/// Mahimahi's T_UPDATE.
pub const MAHIMAHI_PIE_UPDATE: Nanos = Nanos::from_millis(30);
/// The shortest time between updates that is supported.
pub const PIE_MIN_UPDATE: Nanos = Nanos::from_micros(100);
/// PIE's alpha, per second (RFC 8033, section 4.2).
pub const PIE_ALPHA: f64 = 0.125;
/// PIE's beta, per second (RFC 8033, section 4.2).
pub const PIE_BETA: f64 = 1.25;
/// PIE's MAX_BURST (RFC 8033, section 4.4).
pub const PIE_BURST: Nanos = Nanos::from_millis(150);
/// PIE's mark_ecnth (RFC 8033, section 5.1).
pub const PIE_ECN_THRESHOLD: f64 = 0.1;
