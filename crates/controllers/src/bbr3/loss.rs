//! The response to losses.

use super::Bbr3;
use super::state::State;
use super::undo::Left;
use crate::event::{CongestionEvent, CongestionSignal, FlightSample};
use crate::filter::BandwidthFilter;
use crate::units::{Bytes, Gain, Timestamp};

impl<F: BandwidthFilter> Bbr3<F> {
    /// `HandleLostPacket` (draft-ietf-ccwg-bbr, section "Probing for Bandwidth In ProbeBW"), for all packets of an
    /// event as one burst: transports report losses in aggregate.
    pub(super) fn on_loss(&mut self, event: &CongestionEvent) {
        self.save_undo_state(event);
        self.drop_path_check();
        self.latest.note_congestion(event.delivered);
        self.latest.lost_ranges = self.latest.lost_ranges.saturating_add(1);
        if event.signal == CongestionSignal::PersistentCongestion {
            self.on_persistent_congestion();
        }
        let Some(flight) = event.flight.filter(|_| self.cycle.sampling) else {
            return;
        };
        if self.too_much_lost(flight.lost, flight.in_flight) {
            let safe = flight_at_threshold(&flight, event.lost, self.config.loss_threshold);
            if matches!(self.state, State::ProbeUp(_)) {
                self.undo.left(Left::Up);
            }
            self.note_flight_too_high(event.now, safe, flight.app_limited);
        }
    }

    /// `HandleInflightTooHigh`.
    pub(super) fn note_flight_too_high(&mut self, now: Timestamp, safe: Bytes, app_limited: bool) {
        self.cycle.note_too_high();
        if !app_limited {
            let target = self.output.bdp.min(self.window);
            self.bounds.inflight_longterm = safe.max(self.config.beta * target);
        }
        if matches!(self.state, State::ProbeUp(_)) {
            self.start_down(now);
        }
    }

    /// Whether a flight lost too much (`IsInflightTooHigh`).
    pub(super) fn too_much_lost(&self, lost: Bytes, in_flight: Bytes) -> bool {
        // Most samples have lost nothing.
        lost > Bytes::ZERO
            && lost > self.mtu * u64::from(self.config.tolerated_losses)
            && lost > self.config.loss_threshold * in_flight
    }

    /// Once a round, outside probes: the short-term bounds follow the delivery of the congested round
    /// (`AdaptLowerBoundsFromCongestion`).
    pub(super) fn adapt_short_term(&mut self) {
        if !self.latest.round_over {
            return;
        }
        if self.latest.congested && !self.state.is_probing() {
            let bandwidth = self.filter.bandwidth().unwrap_or_default();
            self.bounds
                .cut(self.config.beta, &self.latest, bandwidth, self.window);
        }
        self.latest.congested = false;
    }
}

/// The flight at which the losses crossed the threshold, within the last burst (`InflightAtLoss`).
fn flight_at_threshold(flight: &FlightSample, burst: Bytes, threshold: Gain) -> Bytes {
    let flight_before = flight.in_flight - burst;
    let lost_before = flight.lost - burst;
    let allowed = threshold * flight_before - lost_before;
    flight_before + (threshold.inverse_of_rest() * allowed).min(burst)
}

#[cfg(test)]
mod tests {
    use super::super::Bbr3CoreConfig;
    use super::*;
    use crate::driver::{MTU, environment};
    use crate::filter::MaxFilter;

    const THRESHOLD: Gain = Gain::percent(2);

    fn flight(in_flight: u64, lost: u64) -> FlightSample {
        FlightSample {
            in_flight: Bytes(in_flight),
            lost: Bytes(lost),
            app_limited: false,
        }
    }

    #[test]
    fn losses_count_above_two_percent_and_the_tolerance() {
        let core = |tolerated_losses| {
            let config = Bbr3CoreConfig {
                tolerated_losses,
                ..Bbr3CoreConfig::draft()
            };
            Bbr3::new("bbr3", config, MaxFilter::new(2), &environment())
        };
        let (strict, lenient) = (core(0), core(1));
        assert!(!strict.too_much_lost(Bytes::ZERO, Bytes::ZERO));
        assert!(!strict.too_much_lost(MTU, MTU * 50));
        assert!(strict.too_much_lost(MTU, MTU * 49));
        assert!(!lenient.too_much_lost(MTU, MTU * 2));
        assert!(lenient.too_much_lost(MTU * 2, MTU * 99));
        assert!(!lenient.too_much_lost(MTU * 2, MTU * 100));
    }

    /// Trap: a subtrahend may be larger than its minuend.
    #[test]
    fn the_flight_at_the_threshold_saturates() {
        // 98,000 B in flight without a loss, then a burst of 10,000 B of which 2,000 B fit below 2 %.
        let at = flight_at_threshold(&flight(108_000, 10_000), Bytes(10_000), THRESHOLD);
        assert_eq!(at, Bytes(100_000));
        // Too much was lost before the burst: none of it fits.
        let at = flight_at_threshold(&flight(108_000, 30_000), Bytes(10_000), THRESHOLD);
        assert_eq!(at, Bytes(98_000));
        // A burst larger than the flight it is said to be part of.
        let at = flight_at_threshold(&flight(1_000, 500), Bytes(10_000), THRESHOLD);
        assert_eq!(at, Bytes::ZERO);
        let at = flight_at_threshold(&flight(u64::MAX, u64::MAX), Bytes(1), THRESHOLD);
        assert_eq!(at, Bytes(u64::MAX - 1));
    }
}
