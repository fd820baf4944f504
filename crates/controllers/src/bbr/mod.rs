//! The BBRv1 core: model, state machine and control, with the bandwidth filter as its parameter.
//!
//! After N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control",
//! ACM Queue 14(5), 2016, and draft-cardwell-iccrg-bbr-congestion-control-00 where the paper is silent.

mod config;
mod own_queue;
mod policer;
mod recovery;
mod standing_queue;
mod state;
#[cfg(test)]
mod tests;

pub use config::{BbrCoreConfig, ProbeRttWindow, Probing, RecoveryRule};

use core::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use self::own_queue::OwnQueue;
use self::policer::Policer;
use self::recovery::Recovery;
use self::standing_queue::StandingQueue;
use self::state::{CYCLE_GAINS, Cycle, PHASE_CRUISE, PHASE_DRAIN, PHASE_PROBE, Silence, State};
use crate::config::Environment;
use crate::controller::{Control, Controller, OperatingPoint};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, SentEvent};
use crate::filter::{BandwidthFilter, FilterContext};
use crate::model::{FullPipe, MinRtt, initial_window};
use crate::observe;
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Bytes, Gain, Timestamp};

/// A BBRv1 controller on the bandwidth filter `F`.
#[derive(Debug, Clone)]
pub struct Bbr<F> {
    name: &'static str,
    config: BbrCoreConfig,
    filter: F,
    state: State,
    /// For the end of growth. ProbeRTT interrupts Startup but not this: where round trips take seconds, three of them do not fit
    /// between two ProbeRTTs.
    search: FullPipe,
    pipe_filled: bool,
    min_rtt: MinRtt,
    /// What ProbeRTT has found so far.
    probe: Option<RttProbe>,
    /// The last ProbeRTT has found what was believed before.
    min_rtt_confirmed: bool,
    standing_queue: StandingQueue,
    /// If it is to be looked for.
    policer: Option<Policer>,
    window: Bytes,
    own_queue: OwnQueue,
    recovery: Recovery,
    /// Data was sent after silence, and nothing of it acknowledged yet.
    restarting: bool,
    mtu: Bytes,
    in_flight: Bytes,
    round: u64,
    app_limited: bool,
    random: Pcg32,
    model: Model,
    /// The state, the minimum RTT or the MTU has changed since the model was built.
    model_stale: bool,
    /// Its window follows every event, the rest of it the model and the state.
    control: Control,
}

/// What ProbeRTT is to find, and has found.
#[derive(Debug, Clone, Copy)]
struct RttProbe {
    /// The smallest round trip since it began.
    smallest: Duration,
    /// What was believed before.
    known: Duration,
    /// Whether what it finds is the new minimum also if it is larger.
    may_raise: bool,
}

/// What follows from the filters and the state, kept until one of them changes.
#[derive(Debug, Clone, Copy)]
struct Model {
    inputs: Inputs,
    /// Bandwidth x min RTT, once both are known.
    bdp: Option<Bytes>,
    pacing_rate: Option<Bandwidth>,
    send_quantum: Bytes,
    /// What the window grows towards.
    target: Bytes,
}

#[derive(Debug, Clone, Copy)]
struct Inputs {
    bandwidth: Option<Bandwidth>,
    min_rtt: Option<Duration>,
    gain: Gain,
    pipe_filled: bool,
    mtu: Bytes,
}

impl Model {
    fn new(inputs: Inputs, config: &BbrCoreConfig) -> Self {
        let Inputs {
            bandwidth,
            min_rtt,
            gain,
            pipe_filled,
            mtu,
        } = inputs;
        let pacing_rate = match (bandwidth, min_rtt) {
            (Some(bandwidth), _) if pipe_filled => Some(config.pacing_margin * (gain * bandwidth)),
            // Until there is a rate, the initial window over the first round trip measured.
            (bandwidth, Some(min_rtt)) => Bandwidth::from_delivery(initial_window(mtu), min_rtt)
                .map(|initial| gain * bandwidth.unwrap_or_default().max(initial)),
            _ => None,
        };
        let mut model = Self {
            inputs,
            bdp: bandwidth
                .zip(min_rtt)
                .map(|(bandwidth, min_rtt)| bandwidth.bytes_in(min_rtt)),
            pacing_rate,
            send_quantum: send_quantum(pacing_rate, mtu),
            target: Bytes::ZERO,
        };
        model.target = model.bdp(if pipe_filled {
            config.window_gain
        } else {
            STARTUP_GAIN
        });
        model
    }

    /// `gain` times the bandwidth-delay product, or the initial window while that is not known.
    fn bdp(&self, gain: Gain) -> Bytes {
        let mtu = self.inputs.mtu;
        match self.bdp {
            Some(bdp) => (gain * bdp + self.send_quantum.packets(QUANTA)).max(min_window(mtu)),
            None => initial_window(mtu),
        }
    }
}

impl<F: BandwidthFilter> Bbr<F> {
    /// A controller for a connection that begins now.
    pub fn new(
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
            pipe_filled: false,
            mtu: environment.mtu,
        };
        Self {
            name,
            config,
            filter,
            state: State::Startup,
            search: FullPipe::default(),
            pipe_filled: false,
            min_rtt: MinRtt::default(),
            probe: None,
            min_rtt_confirmed: false,
            standing_queue: StandingQueue::default(),
            policer: config.policer_detection.then(Policer::default),
            window,
            own_queue: OwnQueue::default(),
            recovery: Recovery::Open,
            restarting: false,
            mtu: environment.mtu,
            in_flight: Bytes::ZERO,
            round: 0,
            app_limited: false,
            random: Pcg32::seed_from_u64(environment.seed),
            model_stale: false,
            model: Model::new(nothing_known, &config),
            control: Control {
                window,
                pacing_rate: None,
                send_quantum: environment.mtu,
                operating_point: None,
                self_limited: false,
            },
        }
    }

    /// The bandwidth filter.
    pub const fn filter(&self) -> &F {
        &self.filter
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

    fn update_filter(&mut self, ack: &AckEvent) {
        let context = FilterContext {
            min_rtt: self.min_rtt.get().unwrap_or(ack.rtt),
            mtu: self.mtu,
            epoch: ack.round,
            filling_pipe: !self.pipe_filled,
        };
        self.filter.on_ack(ack, &context);
        if let Some(policer) = &mut self.policer {
            policer.on_ack(ack);
        }
    }

    /// Takes over what the filters and the state say now.
    #[inline]
    fn update_model(&mut self) {
        if self.model_stale || self.model.inputs.bandwidth != self.bandwidth() {
            self.rebuild_model();
        }
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        self.policed_rate().or_else(|| self.filter.bandwidth())
    }

    fn policed_rate(&self) -> Option<Bandwidth> {
        self.policer.as_ref().and_then(Policer::rate)
    }

    #[inline(never)]
    fn rebuild_model(&mut self) {
        self.model_stale = false;
        let inputs = Inputs {
            bandwidth: self.bandwidth(),
            min_rtt: self.min_rtt.get(),
            gain: match self.state {
                // What exceeds a policer's rate is dropped.
                State::ProbeBandwidth(_) if self.policed_rate().is_some() => Gain::UNIT,
                state => state.pacing_gain(STARTUP_GAIN),
            },
            pipe_filled: self.pipe_filled,
            mtu: self.mtu,
        };
        self.model = Model::new(inputs, &self.config);
        self.update_rates();
    }

    /// Looks for the end of growth (BBR paper, section "Startup": three rounds under 25 %), whatever the state
    /// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.2); in Startup also for the queue that says as much (BBR-S,
    /// section III: RTT of six times its minimum).
    fn check_full_pipe(&mut self, ack: &AckEvent) {
        if self.pipe_filled {
            return;
        }
        let app_limited = ack.rate.is_none_or(|sample| sample.app_limited);
        if ack.round_start && !app_limited {
            self.search
                .observe(self.filter.bandwidth().unwrap_or_default());
        }
        match self.state {
            State::Startup => {
                let long_queue = self
                    .config
                    .startup_exit_rtt
                    .zip(self.min_rtt.get())
                    .is_some_and(|(gain, least)| ack.rtt >= gain * least);
                if long_queue || self.search.is_full() {
                    self.leave_startup();
                }
            }
            // It drains the queue itself.
            _ => self.pipe_filled = self.search.is_full(),
        }
    }

    fn leave_startup(&mut self) {
        self.pipe_filled = true;
        self.transition(State::Drain);
        self.update_rates();
    }

    fn enter_probe_bandwidth(&mut self, now: Timestamp) {
        // Any phase but the draining one, at random, so that flows do not probe in step.
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

    fn advance_cycle(&mut self, ack: &AckEvent) {
        let State::ProbeBandwidth(cycle) = &self.state else {
            return;
        };
        let min_rtt = self.min_rtt.nanos();
        let elapsed = ack.now.nanos_since(cycle.began);
        let a_round_passed = elapsed > min_rtt;
        let done = match cycle.phase {
            PHASE_PROBE => {
                let reached =
                    || ack.prior_in_flight >= self.bdp(CYCLE_GAINS[usize::from(PHASE_PROBE)]);
                // Where the host or the application keeps the flight smaller, it never gets there.
                let patience_over = || elapsed > min_rtt.saturating_mul(PROBE_PATIENCE);
                let again = || {
                    self.config.probing == Probing::WhileUnbounded
                        && self.filter.wants_probe()
                        && !cycle.congested
                };
                a_round_passed && (cycle.congested || reached() || patience_over()) && !again()
            }
            PHASE_DRAIN => a_round_passed || ack.in_flight <= self.bdp(Gain::UNIT),
            _ => a_round_passed,
        };
        if done {
            let next = (cycle.phase + 1) % CYCLE_GAINS.len() as u8;
            let pointless =
                self.config.probing == Probing::WhileUnbounded && !self.filter.wants_probe();
            self.transition(State::ProbeBandwidth(Cycle {
                phase: if next == PHASE_PROBE && pointless {
                    PHASE_CRUISE
                } else {
                    next
                },
                began: ack.now,
                congested: false,
            }));
        }
    }

    fn update_min_rtt(&mut self, ack: &AckEvent) {
        let before = self.min_rtt.nanos();
        self.take_rtt(ack);
        self.model_stale |= self.min_rtt.nanos() != before;
    }

    fn take_rtt(&mut self, ack: &AckEvent) {
        if let Some(probe) = &mut self.probe {
            probe.smallest = probe.smallest.min(ack.rtt);
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
                self.enter_probe_rtt(ack, old);
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
        if self.standing_queue.is_due(ack) {
            let collapsed = self.standing_queue.has_collapsed(bandwidth);
            self.standing_queue.reset();
            self.enter_probe_rtt(ack, collapsed);
        }
    }

    fn enter_probe_rtt(&mut self, ack: &AckEvent, may_raise: bool) {
        self.probe = Some(RttProbe {
            smallest: ack.rtt,
            known: self.min_rtt.get().unwrap_or(ack.rtt),
            may_raise,
        });
        self.transition(State::ProbeRtt(Silence::Draining));
    }

    fn advance_probe_rtt(&mut self, ack: &AckEvent) {
        let State::ProbeRtt(silence) = self.state else {
            return;
        };
        match silence {
            Silence::Draining => {
                // The host stops one packet short of the window.
                if ack.in_flight <= self.probe_rtt_window() {
                    self.transition(State::ProbeRtt(Silence::Holding {
                        until: ack.now + PROBE_RTT_TIME,
                        round: ack.round.saturating_add(1),
                    }));
                }
            }
            Silence::Holding { until, round } => {
                let done = ack.now >= until && ack.round >= round;
                if let Some(probe) = self.probe.take_if(|_| done) {
                    if probe.may_raise {
                        self.min_rtt.replace(ack.now, probe.smallest);
                    }
                    self.min_rtt_confirmed = CONFIRMATION * probe.smallest >= probe.known;
                    if self.pipe_filled {
                        self.enter_probe_bandwidth(ack.now);
                    } else {
                        self.transition(State::Startup);
                    }
                }
            }
        }
    }

    /// Sizes the window (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3).
    fn update_window(&mut self, ack: &AckEvent) {
        if !self.recovery.covers(ack.newest_sent)
            && let Recovery::Episode { prior_window, .. } = self.recovery
        {
            self.recovery = Recovery::Open;
            match self.config.recovery {
                RecoveryRule::Restore | RecoveryRule::Ignore => {
                    self.window = self.window.max(prior_window);
                }
                RecoveryRule::FairShare => self.take_fair_share(ack),
            }
        }
        let target = self.model.target;
        self.window = if self.recovery.conserves(ack.round) {
            let conserved = ack.in_flight + ack.acked;
            match self.config.recovery {
                RecoveryRule::Restore | RecoveryRule::Ignore => self.window.max(conserved),
                RecoveryRule::FairShare => conserved,
            }
        } else if self.pipe_filled {
            (self.window + ack.acked).min(target)
        } else if self.window < target {
            self.window + ack.acked
        } else {
            self.window
        };
        self.window = self.window.max(self.min_window());
    }

    /// Looks after the window that leaves a queue of a given length, if there is to be one.
    fn update_own_queue(&mut self, ack: &AckEvent) {
        let (Some(packets), Some(min_rtt)) = (self.config.own_queue, self.min_rtt.get()) else {
            return;
        };
        let bdp = self.model.bdp.unwrap_or_default();
        let queue = self
            .mtu
            .packets(u64::from(packets))
            .min((LARGEST_OWN_QUEUE * bdp).max(self.min_window()));
        match self.state {
            State::Startup if !ack.app_limited => {
                let waited = self.own_queue.on_ack(ack, min_rtt, queue);
                if waited.is_some_and(|waited| waited > queue) {
                    self.leave_startup();
                }
            }
            State::ProbeBandwidth(_) if self.own_queue.window().is_none() => {
                self.own_queue.begin(self.bdp(Gain::UNIT));
            }
            State::ProbeBandwidth(_) if self.recovery == Recovery::Open && !ack.app_limited => {
                self.own_queue.on_ack(ack, min_rtt, queue);
            }
            _ => self.own_queue.pause(),
        }
    }

    /// Recovery is over: what it has left in flight is this flow's share (fair-share article, "Fair-share packet
    /// conservation" and "Fair-share utilization").
    fn take_fair_share(&mut self, ack: &AckEvent) {
        self.window = ack.in_flight.max(self.min_window());
        let share = self
            .min_rtt
            .get()
            .and_then(|min_rtt| Bandwidth::from_delivery(self.window, min_rtt));
        if let Some(rate) = share {
            self.filter.reseed(ack.round, rate);
        }
        if self.own_queue.window().is_some() {
            self.own_queue.begin(self.window);
        }
        if matches!(self.state, State::Startup) {
            self.leave_startup();
        }
        self.update_model();
    }

    fn bdp(&self, gain: Gain) -> Bytes {
        self.model.bdp(gain)
    }

    fn min_window(&self) -> Bytes {
        min_window(self.mtu)
    }

    fn probe_rtt_window(&self) -> Bytes {
        match self.config.probe_rtt_window {
            ProbeRttWindow::Packets(packets) => self.mtu.packets(u64::from(packets)),
            ProbeRttWindow::Bdp(gain) => self.bdp(gain),
        }
    }

    /// Works out the window for the sender.
    fn update_control(&mut self) {
        self.control.window = match self.state {
            State::ProbeRtt(_) => self.window.min(self.probe_rtt_window()),
            // Drain is over when the flight fits the pipe: without pacing only the window can bring that about.
            State::Drain => self.window.min(self.bdp(Gain::UNIT)),
            State::ProbeBandwidth(_) => match self.own_queue.window() {
                // What the estimate calls for at the least: where round trips are long without a queue, the window that is
                // found from them only shrinks.
                Some(window) => {
                    let least = self.config.pacing_margin * self.model.bdp.unwrap_or_default();
                    self.window.min(window.max(least).max(self.min_window()))
                }
                None => self.window,
            },
            State::Startup => self.window,
        };
    }

    /// Works out the rest of what the sender may do.
    fn update_rates(&mut self) {
        let Inputs {
            bandwidth, min_rtt, ..
        } = self.model.inputs;
        let operating_point = match (bandwidth, min_rtt, self.model.pacing_rate) {
            (Some(bandwidth), Some(min_rtt), Some(rate)) if self.pipe_filled => {
                Some(OperatingPoint {
                    bandwidth,
                    rate,
                    min_rtt,
                })
            }
            _ => None,
        };
        self.control = Control {
            window: self.control.window,
            pacing_rate: self.model.pacing_rate,
            send_quantum: self.model.send_quantum,
            operating_point,
            self_limited: matches!(self.state, State::ProbeRtt(_)),
        };
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
        self.in_flight = ack.in_flight;
        self.round = ack.round;
        self.app_limited = ack.app_limited;
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
        self.update_own_queue(ack);
        self.restarting = false;
        self.update_control();
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.in_flight = event.in_flight;
        if let State::ProbeBandwidth(cycle) = &mut self.state {
            cycle.congested = true;
        }
        if event.signal == CongestionSignal::PersistentCongestion {
            // RFC 9002, section 7.6.2: begin again from the smallest window; the model stays.
            self.window = self.min_window();
            self.recovery = Recovery::Open;
            self.update_control();
            return;
        }
        if event.signal == CongestionSignal::EcnMark && matches!(self.state, State::Startup) {
            self.leave_startup();
        }
        if self.config.recovery == RecoveryRule::Ignore {
            self.update_control();
            return;
        }
        let under_way = match self.config.recovery {
            RecoveryRule::Restore => self.recovery.prolong(event.now),
            RecoveryRule::Ignore | RecoveryRule::FairShare => {
                self.recovery.covers(event.newest_sent)
            }
        };
        if !under_way {
            self.recovery = Recovery::Episode {
                began: event.now,
                conserve_until_round: match self.config.recovery {
                    RecoveryRule::Restore | RecoveryRule::Ignore => event.round.saturating_add(1),
                    RecoveryRule::FairShare => u64::MAX,
                },
                prior_window: self.window,
            };
            self.window = self.window.min(event.in_flight + self.mtu);
        }
        self.window = (self.window - event.lost).max(self.min_window());
        self.update_control();
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
        self.window = self.window.max(self.min_window());
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
        self.control
    }

    fn snapshot(&self) -> Snapshot {
        let control = self.control();
        Snapshot {
            algorithm: self.name,
            mode: self.state.mode(),
            bandwidth: self.bandwidth(),
            min_rtt: self.min_rtt.get(),
            congestion_window: control.window,
            slow_start_threshold: None,
            pacing_rate: control.pacing_rate,
            in_flight: self.in_flight,
            rounds: self.round,
            app_limited: self.app_limited,
            filter: self.filter.snapshot(),
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn min_window(mtu: Bytes) -> Bytes {
    mtu.packets(MIN_WINDOW_PACKETS)
}

/// One packet on slow paths, two on faster ones, a millisecond's worth on fast ones
/// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2).
fn send_quantum(rate: Option<Bandwidth>, mtu: Bytes) -> Bytes {
    let rate = rate.unwrap_or_default();
    if rate < QUANTUM_ONE_PACKET_BELOW {
        mtu
    } else if rate < QUANTUM_TWO_PACKETS_BELOW {
        mtu.packets(2)
    } else {
        rate.bytes_in(Duration::from_millis(1))
            .min(QUANTUM_MAX)
            .max(mtu.packets(2))
    }
}

/// 2 / ln 2: the smallest gain that doubles the rate each round (BBR paper, section "Startup").
const STARTUP_GAIN: Gain = Gain::new(288_539, 100_000);

/// The least time that ProbeRTT holds the small flight (BBR paper, section "Steady-state behavior").
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// How long a minimum RTT is believed at most that no ProbeRTT has found again: a flow that starts beside others takes their
/// queue for a part of the path.
const UNCONFIRMED_WINDOW: Duration = Duration::from_secs(10);

/// ProbeRTT confirms what it finds to be no less than the inverse of this.
const CONFIRMATION: Gain = Gain::new(9, 8);

/// So many quanta in flight beside the BDP, for the sender's and the receiver's own batches
/// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.2).
const QUANTA: u64 = 3;

/// The smallest window, in packets (BBR paper, section "Steady-state behavior").
const MIN_WINDOW_PACKETS: u64 = 4;

/// The own queue is at most this share of the bandwidth-delay product: slow paths are not to wait for it.
const LARGEST_OWN_QUEUE: Gain = Gain::new(1, 2);

/// Minimum round trips after which a probe ends even if the flight has not reached its target.
const PROBE_PATIENCE: u64 = 4;

/// 1.2 Mb/s and 24 Mb/s in bytes/s, and 64 KB (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2).
const QUANTUM_ONE_PACKET_BELOW: Bandwidth = Bandwidth::from_bytes_per_second(150_000);
const QUANTUM_TWO_PACKETS_BELOW: Bandwidth = Bandwidth::from_bytes_per_second(3_000_000);
const QUANTUM_MAX: Bytes = Bytes(65_536);
