//! How a transport applies its window.

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

#[cfg(test)]
mod tests {
    use super::*;

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
