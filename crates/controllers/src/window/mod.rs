//! The window calculator: the window for transports that pace and for those that do not.
//!
//! quinn 0.11 paces at 1.25 x window / smoothed RTT, and a controller cannot change that. It can hold a rate only
//! through the window: rate x RTT, by Little's law. noq paces at the controller's rate, but needs the same window for
//! controllers whose samples must show the path: samples of packets paced at the estimate show the estimate.

mod ack_gap;
#[cfg(test)]
mod tests;

use self::ack_gap::AckGap;
use crate::config::{Environment, WindowPolicy};
use crate::controller::{Control, Refill};
use crate::event::AckEvent;
use crate::model::horizon;
use crate::units::{Bandwidth, Bytes, Gain};

/// The controller's operating point, once the pipe has been filled. Times are in nanoseconds here and below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatingPoint {
    /// The bandwidth estimate.
    pub(crate) bandwidth: Bandwidth,
    /// The sending rate: the estimate times the current gain.
    pub(crate) rate: Bandwidth,
    /// The round-trip time without queues.
    pub(crate) min_rtt: u64,
}

impl OperatingPoint {
    /// As [`horizon`].
    fn horizon(&self) -> u64 {
        horizon(self.min_rtt)
    }
}

/// Computes the window of a [`WindowPolicy`].
#[derive(Debug, Clone)]
pub(crate) struct WindowCalculator {
    policy: WindowPolicy,
    /// Whether the transport is to pace at the controller's rate.
    paced: bool,
    path: Path,
    ack_gap: AckGap,
    point: Option<OperatingPoint>,
    limits: Limits,
    control: Control,
}

/// Measurements of the path.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    /// RFC 9002's smoothed round-trip time.
    smoothed_rtt: u64,
    /// The maximum recent gap between acknowledgements.
    ack_gap: u64,
    /// The mean gap that bytes waited for in most of the last rounds.
    recurring_gap: u64,
    /// The largest datagram that fits.
    mtu: Bytes,
    /// What the window is at least.
    min_window: Bytes,
}

/// What follows from the operating point and the gaps, which change once in many acknowledgements.
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    /// The times between which the smoothed RTT sets the flight of [`WindowPolicy::RttCapped`].
    shortest: u64,
    longest: u64,
    /// What [`WindowPolicy::Rate`] keeps in flight at least.
    flight: Bytes,
    /// The window of [`WindowPolicy::Bdp`].
    window: Bytes,
    /// The time over which a window is spread, if the smoothed RTT is much longer.
    spread: u64,
}

impl WindowCalculator {
    /// The calculator for a new path, where `control` holds.
    pub(crate) fn new(policy: WindowPolicy, environment: &Environment, control: Control) -> Self {
        Self {
            policy,
            paced: environment.transport.paces && policy.allows_pacing(),
            path: Path::default().with_mtu(environment.mtu),
            ack_gap: AckGap::new(),
            point: None,
            limits: Limits::default(),
            control,
        }
    }

    #[cfg(test)]
    pub(crate) const fn point(&self) -> Option<OperatingPoint> {
        self.point
    }

    /// The window, pace and quantum for the transport, as of the last [`update`](Self::update).
    pub(crate) const fn control(&self) -> Control {
        self.control
    }

    /// The operating point has changed, once there is one, or the rate or the quantum.
    pub(crate) fn set_model(
        &mut self,
        point: Option<OperatingPoint>,
        pacing_rate: Option<Bandwidth>,
        send_quantum: Bytes,
    ) {
        self.point = point;
        self.control.pacing_rate = pacing_rate.filter(|_| self.paced);
        self.control.send_quantum = send_quantum;
        self.update_limits();
    }

    fn update_limits(&mut self) {
        let (path, Some(point)) = (&self.path, &self.point) else {
            return;
        };
        let (horizon, batched) = (point.horizon(), path.batched_span(point));
        let spread = batched.max(horizon.saturating_add(path.ack_gap));
        self.limits = match self.policy {
            WindowPolicy::Window => return,
            WindowPolicy::Rate => Limits {
                flight: point.rate.bytes_in_nanos(path.min_span(point)),
                ..Limits::default()
            },
            WindowPolicy::RttCapped => Limits {
                shortest: batched,
                longest: CAP.scale(horizon).saturating_add(path.ack_gap),
                spread,
                ..Limits::default()
            },
            WindowPolicy::Bdp { gain } => Limits {
                window: path.window_for(path.bdp_window(gain, point.rate, point)),
                spread,
                ..Limits::default()
            },
        };
    }

    /// The MTU has changed.
    pub(crate) fn set_mtu(&mut self, mtu: Bytes) {
        self.path = self.path.with_mtu(mtu);
        self.update_limits();
    }

    /// Updates the measurements that the policy needs, before the operating point.
    pub(crate) fn on_ack(&mut self, ack: &AckEvent) {
        if matches!(self.policy, WindowPolicy::Window) {
            return;
        }
        let rtt = ack.rtt_nanos();
        // RFC 9002, section 5.3, without the acknowledgement delay, which a controller does not know.
        self.path.smoothed_rtt = match self.path.smoothed_rtt {
            0 => rtt,
            smoothed => smoothed - smoothed / 8 + rtt / 8,
        };
        // Before there is a model, this RTT serves: nothing that depends on it is used before.
        let point = &self.point;
        let limit = || {
            point
                .as_ref()
                .map_or_else(|| horizon(rtt), OperatingPoint::horizon)
        };
        if self.ack_gap.on_ack(ack.now, ack.round, ack.acked, limit) {
            let gaps = (self.ack_gap.max(), self.ack_gap.recurring());
            if gaps != (self.path.ack_gap, self.path.recurring_gap) {
                (self.path.ack_gap, self.path.recurring_gap) = gaps;
                self.update_limits();
            }
        }
        // One acknowledgement for the whole flight is how the path acknowledges, unless the application has no more
        // data.
        if ack.in_flight == Bytes::ZERO && ack.app_limited {
            self.ack_gap.on_idle();
        }
    }

    /// Updates the window for the transport. `allowed` is the window of the model.
    pub(crate) fn update(&mut self, allowed: Bytes) {
        let (path, limits) = (&self.path, &self.limits);
        match (self.policy, &self.point) {
            (WindowPolicy::Window, _) | (_, None) => self.set(allowed, Refill::Plain),
            (WindowPolicy::Bdp { .. }, Some(_)) => {
                self.spread(limits.window.min(allowed));
            }
            (WindowPolicy::Rate, Some(point)) => {
                let pace = point.rate.bytes_in_nanos(path.smoothed_rtt);
                let window = path.window_for(pace.max(limits.flight)).min(allowed);
                // Also where the model's window is less than the rate times the smoothed RTT.
                self.set(window, Refill::PaceOf(pace.max(window)));
            }
            (WindowPolicy::RttCapped, Some(point)) => {
                let span = path.smoothed_rtt.max(limits.shortest).min(limits.longest);
                let window = path.window_for(point.rate.bytes_in_nanos(span));
                self.spread(window.min(allowed));
            }
        }
    }

    fn set(&mut self, window: Bytes, refill: Refill) {
        (self.control.window, self.control.refill) = (window, refill);
    }

    /// The flight that the policy keeps at the bandwidth estimate, without the gain cycle; zero for policies other than
    /// `Bdp`, whose flight falls to one bandwidth-delay product.
    pub(crate) fn flight_at_estimate(&self) -> Bytes {
        match (self.policy, &self.point) {
            (WindowPolicy::Bdp { gain }, Some(point)) => {
                self.path.bdp_window(gain, point.bandwidth, point)
            }
            _ => Bytes::ZERO,
        }
    }

    /// Spreads the window over the path's RTT.
    ///
    /// After a link was closed, the smoothed RTT includes the outage. Paced by it, a flight of 40 ms would take half a
    /// second to send, and samples of that time would show the pacing. RFC 9002, section 7.7, asks for a pace at which
    /// the window can be used. [`WindowPolicy::Rate`] has one: the rate.
    fn spread(&mut self, window: Bytes) {
        self.set(window, Refill::Plain);
        if self.path.smoothed_rtt > self.limits.spread.saturating_mul(SILENT) {
            self.pace_after_silence();
        }
    }

    #[cold]
    fn pace_after_silence(&mut self) {
        let (smoothed, span) = (self.path.smoothed_rtt, self.limits.spread);
        let pace = self.control.window.share(Bytes(smoothed), Bytes(span));
        self.control.refill = Refill::PaceOf(pace);
    }
}

impl Path {
    fn with_mtu(self, mtu: Bytes) -> Self {
        Self {
            mtu,
            min_window: mtu * MIN_WINDOW_PACKETS,
            ..self
        }
    }

    /// The window for a target flight.
    fn window_for(&self, flight: Bytes) -> Bytes {
        // quinn stops when the next packet would reach the window, noq when it would exceed the window. With one packet
        // more, the flight itself reaches the target.
        (flight + self.mtu).max(self.min_window)
    }

    /// `gain` bandwidth-delay products at `rate`, and what arrives in an ACK gap.
    fn bdp_window(&self, gain: Gain, rate: Bandwidth, point: &OperatingPoint) -> Bytes {
        let plain = gain * rate.bytes_in_nanos(point.horizon()) + rate.bytes_in_nanos(self.ack_gap);
        plain.max(gain * rate.bytes_in_nanos(self.batched_span(point)))
    }

    /// The minimum time that a window covers. If acknowledgements come at intervals longer than the RTT, each interval
    /// carries one window. The newest packet of each interval has the shortest RTT.
    fn min_span(&self, point: &OperatingPoint) -> u64 {
        point.horizon().max(self.recurring_gap)
    }

    /// The time that a window covers if acknowledgements come in batches and the link stays busy: the path's RTT, and
    /// the wait for the next batch.
    fn batched_span(&self, point: &OperatingPoint) -> u64 {
        let waits = point.min_rtt.saturating_add(self.recurring_gap);
        waits.max(self.min_span(point))
    }
}

/// A flight of two bandwidth-delay products keeps the RTT below this multiple, and jitter rarely exceeds it.
const SILENT: u64 = 2;

/// The maximum ratio of smoothed RTT to min RTT that may enlarge the window.
const CAP: Gain = Gain::new(5, 4);

/// The minimum window in packets: two in flight, so that a receiver that acknowledges every second packet does so at
/// once, and one more for the transport's rule.
const MIN_WINDOW_PACKETS: u64 = 3;
