//! Converts `Instant`s to the controllers' time.

use std::time::Instant;

use crate::units::Timestamp;

/// Converts instants to timestamps since the connection began. Transports pass the same instant several times: for an
/// acknowledgement and its end, and for the packets sent then. So the last conversion is cached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    origin: Instant,
    now: (Instant, Timestamp),
}

impl Clock {
    /// A clock that is zero at `origin`.
    pub(super) fn starting(origin: Instant) -> Self {
        Self {
            origin,
            now: (origin, Timestamp::ZERO),
        }
    }

    /// The time of an event.
    pub(super) fn now(&mut self, instant: Instant) -> Timestamp {
        if self.now.0 != instant {
            let time = instant.saturating_duration_since(self.origin);
            self.now = (instant, Timestamp::from_origin(time));
        }
        self.now.1
    }

    /// The time of the last event.
    pub(super) fn last(&self) -> Timestamp {
        self.now.1
    }

    /// The instant of a time. Platforms whose instants cannot count that far stay at the origin.
    pub(super) fn instant(&self, time: Timestamp) -> Instant {
        let elapsed = time.saturating_since(Timestamp::ZERO);
        self.origin.checked_add(elapsed).unwrap_or(self.origin)
    }

    /// The time at which a packet was sent; `None` if that was before the connection began on this path. Packets of an
    /// old path must not contribute to the congestion control of a new one (RFC 9000, section 9.4).
    pub(super) fn sent(&self, instant: Instant) -> Option<Timestamp> {
        let time = instant.checked_duration_since(self.origin)?;
        Some(Timestamp::from_origin(time))
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
            assert_eq!(clock.sent(later(millis)), Some(expected));
            assert_eq!(clock.last(), expected);
            assert_eq!(clock.instant(expected), later(millis));
        }
        // Before the connection began nothing was sent.
        if let Some(earlier) = origin.checked_sub(Duration::from_secs(1)) {
            assert_eq!(clock.sent(earlier), None);
            assert_eq!(clock.now(earlier), Timestamp::ZERO);
        }
    }
}
