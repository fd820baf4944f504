//! Converts `Instant`s to the controllers' time.

use std::time::Instant;

use crate::units::Timestamp;

/// Converts instants to timestamps since the connection began. Transports pass the same instant several times (for an
/// acknowledgement, its end, and the packets sent then), so the last one is cached.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    now: (Instant, Timestamp),
}

impl Clock {
    /// A clock that is zero at `origin`.
    pub fn starting(origin: Instant) -> Self {
        Self {
            origin,
            now: (origin, Timestamp::ZERO),
        }
    }

    /// The time of an event.
    #[inline]
    pub fn now(&mut self, instant: Instant) -> Timestamp {
        if self.now.0 != instant {
            self.now = (instant, self.convert(instant));
        }
        self.now.1
    }

    /// Whether the instant is before the connection began on this path. Packets of an old path must not contribute to
    /// the congestion control of a new one (RFC 9000, section 9.4).
    #[inline]
    pub fn precedes(&self, instant: Instant) -> bool {
        instant < self.origin
    }

    /// The time at which a packet was sent.
    #[inline]
    pub fn sent(&self, instant: Instant) -> Timestamp {
        self.convert(instant)
    }

    #[inline]
    fn convert(&self, instant: Instant) -> Timestamp {
        Timestamp::from_origin(instant.saturating_duration_since(self.origin))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant has no constructor; the test only adds to it"
    )]
    fn origin() -> Instant {
        Instant::now()
    }

    #[test]
    fn repeated_instants_and_new_ones_are_distinguished() {
        let origin = origin();
        let mut clock = Clock::starting(origin);
        let later = |millis: u64| origin + Duration::from_millis(millis);
        for millis in [0, 5, 5, 7, 5] {
            let expected = Timestamp::from_nanos(millis * 1_000_000);
            assert_eq!(clock.now(later(millis)), expected);
            assert_eq!(clock.sent(later(millis)), expected);
        }
        // Before the connection began nothing was sent.
        if let Some(earlier) = origin.checked_sub(Duration::from_secs(1)) {
            assert_eq!(clock.sent(earlier), Timestamp::ZERO);
            assert!(clock.precedes(earlier) && !clock.precedes(origin));
        }
    }
}
