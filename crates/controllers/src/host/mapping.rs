//! From (window, rate) to a host's one lever, the bytes in flight.
//!
//! quinn 0.11 paces at 1.25 x window / smoothed RTT and offers a controller no say in it. A controller that wants to
//! hold a rate can only choose how much is in flight: by Little's law, rate x round-trip time.
//!
//! A host that does pace at the controller's rate, as noq, wants this all the same of controllers whose samples must show the
//! path: what is paced at the estimate shows the estimate.

#[cfg(test)]
mod tests;

use core::time::Duration;

use super::link_rate::Forecast;
use crate::config::WindowPolicy;
use crate::controller::{Control, OperatingPoint};
use crate::model::{held, horizon};
use crate::units::{Bytes, Gain};

/// What the adapter itself has measured of the path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    /// RFC 9002's smoothed round-trip time.
    pub smoothed_rtt: Duration,
    /// What the link will carry, and the head-room to leave: only for the policy that tracks it.
    pub forecast: Option<Forecast>,
    /// The longest recent pause between acknowledgements.
    pub ack_gap: Duration,
    /// The pause that bytes waited for on average in most of the last rounds.
    pub recurring_gap: Duration,
    /// The largest datagram that fits.
    pub mtu: Bytes,
    /// What is in flight.
    pub in_flight: Bytes,
}

/// The window that makes the host do what `control` asks for, as far as it can.
#[inline]
pub fn window(policy: WindowPolicy, control: &Control, path: &Path) -> Bytes {
    let Some(point) = &control.operating_point else {
        return control.window;
    };
    let mapped = match policy {
        WindowPolicy::Window => return control.window,
        WindowPolicy::Rate => point
            .rate
            .bytes_in(path.smoothed_rtt.max(least_span(point, path))),
        WindowPolicy::Cap => {
            let longest = (CAP * horizon(point.min_rtt)).saturating_add(path.ack_gap);
            let span = path
                .smoothed_rtt
                .max(batched_span(point, path))
                .min(longest);
            point.rate.bytes_in(span)
        }
        WindowPolicy::Bdp { gain } => {
            let plain = gain * point.rate.bytes_in(horizon(point.min_rtt))
                + point.rate.bytes_in(path.ack_gap);
            plain.max(gain * point.rate.bytes_in(batched_span(point, path)))
        }
        WindowPolicy::Track(_) => {
            return window_towards(track(point, path), Gap::Path, control, path);
        }
    };
    enforceable(mapped, control, path)
}

/// What to have in flight, if the policy is to track the link and there is a model: it changes with each acknowledgement,
/// but not with what is sent.
#[inline]
pub fn target(policy: WindowPolicy, control: &Control, path: &Path) -> Option<Bytes> {
    match (policy, &control.operating_point) {
        (WindowPolicy::Track(_), Some(point)) => Some(track(point, path)),
        _ => None,
    }
}

/// Hosts pace at 1.25 windows per smoothed RTT. Where the target has grown, a window above it closes the gap sooner; it is
/// back at the target when the gap is.
#[inline]
pub fn window_towards(target: Bytes, gap: Gap, control: &Control, path: &Path) -> Bytes {
    let wanted = match gap {
        Gap::Path => target + (target - path.in_flight).packets(URGENCY),
        Gap::Application { pace } => {
            let step = Bytes(path.in_flight.0 / REFILL_STEPS) + path.mtu;
            target.min(pace.max(path.in_flight + step))
        }
    };
    // The least is for full queues, where what is missing is lost: haste would lose more.
    let least = control
        .operating_point
        .map_or(Bytes::ZERO, |point| point.least);
    enforceable(wanted.max(least), control, path)
}

/// Why less is in flight than the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The target has grown: the path carries more than is in flight, and is idle until the gap is closed.
    Path,
    /// The application had nothing to send. The path carries no more than before. What is sent faster waits in its queue or is
    /// lost, so the host sends at the path's rate (draft-ietf-ccwg-bbr, section "Restarting From Idle": at `BBR.bw`, without
    /// a gain).
    Application {
        /// The window at which the host paces at the path's rate.
        pace: Bytes,
    },
}

impl Gap {
    /// What the application left open on a path of this rate.
    #[inline]
    pub fn of_application(control: &Control, path: &Path) -> Self {
        let rate = match (path.forecast, &control.operating_point) {
            (Some(forecast), _) => forecast.expected,
            (None, Some(point)) => point.bandwidth,
            (None, None) => return Self::Path,
        };
        Self::Application {
            pace: HOST_PACE_INVERSE * rate.bytes_in(path.smoothed_rtt),
        }
    }
}

#[inline]
fn enforceable(mapped: Bytes, control: &Control, path: &Path) -> Bytes {
    // quinn stops when the next packet would reach the window, noq when it would exceed it: with a packet on top it is the
    // flight that reaches what was asked for.
    (mapped + path.mtu)
        .max(path.mtu.packets(MIN_WINDOW_PACKETS))
        .min(control.window)
}

/// What the link will carry in a minimum RTT and the hosts' time, the head-room, and what the gain cycle adds or takes away.
#[inline]
fn track(point: &OperatingPoint, path: &Path) -> Bytes {
    let point = *point;
    let forecast = path.forecast.unwrap_or(Forecast {
        expected: point.bandwidth,
        ..Forecast::default()
    });
    let horizon = horizon(point.min_rtt);
    let pause = least_span(&point, path).saturating_sub(horizon);
    let held = |rate| held(rate, point.min_rtt);
    let cycle = held(point.rate);
    let estimate = held(point.bandwidth);
    held(forecast.expected)
        + held(forecast.spare)
        + point.bandwidth.bytes_in(pause)
        + (cycle - estimate)
        - (estimate - cycle)
}

/// What a window has to cover however short the round trips seem. Where acknowledgements come at longer intervals than round trips,
/// a window of one round trip is all that an interval carries; and the newest packet of each has waited least.
#[inline]
fn least_span(point: &OperatingPoint, path: &Path) -> Duration {
    horizon(point.min_rtt).max(path.recurring_gap)
}

/// What is in flight while acknowledgements come in batches and the link stays busy: what crosses the path, and what waits for
/// the next batch behind it.
#[inline]
fn batched_span(point: &OperatingPoint, path: &Path) -> Duration {
    let waits = point.min_rtt.saturating_add(path.recurring_gap);
    waits.max(least_span(point, path))
}

/// So many times what is missing in flight is added to the window.
const URGENCY: u64 = 2;

/// quinn's pacer sends 1.25 windows in a smoothed RTT.
const HOST_PACE_INVERSE: Gain = Gain::new(4, 5);

/// Beyond the pace, the window is ahead of the flight by this part of it: more than the 64th for which hosts gather what they send.
const REFILL_STEPS: u64 = 32;

/// How far above its minimum the smoothed RTT may carry the window.
const CAP: Gain = Gain::new(5, 4);

/// The least a controller may be held to, in packets: two in flight, so that a receiver that acknowledges every
/// second packet does so at once, and the one on top.
const MIN_WINDOW_PACKETS: u64 = 3;
