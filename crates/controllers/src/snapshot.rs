//! A controller's state at one moment, for people and their tools.

use core::time::Duration;

use crate::units::{Bandwidth, Bytes, Timestamp};
use kneepoint_estimators::SkipMode;

/// A controller's state at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Snapshot {
    /// The controller's name, as in [`Algorithm`](crate::Algorithm).
    pub algorithm: &'static str,
    /// Its state.
    pub mode: Mode,
    /// The estimate of the path's bandwidth; `None` before the first sample.
    pub bandwidth: Option<Bandwidth>,
    /// Whether [`bandwidth`](Self::bandwidth) is a lower bound: the path has carried as much, and was not seen to carry no more. So
    /// it is in slow start, and where an application that sends little has raised the estimate.
    pub lower_bound: bool,
    /// The last acknowledgement that [`bandwidth`](Self::bandwidth) rests on: of packets that the path limited, or that were
    /// delivered at the lower bound. `None` if the controller does not say.
    pub bandwidth_at: Option<Timestamp>,
    /// The estimate of the round-trip time without queues; `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// The congestion window that the transport enforces. A transport that paces by its window may be told another one while less is in flight.
    pub congestion_window: Bytes,
    /// The window at which slow start ends; `None` if nothing has set it, or if the algorithm has no slow start.
    pub slow_start_threshold: Option<Bytes>,
    /// The pacing rate of the model. A transport that paces by the window does not use it.
    pub pacing_rate: Option<Bandwidth>,
    /// The flight, as of the last event. This field and the next two are the connection's, not the controller's:
    /// [`DeliveryRateSampler::describe`](crate::DeliveryRateSampler::describe) sets them.
    pub in_flight: Bytes,
    /// Packet-timed round trips so far.
    pub rounds: u64,
    /// Whether the application, not the controller, limited the sender at the last acknowledgement.
    pub app_limited: bool,
    /// The state of the bandwidth filter.
    pub filter: FilterSnapshot,
}

impl Snapshot {
    /// The state of a controller without a model of the path. Set the other fields if they are known: a bandwidth is a lower bound
    /// unless it says otherwise.
    pub const fn new(algorithm: &'static str, mode: Mode, congestion_window: Bytes) -> Self {
        Self {
            algorithm,
            mode,
            bandwidth: None,
            lower_bound: true,
            bandwidth_at: None,
            min_rtt: None,
            congestion_window,
            slow_start_threshold: None,
            pacing_rate: None,
            in_flight: Bytes::ZERO,
            rounds: 0,
            app_limited: false,
            filter: FilterSnapshot::None,
        }
    }
}

/// A controller's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Mode {
    /// Doubling the window each round, until a loss or a rising delay (RFC 9002, section 7.3.1).
    SlowStart,
    /// Growing more slowly, to see whether the rise of the delay lasts (RFC 9406, section 4.2).
    ConservativeSlowStart,
    /// Growing by the algorithm's own rule (RFC 9002, section 7.3.3).
    CongestionAvoidance,
    /// Waiting for the packets sent before the last reduction (RFC 9002, section 7.3.2).
    Recovery,
    /// Searching for the bandwidth exponentially.
    Startup,
    /// Emptying the queue that the search has made.
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
    /// Sending little, to see the round-trip time without a queue.
    ProbeRtt,
}

/// The state of the bandwidth filter.
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
    #[non_exhaustive]
    Percentile {
        /// Samples in the history.
        samples: usize,
    },
    /// A windowed maximum corrected for the queue.
    #[non_exhaustive]
    Corrected {
        /// The maximum; `None` before the first sample.
        largest: Option<Bandwidth>,
    },
    /// SKIP on the adaptive Tobit Kalman filter. Rates in bytes per second, variances in their squares.
    #[non_exhaustive]
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
