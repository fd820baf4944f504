//! From (window, rate) to quinn's one lever, the bytes in flight.
//!
//! quinn 0.11 paces at 1.25 x window / smoothed RTT and offers a controller no say in it. A controller that wants to
//! hold a rate can only choose how much is in flight: by Little's law, rate x round-trip time.

#[cfg(test)]
mod tests;

use core::time::Duration;

use kneepoint_controllers::{
    Bandwidth, Bytes, Control, Gain, Headroom, OperatingPoint, WindowPolicy,
};

/// What the adapter itself has measured of the path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    /// RFC 9002's smoothed round-trip time.
    pub smoothed_rtt: Duration,
    /// The last round-trip time.
    pub latest_rtt: Duration,
    /// What the path carried during the last two thirds of a minimum RTT.
    pub carried: Bandwidth,
    /// The longest recent pause between acknowledgements.
    pub ack_gap: Duration,
    /// The largest datagram that fits.
    pub mtu: Bytes,
}

/// The window that makes quinn do what `control` asks for, as far as it can.
pub(crate) fn window(policy: WindowPolicy, control: &Control, path: &Path) -> Bytes {
    let Some(point) = control.operating_point else {
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
        WindowPolicy::Track(headroom) => track(&headroom, &point, path),
    };
    // quinn stops when the next packet would reach the window, so one packet of it is never used.
    (mapped + path.mtu)
        .max(path.mtu.packets(MIN_WINDOW_PACKETS))
        .min(control.window)
}

/// What the path carries now for a minimum RTT, the head-room, and what the gain cycle adds or takes away.
fn track(headroom: &Headroom, point: &OperatingPoint, path: &Path) -> Bytes {
    let spare = (headroom.deviations * point.deviation)
        .max(headroom.least * point.bandwidth)
        .min(headroom.most * point.bandwidth);
    let carried = path.carried.bytes_in(point.min_rtt);
    let standing = spare.bytes_in(point.min_rtt);
    // With less queued than the head-room the sender, not the path, limits what is carried: the emptier the queue,
    // the more is added, up to PUSH of what is carried, a gain per round trip.
    let queued = point
        .bandwidth
        .bytes_in(path.latest_rtt.saturating_sub(point.min_rtt));
    let missing = standing - queued.min(standing);
    let push = PUSH * carried.share(missing, standing);
    let steady = carried + push + standing;
    let cycle = point.rate.bytes_in(point.min_rtt);
    let estimate = point.bandwidth.bytes_in(point.min_rtt);
    steady + (cycle - estimate) - (estimate - cycle)
}

/// By how much an empty queue makes the window outgrow what is carried.
const PUSH: Gain = Gain::new(3, 4);

/// How far above its minimum the smoothed RTT may carry the window.
const CAP: Gain = Gain::new(5, 4);

/// The least a controller may be held to, in packets: two in flight, so that a receiver that acknowledges every
/// second packet does so at once, and the one that quinn never sends.
const MIN_WINDOW_PACKETS: u64 = 3;
