//! Whether the sender uses its window. A window that is not used must not grow.

use crate::event::{AckEvent, SentEvent};
use crate::units::{Bytes, Gain};

/// The maximum flight of this round and the previous one (RFC 9002, section 7.8).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Utilization {
    current: Bytes,
    last: Bytes,
}

impl Utilization {
    pub(crate) fn on_sent(&mut self, event: &SentEvent) {
        self.current = self.current.max(event.prior_in_flight + event.bytes);
    }

    pub(crate) fn on_ack(&mut self, ack: &AckEvent) {
        self.current = self.current.max(ack.prior_in_flight);
        if ack.round_start {
            self.last = core::mem::replace(&mut self.current, ack.in_flight);
        }
    }

    /// Whether the flight has tested a window of this size, and the application does not limit the sender.
    ///
    /// The maximum is taken over rounds: between two acknowledgements that arrive together, or behind a pacer, the
    /// flight is below the window even if the window limits the sender.
    pub(crate) fn is_limited_by(&self, window: Bytes, ack: &AckEvent) -> bool {
        !ack.app_limited && self.current.max(self.last) >= VALIDATING_SHARE * window
    }
}

/// RFC 7661, section 4.3: a flight of half the window validates it.
const VALIDATING_SHARE: Gain = Gain::new(1, 2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss_based::testing::ack;
    use crate::units::Timestamp;

    #[test]
    fn half_a_window_in_flight_validates_it_for_the_next_round_too() {
        let mut utilization = Utilization::default();
        utilization.on_sent(&SentEvent {
            now: Timestamp::ZERO,
            bytes: Bytes(5_000),
            prior_in_flight: Bytes(1_000),
            app_limited: false,
        });
        let ack = AckEvent {
            prior_in_flight: Bytes(6_000),
            in_flight: Bytes(3_000),
            round_start: false,
            ..ack(40)
        };
        let limits = |utilization: &Utilization| {
            [12_000, 12_002].map(|window| utilization.is_limited_by(Bytes(window), &ack))
        };
        utilization.on_ack(&ack);
        assert_eq!(limits(&utilization), [true, false]);
        let round = AckEvent {
            prior_in_flight: Bytes(3_000),
            round_start: true,
            ..ack
        };
        utilization.on_ack(&round);
        assert_eq!(limits(&utilization), [true, false]);
        utilization.on_ack(&round);
        assert_eq!(limits(&utilization), [false, false]);
        let limited = AckEvent {
            app_limited: true,
            prior_in_flight: Bytes(20_000),
            ..ack
        };
        utilization.on_ack(&limited);
        assert!(!utilization.is_limited_by(Bytes(12_000), &limited));
    }
}
