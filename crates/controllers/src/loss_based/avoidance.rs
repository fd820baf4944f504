//! The part of a window-based controller that gives it its name: growth in congestion avoidance, and how much a loss
//! costs.

use core::fmt::Debug;
use core::time::Duration;

use super::round_trips::{Round, RoundTrips};
use super::slow_start::SlowStart;
use super::window::Window;
use crate::event::{AckEvent, CongestionSignal};
use crate::units::{Bytes, Timestamp};

/// What the skeleton shows to its parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// The largest datagram.
    pub(crate) mtu: Bytes,
    /// The window at which slow start ends, if anything has set it.
    pub(crate) threshold: Option<Bytes>,
    /// Whether the window limits the sender: it must not grow otherwise.
    pub(crate) window_limited: bool,
    /// Round-trip times.
    pub(crate) trips: &'a RoundTrips,
    /// The round that this acknowledgement ended.
    pub(crate) ended: Option<Round>,
}

/// What congestion avoidance begins after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Slow start found the window without a loss, or regained the one before a persistent congestion.
    SlowStart,
    /// A reduction, once packets that left after it were acknowledged.
    Recovery,
}

/// An algorithm of congestion avoidance. Small and `Copy`: undoing a spurious loss is going back to an earlier copy.
pub(crate) trait Avoidance: Copy + Debug + Send + Sync + 'static {
    /// How it searches for the window first.
    type SlowStart: SlowStart;

    /// Whether it asks for [`RoundTrips::smoothed_seconds`].
    const WANTS_SMOOTHED_RTT: bool = false;

    /// A slow start that begins now.
    fn slow_start(&self) -> Self::SlowStart;

    /// Congestion avoidance begins.
    fn enter(&mut self, _now: Timestamp, _entry: Entry, _window: Bytes, _mtu: Bytes) {}

    /// An acknowledgement in congestion avoidance.
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window);

    /// Packets were lost or marked: the window that is left of `window`. Called once in an episode.
    fn reduce(&mut self, window: Bytes, signal: CongestionSignal) -> Bytes;

    /// Persistent congestion: the window is the smallest again.
    fn on_persistent_congestion(&mut self) {}

    /// A base round-trip time that it has measured, if it has since it was asked last: how the base rises.
    fn take_base(&mut self) -> Option<Duration> {
        None
    }

    /// Data leaves at `now` after nothing was in flight.
    fn on_idle_end(&mut self, _now: Timestamp) {}

    /// What is counted in packets has another size. `window` is the window in bytes, which stays.
    fn on_mtu_update(&mut self, _window: Bytes, _mtu: Bytes) {}

    /// What the algorithm adds to the skeleton's window.
    fn extra(&self) -> Bytes {
        Bytes::ZERO
    }
}

/// Reno's additive increase: one MTU for each `whole` acknowledged, by the bytes that were (RFC 9002, section 7.3.3;
/// RFC 3465).
pub(crate) fn additive_increase(window: &mut Window, acked: Bytes, whole: Bytes, mtu: Bytes) {
    window.grow_by_share(mtu, acked, whole);
}
