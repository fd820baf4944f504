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
use crate::model::horizon;
use crate::units::{Bytes, Gain, saturating_nanos as nanos};

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
    match target(policy, control, path) {
        Some(target) => window_towards(policy, target, control, path),
        None if policy == WindowPolicy::Window => control.window,
        None => {
            let span = path.smoothed_rtt.max(least_span(point, path));
            enforceable(point.rate.bytes_in(span), control, path)
        }
    }
}

/// What to have in flight, where the window also depends on what is: it changes with each acknowledgement, but not with what is
/// sent.
#[inline]
pub fn target(policy: WindowPolicy, control: &Control, path: &Path) -> Option<Bytes> {
    let point = control.operating_point.as_ref()?;
    match policy {
        WindowPolicy::Window | WindowPolicy::Rate => None,
        WindowPolicy::Cap => {
            let longest = (CAP * horizon(point.min_rtt)).saturating_add(path.ack_gap);
            let span = path
                .smoothed_rtt
                .max(batched_span(point, path))
                .min(longest);
            Some(point.rate.bytes_in(span))
        }
        WindowPolicy::Bdp { gain } => {
            let plain = gain * point.rate.bytes_in(horizon(point.min_rtt))
                + point.rate.bytes_in(path.ack_gap);
            Some(plain.max(gain * point.rate.bytes_in(batched_span(point, path))))
        }
        WindowPolicy::Track(_) => Some(track(point, path)),
    }
}

/// Hosts pace at 1.25 windows per smoothed RTT. A window that asks for more than there is in flight is told to it as
/// larger still, so that the gap is closed sooner; it is back at the target when the gap is.
#[inline]
pub fn window_towards(
    policy: WindowPolicy,
    target: Bytes,
    control: &Control,
    path: &Path,
) -> Bytes {
    match (policy, &control.operating_point) {
        (WindowPolicy::Track(_), point) => {
            let urgent = target + (target - path.in_flight).packets(URGENCY);
            // The least is for full queues, where what is missing is lost: haste would lose more.
            let least = point.map_or(Bytes::ZERO, |point| point.least);
            enforceable(urgent.max(least), control, path)
        }
        (_, Some(point)) => spread(enforceable(target, control, path), point, path),
        (_, None) => control.window,
    }
}

/// A window that makes the host spread `limit` over the path's round trip, and that is `limit` once the flight is.
///
/// The smoothed RTT of a link that was closed is the silence's: paced by it, an open link of 40 ms is refilled in half a second, and
/// the samples of that time show the pacing. RFC 9002, section 7.7, wants a pace at which the window can be used.
#[inline]
fn spread(limit: Bytes, point: &OperatingPoint, path: &Path) -> Bytes {
    let span = batched_span(point, path).max(horizon(point.min_rtt).saturating_add(path.ack_gap));
    if path.in_flight + path.mtu > limit || path.smoothed_rtt <= SILENT * span {
        return limit;
    }
    let [span, smoothed] = [span, path.smoothed_rtt].map(|time| Bytes(nanos(time)));
    limit.max(limit.share(smoothed, span))
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
    let cycle = point.rate.bytes_in(horizon);
    let estimate = point.bandwidth.bytes_in(horizon);
    forecast.expected.bytes_in(horizon)
        + forecast.spare.bytes_in(horizon)
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

/// No flight of two bandwidth-delay products makes round trips longer than this, and jitter seldom does.
const SILENT: Gain = Gain::new(2, 1);

/// So many times what is missing in flight is added to the window.
const URGENCY: u64 = 2;

/// How far above its minimum the smoothed RTT may carry the window.
const CAP: Gain = Gain::new(5, 4);

/// The least a controller may be held to, in packets: two in flight, so that a receiver that acknowledges every
/// second packet does so at once, and the one on top.
const MIN_WINDOW_PACKETS: u64 = 3;
