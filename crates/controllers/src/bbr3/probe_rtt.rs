//! The round-trip time without queues, and the silence in which to see it.

use core::time::Duration;

use super::Bbr3;
use super::state::{Hold, Phase, Silence, State};
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::FullPipe;
use crate::units::Timestamp;

impl<F: BandwidthFilter> Bbr3<F> {
    /// `UpdateMinRTT` and `CheckProbeRTT` (draft-ietf-ccwg-bbr, section "ProbeRTT Logic").
    ///
    /// Two minima serve every version of the draft: a recent one, whose expiry calls for ProbeRTT, and the one that is
    /// believed, which takes the recent one over when that is no larger or it has itself expired. Where both windows are the
    /// same, as in the newest draft, so are the minima.
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let expired = self
            .recent_rtt
            .expired(ack.now, self.config.probe_rtt_interval);
        let probing = matches!(self.state, State::ProbeRtt(_));
        if expired {
            self.recent_rtt.replace(ack.now, ack.rtt);
        } else {
            self.recent_rtt.update(ack.now, ack.rtt);
        }
        let least = self.recent_rtt.nanos() <= self.min_rtt.nanos();
        if least || self.min_rtt.expired(ack.now, self.config.min_rtt_window) {
            self.min_rtt = self.recent_rtt;
        }
        // After silence there is no queue of ours left to drain.
        if expired && !probing && !self.restarting {
            self.enter_probe_rtt();
        }
        self.advance_probe_rtt(ack);
    }

    fn enter_probe_rtt(&mut self) {
        // The model has not taken over this acknowledgement's estimates: they may have seen a full queue.
        let half_pipe = self.config.probe_rtt_gain * self.output.bdp;
        let search = match self.state {
            State::Startup(search) => search,
            _ => FullPipe::default(),
        };
        self.transition(State::ProbeRtt(Silence {
            window: half_pipe,
            prior_window: self.window,
            search,
            hold: None,
        }));
        self.cycle.stopping = true;
        self.round.restart(self.delivered);
    }

    /// `HandleProbeRTT`.
    fn advance_probe_rtt(&mut self, ack: &AckEvent) {
        let (round_started, least) = (self.round.started(), self.min_window());
        let State::ProbeRtt(silence) = &mut self.state else {
            return;
        };
        match &mut silence.hold {
            None => {
                if ack.in_flight <= silence.window.max(least) {
                    silence.hold = Some(Hold {
                        until: ack.now + PROBE_RTT_TIME,
                        round_passed: false,
                    });
                    self.round.restart(ack.delivered);
                }
            }
            Some(hold) => {
                hold.round_passed |= round_started;
                if hold.round_passed {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
    }

    /// Leaves ProbeRTT if its time has passed (`CheckProbeRTTDone` and `ExitProbeRTT`).
    pub(super) fn check_probe_rtt_done(&mut self, now: Timestamp) {
        let State::ProbeRtt(Silence {
            prior_window,
            search,
            hold: Some(hold),
            ..
        }) = self.state
        else {
            return;
        };
        if now <= hold.until {
            return;
        }
        // The next silence is due an interval from now, whatever this one found.
        if let Some(recent) = self.recent_rtt.get() {
            self.recent_rtt.replace(now, recent);
        }
        self.window = self.window.max(prior_window);
        self.bounds.forget_short_term();
        if self.pipe_filled {
            // Filling the pipe again may cause losses, so the next probe waits as after any other.
            self.start_down(now);
            self.transition(State::ProbeBw(Phase::Cruise));
        } else {
            self.enter_startup(search);
        }
    }
}

/// How long the flight stays small (draft-ietf-ccwg-bbr, section "Parameters for Scheduling ProbeRTT").
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
