//! The window calculator: the window for transports that pace and for those that do not.
//!
//! quinn 0.11 paces at 1.25 x window / smoothed RTT, and a controller cannot change that. It can hold a rate only
//! through the window: rate x RTT, by Little's law. noq paces at the controller's rate, but needs the same window for
//! controllers whose samples must show the path: samples of packets paced at the estimate show the estimate.

mod ack_gap;
mod busy_rate;
#[cfg(test)]
mod tests;

use core::time::Duration;

use self::ack_gap::AckGap;
use self::busy_rate::{Acked, BusyRateEstimator, RateEstimate};
use crate::config::{Environment, WindowPolicy};
use crate::controller::{Control, Refill};
use crate::event::AckEvent;
use crate::model::{held, horizon};
use crate::units::{Bandwidth, Bytes, Gain, saturating_nanos as nanos};

/// The controller's operating point, once the pipe has been filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatingPoint {
    /// The bandwidth estimate.
    pub(crate) bandwidth: Bandwidth,
    /// The sending rate: the estimate times the current gain.
    pub(crate) rate: Bandwidth,
    /// The round-trip time without queues.
    pub(crate) min_rtt: Duration,
    /// The minimum flight beside flows that fill the queue.
    pub(crate) min_inflight: Bytes,
}

/// Computes the window of a [`WindowPolicy`].
#[derive(Debug, Clone)]
pub(crate) struct WindowCalculator {
    policy: WindowPolicy,
    /// Whether the transport is to pace at the controller's rate.
    paced: bool,
    path: Path,
    ack_gap: AckGap,
    /// Only for [`WindowPolicy::BusyRate`].
    busy_rate: Option<BusyRateEstimator>,
    gap: Gap,
    /// The target flight of [`WindowPolicy::BusyRate`].
    target: Bytes,
    in_flight: Bytes,
}

/// Why the flight is below the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// The target has grown. The path is idle until the flight has grown as well.
    Path,
    /// The application had nothing to send. The path carries no more than before: faster packets wait in its queue or
    /// are lost. The transport therefore sends at the path's rate (draft-ietf-ccwg-bbr, section "Restarting From Idle":
    /// at `BBR.bw`, without a gain).
    Application {
        /// The window with which the transport paces at the path's rate.
        pace: Bytes,
    },
}

/// Measurements of the path.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    /// RFC 9002's smoothed round-trip time.
    smoothed_rtt: Duration,
    /// The rate estimate and the queue target: only for [`WindowPolicy::BusyRate`].
    rate_estimate: Option<RateEstimate>,
    /// The maximum recent gap between acknowledgements.
    ack_gap: Duration,
    /// The mean gap that bytes waited for in most of the last rounds.
    recurring_gap: Duration,
    /// The largest datagram that fits.
    mtu: Bytes,
}

impl WindowCalculator {
    /// The calculator for a new path.
    pub(crate) fn new(policy: WindowPolicy, environment: &Environment) -> Self {
        Self {
            policy,
            paced: environment.transport.paces && policy.allows_pacing(),
            path: Path {
                mtu: environment.mtu,
                ..Path::default()
            },
            ack_gap: AckGap::new(),
            busy_rate: match policy {
                WindowPolicy::BusyRate(target) => Some(BusyRateEstimator::new(target)),
                _ => None,
            },
            gap: Gap::Path,
            target: Bytes::ZERO,
            in_flight: Bytes::ZERO,
        }
    }

    /// The MTU has changed.
    pub(crate) fn set_mtu(&mut self, mtu: Bytes) {
        self.path.mtu = mtu;
    }

    /// Sets the flight after packets were sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, in_flight: Bytes) {
        self.in_flight = in_flight;
        self.close_gap();
    }

    /// Updates the measurements that the policy needs. `point` is the operating point before the acknowledgement. In
    /// ProbeRTT the controller itself limits the sender.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        ack: &AckEvent,
        point: Option<&OperatingPoint>,
        in_probe_rtt: bool,
    ) {
        if matches!(self.policy, WindowPolicy::Window) {
            return;
        }
        // Before there is a model, this RTT serves: nothing that depends on it is used before.
        let min_rtt = point.map_or(ack.rtt, |point| point.min_rtt);
        self.in_flight = ack.in_flight;
        self.update_smoothed_rtt(ack.rtt);
        self.measure_gap(ack, min_rtt);
        if let Some(busy_rate) = &mut self.busy_rate {
            busy_rate.on_ack(&Acked {
                now: ack.now,
                bytes: ack.acked,
                rtt: ack.rtt,
                min_rtt,
                window_limited: !ack.app_limited && !in_probe_rtt,
            });
            self.path.rate_estimate = busy_rate.rate_estimate(self.path.mtu);
            if ack.app_limited || self.gap != Gap::Path {
                self.gap = self.path.gap_of_application(point);
            }
        }
    }

    /// The gap is closed once another packet would exceed the target.
    #[inline]
    fn close_gap(&mut self) {
        if self.in_flight + self.path.mtu > self.target {
            self.gap = Gap::Path;
        }
    }

    #[inline]
    fn measure_gap(&mut self, ack: &AckEvent, min_rtt: Duration) {
        let limit = horizon(min_rtt);
        self.ack_gap.on_ack(ack.now, ack.round, ack.acked, limit);
        // One acknowledgement for the whole flight is how the path acknowledges, unless the application has no more
        // data.
        if ack.in_flight == Bytes::ZERO && ack.app_limited {
            self.ack_gap.on_idle();
        }
        self.path.ack_gap = self.ack_gap.max();
        self.path.recurring_gap = self.ack_gap.recurring();
    }

    /// RFC 9002, section 5.3, without the acknowledgement delay, which a controller does not know.
    #[inline]
    fn update_smoothed_rtt(&mut self, sample: Duration) {
        // In whole nanoseconds: dividing a `Duration` takes several divisions.
        let sample = nanos(sample);
        let smoothed = match nanos(self.path.smoothed_rtt) {
            0 => sample,
            smoothed => smoothed - smoothed / 8 + sample / 8,
        };
        self.path.smoothed_rtt = Duration::from_nanos(smoothed);
    }

    /// The window, pace and quantum for the transport. `allowed` is the window of the model.
    #[inline]
    pub(crate) fn control(
        &mut self,
        allowed: Bytes,
        point: Option<&OperatingPoint>,
        pacing_rate: Option<Bandwidth>,
        send_quantum: Bytes,
    ) -> Control {
        let (window, refill) = match (point, self.policy) {
            (Some(point), WindowPolicy::BusyRate(_)) => self.tracking_window(allowed, point),
            (Some(point), _) => {
                let window = self.window(allowed, point);
                (window, self.spread(window, point))
            }
            (None, _) => (allowed, Refill::Plain),
        };
        Control {
            window,
            refill,
            pacing_rate: pacing_rate.filter(|_| self.paced),
            send_quantum,
        }
    }

    #[inline]
    fn window(&self, allowed: Bytes, point: &OperatingPoint) -> Bytes {
        let path = &self.path;
        let flight = match self.policy {
            WindowPolicy::Window => return allowed,
            WindowPolicy::Rate => point
                .rate
                .bytes_in(path.smoothed_rtt.max(path.min_span(point))),
            WindowPolicy::RttCapped => {
                let max = (CAP * horizon(point.min_rtt)).saturating_add(path.ack_gap);
                let span = path.smoothed_rtt.max(path.batched_span(point)).min(max);
                point.rate.bytes_in(span)
            }
            WindowPolicy::Bdp { gain } => {
                let plain = gain * point.rate.bytes_in(horizon(point.min_rtt))
                    + point.rate.bytes_in(path.ack_gap);
                plain.max(gain * point.rate.bytes_in(path.batched_span(point)))
            }
            WindowPolicy::BusyRate(_) => path.tracked(point),
        };
        path.window_for(flight, allowed)
    }

    /// Spreads the window over the path's RTT.
    ///
    /// After a link was closed, the smoothed RTT includes the outage. Paced by it, a flight of 40 ms would take half a
    /// second to send, and samples of that time would show the pacing. RFC 9002, section 7.7, asks for a pace at which
    /// the window can be used.
    #[inline]
    fn spread(&self, window: Bytes, point: &OperatingPoint) -> Refill {
        if !matches!(
            self.policy,
            WindowPolicy::RttCapped | WindowPolicy::Bdp { .. }
        ) {
            return Refill::Plain;
        }
        let path = &self.path;
        let max = horizon(point.min_rtt).saturating_add(path.ack_gap);
        let span = path.batched_span(point).max(max);
        if path.smoothed_rtt <= SILENT * span {
            return Refill::Plain;
        }
        let [span, smoothed] = [span, path.smoothed_rtt].map(|time| Bytes(nanos(time)));
        Refill::PaceOf(window.share(smoothed, span))
    }

    /// The window of [`WindowPolicy::BusyRate`], and how to reach it.
    #[inline]
    fn tracking_window(&mut self, allowed: Bytes, point: &OperatingPoint) -> (Bytes, Refill) {
        self.target = self.path.tracked(point);
        self.close_gap();
        let window_for = |flight: Bytes| {
            self.path
                .window_for(flight.max(point.min_inflight), allowed)
        };
        let refill = match self.gap {
            // Beside flows that fill the queue a faster pace loses more packets.
            Gap::Path if self.target < point.min_inflight => Refill::Plain,
            Gap::Path => Refill::CatchUp(allowed),
            Gap::Application { pace } => Refill::PaceOf(window_for(pace)),
        };
        (window_for(self.target), refill)
    }
}

impl Path {
    /// The window for a target flight.
    #[inline]
    fn window_for(&self, flight: Bytes, allowed: Bytes) -> Bytes {
        // quinn stops when the next packet would reach the window, noq when it would exceed the window. With one packet
        // more, the flight itself reaches the target.
        (flight + self.mtu)
            .max(self.mtu * MIN_WINDOW_PACKETS)
            .min(allowed)
    }

    /// The rate estimate times min RTT and the hosts' delay, the queue target, and the effect of the gain cycle.
    #[inline]
    fn tracked(&self, point: &OperatingPoint) -> Bytes {
        let rate_estimate = self.rate_estimate.unwrap_or(RateEstimate {
            rate: point.bandwidth,
            ..RateEstimate::default()
        });
        let pause = self.min_span(point).saturating_sub(horizon(point.min_rtt));
        let held = |rate| held(rate, point.min_rtt);
        let (cycle, estimate) = (held(point.rate), held(point.bandwidth));
        held(rate_estimate.rate)
            + held(rate_estimate.queue_target)
            + point.bandwidth.bytes_in(pause)
            + (cycle - estimate)
            - (estimate - cycle)
    }

    /// The gap that the application left: the transport fills it at the path's rate.
    #[inline]
    fn gap_of_application(&self, point: Option<&OperatingPoint>) -> Gap {
        let estimate = point.map(|point| point.bandwidth);
        let rate = self.rate_estimate.map(|rate_estimate| rate_estimate.rate);
        rate.or(estimate)
            .map_or(Gap::Path, |rate| Gap::Application {
                pace: PACE_OF_WINDOW * rate.bytes_in(self.smoothed_rtt),
            })
    }

    /// The minimum time that a window covers. If acknowledgements come at intervals longer than the RTT, each interval
    /// carries one window. The newest packet of each interval has the shortest RTT.
    #[inline]
    fn min_span(&self, point: &OperatingPoint) -> Duration {
        horizon(point.min_rtt).max(self.recurring_gap)
    }

    /// The time that a window covers if acknowledgements come in batches and the link stays busy: the path's RTT, and
    /// the wait for the next batch.
    #[inline]
    fn batched_span(&self, point: &OperatingPoint) -> Duration {
        let waits = point.min_rtt.saturating_add(self.recurring_gap);
        waits.max(self.min_span(point))
    }
}

/// A flight of two bandwidth-delay products keeps the RTT below this multiple, and jitter rarely exceeds it.
const SILENT: Gain = Gain::new(2, 1);

/// quinn's pacer sends 1.25 windows in a smoothed RTT.
const PACE_OF_WINDOW: Gain = Gain::new(4, 5);

/// The maximum ratio of smoothed RTT to min RTT that may enlarge the window.
const CAP: Gain = Gain::new(5, 4);

/// The minimum window in packets: two in flight, so that a receiver that acknowledges every second packet does so at
/// once, and one more for the transport's rule.
const MIN_WINDOW_PACKETS: u64 = 3;
