//! The bound that heavy losses put on the flight.

use crate::event::{AckEvent, CongestionEvent};
use crate::units::{Bytes, Gain, Timestamp};

/// A bound on the flight: if more than [`LOSS_THRESHOLD`] of a flight is lost, the flight exceeds what the path holds.
///
/// The rule is BBRv3's `inflight_longterm` (draft-ietf-ccwg-bbr, section "Probing for Bandwidth In ProbeBW"). The bound
/// is the flight that lost too much, less its head-room, and at least [`MIN`] bandwidth-delay products. Each round
/// without such a loss raises it by a quarter. An application-limited round does not raise it: its flight has not
/// tested the bound. A bound above the model's window is dropped.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeavyLosses {
    bound: Option<Bytes>,
    /// Losses of packets sent before this time are covered by the last response.
    answered: Option<Timestamp>,
    /// Whether the current round had such a loss.
    lost: bool,
}

impl HeavyLosses {
    /// Packets of size `mtu` were lost on a path that holds `bdp` without a queue. Returns whether too many of the
    /// flight were lost.
    pub(super) fn on_loss(&mut self, event: &CongestionEvent, mtu: Bytes, bdp: Bytes) -> bool {
        let Some(flight) = event.flight else {
            return false;
        };
        let too_much =
            flight.lost > mtu * TOLERATED && flight.lost > LOSS_THRESHOLD * flight.in_flight;
        if !too_much {
            return false;
        }
        self.lost = true;
        if self
            .answered
            .is_none_or(|answered| event.newest_sent > answered)
        {
            self.answered = Some(event.now);
            let max = self
                .bound
                .map_or(flight.in_flight, |bound| bound.min(flight.in_flight));
            self.bound = Some((REST * max).max(MIN * bdp));
        }
        true
    }

    /// Handles an acknowledgement. `target` is the window without losses.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, target: Bytes) {
        if !ack.round_start {
            return;
        }
        let lost = core::mem::take(&mut self.lost);
        let untested = ack.rate.is_none_or(|sample| sample.app_limited);
        if !lost && !untested {
            let raised = self.bound.map(|bound| REGROWTH * bound);
            self.bound = raised.filter(|&raised| raised < target);
        }
    }

    /// The bound, if there is one.
    pub(super) fn bound(&self) -> Option<Bytes> {
        self.bound
    }
}

/// `BBRLossThresh` (draft-ietf-ccwg-bbr, section "Core Algorithm Design Parameters").
const LOSS_THRESHOLD: Gain = Gain::percent(2);

/// Losses of this many packets are tolerated at any flight: in a small one two packets are more than 2 %.
const TOLERATED: u64 = 2;

/// The share of the flight that the bound keeps (`BBRHeadroom` of 0.15, the same section).
const REST: Gain = Gain::percent(85);

/// The minimum bound, in bandwidth-delay products. At random loss a flight of one BDP delivers less than one BDP, and
/// the next estimate would be lower again. A quarter more, as ProbeBW_UP has, compensates losses of a fifth.
const MIN: Gain = Gain::new(5, 4);

/// The growth of the bound in a round without such losses (the gain of ProbeBW_UP, the same section).
const REGROWTH: Gain = Gain::new(5, 4);

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::driver::{self, MTU};
    use crate::event::{CongestionSignal, FlightSample};

    const BDP: Bytes = Bytes(50_000);
    const TARGET: Bytes = Bytes(125_000);

    fn loss(now: u64, sent: u64, in_flight: u64, lost: u64) -> CongestionEvent {
        CongestionEvent {
            now: Timestamp::from_nanos(now),
            signal: CongestionSignal::Loss,
            newest_sent: Timestamp::from_nanos(sent),
            lost: Bytes(lost),
            flight: Some(FlightSample {
                in_flight: Bytes(in_flight),
                lost: Bytes(lost),
                app_limited: false,
            }),
            delivered: Bytes::ZERO,
            in_flight: Bytes(in_flight - lost),
            round: 1,
        }
    }

    fn round(losses: &mut HeavyLosses) {
        let ack = driver::ack(
            Timestamp::from_nanos(1),
            Duration::from_millis(40),
            Bytes(2400),
            1,
        );
        losses.on_ack(&ack, TARGET);
    }

    #[test]
    fn a_flight_that_loses_a_tenth_bounds_the_next_ones() {
        let mut losses = HeavyLosses::default();
        losses.on_loss(&loss(100, 60, 120_000, 12_000), MTU, BDP);
        assert_eq!(losses.bound(), Some(Bytes(102_000)));
        // What left before the answer says nothing new.
        losses.on_loss(&loss(120, 90, 120_000, 12_000), MTU, BDP);
        assert_eq!(losses.bound(), Some(Bytes(102_000)));
        // The round of the loss gives nothing back, the next one a quarter, which is more than the model asks for.
        round(&mut losses);
        assert_eq!(losses.bound(), Some(Bytes(102_000)));
        round(&mut losses);
        assert_eq!(losses.bound(), None);
    }

    /// Trap: between two large frames the bound is forgotten, and each of them loses as much as the first.
    #[test]
    fn rounds_that_the_application_limits_do_not_raise_the_bound() {
        let mut losses = HeavyLosses::default();
        losses.on_loss(&loss(100, 60, 120_000, 12_000), MTU, BDP);
        let now = Timestamp::from_nanos(1);
        let mut ack = driver::ack(now, Duration::from_millis(40), Bytes(2400), 1);
        if let Some(sample) = &mut ack.rate {
            sample.app_limited = true;
        }
        for _ in 0..100 {
            losses.on_ack(&ack, TARGET);
        }
        assert_eq!(losses.bound(), Some(Bytes(102_000)));
    }

    #[test]
    fn losses_by_chance_leave_more_than_the_path_holds() {
        let mut losses = HeavyLosses::default();
        // Of few packets, and of many less than 2 %.
        losses.on_loss(&loss(100, 60, 12_000, 2_400), MTU, BDP);
        losses.on_loss(&loss(100, 60, 1_200_000, 20_000), MTU, BDP);
        assert_eq!(losses.bound(), None);
        for trip in 1..100 {
            losses.on_loss(&loss(100 * trip, 100 * trip - 40, 60_000, 6_000), MTU, BDP);
        }
        assert_eq!(losses.bound(), Some(MIN * BDP));
    }
}
