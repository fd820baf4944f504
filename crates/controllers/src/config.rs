//! What every controller's configuration has in common.

use core::fmt::Debug;

use thiserror::Error;

use crate::controller::Controller;
use crate::units::{Bytes, Gain, Timestamp};

/// Builds controllers: one for each connection and path.
pub trait ControllerConfig: Debug + Send + Sync {
    /// Whether the values make sense together.
    ///
    /// # Errors
    /// The first value that does not, with the range it has to be in.
    fn validate(&self) -> Result<(), ConfigError>;

    /// A controller for a connection that begins now.
    ///
    /// # Errors
    /// As [`validate`](Self::validate): a configuration that is valid can be built.
    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError>;
}

/// What a controller must know of its connection before the first event.
#[derive(Debug, Clone, Copy)]
pub struct Environment {
    /// The time.
    pub now: Timestamp,
    /// The largest datagram known to fit the path.
    pub mtu: Bytes,
    /// Seeds whatever the controller draws at random.
    pub seed: u64,
    /// What the transport can do.
    pub transport: Transport,
}

/// What a transport can do with a controller's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// Whether it paces at the rate that it is told. If not, it paces by the window: at 1.25 windows per smoothed RTT, say
    /// (RFC 9002, section 7.7).
    pub paces: bool,
}

/// How a host that cannot pace at a rate of the controller's choosing turns rate and window into its one window.
///
/// A QUIC stack like quinn paces at a fixed multiple of window over smoothed RTT, so that the bytes in flight are
/// the controller's only lever. What is called min RTT here has 1 ms on top for the hosts, and is at least the interval at which
/// acknowledgements come. Once the pipe has been filled, the policies other than [`Window`](Self::Window)
/// hold the sender near rate x min RTT; while it is being filled all of them give the plain window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WindowPolicy {
    /// The congestion window as it is: what the papers' BBR amounts to without pacing.
    Window,
    /// min(window, rate x smoothed RTT): the pacing rate by Little's law. Neutral: a queue once built stays.
    Rate,
    /// min(window, rate x min(smoothed RTT, 1.25 min RTT + ACK gap) + 1 MTU): for filters that err upwards (maximum,
    /// percentile). The smoothed RTT may not inflate the window beyond a quarter over the minimum.
    RttCapped,
    /// `gain` x rate x min RTT + rate x ACK gap + 1 MTU: for filters that do not err (averages, Kalman filters).
    /// `gain` above 1 keeps the bottleneck busy, so that the samples show the path and not the sender.
    Bdp {
        /// How much of the bandwidth-delay product may be in flight.
        gain: Gain,
    },
    /// (expected + head-room) x min RTT + 1 MTU. What the link is expected to carry is what it carried while it was
    /// busy, within the last round trip above all, so that a fall is answered before the estimate has moved. The
    /// head-room keeps the link busy when it speeds up, and is as large as that takes.
    BusyRate(QueueTarget),
}

impl WindowPolicy {
    /// Whether what is paced at the estimate can fill the window.
    pub(crate) const fn allows_pacing(&self) -> bool {
        match self {
            Self::Window | Self::Rate | Self::RttCapped => true,
            Self::Bdp { .. } | Self::BusyRate(_) => false,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Window | Self::Rate | Self::RttCapped => Ok(()),
            Self::Bdp { gain } => {
                let gain = gain.as_f64();
                ConfigError::require(
                    (1.0..=4.0).contains(&gain),
                    "window_policy.gain",
                    gain,
                    "1 to 4: below 1 the samples only show the sender's own rate",
                )
            }
            Self::BusyRate(target) => {
                let idle = target.idle.as_f64();
                let (min, max) = (target.min.as_f64(), target.max.as_f64());
                ConfigError::require(
                    idle > 0.0 && idle <= 0.5 && min > 0.0 && min <= max && max <= 4.0,
                    "window_policy.queue_target",
                    format!("{min} to {max} for {idle} idle"),
                    "idle for above 0 and up to a half, head-room above 0, the lesser bound first, and up to 4: without \
                     it the window only shrinks",
                )
            }
        }
    }
}

/// The queue that [`WindowPolicy::BusyRate`] leaves at the bottleneck, in shares of the rate it usually carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct QueueTarget {
    /// The share of the time for which the bottleneck may run empty: the head-room grows when it does so for longer, and
    /// shrinks otherwise. A steady link needs next to no queue for this, one that swings within a round trip a long one.
    pub idle: Gain,
    /// The head-room is at least this share; a quarter of it where others keep the link busy, too.
    pub min: Gain,
    /// And at most this.
    pub max: Gain,
}

/// A configuration value out of its range.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{field} is {value}, but must be {expected}")]
pub struct ConfigError {
    /// The field's name.
    pub field: &'static str,
    /// What it holds.
    pub value: String,
    /// What it may hold.
    pub expected: String,
}

impl ConfigError {
    /// `Err` unless `holds`.
    pub(crate) fn require(
        holds: bool,
        field: &'static str,
        value: impl ToString,
        expected: &'static str,
    ) -> Result<(), Self> {
        if holds {
            return Ok(());
        }
        Err(Self {
            field,
            value: value.to_string(),
            expected: expected.to_owned(),
        })
    }
}
