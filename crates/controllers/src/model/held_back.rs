//! Marks samples of packets that the controller itself limited.

use crate::event::{AckEvent, CongestionEvent, FlightSample, RateSample};
use crate::units::{Bytes, Timestamp};

/// The time in which the controller limits the sender, as in ProbeRTT. Rates of packets sent then are too low, as if
/// the application had been the limit (draft-ietf-ccwg-bbr, section "Actions upon Entering ProbeRTT":
/// `MarkConnectionAppLimited`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeldBack {
    state: State,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Never,
    /// Since `from`. The flight at `marked` is delivered once more than `delivered` is.
    Since {
        from: Timestamp,
        marked: Timestamp,
        delivered: Bytes,
    },
    /// Packets sent from `from` to `until`.
    Between { from: Timestamp, until: Timestamp },
}

impl HeldBack {
    /// Handles an acknowledgement, before the rest of the controller. Returns whether its sample is to be
    /// [marked](Self::marked).
    pub(crate) fn on_ack(&mut self, ack: &AckEvent) -> bool {
        if let State::Since {
            from, delivered, ..
        } = self.state
            && ack.delivered > delivered
        {
            self.state = State::Between {
                from,
                until: ack.now,
            };
        }
        let unmarked = ack.rate.as_ref().is_some_and(|rate| !rate.app_limited);
        unmarked && self.covers(ack.newest_sent)
    }

    /// The acknowledgement, as if the application had limited the sender.
    pub(crate) fn marked(ack: &AckEvent) -> AckEvent {
        AckEvent {
            rate: ack.rate.map(|rate| RateSample {
                app_limited: true,
                ..rate
            }),
            ..*ack
        }
    }

    /// The controller limits the sender, as of this acknowledgement.
    pub(crate) fn mark(&mut self, ack: &AckEvent) {
        let from = match self.state {
            State::Since { from, .. } => from,
            State::Never | State::Between { .. } => ack.now,
        };
        self.state = State::Since {
            from,
            marked: ack.now,
            delivered: ack.delivered + ack.in_flight,
        };
    }

    /// Lost packets are never delivered; without this the boundary would not be reached. Returns the event with its
    /// flight marked, if the flight is affected.
    pub(crate) fn on_congestion(&mut self, event: &CongestionEvent) -> CongestionEvent {
        if let State::Since {
            marked, delivered, ..
        } = &mut self.state
            && event.newest_sent <= *marked
        {
            *delivered -= event.lost;
        }
        let covered = self.covers(event.newest_sent);
        CongestionEvent {
            flight: event.flight.map(|flight| FlightSample {
                app_limited: flight.app_limited || covered,
                ..flight
            }),
            ..*event
        }
    }

    fn covers(&self, sent: Timestamp) -> bool {
        match self.state {
            State::Never => false,
            State::Since { from, .. } => sent >= from,
            State::Between { from, until } => (from..until).contains(&sent),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::driver;
    use crate::event::CongestionSignal;
    use crate::units::Bandwidth;

    fn ack(now: u64, sent: u64, delivered: u64, in_flight: u64) -> AckEvent {
        let at = |millis| Timestamp::from_origin(Duration::from_millis(millis));
        AckEvent {
            newest_sent: at(sent),
            delivered: Bytes(delivered),
            in_flight: Bytes(in_flight),
            rate: Some(RateSample {
                delivery_rate: Bandwidth::from_bytes_per_second(1_000),
                delivered: Bytes(2400),
                app_limited: false,
                prior_delivered: Bytes::ZERO,
                in_flight_at_send: Bytes(in_flight),
                lost: Bytes::ZERO,
            }),
            ..driver::ack(at(now), Duration::from_millis(now - sent), Bytes(2400), 1)
        }
    }

    fn marked(held: &mut HeldBack, ack: AckEvent) -> bool {
        let marks = held.on_ack(&ack);
        let marked = HeldBack::marked(&ack).rate;
        assert!(marked.is_some_and(|rate| rate.app_limited));
        marks
    }

    /// Trap: rates measured while the controller limits the sender say nothing about the path.
    #[test]
    fn packets_sent_while_the_controller_limits_are_marked() {
        let mut held = HeldBack::default();
        assert!(!marked(&mut held, ack(100, 60, 10_000, 4_000)));
        held.mark(&ack(100, 60, 10_000, 4_000));
        assert!(
            !marked(&mut held, ack(110, 70, 12_000, 4_000)),
            "left before"
        );
        assert!(marked(&mut held, ack(140, 100, 14_000, 4_000)));
        // The flight is delivered: packets sent from now on count.
        assert!(marked(&mut held, ack(150, 110, 15_000, 4_000)));
        assert!(marked(&mut held, ack(180, 149, 19_000, 4_000)));
        assert!(!marked(&mut held, ack(190, 150, 21_000, 4_000)));
    }

    #[test]
    fn losses_do_not_prolong_it() {
        let mut held = HeldBack::default();
        held.mark(&ack(100, 60, 10_000, 4_000));
        held.on_congestion(&CongestionEvent {
            now: Timestamp::from_nanos(120_000_000),
            signal: CongestionSignal::Loss,
            newest_sent: Timestamp::from_nanos(90_000_000),
            lost: Bytes(3_000),
            flight: None,
            delivered: Bytes(11_000),
            in_flight: Bytes(1_000),
            round: 3,
        });
        assert!(!marked(&mut held, ack(130, 95, 11_500, 4_000)));
        assert!(!marked(&mut held, ack(170, 130, 14_000, 4_000)));
    }
}
