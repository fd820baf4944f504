//! Snapshots of a controller's state, for logs and tools.

use core::time::Duration;

use crate::units::{Bandwidth, Bytes};
use kneepoint_estimators::SkipMode;

/// The state of a controller at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Snapshot {
    /// The controller's name, as in [`Algorithm`](crate::Algorithm).
    pub algorithm: &'static str,
    /// The mode.
    pub mode: Mode,
    /// The estimate of the path's bandwidth; `None` before the first sample.
    pub bandwidth: Option<Bandwidth>,
    /// The estimate of the round-trip time without queues; `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// The congestion window that the transport enforces.
    pub congestion_window: Bytes,
    /// The window at which slow start ends; `None` if nothing has set it, or if the algorithm has no slow start.
    pub slow_start_threshold: Option<Bytes>,
    /// The model's rate. On a transport that paces by the window, the window implements it.
    pub pacing_rate: Option<Bandwidth>,
    /// In flight, as of the last event.
    pub in_flight: Bytes,
    /// Packet-timed round trips so far.
    pub rounds: u64,
    /// Whether the application, not the controller, limited the sender at the last acknowledgement.
    pub app_limited: bool,
    /// Inside the bandwidth filter.
    pub filter: FilterSnapshot,
}

/// The mode of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Mode {
    /// Doubling the window each round, until a loss or a rising delay (RFC 9002, section 7.3.1).
    SlowStart,
    /// Growing more slowly, to check whether the delay stays high (RFC 9406, section 4.2).
    ConservativeSlowStart,
    /// Growing by the algorithm's own rule (RFC 9002, section 7.3.3).
    CongestionAvoidance,
    /// Waiting for the packets sent before the last reduction (RFC 9002, section 7.3.2).
    Recovery,
    /// Searching for the bandwidth exponentially (BBR's Startup).
    Startup,
    /// Draining the queue of Startup.
    Drain,
    /// Following the bandwidth; the phase of the gain cycle, from 0.
    ProbeBandwidth(u8),
    /// Sending less than is delivered, until the flight fits the pipe (draft-ietf-ccwg-bbr, section 5.3.3.1).
    ProbeDown,
    /// Sending at the estimate (section 5.3.3.2).
    ProbeCruise,
    /// Filling the pipe before a probe (section 5.3.3.3).
    ProbeRefill,
    /// Probing for more (section 5.3.3.4).
    ProbeUp,
    /// Keeping the flight small, to measure the RTT without a queue.
    ProbeRtt,
}

/// Inside the bandwidth filter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FilterSnapshot {
    /// No bandwidth filter: the controller has no model.
    None,
    /// A windowed maximum: it has no state but its output.
    Max,
    /// A percentile of the last samples.
    Percentile {
        /// Samples in the history.
        samples: usize,
    },
    /// A windowed maximum corrected for the queue.
    Corrected {
        /// The maximum; `None` before the first sample.
        largest: Option<Bandwidth>,
    },
    /// SKIP on the adaptive Tobit Kalman filter. Rates in bytes per second, variances in their squares.
    Skip {
        /// The state of the mode machine after the last sample; `None` before the first.
        mode: Option<SkipMode>,
        /// The filter's mean.
        mean: f64,
        /// Its variance.
        variance: f64,
        /// The process noise Q.
        process_noise: f64,
        /// The measurement noise R.
        measurement_noise: f64,
        /// Samples so far.
        samples: u64,
    },
}
