//! The congestion window: it grows with the delivered bytes up to the bound of the model.

use super::Bbr3;
use super::bounds::UNBOUNDED;
use super::state::State;
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::initial_window;
use crate::units::{Bandwidth, Bytes};

impl<F: BandwidthFilter> Bbr3<F> {
    /// `SetCwnd` (draft-ietf-ccwg-bbr, section "cwnd Adjustment Mechanism").
    pub(super) fn update_window(&mut self, ack: &AckEvent) {
        let max = self.quantized(self.output.target + self.aggregation.extra());
        if self.full_bw_reached {
            self.window = (self.window + ack.acked).min(max);
        } else if self.window < max || ack.delivered < initial_window(self.mtu) {
            self.window += ack.acked;
        }
        self.window = self.window.max(self.min_window).min(self.bound_of_model());
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel` (section "Bounding cwnd Based on Recent Congestion").
    pub(super) fn bound_of_model(&self) -> Bytes {
        let long_term = match &self.state {
            State::Startup(_) | State::Drain { .. } => UNBOUNDED,
            State::ProbeDown | State::ProbeRefill | State::ProbeUp(_) => {
                self.bounds.inflight_longterm
            }
            State::ProbeCruise => self.output.with_headroom,
            State::ProbeRtt(probe_rtt) => probe_rtt.window.min(self.output.with_headroom),
        };
        long_term
            .min(self.bounds.inflight_shortterm)
            .max(self.min_window)
    }

    /// `InflightWithHeadroom`, also while the [output](super::output::Output) is that of before.
    pub(super) fn window_with_headroom(&self) -> Bytes {
        let bound = self.bounds.with_headroom(self.config.headroom, self.mtu);
        bound.max(self.min_window)
    }

    /// Adds room for the hosts' batches, and for two packets more in a probe (`QuantizationBudget`).
    pub(super) fn quantized(&self, flight: Bytes) -> Bytes {
        let flight = flight.max(self.output.batches);
        if matches!(self.state, State::ProbeUp(_)) {
            return flight + self.mtu * 2;
        }
        flight
    }

    /// `Inflight(1.0)` of the long-term bandwidth, without the short-term bound.
    pub(super) fn long_term_pipe(&self) -> Bytes {
        match (self.filter.bandwidth(), self.min_rtt.get()) {
            (Some(bandwidth), Some(min_rtt)) if bandwidth > self.bounds.bw_shortterm => {
                self.quantized(bandwidth.bytes_in(min_rtt))
            }
            _ => self.output.pipe,
        }
    }
}

/// The minimum window: two packets each way, for receivers that acknowledge every second packet (section "Minimum cwnd for
/// Pipelining").
pub(super) fn min_window(mtu: Bytes) -> Bytes {
    mtu * MIN_WINDOW_PACKETS
}

/// The send quantum, between its minimum and its maximum (section "Send Quantum: C.send_quantum").
pub(super) fn send_quantum(rate: Option<Bandwidth>, mtu: Bytes) -> Bytes {
    Bytes(rate.unwrap_or_default().bytes_per_second() / QUANTA_PER_SECOND)
        .min(LARGEST_QUANTUM)
        .max(mtu * 2)
}

/// Whether `flight` leaves no room for another datagram in `window`.
///
/// In RFC 9002 a datagram may reach the window (section 7); in quinn it may not. The last datagram may be small, and
/// the window is not a multiple of a datagram. A flight less than one full datagram below the window fills it under
/// both rules, and a flight exactly one datagram below under the stricter rule.
pub(super) fn fills(flight: Bytes, window: Bytes, mtu: Bytes) -> bool {
    flight + mtu >= window
}

/// Whether the window was full in this round or the one before (`is_cwnd_limited`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WindowUse {
    this_round: bool,
    last_round: bool,
}

impl WindowUse {
    pub(super) fn on_sent(&mut self, full: bool) {
        self.this_round |= full;
    }

    pub(super) fn on_round(&mut self) {
        self.last_round = self.this_round;
        self.this_round = false;
    }

    pub(super) const fn was_full(self) -> bool {
        self.this_round || self.last_round
    }
}

/// draft-ietf-ccwg-bbr, section "Core Algorithm Design Parameters".
const MIN_WINDOW_PACKETS: u64 = 4;

/// A millisecond each (section "Send Quantum: C.send_quantum").
const QUANTA_PER_SECOND: u64 = 1000;

/// 64 KB (the same section).
const LARGEST_QUANTUM: Bytes = Bytes(65_536);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::MTU;

    #[test]
    fn quanta_last_a_millisecond_within_bounds() {
        let quantum = |megabits: u64| {
            let rate = Bandwidth::from_bytes_per_second(megabits * 125_000);
            send_quantum(Some(rate), MTU)
        };
        assert_eq!(send_quantum(None, MTU), MTU * 2);
        assert_eq!(quantum(1), MTU * 2);
        assert_eq!(quantum(100), Bytes(12_500));
        assert_eq!(quantum(10_000), Bytes(65_536));
        // Datagrams larger than the largest quantum are still sent in pairs.
        assert_eq!(send_quantum(None, Bytes(65_000)), Bytes(130_000));
    }

    #[test]
    fn a_full_window_is_remembered_for_a_round() {
        let mut seen = WindowUse::default();
        seen.on_sent(true);
        seen.on_sent(false);
        assert!(seen.was_full());
        seen.on_round();
        assert!(seen.was_full());
        seen.on_round();
        assert!(!seen.was_full());
    }
}
