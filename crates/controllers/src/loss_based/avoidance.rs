//! Congestion avoidance: the growth of the window, and its reduction after a loss.

use core::fmt::Debug;
use core::time::Duration;

use super::round_trips::{Round, RoundTrips};
use super::slow_start::SlowStart;
use super::window::Window;
use crate::event::{AckEvent, CongestionSignal};
use crate::units::{Bytes, Timestamp};

/// The context of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// The largest datagram.
    pub(crate) mtu: Bytes,
    /// The slow-start threshold, if there is one.
    pub(crate) threshold: Option<Bytes>,
    /// Whether the window limits the sender. Otherwise the window must not grow.
    pub(crate) window_limited: bool,
    /// Round-trip times.
    pub(crate) trips: &'a RoundTrips,
    /// The round that ended with this acknowledgement.
    pub(crate) ended: Option<Round>,
}

/// The state before congestion avoidance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Slow start, which ended without a loss or at the threshold.
    SlowStart,
    /// Recovery, which ended with the acknowledgement of a packet sent after the reduction.
    Recovery,
}

/// An algorithm of congestion avoidance. Small and `Copy`: the undo of a spurious loss restores an earlier copy.
pub(crate) trait Avoidance: Copy + Debug + Send + Sync + 'static {
    /// Its slow start.
    type SlowStart: SlowStart;

    /// Whether it needs [`RoundTrips::smoothed_seconds`].
    const WANTS_SMOOTHED_RTT: bool = false;

    /// A new slow start.
    fn slow_start(&self) -> Self::SlowStart;

    /// Congestion avoidance begins.
    fn enter(&mut self, _now: Timestamp, _entry: Entry, _window: Bytes, _mtu: Bytes) {}

    /// An acknowledgement in congestion avoidance.
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window);

    /// Packets were lost or marked. Returns the reduced window. Called once per recovery period.
    fn reduce(&mut self, window: Bytes, signal: CongestionSignal) -> Bytes;

    /// Persistent congestion: the window is the minimum again.
    fn on_persistent_congestion(&mut self) {}

    /// A new base RTT, if it has measured one since the last call: this is how the base RTT rises.
    fn take_base(&mut self) -> Option<Duration> {
        None
    }

    /// Data is sent at `now` after an idle period.
    fn on_idle_end(&mut self, _now: Timestamp) {}

    /// The MTU has changed. `window` is the window in bytes, which does not change.
    fn on_mtu_update(&mut self, _window: Bytes, _mtu: Bytes) {}

    /// The part of the window that the algorithm adds.
    fn extra(&self) -> Bytes {
        Bytes::ZERO
    }
}

/// Reno's additive increase: one MTU per `whole` acknowledged bytes (RFC 9002, section 7.3.3; RFC 3465).
pub(crate) fn additive_increase(window: &mut Window, acked: Bytes, whole: Bytes, mtu: Bytes) {
    window.grow_by_share(mtu, acked, whole);
}
