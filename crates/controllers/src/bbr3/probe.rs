//! ProbeBW: when to probe, how far, and how the result changes the long-term bound.

use core::time::Duration;

use rand::RngExt;
use rand_pcg::Pcg32;

use super::Bbr3;
use super::config::{Probing, UpExit};
use super::state::State;
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::FullPipe;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// The state that a ProbeBW cycle passes to the next (draft-ietf-ccwg-bbr, section "ProbeBW State").
///
/// Of the draft's five phases of feedback (`ack_phase`) only the last affects a decision.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cycle {
    /// `cycle_count`: the clock of the maximum filter.
    pub(super) count: u64,
    /// `cycle_stamp` + `bw_probe_wait`.
    over_at: Timestamp,
    /// `rounds_since_probe_up`.
    rounds: u64,
    /// `is_bw_probe_sample`: reported losses are those of a probe, and there was no response yet.
    pub(super) sampling: bool,
    /// `ACKS_PROBE_STOPPING`: the probe has ended, its feedback has not.
    pub(super) stopping: bool,
    /// `prev_probe_too_high`.
    too_high: bool,
    /// `prev_probe_precautionary`.
    probe_precautionary: bool,
}

/// The progress of one probe (sections "Accelerating to Probe for Bandwidth" and "ProbeBW Algorithm Details").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ProbeUp {
    /// Detects the end of growth.
    pub(super) plateau: FullPipe,
    began: Timestamp,
    /// `bw_probe_up_rounds`.
    rounds: u32,
    /// `bw_probe_up_acked`.
    acked: Bytes,
    /// `probe_up_acked_per_inc`.
    acked_per_packet: Bytes,
}

impl ProbeUp {
    fn new(began: Timestamp, rate: Bandwidth, window: Bytes, mtu: Bytes) -> Self {
        let mut probe_up = Self {
            plateau: FullPipe::from_baseline(rate),
            began,
            ..Self::default()
        };
        probe_up.steepen(window, mtu);
        probe_up
    }

    /// Begins another round with twice the growth (`RaiseInflightLongtermSlope`).
    fn steepen(&mut self, window: Bytes, mtu: Bytes) {
        self.acked_per_packet = Bytes(window.0 >> self.rounds).max(mtu);
        self.rounds = (self.rounds + 1).min(MAX_DOUBLINGS);
    }

    /// The growth of the bound, in packets, for the acknowledged bytes.
    fn grow(&mut self, acked: Bytes) -> u64 {
        self.acked += acked;
        if self.acked < self.acked_per_packet {
            return 0;
        }
        let step = self.acked_per_packet.0.max(1);
        let packets = self.acked.0 / step;
        self.acked = Bytes(self.acked.0 % step);
        packets
    }
}

impl Cycle {
    /// Starts a random wait, so that flows do not probe in step (`PickProbeWait`).
    fn pick_wait(&mut self, now: Timestamp, random: &mut Pcg32) {
        self.rounds = random.random_range(0..=1);
        let spread = Duration::from_nanos(random.random_range(0..=WAIT_SPREAD_NANOS));
        self.over_at = now + (MIN_WAIT + spread);
    }

    /// A packet-timed round has passed.
    pub(super) fn count_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }

    /// Whether Reno or CUBIC would lose a packet as often at this flight, counted in packets
    /// (`IsRenoCoexistenceProbeTime`).
    fn reno_would_probe(&self, flight: Bytes, mtu: Bytes) -> bool {
        self.rounds >= RENO_ROUNDS || mtu * self.rounds.saturating_add(1) > flight
    }

    fn is_over(&self, now: Timestamp) -> bool {
        now > self.over_at
    }

    /// The probe lost too much. There is one response per probe.
    pub(super) fn note_too_high(&mut self) {
        self.too_high = true;
        self.sampling = false;
    }
}

impl<F: BandwidthFilter> Bbr3<F> {
    /// The ProbeBW state machine (`UpdateProbeBWCyclePhase`).
    pub(super) fn advance_probe_bandwidth(&mut self, ack: &AckEvent) {
        if !self.full_bw_reached || self.adapt_long_term(ack) {
            return;
        }
        match self.state {
            State::Startup(_) | State::Drain { .. } | State::ProbeRtt(_) => {}
            State::ProbeDown | State::ProbeCruise if self.is_time_to_probe(ack) => {
                self.start_refill();
            }
            State::ProbeDown if self.is_drained(ack) => self.transition(State::ProbeCruise),
            State::ProbeDown | State::ProbeCruise => {}
            State::ProbeRefill => {
                if self.round.started() {
                    self.cycle.sampling = true;
                    self.start_up(ack);
                }
            }
            State::ProbeUp(probe_up) => {
                if self.is_time_to_go_down(ack, &probe_up) {
                    // No high loss so far; it may still be reported.
                    self.cycle.too_high = false;
                    self.start_down(ack.now);
                }
            }
        }
    }

    pub(super) fn start_down(&mut self, now: Timestamp) {
        self.latest.reset();
        self.cycle.pick_wait(now, &mut self.random);
        self.cycle.stopping = true;
        self.round.restart(self.delivered);
        self.transition(State::ProbeDown);
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.forget_short_term();
        self.cycle.probe_precautionary = false;
        self.cycle.stopping = false;
        self.round.restart(self.delivered);
        self.transition(State::ProbeRefill);
    }

    pub(super) fn start_up(&mut self, ack: &AckEvent) {
        self.round.restart(self.delivered);
        let rate = ack.rate.map_or(Bandwidth::ZERO, |s| s.delivery_rate);
        let probe_up = ProbeUp::new(ack.now, rate, self.window, self.mtu);
        self.transition(State::ProbeUp(probe_up));
    }

    /// Whether to probe: after the random wait, or as often as Reno; sooner only for a filter that has nothing but
    /// lower bounds (`IsTimeToProbeBW`).
    fn is_time_to_probe(&self, ack: &AckEvent) -> bool {
        let flight = self.window.min(self.output.bdp);
        self.cycle.is_over(ack.now)
            || self.cycle.reno_would_probe(flight, self.mtu)
            || (self.config.probing == Probing::WhileUnbounded
                && self.cycle.rounds >= UNBOUNDED_ROUNDS
                && self.filter.wants_probe())
    }

    /// Whether the queue is empty and there is room for others (`IsTimeToCruise`).
    ///
    /// A window of more than one bandwidth-delay product never lets the flight fall to one. With it, Down ends when the
    /// flight is down to that of Cruise: if Down lasted until the next probe, the samples would show the sender's own rate
    /// times Down's gain.
    fn is_drained(&self, ack: &AckEvent) -> bool {
        let kept = self.calculator.flight_at_estimate();
        let drained = self.long_term_pipe().max(kept);
        ack.in_flight <= self.window_with_headroom() && ack.in_flight <= drained
    }

    /// Whether Up ends (`IsTimeToGoDown`).
    fn is_time_to_go_down(&mut self, ack: &AckEvent, probe_up: &ProbeUp) -> bool {
        // The flight is largest before the acknowledgement.
        if self.cycle.too_high && ack.prior_in_flight + self.mtu > self.bounds.inflight_longterm {
            self.cycle.probe_precautionary = true;
            return true;
        }
        if self.window_was_full() && self.window >= self.bounds.inflight_longterm {
            // The bound limits the rate, so there is no plateau to detect.
            let rate = ack.rate.map_or(Bandwidth::ZERO, |s| s.delivery_rate);
            if let State::ProbeUp(probe_up) = &mut self.state {
                probe_up.plateau = FullPipe::from_baseline(rate);
            }
            return false;
        }
        let answered = self.config.probing == Probing::WhileUnbounded
            && self.round.started()
            && !self.filter.wants_probe();
        // The flight of which the acknowledged packet was part: the estimate includes its delivery. If it filled no
        // more than the pipe, the estimate has grown with it, and the probe continues.
        let reached = self.config.up_exit == UpExit::Flight
            && ack.now.nanos_since(probe_up.began) > self.min_rtt.nanos()
            && ack.rate.is_some_and(|sample| {
                sample.in_flight_at_send > self.config.up_pacing_gain * self.delivered_bdp()
            });
        answered || reached || probe_up.plateau.is_full()
    }

    /// The bandwidth-delay product at the rate that the path delivers. Where the estimate is below that rate on purpose,
    /// 1.25 times its own product can be the present flight: the probe would end without a result.
    fn delivered_bdp(&self) -> Bytes {
        let delivered = self.filter.delivered_rate();
        match (delivered, self.min_rtt.get()) {
            (Some(rate), Some(min_rtt)) if delivered != self.filter.bandwidth() => {
                rate.bytes_in(min_rtt)
            }
            _ => self.output.bdp,
        }
    }

    /// Feedback to a probe that was not too high raises the long-term bound. The end of the probe advances the maximum
    /// filter (`AdaptLongTermModel`). Returns whether the state has changed.
    fn adapt_long_term(&mut self, ack: &AckEvent) -> bool {
        let probing_bandwidth = self.state.is_probe_bw();
        if self.cycle.stopping && self.round.started() {
            self.cycle.sampling = false;
            self.cycle.stopping = false;
            if probing_bandwidth && ack.rate.is_some_and(|sample| !sample.app_limited) {
                self.cycle.count = self.cycle.count.saturating_add(1);
            }
            if probing_bandwidth && self.cycle.probe_precautionary && !self.cycle.too_high {
                // The short probe had no high loss: probe again at once.
                self.start_refill();
                return true;
            }
        }
        if let Some(sample) = &ack.rate
            && self.bounds.has_inflight_longterm()
            && !self.too_much_lost(sample.lost, sample.in_flight_at_send)
        {
            self.bounds
                .raise_inflight_longterm(sample.in_flight_at_send);
            self.probe_long_term_upward(ack);
        }
        false
    }

    /// Up raises the bound that it has filled, slowly at first (`ProbeInflightLongtermUpward`).
    fn probe_long_term_upward(&mut self, ack: &AckEvent) {
        let full = self.window_was_full() && self.window >= self.bounds.inflight_longterm;
        let State::ProbeUp(probe_up) = &mut self.state else {
            return;
        };
        if !full {
            return;
        }
        let packets = probe_up.grow(ack.acked);
        self.bounds.inflight_longterm += self.mtu * packets;
        if self.round.started() {
            probe_up.steepen(self.window, self.mtu);
        }
    }
}

/// 2 s to 3 s between two probes (draft-ietf-ccwg-bbr, section "A Dual-Time-Scale Approach for Coexistence").
const MIN_WAIT: Duration = Duration::from_secs(2);
const WAIT_SPREAD_NANOS: u64 = 1_000_000_000;

/// The maximum number of rounds between two probes (the same section).
const RENO_ROUNDS: u64 = 63;

/// Rounds between two probes for a filter that has nothing but lower bounds: one gain cycle of BBRv1.
const UNBOUNDED_ROUNDS: u64 = 8;

/// The maximum number of times that the growth per round doubles (section "ProbeBW Algorithm Details").
const MAX_DOUBLINGS: u32 = 30;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::driver::MTU;

    /// Trap: coexistence with Reno counts packets, not bytes.
    #[test]
    fn reno_rounds_are_packets() {
        let mut cycle = Cycle::default();
        for rounds in 0..10 {
            assert!(!cycle.reno_would_probe(MTU * 10, MTU), "{rounds}");
            cycle.count_round();
        }
        assert!(cycle.reno_would_probe(MTU * 10, MTU));
        for _ in 10..63 {
            assert!(!cycle.reno_would_probe(MTU * 1000, MTU));
            cycle.count_round();
        }
        assert!(cycle.reno_would_probe(MTU * 1000, MTU));
    }

    #[test]
    fn waits_are_between_two_and_three_seconds_and_differ() {
        let mut random = Pcg32::seed_from_u64(1);
        let mut waits: Vec<_> = (0..100)
            .map(|_| {
                let mut cycle = Cycle::default();
                cycle.pick_wait(Timestamp::ZERO, &mut random);
                assert!(cycle.rounds <= 1);
                cycle.over_at
            })
            .collect();
        waits.sort();
        waits.dedup();
        assert!(waits.len() > 90);
        assert!(waits[0] >= Timestamp::ZERO + Duration::from_secs(2));
        assert!(waits[waits.len() - 1] <= Timestamp::ZERO + Duration::from_secs(3));
    }

    #[test]
    fn probe_up_doubles_each_round() {
        let window = MTU * 64;
        let mut probe_up = ProbeUp::new(Timestamp::ZERO, Bandwidth::ZERO, window, MTU);
        let mut grown = Vec::new();
        for _ in 0..8 {
            // A window's worth of acknowledgements, one packet each.
            grown.push((0..64).map(|_| probe_up.grow(MTU)).sum::<u64>());
            probe_up.steepen(window, MTU);
        }
        assert_eq!(grown, [1, 2, 4, 8, 16, 32, 64, 64]);
        for _ in 0..100 {
            probe_up.steepen(window, MTU);
        }
        assert_eq!(probe_up.rounds, MAX_DOUBLINGS);
    }
}
