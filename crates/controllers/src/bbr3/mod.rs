//! The BBRv3 core: model, state machine and control, with the bandwidth filter as its parameter.
//!
//! After draft-ietf-ccwg-bbr (the working group's text as of its commit 007dbe1). Names in the manner of `bw_shortterm` or
//! `CheckDrainDone` are the draft's.

mod aggregation;
mod bounds;
mod config;
mod ecn;
#[cfg(test)]
mod fixture;
mod loss;
mod output;
mod probe;
mod probe_rtt;
mod round;
mod startup;
mod state;
#[cfg(test)]
mod tests;
mod undo;
mod window;

pub use config::{Bbr3CoreConfig, Probing, UpExit};

use rand::SeedableRng;
use rand_pcg::Pcg32;

use self::aggregation::Aggregation;
use self::bounds::{Bounds, Latest};
use self::ecn::Marks;
use self::output::Output;
use self::probe::Cycle;
use self::round::Round;
use self::state::State;
use self::undo::Undo;
use self::window::{WindowUse, fills, min_window};
use crate::config::Environment;
use crate::controller::{Control, Controller};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, SentEvent};
use crate::filter::{BandwidthFilter, FilterContext};
use crate::model::{
    DelaySpread, Evidence, FullPipe, HeldBack, LongerPath, MinRtt, RoundRtt, initial_window,
};
use crate::observe;
use crate::snapshot::Snapshot;
use crate::units::{Bytes, Timestamp};
use crate::window::WindowCalculator;

/// A BBRv3 controller on the bandwidth filter `F`.
#[derive(Debug, Clone)]
pub(crate) struct Bbr3<F> {
    name: &'static str,
    config: Bbr3CoreConfig,
    filter: F,
    state: State,
    /// `full_bw_reached`.
    full_bw_reached: bool,
    round: Round,
    cycle: Cycle,
    bounds: Bounds,
    latest: Latest,
    min_rtt: MinRtt,
    /// The minimum since the last ProbeRTT.
    recent_rtt: MinRtt,
    longer_path: LongerPath,
    spread: DelaySpread,
    aggregation: Aggregation,
    marks: Marks,
    round_rtt: RoundRtt,
    window: Bytes,
    window_use: WindowUse,
    undo: Undo,
    /// `idle_restart`: data was sent after an idle period, and none of it is acknowledged yet.
    restarting: bool,
    mtu: Bytes,
    min_window: Bytes,
    in_flight: Bytes,
    delivered: Bytes,
    random: Pcg32,
    output: Output,
    /// The times of ProbeRTT: samples of packets sent in it are marked as application-limited.
    held_back: HeldBack,
    evidence: Evidence,
    calculator: WindowCalculator,
}

impl<F: BandwidthFilter> Bbr3<F> {
    /// A controller for a connection that begins now.
    pub(crate) fn new(
        name: &'static str,
        config: Bbr3CoreConfig,
        filter: F,
        environment: &Environment,
    ) -> Self {
        let window = initial_window(environment.mtu);
        let output = Output::new(window, environment.mtu);
        let control = Control::window(window, output.quantum);
        Self {
            name,
            config,
            filter,
            state: State::Startup(FullPipe::default()),
            full_bw_reached: false,
            round: Round::default(),
            cycle: Cycle::default(),
            bounds: Bounds::NONE,
            latest: Latest::default(),
            min_rtt: MinRtt::over(config.min_rtt_window),
            recent_rtt: MinRtt::over(config.probe_rtt_interval),
            longer_path: LongerPath::default(),
            spread: DelaySpread::default(),
            aggregation: Aggregation::new(environment.now),
            marks: Marks::default(),
            round_rtt: RoundRtt::default(),
            window,
            window_use: WindowUse::default(),
            undo: Undo::NOTHING,
            restarting: false,
            mtu: environment.mtu,
            min_window: min_window(environment.mtu),
            in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            random: Pcg32::seed_from_u64(environment.seed),
            output,
            held_back: HeldBack::default(),
            evidence: Evidence::default(),
            calculator: WindowCalculator::new(config.window_policy, environment, control),
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
        self.output.stale = true;
    }

    /// `UpdateOnACK` (draft-ietf-ccwg-bbr, section "Per-ACK Steps"), with a sample that is marked if this controller limited it.
    fn on_marked_ack(&mut self, ack: &AckEvent) {
        self.calculator.on_ack(ack);
        self.in_flight = ack.in_flight;
        self.delivered = ack.delivered;
        self.check_recovered(ack);
        self.latest.begin(ack);
        self.advance_round(ack);
        if self.evidence.on_ack(ack, self.full_bw_reached) {
            self.evidence.show(ack, self.output.bandwidth);
        }
        self.update_filter(ack);
        self.adapt_short_term();
        self.adapt_to_marks(ack);
        self.update_aggregation(ack);
        self.check_full_pipe(ack);
        self.check_startup_done(ack);
        self.check_drained(ack);
        self.advance_probe_bandwidth(ack);
        self.update_min_rtt(ack);
        self.latest.end(ack);
        self.restarting = false;
        self.refresh_model();
        self.update_window(ack);
        self.refresh_control();
        let measures = matches!(self.state, State::Drain { .. }) && self.covers_spread();
        if measures || self.in_probe_rtt() {
            self.held_back.mark(ack);
        }
    }

    fn advance_round(&mut self, ack: &AckEvent) {
        if self.round.on_ack(ack) {
            self.cycle.count_round();
            self.window_use.on_round();
        }
    }

    fn update_filter(&mut self, ack: &AckEvent) {
        let context = FilterContext {
            min_rtt: self.base_rtt().unwrap_or_else(|| ack.rtt_nanos()),
            spread: self.spread.get(),
            epoch: self.cycle.count,
            filling_pipe: !self.full_bw_reached,
        };
        self.filter.on_ack(ack, &context);
    }

    fn update_aggregation(&mut self, ack: &AckEvent) {
        // The draft compares with the bandwidth, the lesser of the maximum filter and the short-term bound. A filter
        // that is biased low provides its delivered rate instead.
        let bandwidth = match self.filter.delivered_rate() {
            rate if rate == self.filter.bandwidth() => self.output.bandwidth,
            rate => rate,
        };
        let bandwidth = bandwidth.unwrap_or_default();
        let expected = self.aggregation.expected(ack.now, bandwidth);
        self.aggregation
            .on_ack(ack, expected, self.window, self.round.count());
    }

    const fn in_probe_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    const fn window_was_full(&self) -> bool {
        self.window_use.was_full()
    }

    /// Updates the window after every event other than an acknowledgement.
    fn refresh(&mut self) {
        self.refresh_model();
        self.window = self.window.min(self.bound_of_model());
        self.refresh_control();
    }
}

impl<F: BandwidthFilter> Controller for Bbr3<F> {
    fn on_sent(&mut self, event: &SentEvent) {
        self.in_flight = event.prior_in_flight + event.bytes;
        self.window_use
            .on_sent(fills(self.in_flight, self.output.allowed, self.mtu));
        if event.prior_in_flight == Bytes::ZERO && event.app_limited {
            // `HandleRestartFromIdle`.
            self.restarting = true;
            self.aggregation.restart(event.now);
            self.check_probe_rtt_done(event.now);
            self.refresh();
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let marked = self.held_back.on_ack(ack);
        self.measure_spread(ack, marked);
        if marked {
            self.on_marked_ack(&HeldBack::marked(ack));
        } else {
            self.on_marked_ack(ack);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let event = &self.held_back.on_congestion(event);
        self.in_flight = event.in_flight;
        self.delivered = event.delivered;
        match event.signal {
            CongestionSignal::Loss | CongestionSignal::PersistentCongestion => self.on_loss(event),
            CongestionSignal::EcnMark => self.on_mark(event),
        }
        self.refresh();
    }

    fn on_spurious_loss(&mut self, _now: Timestamp) {
        self.undo();
        self.refresh();
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
        self.min_window = min_window(mtu);
        self.calculator.set_mtu(mtu);
        self.window = self.window.max(self.min_window);
        self.output.stale = true;
        self.refresh();
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.filter
            .next_timer()
            .filter(|_| self.in_flight > Bytes::ZERO)
    }

    fn on_timer(&mut self, now: Timestamp) {
        self.filter.on_timer(now);
        self.refresh();
    }

    fn control(&self) -> Control {
        self.calculator.control()
    }

    fn snapshot(&self) -> Snapshot {
        let control = self.control();
        let mut snapshot = Snapshot {
            bandwidth: self.output.bandwidth,
            min_rtt: self.min_rtt.get(),
            pacing_rate: self.output.pacing_rate,
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
