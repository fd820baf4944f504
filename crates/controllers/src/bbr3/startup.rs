//! Startup and Drain.

use super::Bbr3;
use super::state::State;
use super::undo::Left;
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::FullPipe;

impl<F: BandwidthFilter> Bbr3<F> {
    /// Detects the plateau of the delivery rate, in the states that accelerate (draft-ietf-ccwg-bbr, section "Exiting
    /// Acceleration Based on Bandwidth Plateau").
    pub(super) fn check_full_pipe(&mut self, ack: &AckEvent) {
        if !self.round.started() {
            return;
        }
        let search = match &mut self.state {
            State::Startup(search) => search,
            State::ProbeUp(probe_up) => &mut probe_up.plateau,
            _ => return,
        };
        if let Some(sample) = &ack.rate
            && !sample.app_limited
        {
            search.observe(sample.delivery_rate);
        }
    }

    /// Startup ends with the plateau, with losses, or with a long queue (the last is not the draft's).
    pub(super) fn check_startup_done(&mut self, ack: &AckEvent) {
        let State::Startup(search) = self.state else {
            return;
        };
        if self.lost_too_much_in_startup(ack) {
            self.undo.left(Left::Startup);
            self.leave_startup_congested();
            return;
        }
        // Application-limited RTT samples show no queue of this flow.
        let limited = ack.app_limited || ack.rate.is_none_or(|sample| sample.app_limited);
        let round = (!limited).then(|| self.round_rtt.on_ack(ack)).flatten();
        let long_queue = self
            .config
            .startup_exit_rtt
            .zip(self.min_rtt.known_nanos())
            .zip(round)
            .is_some_and(|((gain, min), rtt)| rtt >= gain.scale(min));
        if search.is_full() || long_queue {
            self.enter_drain();
        }
    }

    /// Enough ranges of packets were lost, and enough bytes, in a whole round (section "Exiting Startup Based on Packet
    /// Loss").
    ///
    /// The draft's third condition, a round in recovery, holds by construction: the loss round began with the first loss
    /// and ends with the feedback to a packet sent later.
    fn lost_too_much_in_startup(&self, ack: &AckEvent) -> bool {
        self.latest.round_over
            && self.latest.lost_ranges >= self.config.startup_lost_ranges
            && ack
                .rate
                .is_some_and(|sample| self.too_much_lost(sample.lost, sample.in_flight_at_send))
    }

    /// Ends Startup after losses or marks: the delivery of a round is a safe bound.
    pub(super) fn leave_startup_congested(&mut self) {
        self.bounds.inflight_longterm = self.output.bdp.max(self.latest.inflight_latest);
        self.enter_drain();
    }

    fn enter_drain(&mut self) {
        self.full_bw_reached = true;
        self.aggregation.remember(true, self.round.count());
        self.transition(State::Drain {
            last_round: self.round.count().saturating_add(DRAIN_ROUNDS),
        });
    }

    /// Ends Drain once the flight fits the pipe, or after the maximum time (section "Drain").
    ///
    /// A window of the path's RTT needs samples of the path without a queue first: the next drain is ProbeRTT. Packets of an
    /// application that is the limit would show nothing.
    pub(super) fn check_drained(&mut self, ack: &AckEvent) {
        let State::Drain { last_round } = self.state else {
            return;
        };
        let measured = self.has_spread() || ack.app_limited;
        if (ack.in_flight <= self.output.pipe && measured) || self.round.count() > last_round {
            self.start_down(ack.now);
        }
    }

    /// Returns to Startup.
    pub(super) fn enter_startup(&mut self, search: FullPipe) {
        self.transition(State::Startup(search));
    }

    /// Reopens the search: its end was no sign of a full pipe.
    pub(super) fn reopen_search(&mut self) {
        self.full_bw_reached = false;
        self.aggregation.remember(false, self.round.count());
    }
}

/// Rounds after which Drain ends even with a queue, because the bandwidth was overestimated (draft-ietf-ccwg-bbr,
/// section "Drain").
const DRAIN_ROUNDS: u64 = 3;
