//! The estimate of an interval.

use super::delivery_rate::DeliveryRate;
use super::linear_fit::LinearFit;
use super::seconds;
use crate::float::{as_f64, larger, smaller};
use crate::sample::CapacitySample;

/// How the rate at which the path delivered is measured. See [the module](super) for a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// Delivered bytes over the longer of the sending and the acknowledging time: draft-ietf-ccwg-bbr.
    #[default]
    DeliveryRate,
    /// From the slope of the round-trip time on the sending time: BBR-S, eq. (7).
    RttGradient,
}

/// The slope of the round-trip time on the sending time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RttGradient {
    /// `b`, seconds per second: `S/C - 1` while a queue grows or drains (BBR-S, eq. (6)).
    pub slope: f64,
    /// The standard error of `b`, seconds per second.
    pub error: f64,
    /// The deviation of the round-trip times from the line, s: the path's jitter.
    pub jitter: f64,
}

impl RttGradient {
    /// The gradient of a fit of round-trip times (s) on sending times (s); `None` for fewer than three packets, or if all
    /// were sent at one instant.
    #[must_use]
    pub fn from_fit(fit: &LinearFit) -> Option<Self> {
        let slope = fit.slope()?;
        let jitter = fit.deviation_from(slope)?;
        let error = fit.slope_error_of(jitter)?;
        Some(Self {
            slope,
            error,
            jitter,
        })
    }

    /// The capacity of a path on which packets sent at a constant `sent_rate` show this slope, in that rate's unit.
    ///
    /// BBR-S, eq. (7): `C = S / (1 + b)`. `None` if `1 + b` is below 0.2: delays that fall that fast are those of packets
    /// acknowledged together, not of a queue that drains.
    #[must_use]
    pub fn capacity(&self, sent_rate: f64) -> Option<f64> {
        let stretch = 1.0 + self.slope;
        (stretch >= MIN_STRETCH && sent_rate.is_finite()).then(|| sent_rate / stretch)
    }

    /// Whether the round-trip time rose by more than its own noise.
    #[must_use]
    pub fn is_rising(&self) -> bool {
        self.slope > larger(SIGNIFICANT_ERRORS * self.error, MIN_SLOPE)
    }
}

/// The capacity estimate of one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CapacityEstimate {
    /// The sample for a filter: the measured rate with an infinite sending rate if a queue shows that the rate is the
    /// path's. Otherwise the lesser of the measured and the sending rate, as both rates. Bytes/s.
    pub sample: CapacitySample,
    /// The rate as measured, whether real or not, limited to three times the sending rate. Bytes/s.
    pub measured_rate: f64,
    /// The rate at which the same packets were sent, bytes/s; infinity if they were sent at one instant.
    pub sent_rate: f64,
    /// How the rate was measured: as configured, or [`Method::DeliveryRate`] if that was not possible.
    pub method: Method,
    /// Whether there is evidence of a queue, so that the rate is real.
    pub queueing: bool,
    /// The slope of the round-trip time, if there is one.
    pub gradient: Option<RttGradient>,
    /// The least queueing delay of the interval's packets, ns.
    pub queue_delay: u64,
    /// Delivered in the interval, bytes.
    pub bytes: u64,
    /// Packets delivered in the interval.
    pub packets: u32,
    /// Acknowledgements that delivered them.
    pub batches: u32,
    /// The length of the interval by its acknowledgements, ns.
    pub elapsed: u64,
}

/// The measurements of a finished interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measurements {
    pub(super) delivery: DeliveryRate,
    pub(super) round_trips: LinearFit,
    pub(super) min_rtt: u64,
    pub(super) queue_delay: u64,
    pub(super) bytes: u64,
    pub(super) packets: u32,
    pub(super) batches: u32,
    pub(super) elapsed: u64,
}

impl Measurements {
    /// Draws the conclusion.
    pub(super) fn estimate(&self, wanted: Method) -> CapacityEstimate {
        let sent_rate = self.delivery.sent_rate;
        let gradient = RttGradient::from_fit(&self.round_trips);
        let (rate, method) = self.measure(wanted, gradient);
        let measured_rate = smaller(rate, MAX_OVER_SENT * sent_rate);
        let queueing = self.has_queue(measured_rate, gradient);
        let sample = if queueing {
            CapacitySample::uncensored(measured_rate)
        } else {
            // Sent at one instant or faster than it was delivered, the packets show no more than their delivery.
            let carried = smaller(measured_rate, sent_rate);
            CapacitySample::new(carried, carried)
        };
        CapacityEstimate {
            sample,
            measured_rate,
            sent_rate,
            method,
            queueing,
            gradient,
            queue_delay: self.queue_delay,
            bytes: self.bytes,
            packets: self.packets,
            batches: self.batches,
            elapsed: self.elapsed,
        }
    }

    /// The rate, and how it came about: without a gradient it is the delivery rate.
    fn measure(&self, wanted: Method, gradient: Option<RttGradient>) -> (f64, Method) {
        let by_gradient = match wanted {
            Method::DeliveryRate => None,
            Method::RttGradient => {
                gradient.and_then(|gradient| gradient.capacity(self.delivery.sent_rate))
            }
        };
        by_gradient.map_or((self.delivery.rate, Method::DeliveryRate), |rate| {
            (rate, Method::RttGradient)
        })
    }

    /// Whether a queue grew during the interval, or stood throughout.
    fn has_queue(&self, rate: f64, gradient: Option<RttGradient>) -> bool {
        if gradient.is_some_and(|gradient| gradient.is_rising()) {
            return true;
        }
        // The share first: where no queue stands, the delay is mostly below it.
        let delay = seconds(self.queue_delay);
        let packet = || as_f64(self.bytes) / f64::from(self.packets.max(1));
        let jitter = || gradient.map_or(0.0, |gradient| gradient.jitter);
        delay > STANDING_SHARE * seconds(self.min_rtt)
            && delay > STANDING_PACKETS * packet() / rate
            && delay > SIGNIFICANT_ERRORS * jitter()
    }
}

/// Standard errors, or deviations, that noise hardly exceeds.
const SIGNIFICANT_ERRORS: f64 = 3.0;
/// Seconds per second: a slower rise is clock drift, or rounding.
const MIN_SLOPE: f64 = 0.03;
/// `1 + b`, dimensionless: below it the slope is not that of a queue.
const MIN_STRETCH: f64 = 0.2;
/// In packets: the queue at a bottleneck that serves whole packets and is nearly overloaded.
const STANDING_PACKETS: f64 = 2.0;
/// Fraction of the minimal round-trip time: below it a delay may be the minimum's own error.
const STANDING_SHARE: f64 = 0.02;
/// Dimensionless: no queue drains three times as fast as it was filled without its being noticed before.
const MAX_OVER_SENT: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    const GENTLE: RttGradient = RttGradient {
        slope: 0.25,
        error: 0.01,
        jitter: 0.001,
    };

    #[test]
    fn the_gradient_gives_the_capacity() {
        assert_eq!(GENTLE.capacity(1.25e6), Some(1e6));
        assert_eq!(
            RttGradient {
                slope: -0.5,
                ..GENTLE
            }
            .capacity(1e6),
            Some(2e6)
        );
        assert_eq!(
            RttGradient {
                slope: -0.81,
                ..GENTLE
            }
            .capacity(1e6),
            None
        );
        assert_eq!(GENTLE.capacity(f64::INFINITY), None);
    }

    #[test]
    fn a_rise_has_to_be_significant() {
        assert!(GENTLE.is_rising());
        assert!(
            !RttGradient {
                error: 0.1,
                ..GENTLE
            }
            .is_rising()
        );
        assert!(
            !RttGradient {
                slope: 0.02,
                error: 0.0,
                ..GENTLE
            }
            .is_rising()
        );
    }
}
