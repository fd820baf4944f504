//! The window: the model's target, bounded by recovery, losses, marks and the target queue.

use super::Bbr;
use super::config::RecoveryRule;
use super::recovery::{Recovery, Rule};
use super::state::State;
use crate::event::{AckEvent, CongestionEvent};
use crate::filter::BandwidthFilter;
use crate::model::horizon;
use crate::units::{Bandwidth, Gain};

impl<F: BandwidthFilter> Bbr<F> {
    /// Sizes the window (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3).
    pub(super) fn update_window(&mut self, ack: &AckEvent) {
        if !self.recovery.covers(ack.newest_sent)
            && let Recovery::Active {
                prior_window, rule, ..
            } = self.recovery
        {
            self.recovery = Recovery::Open;
            match rule {
                Rule::Restore => self.window = self.window.max(prior_window),
                Rule::FairShare => self.take_fair_share(ack),
            }
        }
        let target = self.model.target;
        self.window = if self.recovery.conserves(ack.round) {
            let conserved = ack.in_flight + ack.acked;
            match self.recovery.rule() {
                Some(Rule::FairShare) => conserved,
                Some(Rule::Restore) | None => self.window.max(conserved),
            }
        } else if self.full_bw_reached {
            (self.window + ack.acked).min(target)
        } else if self.window < target {
            self.window + ack.acked
        } else {
            self.window
        };
        self.window = self.window.max(self.min_window);
    }

    /// Updates the target queue, if the configuration has one.
    pub(super) fn update_target_queue(&mut self, ack: &AckEvent) {
        let Some(packets) = self.config.target_queue else {
            return;
        };
        let Some(min_rtt) = self.min_rtt.get() else {
            return;
        };
        let bdp = self.model.bdp.unwrap_or_default();
        let queue =
            (self.mtu * u64::from(packets)).min((MAX_TARGET_QUEUE * bdp).max(self.min_window));
        match self.state {
            State::Startup if !ack.app_limited => {
                let waited = self.target_queue.on_ack(ack, min_rtt, queue);
                if waited.is_some_and(|waited| waited > queue) {
                    self.leave_startup();
                }
            }
            State::ProbeBandwidth(_) if self.target_queue.window().is_none() => {
                self.target_queue.begin(self.bdp(Gain::UNIT));
            }
            State::ProbeBandwidth(_) if self.recovery == Recovery::Open && !ack.app_limited => {
                self.target_queue.on_ack(ack, min_rtt, queue);
            }
            _ => self.target_queue.pause(),
        }
    }

    /// Recovery has ended. The flight is now this flow's share (fair-share article, "Fair-share packet conservation"
    /// and "Fair-share utilization").
    fn take_fair_share(&mut self, ack: &AckEvent) {
        self.window = ack.in_flight.max(self.min_window);
        let share = self
            .min_rtt
            .get()
            .and_then(|min_rtt| Bandwidth::from_delivery(self.window, min_rtt));
        if let Some(rate) = share {
            self.filter.reseed(ack.round, rate);
        }
        if self.target_queue.window().is_some() {
            self.target_queue.begin(self.window);
        }
        if matches!(self.state, State::Startup) {
            self.leave_startup();
        }
        self.update_model();
    }

    /// Computes the window for the sender.
    pub(super) fn update_control(&mut self) {
        let mut allowed = match self.state {
            State::ProbeRtt(_) => self.window.min(self.probe_rtt_window()),
            // Drain ends when the flight fits the pipe. Without pacing only the window can reduce the flight.
            State::Drain => self.window.min(self.bdp(Gain::UNIT)),
            State::ProbeBandwidth(_) => match self.target_queue.window() {
                // At least the flight of the estimate: on a path with a long RTT and no queue, a window computed from
                // that RTT would only shrink.
                Some(window) => {
                    let min = self.config.pacing_margin * self.model.bdp.unwrap_or_default();
                    self.window.min(window.max(min).max(self.min_window))
                }
                None => self.window,
            },
            State::Startup => self.window,
        };
        // The minimum window may have grown with the MTU.
        if let Some(bound) = self.marks.bound() {
            allowed = allowed.min(bound.max(self.min_window));
        }
        if let Some(bound) = self.heavy_losses.bound() {
            allowed = allowed.min(bound.max(self.min_window));
        }
        self.calculator.update(allowed);
    }

    /// The rule for a recovery that begins now.
    fn recovery_rule(&self) -> Rule {
        let queued = || {
            let min_round_rtt = self.min_rtt.known_nanos().zip(self.round_min_rtt);
            min_round_rtt.is_some_and(|(min, min_round_rtt)| {
                min_round_rtt > OTHERS_QUEUE.scale(horizon(min))
            })
        };
        match self.config.recovery {
            RecoveryRule::FairShare => Rule::FairShare,
            RecoveryRule::FairShareOfQueue if queued() => Rule::FairShare,
            RecoveryRule::FairShareOfQueue | RecoveryRule::Restore | RecoveryRule::Ignore => {
                Rule::Restore
            }
        }
    }

    /// Starts recovery after a loss, or prolongs it.
    pub(super) fn recover(&mut self, event: &CongestionEvent) {
        let rule = self.recovery.rule().unwrap_or(self.recovery_rule());
        let under_way = match rule {
            Rule::Restore => self.recovery.prolong(event.now),
            Rule::FairShare => self.recovery.covers(event.newest_sent),
        };
        if !under_way {
            self.recovery = Recovery::Active {
                began: event.now,
                conserve_until_round: match rule {
                    Rule::Restore => event.round.saturating_add(1),
                    Rule::FairShare => u64::MAX,
                },
                prior_window: self.window,
                rule,
            };
            // The flight does not include the lost packets. To subtract them again would stop the sender, and if the
            // rest of the flight is lost too, only a probe timeout would detect it. Two packets, so that the receiver
            // acknowledges at once (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4: in flight and
            // newly delivered).
            let conserved = event.in_flight + self.mtu * 2;
            self.window = self.window.min(conserved).max(self.min_window);
            return;
        }
        self.window = (self.window - event.lost).max(self.min_window);
    }
}

/// With the recommended window this flow's queue is half a BDP, and the RTT is 1.5 x min RTT. A longer RTT shows the
/// queue of other flows, or a full buffer.
const OTHERS_QUEUE: Gain = Gain::new(7, 4);

/// The target queue is at most this share of the bandwidth-delay product, so that it stays short on slow paths.
const MAX_TARGET_QUEUE: Gain = Gain::new(1, 2);
