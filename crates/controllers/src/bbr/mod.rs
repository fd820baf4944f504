//! The BBRv1 core: model, state machine and control, with the bandwidth filter as its parameter.
//!
//! After N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control",
//! ACM Queue 14(5), 2016, and draft-cardwell-iccrg-bbr-congestion-control-00 where the paper is silent.

mod config;
mod cycle;
mod heavy_losses;
mod marks;
mod model;
mod policer;
mod probe_rtt;
mod recovery;
mod state;
mod target_queue;
#[cfg(test)]
mod tests;
mod window;

pub use config::{BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, RecoveryRule};

use rand::SeedableRng;
use rand_pcg::Pcg32;

use self::heavy_losses::HeavyLosses;
use self::marks::Marks;
use self::model::{Inputs, Model, min_window};
use self::policer::Policer;
use self::probe_rtt::RttProbe;
use self::recovery::Recovery;
use self::state::{STARTUP_GAIN, State};
use self::target_queue::TargetQueue;
use crate::config::Environment;
use crate::controller::{Control, Controller};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, SentEvent};
use crate::filter::{BandwidthFilter, FilterContext};
use crate::model::{Evidence, FullPipe, HeldBack, LongerPath, MinRtt, RoundRtt, initial_window};
use crate::observe;
use crate::snapshot::Snapshot;
use crate::units::{Bytes, Gain, Timestamp};
use crate::window::WindowCalculator;

/// A BBRv1 controller on the bandwidth filter `F`.
#[derive(Debug, Clone)]
pub(crate) struct Bbr<F> {
    name: &'static str,
    config: BbrCoreConfig,
    filter: F,
    state: State,
    /// Detects the end of growth. ProbeRTT interrupts Startup but not this search: with RTTs of seconds, three rounds
    /// do not fit between two ProbeRTTs.
    search: FullPipe,
    full_bw_reached: bool,
    round_rtt: RoundRtt,
    /// The minimum RTT of the previous or the current round, in nanoseconds.
    round_min_rtt: Option<u64>,
    min_rtt: MinRtt,
    /// The ProbeRTT under way.
    probe: Option<RttProbe>,
    longer_path: LongerPath,
    /// `None` unless the configuration enables it.
    policer: Option<Policer>,
    window: Bytes,
    target_queue: TargetQueue,
    recovery: Recovery,
    marks: Marks,
    heavy_losses: HeavyLosses,
    /// Data was sent after an idle period, and none of it is acknowledged yet.
    restarting: bool,
    mtu: Bytes,
    min_window: Bytes,
    in_flight: Bytes,
    app_limited: bool,
    random: Pcg32,
    model: Model,
    /// The state, the minimum RTT or the MTU has changed since the model was built.
    model_stale: bool,
    /// The times of ProbeRTT: samples of packets sent in it are marked as application-limited.
    held_back: HeldBack,
    evidence: Evidence,
    calculator: WindowCalculator,
}

impl<F: BandwidthFilter> Bbr<F> {
    /// A controller for a connection that begins now.
    pub(crate) fn new(
        name: &'static str,
        config: BbrCoreConfig,
        filter: F,
        environment: &Environment,
    ) -> Self {
        let window = initial_window(environment.mtu);
        let nothing_known = Inputs {
            bandwidth: None,
            min_rtt: None,
            gain: STARTUP_GAIN,
            full_bw_reached: false,
            mtu: environment.mtu,
        };
        Self {
            name,
            config,
            filter,
            state: State::Startup,
            search: FullPipe::default(),
            full_bw_reached: false,
            round_rtt: RoundRtt::default(),
            round_min_rtt: None,
            min_rtt: MinRtt::over(config.min_rtt_window),
            probe: None,
            longer_path: LongerPath::default(),
            policer: config.policer_detection.then(Policer::default),
            window,
            target_queue: TargetQueue::default(),
            recovery: Recovery::Open,
            marks: Marks::default(),
            heavy_losses: HeavyLosses::default(),
            restarting: false,
            mtu: environment.mtu,
            min_window: min_window(environment.mtu),
            in_flight: Bytes::ZERO,
            app_limited: false,
            random: Pcg32::seed_from_u64(environment.seed),
            model_stale: false,
            model: Model::new(nothing_known, &config),
            held_back: HeldBack::default(),
            evidence: Evidence::default(),
            calculator: WindowCalculator::new(
                config.window_policy,
                environment,
                Control::window(window, environment.mtu),
            ),
        }
    }

    fn transition(&mut self, next: State) {
        debug_assert!(
            self.state.may_become(&next),
            "no edge from {:?} to {next:?}",
            self.state
        );
        observe::transition(self.name, self.state.mode(), next.mode());
        self.state = next;
        self.model_stale = true;
    }

    const fn in_probe_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    /// Handles an acknowledgement whose sample is marked if this controller limited it.
    fn on_marked_ack(&mut self, ack: &AckEvent) {
        self.calculator.on_ack(ack);
        self.in_flight = ack.in_flight;
        self.app_limited = ack.app_limited;
        if self.evidence.on_ack(ack, self.full_bw_reached) {
            let before = self.bandwidth();
            self.evidence.show(ack, before);
        }
        self.update_filter(ack);
        self.update_model();
        self.advance_cycle(ack);
        self.check_full_pipe(ack);
        if matches!(self.state, State::Drain) && ack.in_flight <= self.bdp(Gain::UNIT) {
            self.enter_probe_bandwidth(ack.now);
        }
        self.update_min_rtt(ack);
        self.advance_probe_rtt(ack);
        if self.model_stale {
            self.rebuild_model();
        }
        self.update_window(ack);
        let target = self.model.target;
        if self.config.ecn == EcnRule::Bound {
            let min = self.min_window;
            self.marks.on_ack(ack, target, min, !self.full_bw_reached);
        }
        self.heavy_losses.on_ack(ack, target);
        self.update_target_queue(ack);
        self.restarting = false;
        self.update_control();
        if self.in_probe_rtt() {
            self.held_back.mark(ack);
        }
    }

    fn update_filter(&mut self, ack: &AckEvent) {
        let context = FilterContext {
            min_rtt: self
                .min_rtt
                .known_nanos()
                .unwrap_or_else(|| ack.rtt_nanos()),
            spread: 0,
            epoch: ack.round,
            filling_pipe: !self.full_bw_reached,
        };
        self.filter.on_ack(ack, &context);
        if let Some(policer) = &mut self.policer {
            policer.on_ack(ack);
        }
    }
}

impl<F: BandwidthFilter> Controller for Bbr<F> {
    fn on_sent(&mut self, event: &SentEvent) {
        if event.prior_in_flight == Bytes::ZERO && event.app_limited {
            self.restarting = true;
        }
        self.in_flight = event.prior_in_flight + event.bytes;
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if self.held_back.on_ack(ack) {
            self.on_marked_ack(&HeldBack::marked(ack));
        } else {
            self.on_marked_ack(ack);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let event = &self.held_back.on_congestion(event);
        self.in_flight = event.in_flight;
        if event.signal == CongestionSignal::EcnMark && self.config.ecn == EcnRule::Ignore {
            return;
        }
        if self.config.heavy_losses == HeavyLossRule::Bound {
            let bdp = self.model.bdp.unwrap_or_default();
            let too_much = self.heavy_losses.on_loss(event, self.mtu, bdp);
            // If the application limits the sender, the bandwidth shows no plateau, and only losses end Startup
            // (draft-ietf-ccwg-bbr, section "Exiting Startup Based on Packet Loss").
            let growing = matches!(self.state, State::Startup) && self.model.bdp.is_some();
            if too_much && growing && self.app_limited {
                self.leave_startup();
            }
        }
        if event.signal != CongestionSignal::EcnMark {
            self.drop_path_check();
        }
        if let State::ProbeBandwidth(cycle) = &mut self.state {
            cycle.congested = true;
        }
        if event.signal == CongestionSignal::PersistentCongestion {
            // RFC 9002, section 7.6.2: begin again from the smallest window; the model stays.
            self.window = self.min_window;
            self.recovery = Recovery::Open;
            self.update_control();
            return;
        }
        if event.signal == CongestionSignal::EcnMark {
            self.marks.on_mark();
        } else if self.config.recovery != RecoveryRule::Ignore {
            self.recover(event);
        }
        self.update_control();
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
        self.min_window = min_window(mtu);
        self.calculator.set_mtu(mtu);
        self.window = self.window.max(self.min_window);
        self.model_stale = true;
        self.update_model();
        self.update_control();
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.filter
            .next_timer()
            .filter(|_| self.in_flight > Bytes::ZERO)
    }

    fn on_timer(&mut self, now: Timestamp) {
        self.filter.on_timer(now);
        self.update_model();
        self.update_control();
    }

    fn control(&self) -> Control {
        self.calculator.control()
    }

    fn snapshot(&self) -> Snapshot {
        let control = self.control();
        let mut snapshot = Snapshot {
            bandwidth: self.bandwidth(),
            min_rtt: self.min_rtt.get(),
            pacing_rate: self.model.pacing_rate,
            filter: self.filter.snapshot(),
            ..Snapshot::new(self.name, self.state.mode(), control.window)
        };
        self.evidence.describe(&mut snapshot);
        snapshot
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
