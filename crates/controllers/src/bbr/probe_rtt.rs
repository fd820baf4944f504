//! The minimum RTT, and ProbeRTT, which measures it.

use core::time::Duration;

use super::Bbr;
use super::config::ProbeRttWindow;
use super::standing_queue::PathRttChange;
use super::state::{ProbeRttPhase, State};
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::{HOST_DELAY, LongerPath, PathCheck};
use crate::units::{Bytes, Gain};

/// The state of one ProbeRTT.
#[derive(Debug, Clone, Copy)]
pub(super) struct RttProbe {
    /// The minimum RTT since ProbeRTT began.
    min_rtt: Duration,
    /// The estimate before ProbeRTT.
    prior_min_rtt: Duration,
    /// Whether an RTT above the old estimate is the path's.
    path_change: PathRttChange,
    /// The maximum RTT to accept as the path's: rounds before ProbeRTT were as short.
    max_path_rtt: Duration,
    /// The check whether the path has become longer, if there is one.
    check: Option<PathCheck>,
}

impl RttProbe {
    /// Whether ProbeRTT has confirmed the old estimate, as far as hosts let it be seen.
    fn confirms_min_rtt(&self) -> bool {
        self.min_rtt <= (CONFIRMATION * self.prior_min_rtt).saturating_add(HOST_DELAY)
    }
}

impl<F: BandwidthFilter> Bbr<F> {
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let before = self.min_rtt.nanos();
        self.take_rtt(ack);
        self.model_stale |= self.min_rtt.nanos() != before;
    }

    fn take_rtt(&mut self, ack: &AckEvent) {
        if let Some(probe) = &mut self.probe {
            probe.min_rtt = probe.min_rtt.min(ack.rtt);
            if let Some(check) = &mut probe.check {
                check.on_rtt(ack.rtt);
            }
            self.min_rtt.update(ack.now, ack.rtt);
            return;
        }
        let window = if self.min_rtt_confirmed {
            self.config.min_rtt_window
        } else {
            self.config.min_rtt_window.min(UNCONFIRMED_WINDOW)
        };
        let expired = self.min_rtt.expired(ack.now, window);
        self.min_rtt.update(ack.now, ack.rtt);
        if expired {
            if self.restarting {
                // The path was idle: this RTT includes no queue of this flow.
                self.min_rtt.replace(ack.now, ack.rtt);
            } else if self.min_rtt.expired(ack.now, window) {
                let old = self.min_rtt.expired(ack.now, self.config.min_rtt_window);
                // An estimate of this age is no longer valid.
                let path_change = if old {
                    PathRttChange::Yes
                } else {
                    PathRttChange::No
                };
                self.enter_probe_rtt(ack, path_change, Duration::MAX);
            }
        } else if self.config.probe_standing_queue {
            self.watch_queue(ack);
        } else if self.config.check_longer_path {
            self.watch_path(ack);
        }
    }

    /// Enters ProbeRTT if the RTT has been above that of a full window for long enough.
    fn watch_path(&mut self, ack: &AckEvent) {
        let (State::ProbeBandwidth(_), Some(min_rtt), true) = (
            self.state,
            self.min_rtt.get(),
            LongerPath::can_be_told(ack, self.min_window()),
        ) else {
            self.longer_path.reset();
            return;
        };
        self.longer_path
            .on_ack(ack, self.config.window_gain, min_rtt);
        if self.longer_path.is_due(ack) {
            self.enter_probe_rtt(ack, PathRttChange::No, Duration::MAX);
        }
    }

    /// Losses: an overflowing buffer is as long at any flight, so that the RTT does not show the path.
    pub(super) fn drop_path_check(&mut self) {
        self.longer_path.reset();
        if let Some(probe) = &mut self.probe {
            probe.check = None;
        }
    }

    fn watch_queue(&mut self, ack: &AckEvent) {
        let (State::ProbeBandwidth(_), Some(min_rtt)) = (self.state, self.min_rtt.get()) else {
            self.standing_queue.reset();
            return;
        };
        let bandwidth = self.filter.bandwidth().unwrap_or_default();
        self.standing_queue.on_ack(ack, bandwidth, min_rtt);
        self.competing_flows.on_ack(ack);
        let due = self.competing_flows.is_due(ack.now, min_rtt);
        if due.unwrap_or_else(|| self.standing_queue.is_due(ack)) {
            let path_change = if self.competing_flows.competed_recently(ack.now) {
                PathRttChange::No
            } else {
                self.standing_queue.path_rtt_change(bandwidth)
            };
            let max_path_rtt = ALIKE * self.standing_queue.min_round_rtt();
            self.standing_queue.reset();
            self.enter_probe_rtt(ack, path_change, max_path_rtt);
        }
    }

    fn enter_probe_rtt(
        &mut self,
        ack: &AckEvent,
        path_change: PathRttChange,
        max_path_rtt: Duration,
    ) {
        let check = self.longer_path.begin_check(ack, self.probe_rtt_window());
        self.probe = Some(RttProbe {
            min_rtt: ack.rtt,
            prior_min_rtt: self.min_rtt.get().unwrap_or(ack.rtt),
            path_change,
            max_path_rtt,
            check,
        });
        self.transition(State::ProbeRtt(ProbeRttPhase::Draining));
    }

    pub(super) fn advance_probe_rtt(&mut self, ack: &AckEvent) {
        let State::ProbeRtt(phase) = self.state else {
            return;
        };
        match phase {
            ProbeRttPhase::Draining => {
                // The transport stops one packet below the window.
                if ack.in_flight <= self.probe_rtt_window() {
                    self.transition(State::ProbeRtt(ProbeRttPhase::Holding {
                        until: ack.now + PROBE_RTT_TIME,
                        round: ack.round.saturating_add(1),
                    }));
                }
            }
            ProbeRttPhase::Holding { until, round } => {
                let done = ack.now >= until && ack.round >= round;
                if let Some(probe) = self.probe.take_if(|_| done) {
                    let path = probe.check.and_then(|check| {
                        self.longer_path.checked(ack.now);
                        check.path()
                    });
                    if let Some(min_rtt) = path.or_else(|| self.conclude(&probe)) {
                        self.min_rtt.replace(ack.now, min_rtt);
                    }
                    if self.config.probe_standing_queue {
                        self.competing_flows.on_probe(ack, probe.confirms_min_rtt());
                    }
                    self.min_rtt_confirmed = (CONFIRMATION * probe.min_rtt)
                        .saturating_add(HOST_DELAY)
                        >= probe.prior_min_rtt;
                    if self.full_bw_reached {
                        self.enter_probe_bandwidth(ack.now);
                    } else {
                        self.transition(State::Startup);
                    }
                }
            }
        }
    }

    /// The min RTT to use from now on, for the whole window, if ProbeRTT changes it.
    fn conclude(&mut self, probe: &RttProbe) -> Option<Duration> {
        let before = self.missed_min_rtt.take();
        let beyond = probe.min_rtt > probe.max_path_rtt;
        if probe.path_change == PathRttChange::Yes && !beyond {
            return Some(probe.min_rtt);
        }
        if !self.config.probe_standing_queue {
            return None;
        }
        if probe.confirms_min_rtt() {
            // The old estimate is confirmed. An estimate that is confirmed every few seconds must not expire, or a
            // ProbeRTT in the queue of other flows would replace it.
            return Some(probe.min_rtt.min(probe.prior_min_rtt));
        }
        if probe.path_change == PathRttChange::No || beyond {
            return None;
        }
        let found_again = before.is_some_and(|before| {
            before <= ALIKE * probe.min_rtt && probe.min_rtt <= ALIKE * before
        });
        if !found_again {
            self.missed_min_rtt = Some(probe.min_rtt);
        }
        found_again.then_some(probe.min_rtt)
    }

    pub(super) fn probe_rtt_window(&self) -> Bytes {
        match self.config.probe_rtt_window {
            ProbeRttWindow::Packets(packets) => self.mtu * u64::from(packets),
            ProbeRttWindow::Bdp(gain) => self.bdp(gain),
        }
    }
}

/// The minimum time for which ProbeRTT keeps the flight small (BBR paper, section "Steady-state behavior").
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// How long an unconfirmed min RTT is valid: a flow that starts beside others includes their queue in its estimate.
const UNCONFIRMED_WINDOW: Duration = Duration::from_secs(10);

/// ProbeRTT confirms an estimate if its minimum is within this factor.
const CONFIRMATION: Gain = Gain::new(9, 8);

/// Two ProbeRTTs whose minima are within this factor have found the same path.
const ALIKE: Gain = Gain::new(17, 16);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterConfig;
    use crate::{BbrSConfig, driver};

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// What `bbr-s` believes after a ProbeRTT that found `min_rtt` where 40 ms were known, and rounds before it had `min_round_rtt`.
    fn confirms_min_rtt(
        path_change: PathRttChange,
        min_round_rtt: u64,
        min_rtt: u64,
    ) -> [Option<Duration>; 2] {
        let config = BbrSConfig::tuned();
        let filter = config.filter.build().expect("a valid configuration");
        let mut bbr = Bbr::new("bbr-s", config.core, filter, &driver::environment());
        let probe = RttProbe {
            min_rtt: millis(min_rtt),
            prior_min_rtt: millis(40),
            path_change,
            max_path_rtt: ALIKE * millis(min_round_rtt),
            check: None,
        };
        [(); 2].map(|()| bbr.conclude(&probe))
    }

    #[test]
    fn a_longer_path_is_believed_at_once_or_when_it_is_found_again() {
        let path_change = Some(millis(80));
        assert_eq!(
            confirms_min_rtt(PathRttChange::Yes, 80, 80),
            [path_change; 2]
        );
        assert_eq!(
            confirms_min_rtt(PathRttChange::Maybe, 80, 80),
            [None, path_change]
        );
        assert_eq!(confirms_min_rtt(PathRttChange::No, 80, 80), [None; 2]);
        // The one that is known is found again.
        assert_eq!(
            confirms_min_rtt(PathRttChange::Maybe, 80, 42),
            [Some(millis(40)); 2]
        );
    }

    /// Trap: a newcomer's start fills the queue within the last rounds before ProbeRTT. Whatever is behind the queue that stood
    /// there before, it is not longer than the round trips were with it.
    #[test]
    fn an_rtt_above_all_rounds_before_is_a_queue() {
        for path_change in [PathRttChange::Yes, PathRttChange::Maybe] {
            assert_eq!(confirms_min_rtt(path_change, 65, 100), [None; 2]);
            assert_eq!(confirms_min_rtt(path_change, 95, 100)[1], Some(millis(100)));
        }
    }
}
