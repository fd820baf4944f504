//! The minimum RTT, and ProbeRTT, which measures it.

use core::time::Duration;

use super::Bbr;
use super::config::ProbeRttWindow;
use super::state::{ProbeRttPhase, State};
use crate::event::AckEvent;
use crate::filter::BandwidthFilter;
use crate::model::{LongerPath, PathCheck, horizon};
use crate::units::Bytes;

/// The state of one ProbeRTT.
#[derive(Debug, Clone, Copy)]
pub(super) struct RttProbe {
    /// The minimum RTT since ProbeRTT began, in nanoseconds.
    min_rtt: u64,
    /// Whether the estimate before it had expired, so that this minimum replaces it.
    expired: bool,
    /// The check whether the path has become longer, if there is one.
    check: Option<PathCheck>,
}

impl<F: BandwidthFilter> Bbr<F> {
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let before = self.min_rtt.nanos();
        self.take_rtt(ack);
        self.model_stale |= self.min_rtt.nanos() != before;
    }

    fn take_rtt(&mut self, ack: &AckEvent) {
        let rtt = ack.rtt_nanos();
        if let Some(probe) = &mut self.probe {
            probe.min_rtt = probe.min_rtt.min(rtt);
            if let Some(check) = &mut probe.check {
                check.on_rtt(rtt);
            }
            self.min_rtt.update(ack.now, rtt);
            return;
        }
        let expired = self.min_rtt.expired(ack.now);
        self.min_rtt.update(ack.now, rtt);
        if expired {
            if self.restarting {
                // The path was idle: this RTT includes no queue of this flow.
                self.min_rtt.replace(ack.now, rtt);
            } else if self.min_rtt.expired(ack.now) {
                self.enter_probe_rtt(ack, true);
            }
        } else if self.config.check_longer_path {
            self.watch_path(ack, rtt);
        }
    }

    /// Enters ProbeRTT if the RTT has been above that of a full window for long enough.
    fn watch_path(&mut self, ack: &AckEvent, rtt: u64) {
        // Most RTTs are no sign of a longer path, whatever the gain.
        if rtt <= horizon(self.min_rtt.nanos()) {
            self.longer_path.reset();
            return;
        }
        let (State::ProbeBandwidth(_), Some(min_rtt), true) = (
            self.state,
            self.min_rtt.known_nanos(),
            LongerPath::can_be_told(ack, self.min_window),
        ) else {
            self.longer_path.reset();
            return;
        };
        self.longer_path
            .on_ack(ack, rtt, self.config.window_gain, min_rtt);
        if self.longer_path.is_due(ack) {
            self.enter_probe_rtt(ack, false);
        }
    }

    /// Losses: an overflowing buffer is as long at any flight, so that the RTT does not show the path.
    pub(super) fn drop_path_check(&mut self) {
        self.longer_path.reset();
        if let Some(probe) = &mut self.probe {
            probe.check = None;
        }
    }

    fn enter_probe_rtt(&mut self, ack: &AckEvent, expired: bool) {
        let check = self.longer_path.begin_check(ack, self.probe_rtt_window());
        self.probe = Some(RttProbe {
            min_rtt: ack.rtt_nanos(),
            expired,
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
                    if let Some(min_rtt) = path.or(probe.expired.then_some(probe.min_rtt)) {
                        self.min_rtt.replace(ack.now, min_rtt);
                    }
                    if self.full_bw_reached {
                        self.enter_probe_bandwidth(ack.now);
                    } else {
                        self.transition(State::Startup);
                    }
                }
            }
        }
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
