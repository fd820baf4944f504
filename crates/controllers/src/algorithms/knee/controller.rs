//! The law: from acknowledgements to a window.

#[cfg(test)]
mod tests;

use core::time::Duration;

use super::KneeConfig;
use super::arithmetic::{Span, float, larger, seconds_between, smaller, whole};
use super::competition::Competition;
use super::drain::Drain;
use super::link::{Acked, Link};
use super::loss_bound::{self, Circumstances, LossBound};
use super::path::{AGREEMENT, PathRtt};
use super::startup::{self, Seen, Startup};
use crate::config::Environment;
use crate::controller::{Control, Controller, Refill};
use crate::event::{AckEvent, CongestionEvent, CongestionSignal, SentEvent};
use crate::model::Evidence;
use crate::observe;
use crate::snapshot::{Mode, Snapshot};
use crate::units::{Bandwidth, Bytes, Timestamp};

/// `knee` at work.
#[derive(Debug, Clone)]
pub(super) struct Knee {
    config: KneeConfig,
    /// Whether the transport paces at the controller's rate.
    paces: bool,
    mtu: Bytes,
    path: PathRtt,
    loss: LossBound,
    competition: Competition,
    state: State,
    /// The window outside of drains.
    undrained: Bytes,
    /// The window that is enforced.
    window: Bytes,
    /// When the last acknowledgement came, or the first packet left after nothing was in flight.
    gap_began: Timestamp,
    /// When the newest acknowledged packet left.
    newest_sent: Timestamp,
    /// When the first packet after the last pause of the application left.
    rested_until: Timestamp,
    /// When the last silence of the link ended, if it was ever silent.
    resumed_at: Option<Timestamp>,
    /// When the flight last filled the window.
    full_at: Option<Timestamp>,
    /// When the window was last clearly smaller than the model's, because it grows by no more than what is acknowledged.
    behind_at: Option<Timestamp>,
    /// Whether it is smaller now.
    behind: bool,
    /// What left since the last drain began, until the window was full again.
    drained: Span,
    /// What left in slow start: in startup, or since persistent congestion while the window was smaller than the model's.
    doubling: Span,
    /// What left up to then left while the application was the limit.
    app_limited_until: Option<Timestamp>,
    evidence: Evidence,
    last: Last,
}

/// As of the last event, for what happens between acknowledgements.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    in_flight: Bytes,
    /// When packets last left.
    sent: Timestamp,
    acked: Bytes,
    app_limited: bool,
}

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a connection has one")]
enum State {
    Startup(Startup),
    /// The link's rate is known.
    Running {
        link: Link,
        phase: Phase,
    },
}

impl State {
    /// What is to be in flight if neither losses nor drains bound it.
    fn window(&self, config: &KneeConfig, path: &PathRtt, mtu: Bytes) -> f64 {
        match self {
            Self::Startup(startup) => float(startup.window()),
            Self::Running { link, .. } => link.window(config, path, float(mtu)),
        }
    }

    /// How much a flight may grow in a round, in bytes. Acknowledgements come at the link's rate, and what they let out comes faster by what the window
    /// grows. A transport that paces spreads packets over the round.
    fn room(&self, mtu: Bytes, paces: bool) -> f64 {
        match self {
            Self::Running { link, .. } if !paces => link.room(float(mtu)),
            Self::Startup(_) | Self::Running { .. } => f64::INFINITY,
        }
    }

    /// Whether the link's rate is learnt.
    fn is_cruising(&self) -> bool {
        matches!(
            self,
            Self::Running {
                phase: Phase::Cruising,
                ..
            }
        )
    }

    fn mode(&self) -> Mode {
        match self {
            Self::Startup(_) => Mode::Startup,
            Self::Running { phase, .. } => match phase {
                Phase::Draining(_) => Mode::ProbeRtt,
                Phase::Refilling { .. } => Mode::ProbeRefill,
                Phase::Settling { .. } | Phase::Cruising => Mode::ProbeCruise,
            },
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Draining(Drain),
    /// Closing the gap that a drain has left. Its idleness says nothing of the link.
    Refilling {
        /// The round in which it began.
        since: u64,
    },
    /// The window is full again. What left since then is acknowledged from this time on.
    Settling {
        until: Timestamp,
    },
    Cruising,
}

impl Knee {
    pub(super) fn new(config: KneeConfig, environment: &Environment) -> Self {
        let startup = Startup::new(environment.mtu);
        Self {
            path: PathRtt::new(&config, environment.now),
            config,
            paces: environment.transport.paces,
            mtu: environment.mtu,
            loss: LossBound::new(environment.mtu),
            competition: Competition::default(),
            undrained: startup.window(),
            window: startup.window(),
            state: State::Startup(startup),
            gap_began: environment.now,
            newest_sent: Timestamp::ZERO,
            rested_until: Timestamp::ZERO,
            resumed_at: None,
            full_at: None,
            behind_at: None,
            behind: false,
            drained: Span::default(),
            doubling: Span::default(),
            app_limited_until: None,
            evidence: Evidence::default(),
            last: Last::default(),
        }
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        match &self.state {
            State::Startup(startup) => startup.known_rate(),
            State::Running { link, .. } => Some(link.rate(self.path.horizon())),
        }
        .map(Bandwidth::from_f64)
    }

    fn end_startup(&mut self, now: Timestamp, rate: f64, base_rtt: Option<f64>) {
        if let Some(base_rtt) = base_rtt {
            self.path.take_base(base_rtt);
        }
        let link = Link::new(&self.config, rate, &self.path);
        // Its losses may be reported later.
        self.doubling = Span {
            after: Timestamp::ZERO,
            up_to: now,
        };
        self.drained = Span::since(now);
        let before = self.path.with_full_window();
        let drain = Drain::of_known_path(self.last.sent, before, self.path.known());
        self.state = State::Running {
            link,
            phase: Phase::Draining(drain),
        };
    }

    /// The link lost or marked packets. Without a round-trip time no rate is known: packets of a new path may be lost before its first sample.
    fn leave_startup(&mut self, event: &CongestionEvent) {
        if let State::Startup(startup) = &self.state
            && self.path.min() > 0.0
        {
            // What an application sends is not the link's rate, whatever is lost of it.
            if event.flight.is_some_and(|flight| !flight.app_limited) {
                self.evidence.measure(event.now);
            }
            let outage = event.flight.is_some_and(loss_bound::lost_whole);
            let rate = startup.rate(self.path.horizon(), outage);
            self.end_startup(event.now, rate, startup.base_rtt());
        }
    }

    /// RFC 9002, section 7.6.2: the smallest window, and slow start. A link that is known is not searched for again: the window doubles up to what it
    /// was. What is delivered while it does says nothing of the link.
    #[cold]
    fn begin_anew(&mut self, event: &CongestionEvent) {
        self.undrained = self.mtu * PACKETS_PER_ACK;
        self.doubling = Span::since(event.now);
        self.loss.begin_anew(event.now);
        self.competition = Competition::default();
        match &mut self.state {
            State::Startup(startup) => {
                *startup = Startup::again(self.undrained);
                self.evidence.forget();
            }
            State::Running { phase, .. } => {
                *phase = Phase::Refilling { since: event.round };
            }
        }
    }

    /// Notes whether the application is the limit. Returns whether the acknowledgement's newest packet left while the window was.
    fn is_window_limited(&mut self, ack: &AckEvent) -> bool {
        if ack.app_limited && ack.in_flight + self.mtu < self.window {
            self.app_limited_until = Some(ack.now);
        }
        self.app_limited_until
            .is_none_or(|until| ack.newest_sent > until)
    }

    /// Whether the window has been full since the acknowledgement's newest packet left.
    fn was_full(&self, ack: &AckEvent) -> bool {
        self.full_at.is_some_and(|at| ack.newest_sent <= at)
    }

    /// Whether nothing is acknowledged yet that left after the link's last silence. What is acknowledged waited for the link, and the newest packets
    /// in flight may be lost: a link that stops fills its buffer.
    fn is_resuming(&self) -> bool {
        self.resumed_at.is_some_and(|at| self.newest_sent <= at)
    }

    /// Startup looks for the link's rate.
    #[cold]
    fn search(&mut self, ack: &AckEvent, seen: &Seen) {
        let State::Startup(startup) = &mut self.state else {
            return;
        };
        self.path.take_min_as_base();
        if let Some(rate) = startup.on_ack(ack, seen, self.mtu) {
            // A queue stood: the link was full.
            self.evidence.measure(ack.now);
            let base_rtt = startup.base_rtt();
            self.end_startup(ack.now, rate, base_rtt);
        }
    }

    /// What leaves during a drain shows the flow's small flight rather than the link. What left before it shows the link: a drain that a fall of the rate
    /// begins may last for seconds.
    fn learn(&mut self, ack: &AckEvent, acked: &Acked) {
        let State::Running { link, phase } = &mut self.state else {
            return;
        };
        let shows_the_link = match phase {
            // The last packet before a pause may be alone, and acknowledged late: the receiver waited for a second one.
            Phase::Draining(drain) => {
                let alone = ack.acked < self.mtu * 2 && self.last.acked >= self.mtu * 2;
                drain.is_before(ack) && !alone
            }
            Phase::Refilling { .. } | Phase::Settling { .. } => false,
            Phase::Cruising => true,
        };
        if shows_the_link {
            link.learn(&self.config, acked, &self.path, float(self.mtu));
        }
    }

    fn next_phase(&mut self, ack: &AckEvent, rtt: f64, window_limited: bool) {
        let State::Running { phase, .. } = &mut self.state else {
            return;
        };
        match phase {
            Phase::Draining(_) => self.drain(ack, rtt),
            Phase::Settling { until } if ack.now >= *until => *phase = Phase::Cruising,
            // The pace of a base that is too long never fills the window. Only cruising shortens it.
            Phase::Refilling { since } if ack.round > since.saturating_add(REFILL_ROUNDS) => {
                self.drained.end(ack.now);
                *phase = Phase::Cruising;
            }
            Phase::Refilling { .. } | Phase::Settling { .. } => {}
            Phase::Cruising => {
                if self.path.drain_is_due(ack.now, rtt) {
                    self.path.begin_drain();
                    self.drained = Span::since(ack.now);
                    let batch = float(ack.acked.min(self.mtu * QUANTUM_PACKETS));
                    let before = self.path.with_full_window();
                    let drain = Drain::new(self.last.sent, before, window_limited, batch);
                    *phase = Phase::Draining(drain);
                }
            }
        }
    }

    /// Takes an acknowledgement during a drain, and what the drain has found when it ends.
    #[cold]
    fn drain(&mut self, ack: &AckEvent, rtt: f64) {
        let path = &mut self.path;
        let State::Running { link, phase } = &mut self.state else {
            return;
        };
        let Phase::Draining(drain) = phase else {
            return;
        };
        let (base, waits_above) = (path.measured_base(), path.waits_above());
        let singles = link.acks_singles(float(self.mtu));
        let found = drain.on_ack(ack, rtt, self.window, base, waits_above, singles);
        if let Some(mut found) = found {
            found.level -= link.own_queue(float(self.window), path.horizon(), &found);
            let window = self.undrained;
            let competing = self.competition.keeps_up(window);
            let length = path.end_drain(&self.config, ack.now, &found, competing);
            link.on_drained(&self.config, length, path.horizon());
            let filled = path.others_queue() && link.was_congested(ack.round);
            self.competition
                .on_drained(filled, window, self.mtu, ack.now);
            if found.full && !path.others_queue() {
                self.competition.forget_shown();
            }
            *phase = Phase::Refilling { since: ack.round };
        }
    }

    /// `acked` bytes were acknowledged: the window grows by no more, as in slow start.
    fn update_window(&mut self, acked: Bytes) {
        let model = self.state.window(&self.config, &self.path, self.mtu);
        let most = self.loss.bytes();
        let growth = if most < model {
            loss_bound::growth(acked)
        } else {
            acked
        };
        let held = self.competition.window(self.path.last_least());
        let bounded = whole(larger(smaller(model, most), held));
        let min = self.mtu * PACKETS_PER_ACK;
        self.behind = bounded > self.undrained + acked;
        if self.behind {
            // A window that follows a rate that varies is behind by little for half of the time.
            if float(bounded) > (1.0 + AGREEMENT) * float(self.undrained) {
                self.behind_at = Some(self.gap_began);
            }
        } else {
            self.doubling.end(self.gap_began);
        }
        self.undrained = bounded.min(self.undrained + growth).max(min);
        self.window = self.undrained;
        if let State::Running {
            phase: Phase::Draining(drain),
            link,
        } = &self.state
        {
            // Many flows' equal packets are a queue of their own.
            let path_holds = link.path_holds(&self.path);
            let most = smaller(path_holds, float(self.window));
            let kept = drain.keeps(most, self.config.drained, self.path.varies());
            self.window = whole(kept).max(min);
        }
        if self.is_resuming() {
            self.let_one_out(acked);
        }
    }

    /// Only the acknowledgement of a later packet tells what a silence has lost. Without one the flight waits for a probe timeout, which the
    /// silence has made long.
    #[cold]
    fn let_one_out(&mut self, acked: Bytes) {
        self.window = self.window.max(self.last.in_flight + acked.min(self.mtu));
    }

    /// Whether the link's buffer is known to hold more than waits in it.
    fn has_room(&self) -> bool {
        let State::Running { link, .. } = &self.state else {
            return false;
        };
        let burst = float(self.mtu * QUANTUM_PACKETS);
        link.has_room(self.path.wait_in_two_rounds(), self.path.horizon(), burst)
    }

    /// Whether the window is full again that a drain had left empty.
    fn has_refilled(&self) -> bool {
        let refilling = self.state.mode() == Mode::ProbeRefill;
        // After persistent congestion the window itself has to grow first.
        refilling && self.last.in_flight + self.mtu > self.window && !self.behind
    }

    #[cold]
    fn settle(&mut self, now: Timestamp) {
        if let State::Running { phase, .. } = &mut self.state {
            self.drained.end(now);
            let until = now + Duration::from_secs_f64(SETTLING * self.path.min());
            *phase = Phase::Settling { until };
        }
    }
}

impl Controller for Knee {
    fn on_sent(&mut self, event: &SentEvent) {
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_sent(event);
        }
        if event.prior_in_flight == Bytes::ZERO {
            self.gap_began = event.now;
        }
        if core::mem::take(&mut self.last.app_limited) {
            self.rested_until = event.now;
        }
        self.last.in_flight = event.prior_in_flight + event.bytes;
        self.last.sent = event.now;
        // A transport that paces fills the window but for the time that hosts take.
        if self.last.in_flight + self.mtu.max(Bytes(self.window.0 / 8)) > self.window {
            self.full_at = Some(event.now);
        }
        let before = self.state.mode();
        if self.has_refilled() {
            self.settle(event.now);
        }
        observe::transition(super::NAME, before, self.state.mode());
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let before = self.state.mode();
        let gap_began = core::mem::replace(&mut self.gap_began, ack.now);
        let last_sent = self.newest_sent;
        self.newest_sent = last_sent.max(ack.newest_sent);
        self.last.in_flight = ack.in_flight;
        self.last.app_limited = ack.app_limited;
        let cruising = self.state.is_cruising();
        let window_limited = self.is_window_limited(ack);
        let gap = seconds_between(gap_began, ack.now);
        // What left after the silence began is late for another reason: receivers acknowledge in batches. Before the first sample there is no horizon.
        if self.path.base() > 0.0
            && gap > SILENCE * self.path.horizon()
            && ack.newest_sent <= gap_began
        {
            self.resumed_at = Some(ack.now);
        }
        let silenced = self.is_resuming();
        if let State::Running { link, .. } = &self.state
            && ack.round_start
        {
            let packet_time = link.packet_time(float(self.mtu));
            self.path.set_link(packet_time, link.holds_back());
        }
        let rtt = self
            .path
            .on_ack(&self.config, ack, gap, cruising, window_limited, silenced);
        let full = self.was_full(ack);
        // The application paused before the newest packet left.
        let after_pause = last_sent < self.rested_until && self.rested_until <= ack.newest_sent;
        if self.evidence.on_ack(ack, cruising && window_limited) {
            let before = self.bandwidth();
            self.evidence.show(ack, before);
        }
        let model = || self.state.window(&self.config, &self.path, self.mtu);
        let room = || self.state.room(self.mtu, self.paces);
        let others_queue = self.path.others_queue();
        let found_no_queue = || self.path.found_no_queue();
        self.loss
            .on_ack(&self.config, ack, model, room, others_queue, found_no_queue);
        if let State::Startup(_) = &self.state {
            // What hosts add is no queue.
            let round_trip = self.path.min().max(self.path.host_delay() / startup::WAIT);
            let seen = Seen {
                wait: (rtt - self.path.min()) / round_trip,
                window_limited,
                full,
                after_pause,
            };
            self.search(ack, &seen);
        } else {
            let oldest_rtt = seconds_between(ack.oldest_sent, ack.now);
            let (wait, busy_before) = self.path.waits(rtt, oldest_rtt, ack.acked_packets);
            let acked = Acked {
                bytes: float(ack.acked),
                left: float(ack.in_flight),
                gap,
                sent_gap: seconds_between(last_sent, ack.newest_sent),
                wait,
                busy_before,
                silenced,
                lossy: self.loss.is_lossy(ack.round),
                round: ack.round,
                window_limited,
                // No window keeps the link busy in the round trip after a pause of the application.
                full: full && !after_pause && self.behind_at.is_none_or(|at| ack.newest_sent > at),
            };
            self.learn(ack, &acked);
            self.next_phase(ack, rtt, window_limited);
        }
        self.last.acked = ack.acked;
        if !window_limited && !full {
            self.competition.show(ack.rate.as_ref());
        }
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_ack(ack);
        }
        self.update_window(ack.acked);
        observe::transition(super::NAME, before, self.state.mode());
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let before = self.state.mode();
        self.last.in_flight = event.in_flight;
        // What a drain leaves in flight is not the window.
        let drained = self.drained.contains(event.newest_sent);
        let doubled = self.doubling.contains(event.newest_sent);
        let seen = Circumstances {
            window: if drained { self.undrained } else { Bytes::ZERO },
            growing: matches!(self.state, State::Startup(_)) || doubled,
            queue: self.path.queue(),
            has_room: self.has_room(),
        };
        self.competition.on_congestion(event);
        if let State::Running { link, .. } = &mut self.state {
            link.on_congestion(&self.config, event);
        }
        match event.signal {
            CongestionSignal::EcnMark => {
                let bound = self.loss.bytes();
                self.loss.on_mark(&self.config, event, &seen);
                if self.loss.bytes() < bound {
                    self.competition.on_mark(&self.config);
                }
                self.leave_startup(event);
            }
            CongestionSignal::Loss => {
                if self.loss.on_loss(&self.config, event, &seen) {
                    self.leave_startup(event);
                }
            }
            CongestionSignal::PersistentCongestion => self.begin_anew(event),
        }
        self.update_window(Bytes::ZERO);
        observe::transition(super::NAME, before, self.state.mode());
    }

    fn on_spurious_loss(&mut self, now: Timestamp) {
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_spurious_loss(now);
        }
        self.loss.on_spurious_loss();
        self.update_window(Bytes::ZERO);
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_mtu_update(mtu);
        }
        self.mtu = mtu;
        self.loss.set_mtu(mtu);
        self.update_window(Bytes::ZERO);
    }

    fn control(&self) -> Control {
        let (refill, pacing_rate) = match &self.state {
            State::Startup(_) => (Refill::Plain, None),
            State::Running { .. } => {
                // A transport that paces by window over smoothed round-trip time is slowed down by the queue. This undoes it.
                let refill = whole(float(self.window) * self.path.inflation());
                let rate = self
                    .paces
                    .then(|| Bandwidth::from_f64(float(self.window) / self.path.round_trip()));
                (Refill::PaceOf(refill), rate)
            }
        };
        Control {
            window: self.window,
            refill,
            pacing_rate,
            send_quantum: self.mtu * QUANTUM_PACKETS,
        }
    }

    fn snapshot(&self) -> Snapshot {
        let mode = self.state.mode();
        let mut snapshot = Snapshot::new(super::NAME, mode, self.window);
        snapshot.bandwidth = self.bandwidth();
        snapshot.min_rtt =
            (self.path.min() > 0.0).then(|| Duration::from_secs_f64(self.path.min()));
        snapshot.pacing_rate = self.control().pacing_rate;
        self.evidence.describe(&mut snapshot);
        snapshot
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// A receiver acknowledges every second packet at once (RFC 9000, section 13.2.2). No window is smaller, and more at once are a batch.
pub(super) const PACKETS_PER_ACK: u64 = 2;

/// What a transport may send back to back: RFC 9002, section 7.7, allows the initial window. Delivery rates vary by it.
pub(super) const QUANTUM_PACKETS: u64 = 10;

/// At a pace of a window per base round-trip time the window is full within two rounds; batches of acknowledgements may take two more.
const REFILL_ROUNDS: u64 = 4;

/// Round trips after a refill, until what is acknowledged left with a full window.
const SETTLING: f64 = 2.0;

/// In horizons. Recorded links pause for three of them so often that their queues grow by what is let out; flows in company wait for each other
/// for one.
const SILENCE: f64 = 8.0;
