//! The parts that the configurations of all controllers share.

use core::fmt::Debug;

use thiserror::Error;

use crate::controller::Controller;
use crate::units::{Bytes, Gain, Timestamp};

/// Builds controllers: one for each connection and path.
///
/// The trait is open, as [`Controller`] is: methods that a later version adds have a default.
pub trait ControllerConfig: Debug + Send + Sync {
    /// Checks the values.
    ///
    /// # Errors
    /// The first value that is out of its range, and the range.
    fn validate(&self) -> Result<(), ConfigError>;

    /// A controller for a connection that begins now.
    ///
    /// # Errors
    /// As [`validate`](Self::validate): a configuration that is valid can be built.
    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError>;
}

/// The environment of a new controller.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Environment {
    /// The time.
    pub now: Timestamp,
    /// The largest datagram known to fit the path.
    pub mtu: Bytes,
    /// The seed of the controller's random numbers.
    pub seed: u64,
    /// The capabilities of the transport.
    pub transport: Transport,
}

impl Environment {
    /// A connection that begins at time zero.
    pub const fn new(mtu: Bytes, seed: u64, transport: Transport) -> Self {
        Self {
            now: Timestamp::ZERO,
            mtu,
            seed,
            transport,
        }
    }
}

/// The capabilities of a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transport {
    /// Whether it paces at the controller's rate. If not, it paces by the window: at 1.25 windows per smoothed RTT, for
    /// example (RFC 9002, section 7.7).
    pub paces: bool,
}

impl Transport {
    /// It paces at the controller's rate.
    pub const PACES: Self = Self { paces: true };

    /// It paces by the window.
    pub const WINDOW_ONLY: Self = Self { paces: false };
}

/// How a transport that cannot pace at the controller's rate combines rate and window into one window.
///
/// A QUIC stack like quinn paces at a fixed multiple of window over smoothed RTT, so that the bytes in flight are
/// the controller's only means. "min RTT" below includes 1 ms for the hosts, and is at least the interval of
/// acknowledgements. Once the pipe has been filled, the policies other than [`Window`](Self::Window)
/// hold the sender near rate x min RTT. Before that all of them give the controller's own window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WindowPolicy {
    /// The congestion window alone: the papers' BBR without pacing.
    Window,
    /// min(window, rate x smoothed RTT): the pacing rate by Little's law. It neither grows nor drains a queue.
    Rate,
    /// min(window, rate x min(smoothed RTT, 1.25 min RTT + ACK gap) + 1 MTU): for filters that are biased high
    /// (maximum, percentile). The smoothed RTT enlarges the window by at most a quarter above min RTT.
    RttCapped,
    /// `gain` x rate x min RTT + rate x ACK gap + 1 MTU: for unbiased filters (averages, Kalman filters). `gain` above
    /// 1 keeps the bottleneck busy, so that the samples show the path and not the sender.
    Bdp {
        /// The maximum flight in bandwidth-delay products.
        gain: Gain,
    },
}

impl WindowPolicy {
    /// Whether packets paced at the estimate can fill the window.
    pub(crate) const fn allows_pacing(&self) -> bool {
        match self {
            Self::Window | Self::Rate | Self::RttCapped => true,
            Self::Bdp { .. } => false,
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
        }
    }
}

/// A configuration value out of its range.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {expected}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The field's name.
    pub field: String,
    /// The value.
    pub value: String,
    /// The allowed range.
    pub expected: String,
}

debug_as_display!(ConfigError);

impl ConfigError {
    /// The error "`field` is `value`, but must be `expected`".
    pub fn new(
        field: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        let mut value = value.to_string();
        // Three hundred digits say less than an exponent.
        if value.len() > MAX_DIGITS
            && let Ok(number) = value.parse::<f64>()
        {
            value = format!("{number:e}");
        }
        Self {
            field: field.into(),
            value,
            expected: expected.into(),
        }
    }

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
        Err(Self::new(field, value, expected))
    }
}

/// How long a number may be in an error: that of any whole number of 64 bits.
const MAX_DIGITS: usize = 20;
