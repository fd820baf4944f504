//! Startup, Drain and ProbeBW: which state comes next, and when.

use rand::RngExt;

use super::Bbr;
use super::config::RecoveryRule;
use super::state::{CYCLE_GAINS, Cycle, PHASE_DRAIN, PHASE_PROBE, State};
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::{HOST_DELAY, horizon};
use crate::units::{Gain, Timestamp, saturating_nanos};

impl<F: BandwidthFilter> Bbr<F> {
    /// Checks whether the bandwidth has stopped growing (BBR paper, section "Startup": three rounds under 25 %), in
    /// every state (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.2). In Startup, also checks the
    /// minimum RTT of a round for a long queue (BBR-S, section III: six times min RTT), and the ECN marks.
    pub(super) fn check_full_pipe(&mut self, ack: &AckEvent) {
        let app_limited = ack.rate.is_none_or(|sample| sample.app_limited);
        // Later, only this rule asks for the minimum of a round.
        let asked = !self.full_bw_reached || self.config.recovery == RecoveryRule::FairShareOfQueue;
        if asked
            && !app_limited
            && let Some(min_round_rtt) = self.round_rtt.on_ack(ack)
        {
            self.round_min_rtt = Some(min_round_rtt);
        }
        if self.full_bw_reached {
            return;
        }
        if ack.round_start && !app_limited {
            self.search
                .observe(self.filter.bandwidth().unwrap_or_default());
        }
        match self.state {
            State::Startup => {
                let long_queue = self
                    .config
                    .startup_exit_rtt
                    .zip(self.min_rtt.known_nanos())
                    .zip(self.round_min_rtt.filter(|_| !app_limited))
                    .is_some_and(|((gain, min), min_round_rtt)| {
                        min_round_rtt >= gain.scale(horizon(min))
                    });
                if long_queue || self.marks.pipe_is_full() || self.search.is_full() {
                    self.leave_startup();
                }
            }
            // Drain removes the queue.
            _ => self.full_bw_reached = self.search.is_full(),
        }
    }

    pub(super) fn leave_startup(&mut self) {
        self.full_bw_reached = true;
        self.transition(State::Drain);
        self.update_point();
    }

    pub(super) fn enter_probe_bandwidth(&mut self, now: Timestamp) {
        // A random phase, except the draining one, so that flows do not probe in step.
        let drawn = self.random.random_range(0..CYCLE_GAINS.len() as u8 - 1);
        let phase = if drawn >= PHASE_DRAIN {
            drawn + 1
        } else {
            drawn
        };
        self.transition(State::ProbeBandwidth(Cycle {
            phase,
            began: now,
            congested: false,
        }));
    }

    pub(super) fn advance_cycle(&mut self, ack: &AckEvent) {
        let State::ProbeBandwidth(cycle) = &self.state else {
            return;
        };
        // On a path shorter than the hosts' delay, one acknowledgement would be a round.
        let min_rtt = self.min_rtt.nanos().max(saturating_nanos(HOST_DELAY));
        let elapsed = ack.now.nanos_since(cycle.began);
        let a_round_passed = elapsed > min_rtt;
        let done = match cycle.phase {
            PHASE_PROBE => {
                let reached =
                    || ack.prior_in_flight >= self.bdp(CYCLE_GAINS[usize::from(PHASE_PROBE)]);
                // If the host or the application keeps the flight smaller, the flight never reaches the target.
                let patience_over = || elapsed > min_rtt.saturating_mul(PROBE_PATIENCE);
                a_round_passed && (cycle.congested || reached() || patience_over())
            }
            PHASE_DRAIN => a_round_passed || ack.in_flight <= self.bdp(Gain::UNIT),
            _ => a_round_passed,
        };
        if done {
            self.transition(State::ProbeBandwidth(Cycle {
                phase: (cycle.phase + 1) % CYCLE_GAINS.len() as u8,
                began: ack.now,
                congested: false,
            }));
        }
    }
}

/// A probe ends after this many min RTTs, even if the flight has not reached its target.
const PROBE_PATIENCE: u64 = 4;
