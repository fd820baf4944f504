//! The window that a transport is told, so that it keeps the controller's window and pace.

use crate::controller::{Control, Refill};
use crate::units::Bytes;

/// How a transport compares the flight with its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WindowRule {
    /// Sends while the flight does not exceed the window: RFC 9002, section 7, and noq 1.
    UpTo,
    /// Sends while the flight stays below the window: quinn 0.11. A window of whole packets is never full.
    Below,
}

impl WindowRule {
    /// The window to report to the transport, so that exactly `window` may be in flight, as in RFC 9002.
    pub const fn reported(self, window: Bytes) -> Bytes {
        match self {
            Self::UpTo => window,
            Self::Below => Bytes(window.0.saturating_add(1)),
        }
    }

    /// Whether the transport sends a datagram, with a window of `reported`.
    pub const fn admits(self, reported: Bytes, in_flight: Bytes, datagram: Bytes) -> bool {
        let flight = in_flight.0.saturating_add(datagram.0);
        match self {
            Self::UpTo => flight <= reported.0,
            Self::Below => flight < reported.0,
        }
    }
}

/// The window to report to a transport that paces at 1.25 windows per smoothed RTT.
///
/// This pace follows the window. While the flight is below the window, [`Control::refill`] sets the pace. When the
/// flight reaches the window with what the transport sends in one go, an MTU at least, the reported window is the window itself.
pub(super) fn refilled_window(
    control: &Control,
    in_flight: Bytes,
    mtu: Bytes,
    transmit: Bytes,
) -> Bytes {
    let window = control.window;
    let Refill::PaceOf(pace) = control.refill else {
        return window;
    };
    if pace < window {
        let ahead = in_flight + Bytes(in_flight.0 / REFILL_STEPS) + mtu * 2;
        window.min(pace.max(ahead))
    } else if in_flight + transmit > window {
        window
    } else {
        pace
    }
}

/// A reported window below the window exceeds the flight by this part of it.
const REFILL_STEPS: u64 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes(1200);

    /// With generic segmentation offload several datagrams leave before the flight is known: a larger window would let all of them out.
    #[test]
    fn what_leaves_in_one_go_does_not_exceed_the_window() {
        let silent = Control {
            refill: Refill::PaceOf(Bytes(612_000)),
            ..Control::window(Bytes(61_200), MTU)
        };
        let told = |in_flight| refilled_window(&silent, Bytes(in_flight), MTU, MTU * 10);
        assert_eq!(told(49_200), Bytes(612_000));
        assert_eq!(told(49_201), Bytes(61_200));
        let short = Control {
            refill: Refill::PaceOf(Bytes(612_000)),
            ..Control::window(MTU * 4, MTU)
        };
        assert_eq!(refilled_window(&short, Bytes::ZERO, MTU, MTU * 10), MTU * 4);
    }

    #[test]
    fn the_pace_is_the_controllers_until_the_window_is_full() {
        let calm = Control::window(Bytes(61_200), Bytes(1200));
        // 1 MB/s x 44 ms / 1.25: quinn paces at 1 MB/s with this window. Above this flight the window stays ahead of
        // the flight.
        let slow = Control {
            refill: Refill::PaceOf(Bytes(36_400)),
            ..calm
        };
        let told = |in_flight| refilled_window(&slow, Bytes(in_flight), MTU, MTU);
        assert_eq!(told(0), Bytes(36_400));
        assert_eq!(told(32_000), Bytes(36_400));
        assert_eq!(told(48_000), Bytes(48_000 + 1500 + 2400));
        assert_eq!(told(60_000), Bytes(61_200));
        let silent = Control {
            refill: Refill::PaceOf(Bytes(612_000)),
            ..calm
        };
        let told = |in_flight| refilled_window(&silent, Bytes(in_flight), MTU, MTU);
        assert_eq!(told(60_000), Bytes(612_000));
        assert_eq!(told(60_001), Bytes(61_200));
        assert_eq!(refilled_window(&calm, Bytes::ZERO, MTU, MTU), calm.window);
    }

    #[test]
    fn every_host_fills_the_same_window() {
        for window in [Bytes::ZERO, Bytes(2400), Bytes(14_720), Bytes(u64::MAX - 1)] {
            for in_flight in [0, 1, 1199, 1200, 1201, 13_520, 13_521, u64::MAX / 2].map(Bytes) {
                for datagram in [1, 1200, 1452, 65_527].map(Bytes) {
                    let [one, other] = [WindowRule::UpTo, WindowRule::Below]
                        .map(|rule| rule.admits(rule.reported(window), in_flight, datagram));
                    assert_eq!(one, other, "{window} {in_flight} {datagram}");
                    assert_eq!(one, in_flight + datagram <= window);
                }
            }
        }
    }
}
