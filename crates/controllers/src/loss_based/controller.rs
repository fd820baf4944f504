//! A window-based controller: RFC 9002, section 7, with the algorithm as its parameter.

use super::avoidance::{Avoidance, Entry, View};
use super::min_window;
use super::round_trips::RoundTrips;
use super::slow_start::SlowStart;
use super::state::{RecoveryPeriod, State, UndoState};
use super::utilization::Utilization;
use super::window::Window;
use crate::config::Environment;
use crate::controller::{Control, Controller};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, SentEvent};
use crate::model::initial_window;
use crate::observe;
use crate::snapshot::{Mode, Snapshot};
use crate::units::{Bytes, Timestamp};

/// A window-based controller around the algorithm `A`.
///
/// It has no pacing rate: transports pace by window and smoothed RTT (RFC 9002, section 7.7).
#[derive(Debug, Clone)]
pub(crate) struct LossBased<A: Avoidance> {
    name: &'static str,
    avoidance: A,
    state: State<A::SlowStart>,
    window: Window,
    /// The window at which slow start ends; `None` until something has set it.
    threshold: Option<Bytes>,
    /// The last recovery period.
    recovery_period: Option<RecoveryPeriod<A, A::SlowStart>>,
    trips: RoundTrips,
    utilization: Utilization,
    /// Nothing has been acknowledged, lost or marked yet.
    before_first_ack: bool,
    mtu: Bytes,
    /// RFC 9002, section 7.7: bursts no longer than the initial window. It changes with the MTU only.
    send_quantum: Bytes,
}

impl<A: Avoidance> LossBased<A> {
    /// A controller for a connection that begins now.
    pub(crate) fn new(name: &'static str, avoidance: A, environment: &Environment) -> Self {
        Self::starting(name, avoidance, environment.mtu)
    }

    /// A controller that goes on in congestion avoidance from a window of so many bytes. What left before says nothing of that window
    /// (RFC 9002, section 7.3.2).
    pub(crate) fn avoiding(
        name: &'static str,
        avoidance: A,
        mtu: Bytes,
        now: Timestamp,
        window: Bytes,
    ) -> Self {
        let mut controller = Self::starting(name, avoidance, mtu);
        controller.before_first_ack = false;
        controller.set_window(window);
        controller.threshold = Some(controller.window.bytes());
        controller.enter_avoidance(now, Entry::SlowStart);
        controller.recovery_period = Some(RecoveryPeriod {
            began: now,
            undo: None,
        });
        controller
    }

    fn starting(name: &'static str, avoidance: A, mtu: Bytes) -> Self {
        Self {
            name,
            state: State::SlowStart(avoidance.slow_start()),
            avoidance,
            window: Window::new(initial_window(mtu)),
            threshold: None,
            recovery_period: None,
            trips: RoundTrips::default(),
            utilization: Utilization::default(),
            before_first_ack: true,
            mtu,
            send_quantum: initial_window(mtu),
        }
    }

    fn transition(&mut self, next: State<A::SlowStart>) {
        observe::transition(self.name, self.mode(), next.mode(A::SlowStart::mode));
        self.state = next;
    }

    fn mode(&self) -> Mode {
        self.state.mode(A::SlowStart::mode)
    }

    fn total(&self) -> Bytes {
        self.window.bytes() + self.avoidance.extra()
    }

    fn at_least_min_window(&self) -> Window {
        self.window.max(Window::new(min_window(self.mtu)))
    }

    fn set_window(&mut self, bytes: Bytes) {
        self.window = Window::new(bytes.max(min_window(self.mtu)));
    }

    fn enter_avoidance(&mut self, now: Timestamp, entry: Entry) {
        self.avoidance
            .enter(now, entry, self.window.bytes(), self.mtu);
        self.transition(State::Avoidance);
    }

    /// Starts a recovery period: reduces the window and saves the state for an undo.
    fn begin_recovery_period(&mut self, event: &CongestionEvent) {
        let undo = UndoState {
            total: self.total(),
            window: self.window,
            threshold: self.threshold,
            avoidance: self.avoidance,
            state: self.state,
            prior_start: self
                .recovery_period
                .map(|recovery_period| recovery_period.began),
        };
        self.recovery_period = Some(RecoveryPeriod {
            began: event.now,
            // A mark is never spurious.
            undo: (event.signal != CongestionSignal::EcnMark).then_some(undo),
        });
        let reduced = self.avoidance.reduce(self.window.bytes(), event.signal);
        self.set_window(reduced);
        self.threshold = Some(self.window.bytes());
        self.transition(State::Recovery { began: event.now });
    }

    /// RFC 9002, section 7.6.2: restarts from the minimum window, up to the threshold that the loss has set.
    fn on_persistent_congestion(&mut self) {
        self.set_window(Bytes::ZERO);
        self.avoidance.on_persistent_congestion();
        // A path that lost everything for so long may have changed.
        self.trips.forget_path();
        self.transition(State::SlowStart(self.avoidance.slow_start()));
    }
}

impl<A: Avoidance> Controller for LossBased<A> {
    fn wants_rate_samples(&self) -> bool {
        false
    }

    fn on_sent(&mut self, event: &SentEvent) {
        if event.prior_in_flight == Bytes::ZERO {
            self.avoidance.on_idle_end(event.now);
        }
        self.utilization.on_sent(event);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.before_first_ack = false;
        let ended = self.trips.on_ack(ack);
        if A::WANTS_SMOOTHED_RTT {
            self.trips.smooth(ack);
        }
        self.utilization.on_ack(ack);
        let view = View {
            mtu: self.mtu,
            threshold: self.threshold,
            window_limited: self.utilization.is_limited_by(self.total(), ack),
            trips: &self.trips,
            ended,
        };
        match self.state {
            State::SlowStart(mut search) => {
                let over = search.on_ack(ack, &view, &mut self.window);
                self.transition(State::SlowStart(search));
                let window = self.window.bytes();
                if over || self.threshold.is_some_and(|threshold| window >= threshold) {
                    self.threshold = Some(window);
                    self.enter_avoidance(ack.now, Entry::SlowStart);
                }
            }
            State::Avoidance => {
                self.avoidance.on_ack(ack, &view, &mut self.window);
                if let Some(base) = self.avoidance.take_base() {
                    self.trips.replace_base(ack.now, base);
                }
            }
            // This acknowledgement may include packets sent before the reduction. They must not grow the window.
            State::Recovery { began } => {
                if ack.newest_sent > began {
                    self.enter_avoidance(ack.now, Entry::Recovery);
                }
            }
        }
        self.window = self.at_least_min_window();
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.before_first_ack = false;
        match &mut self.recovery_period {
            Some(recovery_period) if recovery_period.covers(event.newest_sent) => {
                if event.signal == CongestionSignal::EcnMark {
                    // A mark is congestion even if the losses are spurious, so there is no undo.
                    recovery_period.undo = None;
                }
            }
            _ => self.begin_recovery_period(event),
        }
        if event.signal == CongestionSignal::PersistentCongestion {
            self.on_persistent_congestion();
        }
    }

    fn on_spurious_loss(&mut self, _now: Timestamp) {
        let Some(undo) = self
            .recovery_period
            .as_mut()
            .and_then(|recovery_period| recovery_period.undo.take())
        else {
            return;
        };
        // RFC 9438, section 4.9.2: the undo never reduces the window.
        if self.total() >= undo.total {
            return;
        }
        self.window = undo.window;
        self.threshold = undo.threshold;
        self.avoidance = undo.avoidance;
        self.recovery_period = undo
            .prior_start
            .map(|began| RecoveryPeriod { began, undo: None });
        self.transition(undo.state);
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
        self.send_quantum = initial_window(mtu);
        if self.before_first_ack {
            // RFC 9002, section 7.2.
            self.set_window(initial_window(mtu));
        }
        self.window = self.at_least_min_window();
        self.threshold = self.threshold.map(|bytes| bytes.max(min_window(mtu)));
        self.avoidance.on_mtu_update(self.window.bytes(), mtu);
        if let Some(recovery_period) = &mut self.recovery_period {
            // The saved state counts packets of another size.
            recovery_period.undo = None;
        }
    }

    fn control(&self) -> Control {
        Control::window(self.total(), self.send_quantum)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            min_rtt: self.trips.base(),
            slow_start_threshold: self.threshold,
            ..Snapshot::new(self.name, self.mode(), self.total())
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
