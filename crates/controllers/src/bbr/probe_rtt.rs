//! The minimum RTT, and ProbeRTT, which looks for it.

use core::time::Duration;

use super::Bbr;
use super::config::ProbeRttWindow;
use super::standing_queue::PathRttChange;
use super::state::{ProbeRttPhase, State};
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::HOST_DELAY;
use crate::units::{Bytes, Gain};

/// What ProbeRTT is to find, and has found.
#[derive(Debug, Clone, Copy)]
pub(super) struct RttProbe {
    /// The smallest round trip since it began.
    min_rtt: Duration,
    /// What was believed before.
    prior_min_rtt: Duration,
    /// Whether it is the path when it finds more than that.
    path_change: PathRttChange,
    /// But no more than this: without a queue, round trips were as long before.
    max_path_rtt: Duration,
}

impl RttProbe {
    /// As good as what was known before, as far as hosts let it be seen.
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
                // The path has just been silent: this round trip saw no queue of ours.
                self.min_rtt.replace(ack.now, ack.rtt);
            } else if self.min_rtt.expired(ack.now, window) {
                let old = self.min_rtt.expired(ack.now, self.config.min_rtt_window);
                // What is so old is not believed any more.
                let path_change = if old {
                    PathRttChange::Yes
                } else {
                    PathRttChange::No
                };
                self.enter_probe_rtt(ack, path_change, Duration::MAX);
            }
        } else if self.config.probe_standing_queue {
            self.watch_queue(ack);
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
        self.probe = Some(RttProbe {
            min_rtt: ack.rtt,
            prior_min_rtt: self.min_rtt.get().unwrap_or(ack.rtt),
            path_change,
            max_path_rtt,
        });
        self.transition(State::ProbeRtt(ProbeRttPhase::Draining));
    }

    pub(super) fn advance_probe_rtt(&mut self, ack: &AckEvent) {
        let State::ProbeRtt(phase) = self.state else {
            return;
        };
        match phase {
            ProbeRttPhase::Draining => {
                // The host stops one packet short of the window.
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
                    if let Some(min_rtt) = self.conclude(&probe) {
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

    /// What is believed from now on, and for the whole window, for what ProbeRTT found.
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
            // As good as seen again. A minimum that is found every few seconds must not become so old that a ProbeRTT into
            // the queue of others replaces it.
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

/// The least time that ProbeRTT holds the small flight (BBR paper, section "Steady-state behavior").
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// How long a minimum RTT is believed at most that no ProbeRTT has found again: a flow that starts beside others takes their
/// queue for a part of the path.
const UNCONFIRMED_WINDOW: Duration = Duration::from_secs(10);

/// ProbeRTT confirms what it finds to be no less than the inverse of this.
const CONFIRMATION: Gain = Gain::new(9, 8);

/// ProbeRTTs that find round trips within this have found the same path.
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
    fn what_is_longer_than_any_round_before_is_a_queue() {
        for path_change in [PathRttChange::Yes, PathRttChange::Maybe] {
            assert_eq!(confirms_min_rtt(path_change, 65, 100), [None; 2]);
            assert_eq!(confirms_min_rtt(path_change, 95, 100)[1], Some(millis(100)));
        }
    }
}
