//! `ebcc`: BBR's states with a binary search for the window. [`EbccConfig`] lists what the paper leaves open.

mod caution;
mod config;
mod state;
#[cfg(test)]
mod tests;

pub use config::{EbccConfig, EbccCongestion};

use core::time::Duration;

use self::caution::Caution;
use self::state::{Probe, State};
use crate::config::Environment;
use crate::controller::{Control, Controller};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, SentEvent};
use crate::filter::{BandwidthFilter, FilterContext, MaxFilter};
use crate::loss_based::round_trips::{Round, RoundTrips};
use crate::loss_based::slow_start::double;
use crate::loss_based::utilization::Utilization;
use crate::loss_based::window::Window;
use crate::loss_based::{min_window, share_left};
use crate::model::{Evidence, HeldBack, initial_window};
use crate::observe;
use crate::registry::Registered;
use crate::snapshot::Snapshot;
use crate::units::{Bytes, Gain, Timestamp, saturating_nanos};

/// An eBCC controller.
#[derive(Debug, Clone)]
struct Ebcc {
    config: EbccConfig,
    filter: MaxFilter,
    trips: RoundTrips,
    utilization: Utilization,
    state: State,
    window: Window,
    /// The window with which the acknowledged packets were sent: their RTTs measure this window. `None` if it was
    /// ProbeRTT's, or larger than the flight.
    measured: Option<Bytes>,
    /// Whether the flight filled the window when the current round began.
    filled: bool,
    /// The bytes of the current round by which startup has grown the window.
    doubled: Bytes,
    /// pfCwnd: the last window with a short queue.
    last_short: Bytes,
    /// Losses of packets sent up to this time belong to the last congestion event.
    congestion_until: Option<Timestamp>,
    caution: Caution,
    /// Nothing has been acknowledged, lost or marked yet.
    before_first_ack: bool,
    /// The times of ProbeRTT: samples of packets sent in it are marked as application-limited.
    held_back: HeldBack,
    evidence: Evidence,
    mtu: Bytes,
}

impl Ebcc {
    fn new(config: EbccConfig, environment: &Environment) -> Self {
        let window = initial_window(environment.mtu);
        Self {
            config,
            filter: MaxFilter::new(u64::from(config.filter_rounds)),
            trips: RoundTrips::with_base_window(config.min_rtt_window),
            utilization: Utilization::default(),
            state: State::Startup,
            window: Window::new(window),
            measured: Some(window),
            filled: false,
            doubled: Bytes::ZERO,
            last_short: window,
            congestion_until: None,
            caution: Caution::default(),
            before_first_ack: true,
            held_back: HeldBack::default(),
            evidence: Evidence::default(),
            mtu: environment.mtu,
        }
    }

    fn transition(&mut self, next: State) {
        debug_assert!(
            self.state.may_become(next),
            "no edge from {:?} to {next:?}",
            self.state
        );
        observe::transition(EbccConfig::NAME, self.state.mode(), next.mode());
        self.state = next;
    }

    fn set_window(&mut self, bytes: Bytes) {
        self.window = Window::new(bytes.max(min_window(self.mtu)));
    }

    /// targetCwnd, once there is an estimate.
    fn target(&self) -> Option<Bytes> {
        let (bandwidth, base) = (self.filter.bandwidth()?, self.trips.base()?);
        let flight = bandwidth.bytes_in(base.saturating_add(self.config.host_delay));
        Some((self.config.target_gain * flight).max(self.probe_window()))
    }

    fn is_long(&self, backlog: Bytes) -> bool {
        backlog >= self.mtu * u64::from(self.config.gamma)
    }

    fn backlog(&self, window: Bytes, min_rtt: Duration) -> Bytes {
        self.trips.backlog(window, min_rtt, self.config.host_delay)
    }

    /// Whether the queue is long now, from the RTTs of the current round.
    fn queue_is_long(&self) -> bool {
        let window = self.measured.unwrap_or(self.window.bytes());
        let current = self.trips.current();
        current.is_some_and(|(min_rtt, _)| self.is_long(self.backlog(window, min_rtt)))
    }

    /// Whether the queue of the complete round was long; `None` without evidence, for example if the window was not
    /// used. Saves the window if the queue was short.
    fn judge(&mut self, ack: &AckEvent, ended: Option<Round>) -> Option<bool> {
        let round = ended?;
        let window = self.window.bytes();
        let fills = self.is_filled(ack);
        let filled = core::mem::replace(&mut self.filled, fills);
        let judged = filled || self.state == State::Startup;
        let measured = core::mem::replace(&mut self.measured, judged.then_some(window))?;
        if !self.utilization.is_limited_by(window, ack) {
            return None;
        }
        let long = self.is_long(self.backlog(measured, round.min_rtt));
        if !long {
            self.last_short = measured;
        }
        Some(long)
    }

    fn search(&mut self, ack: &AckEvent, ended: Option<Round>) {
        if self.judge(ack, ended) == Some(true) {
            self.transition(State::ProbeBandwidth);
        } else if self.utilization.is_limited_by(self.window.bytes(), ack) {
            double(&mut self.window, ack.acked, None);
            self.doubled += ack.acked;
        }
    }

    /// Lines 3 to 8 of Algorithm 1.
    fn step(&mut self, ack: &AckEvent, ended: Option<Round>) {
        let judged = self.judge(ack, ended);
        let (Some(long), Some(round), Some(target)) = (judged, ended, self.target()) else {
            return;
        };
        let window = self.window.bytes();
        let memory = self.config.min_rtt_window;
        let next = if long {
            middle(self.last_short.min(window), window)
        } else if self.caution.is_due(ack.now, memory) {
            window + self.mtu.min(round.acked)
        } else {
            middle(window, target).min(window + round.acked)
        };
        self.set_window(next.min(target));
        // There is no evidence for this window until the flight has filled it for a round.
        self.filled = self.is_filled(ack);
        self.measured = None;
    }

    /// Whether the flight fills the window: on a transport that paces this takes several rounds after it has grown.
    fn is_filled(&self, ack: &AckEvent) -> bool {
        ack.prior_in_flight + self.mtu * FILLING_PACKETS >= self.window.bytes()
    }

    fn is_recovering(&self, event: &CongestionEvent) -> bool {
        self.congestion_until
            .is_some_and(|congestion_until| event.newest_sent <= congestion_until)
    }

    /// Lines 9 to 12 of Algorithm 1.
    fn respond_by_probing(&mut self, event: &CongestionEvent) {
        let counts = event.signal == CongestionSignal::EcnMark || self.queue_is_long();
        match self.state {
            State::Startup => self.transition(State::ProbeBandwidth),
            State::ProbeBandwidth if counts && !self.is_recovering(event) => {
                self.congestion_until = Some(event.now);
                self.enter_probe_rtt();
            }
            State::ProbeRtt(probe) if counts && !probe.cut => {
                let window = self.window.bytes();
                self.set_window(window - self.config.beta * window);
                self.last_short = self.last_short.min(self.window.bytes());
                self.transition(State::ProbeRtt(Probe { cut: true, ..probe }));
            }
            State::ProbeBandwidth | State::ProbeRtt(_) => {}
        }
    }

    /// See [`EbccCongestion::Reduce`].
    fn respond_by_reducing(&mut self, event: &CongestionEvent) {
        let marked = event.signal == CongestionSignal::EcnMark;
        let searching = self.state == State::Startup;
        let counts = marked || searching || self.queue_is_long() || too_much_lost(event);
        if !counts || self.is_recovering(event) {
            return;
        }
        self.congestion_until = Some(event.now);
        let share = share_left(event.signal, LOSS_REDUCTION, MARK_REDUCTION);
        self.set_window(share * self.window.bytes());
        self.last_short = self.last_short.min(self.window.bytes());
        self.measured = None;
        self.filled = false;
        let memory = self.config.min_rtt_window;
        let in_a_row = self.caution.reduced(event.now, event.round, memory);
        if searching && (in_a_row || !marked) {
            self.transition(State::ProbeBandwidth);
        }
    }

    fn enter_probe_rtt(&mut self) {
        self.transition(State::ProbeRtt(Probe::default()));
    }

    fn advance_probe_rtt(&mut self, ack: &AckEvent, mut probe: Probe) {
        let min_rtt = probe
            .min_rtt
            .map_or(ack.rtt(), |min_rtt| min_rtt.min(ack.rtt()));
        probe.min_rtt = Some(min_rtt);
        match probe.hold {
            None if ack.in_flight <= self.probe_window() => {
                probe.hold = Some((ack.now + PROBE_RTT_TIME, ack.round.saturating_add(1)));
            }
            Some((until, round)) if ack.now >= until && ack.round >= round => {
                // As in BBR, the estimate only falls until it expires: what one sender measures alone may include the
                // queue of others.
                if self.trips.base_has_expired(ack.now) {
                    self.trips.replace_base(ack.now, min_rtt);
                }
                self.measured = None;
                self.filled = false;
                self.transition(State::ProbeBandwidth);
                return;
            }
            _ => {}
        }
        self.transition(State::ProbeRtt(probe));
    }

    fn probe_window(&self) -> Bytes {
        self.mtu * PROBE_RTT_PACKETS
    }

    fn on_persistent_congestion(&mut self) {
        self.set_window(Bytes::ZERO);
        self.last_short = self.window.bytes();
        self.caution = Caution::default();
        self.measured = Some(self.window.bytes());
        self.trips.forget_path();
        self.transition(State::Startup);
    }
}

impl Controller for Ebcc {
    fn on_sent(&mut self, event: &SentEvent) {
        self.utilization.on_sent(event);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let marked = self.held_back.on_ack(ack).then(|| HeldBack::marked(ack));
        let ack = marked.as_ref().unwrap_or(ack);
        self.before_first_ack = false;
        let expired = self.trips.base_has_expired(ack.now);
        let mut ended = self.trips.on_ack(ack);
        if let Some(round) = &mut ended {
            // No byte grows the window twice.
            round.acked -= core::mem::take(&mut self.doubled);
        }
        self.utilization.on_ack(ack);
        let context = FilterContext {
            min_rtt: saturating_nanos(self.trips.base().unwrap_or(ack.rtt())),
            spread: 0,
            epoch: ack.round,
            filling_pipe: self.state == State::Startup,
        };
        if self.evidence.on_ack(ack, self.state != State::Startup) {
            self.evidence.show(ack, self.filter.bandwidth());
        }
        self.filter.on_ack(ack, &context);
        match self.state {
            State::Startup => self.search(ack, ended),
            // An equal sample has renewed the estimate.
            State::ProbeBandwidth if expired && self.trips.base_has_expired(ack.now) => {
                self.enter_probe_rtt();
            }
            State::ProbeBandwidth => self.step(ack, ended),
            State::ProbeRtt(probe) => self.advance_probe_rtt(ack, probe),
        }
        if matches!(self.state, State::ProbeRtt(_)) {
            self.held_back.mark(ack);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let event = &self.held_back.on_congestion(event);
        self.before_first_ack = false;
        if event.signal == CongestionSignal::PersistentCongestion {
            self.on_persistent_congestion();
            return;
        }
        match self.config.congestion {
            EbccCongestion::Probe => self.respond_by_probing(event),
            EbccCongestion::Reduce => self.respond_by_reducing(event),
        }
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
        let window = if self.before_first_ack {
            initial_window(mtu)
        } else {
            self.window.bytes()
        };
        self.set_window(window);
    }

    fn control(&self) -> Control {
        let window = self.window.bytes();
        let probing = matches!(self.state, State::ProbeRtt(_));
        let window = if probing {
            window.min(self.probe_window())
        } else {
            window
        };
        // RFC 9002, section 7.7: bursts no longer than the initial window.
        Control::window(window, initial_window(self.mtu))
    }

    fn snapshot(&self) -> Snapshot {
        let mode = self.state.mode();
        let mut snapshot = Snapshot {
            bandwidth: self.filter.bandwidth(),
            min_rtt: self.trips.base(),
            filter: self.filter.snapshot(),
            ..Snapshot::new(EbccConfig::NAME, mode, self.control().window)
        };
        self.evidence.describe(&mut snapshot);
        snapshot
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Whether more than the tolerated share of a flight was lost.
fn too_much_lost(event: &CongestionEvent) -> bool {
    event
        .flight
        .is_some_and(|flight| flight.lost > TOLERATED_LOSS * flight.in_flight)
}

/// The mean of two windows.
fn middle(one: Bytes, other: Bytes) -> Bytes {
    HALF * (one + other)
}

const HALF: Gain = Gain::new(1, 2);

/// A flight within this many packets of the window fills it: the last packet may not fit, and acknowledgements cover
/// two packets.
const FILLING_PACKETS: u64 = 3;

/// The factor of the window after a loss (RFC 9438, section 4.6), and after a mark (RFC 8511, section 4.2).
const LOSS_REDUCTION: Gain = Gain::new(7, 10);
const MARK_REDUCTION: Gain = Gain::new(17, 20);

/// Losses up to this share are noise (draft-ietf-ccwg-bbr, LossThresh).
const TOLERATED_LOSS: Gain = Gain::new(2, 100);

/// ProbeRTT's window and its minimum duration (BBR paper, section "Steady-state behavior").
const PROBE_RTT_PACKETS: u64 = 4;
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
