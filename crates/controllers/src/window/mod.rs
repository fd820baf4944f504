//! The one window: what a sender may have in flight, for transports that pace and for those that do not.
//!
//! quinn 0.11 paces at 1.25 x window / smoothed RTT and offers a controller no say in it. A controller that wants to hold a rate
//! can only choose how much is in flight: by Little's law, rate x round-trip time. A transport that does pace at the controller's
//! rate, as noq, wants this all the same of controllers whose samples must show the path: what is paced at the estimate shows
//! the estimate.

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

/// Where the controller wants the path to run, once the pipe has been filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatingPoint {
    /// The bandwidth estimate.
    pub(crate) bandwidth: Bandwidth,
    /// The rate to send at: the estimate times the gain of the moment.
    pub(crate) rate: Bandwidth,
    /// The round-trip time without queues.
    pub(crate) min_rtt: Duration,
    /// What to have in flight at the least: beside flows that fill the queue.
    pub(crate) min_inflight: Bytes,
}

/// Makes the window that a [`WindowPolicy`] asks for.
#[derive(Debug, Clone)]
pub(crate) struct WindowCalculator {
    policy: WindowPolicy,
    /// Whether the transport is to pace at the controller's rate.
    paced: bool,
    path: Path,
    ack_gap: AckGap,
    /// Only for the policy that tracks it.
    busy_rate: Option<BusyRateEstimator>,
    gap: Gap,
    /// What a tracking window is made of.
    target: Bytes,
    in_flight: Bytes,
}

/// Why less is in flight than the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// The target has grown: the path carries more than is in flight, and is idle until the gap is closed.
    Path,
    /// The application had nothing to send. The path carries no more than before. What is sent faster waits in its queue or is
    /// lost, so the host sends at the path's rate (draft-ietf-ccwg-bbr, section "Restarting From Idle": at `BBR.bw`, without
    /// a gain).
    Application {
        /// The flight at which the host paces at the path's rate.
        pace: Bytes,
    },
}

/// What has been measured of the path.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    /// RFC 9002's smoothed round-trip time.
    smoothed_rtt: Duration,
    /// What the link will carry, and the head-room to leave: only for the policy that tracks it.
    rate_estimate: Option<RateEstimate>,
    /// The longest recent pause between acknowledgements.
    ack_gap: Duration,
    /// The pause that bytes waited for on average in most of the last rounds.
    recurring_gap: Duration,
    /// The largest datagram that fits.
    mtu: Bytes,
}

impl WindowCalculator {
    /// For a path of which nothing is known.
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

    /// The path carries other datagrams.
    pub(crate) fn set_mtu(&mut self, mtu: Bytes) {
        self.path.mtu = mtu;
    }

    /// So much is in flight now.
    #[inline]
    pub(crate) fn on_sent(&mut self, in_flight: Bytes) {
        self.in_flight = in_flight;
        self.close_gap();
    }

    /// Takes from an acknowledgement what the policy goes by, and nothing else. `point` is from before it. In ProbeRTT the
    /// controller itself holds the sender back.
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
        // Until there is a model this RTT will do: nothing that depends on it is used before.
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

    /// A flight that another packet would carry beyond the target is what the target asks for.
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
        // One acknowledgement for all that was in flight is the path's way, unless the application has no more.
        if ack.in_flight == Bytes::ZERO && ack.app_limited {
            self.ack_gap.on_idle();
        }
        self.path.ack_gap = self.ack_gap.max();
        self.path.recurring_gap = self.ack_gap.recurring();
    }

    /// RFC 9002, section 5.3, without the acknowledgement delay that a controller is not told.
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

    /// What the transport is to enforce. `allowed` is the window that the model allows.
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

    /// Spreads the window over the path's round trip.
    ///
    /// The smoothed RTT of a link that was closed is the silence's: paced by it, an open link of 40 ms is refilled in half a second,
    /// and the samples of that time show the pacing. RFC 9002, section 7.7, wants a pace at which the window can be used.
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

    /// The window that tracks the link, and how to come to it.
    #[inline]
    fn tracking_window(&mut self, allowed: Bytes, point: &OperatingPoint) -> (Bytes, Refill) {
        self.target = self.path.tracked(point);
        self.close_gap();
        let window_for = |flight: Bytes| {
            self.path
                .window_for(flight.max(point.min_inflight), allowed)
        };
        let refill = match self.gap {
            // Beside flows that fill the queue haste loses more.
            Gap::Path if self.target < point.min_inflight => Refill::Plain,
            Gap::Path => Refill::CatchUp(allowed),
            Gap::Application { pace } => Refill::PaceOf(window_for(pace)),
        };
        (window_for(self.target), refill)
    }
}

impl Path {
    /// The window for so much in flight.
    #[inline]
    fn window_for(&self, flight: Bytes, allowed: Bytes) -> Bytes {
        // quinn stops when the next packet would reach the window, noq when it would exceed it: with a packet on top it is the
        // flight that reaches what was asked for.
        (flight + self.mtu)
            .max(self.mtu * MIN_WINDOW_PACKETS)
            .min(allowed)
    }

    /// What the link will carry in a minimum RTT and the hosts' time, the head-room, and what the gain cycle adds or takes away.
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

    /// What the application left open is filled at what the path carries.
    #[inline]
    fn gap_of_application(&self, point: Option<&OperatingPoint>) -> Gap {
        let estimate = point.map(|point| point.bandwidth);
        let rate = self.rate_estimate.map(|rate_estimate| rate_estimate.rate);
        rate.or(estimate)
            .map_or(Gap::Path, |rate| Gap::Application {
                pace: PACE_OF_WINDOW * rate.bytes_in(self.smoothed_rtt),
            })
    }

    /// What a window has to cover however short the round trips seem. Where acknowledgements come at longer intervals than round
    /// trips, a window of one round trip is all that an interval carries; and the newest packet of each has waited least.
    #[inline]
    fn min_span(&self, point: &OperatingPoint) -> Duration {
        horizon(point.min_rtt).max(self.recurring_gap)
    }

    /// What is in flight while acknowledgements come in batches and the link stays busy: what crosses the path, and what waits
    /// for the next batch behind it.
    #[inline]
    fn batched_span(&self, point: &OperatingPoint) -> Duration {
        let waits = point.min_rtt.saturating_add(self.recurring_gap);
        waits.max(self.min_span(point))
    }
}

/// No flight of two bandwidth-delay products makes round trips longer than this, and jitter seldom does.
const SILENT: Gain = Gain::new(2, 1);

/// quinn's pacer sends 1.25 windows in a smoothed RTT.
const PACE_OF_WINDOW: Gain = Gain::new(4, 5);

/// How far above its minimum the smoothed RTT may carry the window.
const CAP: Gain = Gain::new(5, 4);

/// The least a controller may be held to, in packets: two in flight, so that a receiver that acknowledges every second packet does
/// so at once, and the one on top.
const MIN_WINDOW_PACKETS: u64 = 3;
