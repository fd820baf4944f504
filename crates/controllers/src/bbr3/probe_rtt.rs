//! The minimum RTT, and ProbeRTT, which measures it.

use core::time::Duration;

use super::Bbr3;
use super::state::{Hold, ProbeRttState, State};
use crate::config::WindowPolicy;
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::{FullPipe, HOST_DELAY, LongerPath, horizon};
use crate::units::{Bytes, Timestamp, saturating_nanos};

impl<F: BandwidthFilter> Bbr3<F> {
    /// The RTT without this sender's queue: the minimum, and what packets wait for on average beyond it. The window has the hosts'
    /// delay anyway, which is a part of that. In nanoseconds.
    pub(super) fn base_rtt(&self) -> Option<u64> {
        let min_rtt = self.min_rtt.known_nanos()?;
        Some(if self.covers_spread() {
            let waits = self.spread.get();
            min_rtt.saturating_add(waits.saturating_sub(saturating_nanos(HOST_DELAY)))
        } else {
            min_rtt
        })
    }

    /// Whether the window needs no more samples of the path without a queue.
    pub(super) fn has_spread(&self) -> bool {
        !self.covers_spread() || self.spread.is_known()
    }

    /// Whether the window is a multiple of the path's RTT rather than of the smallest one.
    pub(super) const fn covers_spread(&self) -> bool {
        matches!(self.config.window_policy, WindowPolicy::Bdp { .. })
    }

    /// Handles an acknowledgement, before the rest of the controller. `drained`: of a packet that left in Drain or ProbeRTT. The
    /// first ones of these may have left behind a queue: their flight was larger.
    pub(super) fn measure_spread(&mut self, ack: &AckEvent, drained: bool) {
        if !drained {
            self.spread.end_drain();
        } else if let Some(sample) = &ack.rate
            && sample.in_flight_at_send <= self.output.bdp.max(self.min_window)
        {
            self.spread.add(ack.now, ack.rtt_nanos());
        }
    }

    /// The flight of ProbeRTT, which makes no queue even where the bandwidth is estimated too high.
    pub(super) fn drained(&self) -> Bytes {
        self.config.probe_rtt_gain * self.output.bdp
    }

    /// `UpdateMinRTT` and `CheckProbeRTT` (draft-ietf-ccwg-bbr, section "ProbeRTT Logic").
    ///
    /// Two minima implement every version of the draft. The expiry of the recent one starts ProbeRTT. The valid one
    /// takes over the recent one if that is not larger, or if the valid one has expired. With equal windows, as in the
    /// newest draft, both are equal.
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let rtt = ack.rtt_nanos();
        // After an idle period there is no queue of this flow to drain.
        let may_look = !matches!(self.state, State::ProbeRtt(_)) && !self.restarting;
        let longer = self.config.check_longer_path && may_look && self.watch_path(ack, rtt);
        let expired = longer || self.recent_rtt.expired(ack.now);
        if expired {
            self.recent_rtt.replace(ack.now, rtt);
        } else {
            self.recent_rtt.update(ack.now, rtt);
        }
        let min = self.recent_rtt.nanos() <= self.min_rtt.nanos();
        if min || self.min_rtt.expired(ack.now) {
            self.min_rtt.take_over(&self.recent_rtt);
        }
        if expired && may_look {
            self.enter_probe_rtt(ack);
        }
        self.advance_probe_rtt(ack);
    }

    /// Whether the RTT, of which this is a sample in nanoseconds, has been long enough to enter ProbeRTT early.
    fn watch_path(&mut self, ack: &AckEvent, rtt: u64) -> bool {
        // Most RTTs are no sign of a longer path, whatever the gain.
        if rtt <= horizon(self.min_rtt.nanos()) {
            self.longer_path.reset();
            return false;
        }
        let (true, Some(min_rtt), true) = (
            self.state.is_probe_bw(),
            self.min_rtt.known_nanos(),
            LongerPath::can_be_told(ack, self.min_window),
        ) else {
            self.longer_path.reset();
            return false;
        };
        self.longer_path
            .on_ack(ack, rtt, self.config.window_gain, min_rtt);
        self.longer_path.is_due(ack)
    }

    /// Cancels the check after losses: a buffer that overflows is as long whatever the flight, so the RTT says nothing
    /// about the path.
    pub(super) fn drop_path_check(&mut self) {
        self.longer_path.reset();
        if let State::ProbeRtt(probe_rtt) = &mut self.state {
            probe_rtt.check = None;
        }
    }

    fn enter_probe_rtt(&mut self, ack: &AckEvent) {
        // The model does not include this acknowledgement yet, which may have seen a full queue.
        let half_pipe = self.drained();
        let search = match self.state {
            State::Startup(search) => search,
            _ => FullPipe::default(),
        };
        let check = self
            .longer_path
            .begin_check(ack, half_pipe.max(self.min_window));
        self.transition(State::ProbeRtt(ProbeRttState {
            check,
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
        let State::ProbeRtt(probe_rtt) = &mut self.state else {
            return;
        };
        if let Some(check) = &mut probe_rtt.check {
            check.on_rtt(ack.rtt_nanos());
        }
        match &mut probe_rtt.hold {
            None => {
                if ack.in_flight <= probe_rtt.window.max(self.min_window) {
                    probe_rtt.hold = Some(Hold {
                        until: ack.now + PROBE_RTT_TIME,
                        round_passed: false,
                    });
                    self.round.restart(ack.delivered);
                }
            }
            Some(hold) => {
                hold.round_passed |= self.round.started();
                if hold.round_passed {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
    }

    /// Leaves ProbeRTT if its time has passed (`CheckProbeRTTDone` and `ExitProbeRTT`).
    pub(super) fn check_probe_rtt_done(&mut self, now: Timestamp) {
        let State::ProbeRtt(ProbeRttState {
            prior_window,
            search,
            hold: Some(hold),
            check,
            ..
        }) = self.state
        else {
            return;
        };
        if now <= hold.until {
            return;
        }
        if let Some(check) = check {
            self.longer_path.checked(now);
            if let Some(path) = check.path() {
                self.recent_rtt.replace(now, path);
                self.min_rtt.take_over(&self.recent_rtt);
            }
        }
        // The next ProbeRTT is due after an interval, whatever this one found.
        if let Some(recent) = self.recent_rtt.known_nanos() {
            self.recent_rtt.replace(now, recent);
        }
        self.window = self.window.max(prior_window);
        self.bounds.forget_short_term();
        if self.full_bw_reached {
            // Refilling the pipe may cause losses, so the next probe waits as usual.
            self.start_down(now);
            self.transition(State::ProbeCruise);
        } else {
            self.enter_startup(search);
        }
    }
}

/// How long the flight stays small (draft-ietf-ccwg-bbr, section "Parameters for Scheduling ProbeRTT").
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
