//! From (window, rate) to quinn's one lever, the bytes in flight.
//!
//! quinn 0.11 paces at 1.25 x window / smoothed RTT and offers a controller no say in it. A controller that wants to
//! hold a rate can only choose how much is in flight: by Little's law, rate x round-trip time.

#[cfg(test)]
mod tests;

use core::time::Duration;

use kneepoint_controllers::{Bytes, Control, Gain, OperatingPoint, WindowPolicy};

use crate::link_rate::Forecast;

/// What the adapter itself has measured of the path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    /// RFC 9002's smoothed round-trip time.
    pub smoothed_rtt: Duration,
    /// What the link will carry, and the head-room to leave: only for the policy that tracks it.
    pub forecast: Option<Forecast>,
    /// The longest recent pause between acknowledgements.
    pub ack_gap: Duration,
    /// The largest datagram that fits.
    pub mtu: Bytes,
    /// What is in flight.
    pub in_flight: Bytes,
}

/// The window that makes quinn do what `control` asks for, as far as it can.
#[inline]
pub(crate) fn window(policy: WindowPolicy, control: &Control, path: &Path) -> Bytes {
    let Some(point) = &control.operating_point else {
        return control.window;
    };
    let mapped = match policy {
        WindowPolicy::Window => return control.window,
        WindowPolicy::Rate => point.rate.bytes_in(path.smoothed_rtt),
        WindowPolicy::Cap => {
            let longest = (CAP * point.min_rtt).saturating_add(path.ack_gap);
            point.rate.bytes_in(path.smoothed_rtt.min(longest))
        }
        WindowPolicy::Bdp { gain } => {
            gain * point.rate.bytes_in(point.min_rtt) + point.rate.bytes_in(path.ack_gap)
        }
        WindowPolicy::Track(_) => return window_towards(track(point, path), control, path),
    };
    enforceable(mapped, control, path)
}

/// What to have in flight, if the policy is to track the link and there is a model: it changes with each acknowledgement,
/// but not with what is sent.
#[inline]
pub(crate) fn target(policy: WindowPolicy, control: &Control, path: &Path) -> Option<Bytes> {
    match (policy, &control.operating_point) {
        (WindowPolicy::Track(_), Some(point)) => Some(track(point, path)),
        _ => None,
    }
}

/// quinn paces at 1.25 windows per smoothed RTT. A window that asks for more than there is in flight is told to it as
/// larger still, so that the gap is closed sooner; it is back at the target when the gap is.
#[inline]
pub(crate) fn window_towards(target: Bytes, control: &Control, path: &Path) -> Bytes {
    let urgent = target + (target - path.in_flight).packets(URGENCY);
    enforceable(urgent, control, path)
}

#[inline]
fn enforceable(mapped: Bytes, control: &Control, path: &Path) -> Bytes {
    // quinn stops when the next packet would reach the window, so one packet of it is never used.
    (mapped + path.mtu)
        .max(path.mtu.packets(MIN_WINDOW_PACKETS))
        .min(control.window)
}

/// What the link will carry in a minimum RTT, the head-room, and what the gain cycle adds or takes away.
#[inline]
fn track(point: &OperatingPoint, path: &Path) -> Bytes {
    let point = *point;
    let forecast = path.forecast.unwrap_or(Forecast {
        expected: point.bandwidth,
        ..Forecast::default()
    });
    let cycle = point.rate.bytes_in(point.min_rtt);
    let estimate = point.bandwidth.bytes_in(point.min_rtt);
    forecast.expected.bytes_in(point.min_rtt)
        + forecast.spare.bytes_in(point.min_rtt)
        + (cycle - estimate)
        - (estimate - cycle)
}

/// So many times what is missing in flight is added to the window.
const URGENCY: u64 = 2;

/// How far above its minimum the smoothed RTT may carry the window.
const CAP: Gain = Gain::new(5, 4);

/// The least a controller may be held to, in packets: two in flight, so that a receiver that acknowledges every
/// second packet does so at once, and the one that quinn never sends.
const MIN_WINDOW_PACKETS: u64 = 3;
