//! A host on a path, and the script of what happens to them.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::host::WindowRule;
use kneepoint_controllers::{Bandwidth, Bytes, Gain, Selection, Timestamp};

use super::host::{Host, Step};
use super::path::{Outcome, Path, time_at};

/// A stretch of a script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    pub(crate) span: Duration,
    /// How often to look.
    pub(crate) every: Duration,
    /// What changes at its beginning.
    pub(crate) change: Change,
}

/// What distinguishes a phase from the one before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Nothing,
    Path(Path),
    Application(Application),
    Mtu(u16),
    /// These packets of the phase, counted from 0, are lost.
    Lose(&'static [u64]),
    /// These are marked.
    Mark(&'static [u64]),
    /// What was declared lost last had only been late.
    Spurious,
    /// Nothing gets through until the phase ends.
    Outage,
}

/// How much there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Application {
    Greedy,
    Rate(Bandwidth),
    Silent,
}

impl Phase {
    pub(crate) const fn new(name: &'static str, millis: u64, every: u64, change: Change) -> Self {
        Self {
            name,
            span: Duration::from_millis(millis),
            every: Duration::from_millis(every),
            change,
        }
    }
}

/// A host on its way through a script.
#[derive(Debug)]
pub(crate) struct Journey {
    pub(crate) host: Host,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    path: Path,
    application: Application,
    /// When the application has the next packet.
    data_at: Timestamp,
    /// Of the packets in flight, in the same order: when the sender can hear of them, and what.
    fates: VecDeque<(Timestamp, Outcome)>,
    link_free: Timestamp,
    next_send: Timestamp,
    smoothed_rtt: Option<Duration>,
    /// The last time that something was sent or heard, and the probes since then.
    last_news: Timestamp,
    probes: u32,
    change: Change,
    sent_in_phase: u64,
}

impl Journey {
    pub(crate) fn new(selection: Selection, mtu: u16, path: Path, rule: WindowRule) -> Self {
        Self {
            host: Host::with_rule(selection, mtu, rule),
            delivered: 0,
            lost: 0,
            marked: 0,
            path,
            application: Application::Greedy,
            data_at: Timestamp::ZERO,
            fates: VecDeque::new(),
            link_free: Timestamp::ZERO,
            next_send: Timestamp::ZERO,
            smoothed_rtt: None,
            last_news: Timestamp::ZERO,
            probes: 0,
            change: Change::Nothing,
            sent_in_phase: 0,
        }
    }

    /// Goes through one phase. `look` is called at its beginning, every so often, and after every event.
    pub(crate) fn run(&mut self, phase: &Phase, mut look: impl FnMut(&Self, bool)) {
        self.begin(phase.change);
        let end = self.host.now + phase.span;
        let mut tick = self.host.now + phase.every;
        look(self, true);
        loop {
            let event = self.next_event().filter(|(time, _)| *time < end.min(tick));
            if let Some((time, event)) = event {
                self.host.now = self.host.now.max(time);
                self.happen(event);
                look(self, false);
            } else if tick < end {
                self.host.now = tick;
                tick = tick + phase.every;
                look(self, true);
            } else {
                self.host.now = end;
                return;
            }
        }
    }

    fn begin(&mut self, change: Change) {
        match change {
            Change::Path(path) => self.path = path,
            Change::Application(application) => {
                self.application = application;
                self.data_at = self.host.now;
            }
            Change::Mtu(bytes) => self.host.apply(Step::Mtu { bytes }),
            Change::Spurious => self.host.apply(Step::Spurious),
            Change::Nothing | Change::Lose(_) | Change::Mark(_) | Change::Outage => {}
        }
        self.change = change;
        self.sent_in_phase = 0;
    }

    fn next_event(&self) -> Option<(Timestamp, Event)> {
        let timer = self.host.controller.next_timer();
        let candidates = [
            (timer, Event::Timer),
            (self.acknowledgement_due(), Event::Acknowledgement),
            (self.probe_due(), Event::Probe),
            (self.send_due(), Event::Send),
        ];
        candidates
            .into_iter()
            .filter_map(|(time, event)| Some((time?, event)))
            .min_by_key(|(time, _)| *time)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Timer => self.host.controller.on_timer(self.host.now),
            Event::Acknowledgement => self.acknowledge(),
            Event::Probe => {
                self.probes += 1;
                self.send();
            }
            Event::Send => self.send(),
        }
    }

    /// When the window, the pacer and the application let the next packet go.
    fn send_due(&self) -> Option<Timestamp> {
        let data = self.data_due().filter(|_| self.host.has_room(0))?;
        Some(data.max(self.next_send).max(self.host.now))
    }

    fn data_due(&self) -> Option<Timestamp> {
        match self.application {
            Application::Greedy => Some(self.host.now),
            Application::Rate(_) => Some(self.data_at),
            Application::Silent => None,
        }
    }

    /// The receiver acknowledges every second packet at once, and a single one after its delay (RFC 9000, section 13.2.1).
    fn acknowledgement_due(&self) -> Option<Timestamp> {
        let mut arrived = self.fates.iter().filter(|fate| fate.1 != Outcome::Lost);
        let first = arrived.next()?.0;
        let late = first + MAX_ACK_DELAY;
        Some(arrived.next().map_or(late, |second| second.0.min(late)))
    }

    /// After so long without news a packet leaves whatever the window says (RFC 9002, section 6.2).
    fn probe_due(&self) -> Option<Timestamp> {
        if self.fates.is_empty() {
            return None;
        }
        Some(self.last_news + self.probe_timeout() * 2u32.saturating_pow(self.probes))
    }

    fn probe_timeout(&self) -> Duration {
        let rtt = self.smoothed_rtt.unwrap_or(INITIAL_RTT);
        2 * rtt + MAX_ACK_DELAY
    }

    fn window(&self) -> Bytes {
        self.host.controller.control().window
    }

    fn send(&mut self) {
        let (now, bytes) = (self.host.now, self.host.mtu);
        let outcome = self.outcome(bytes);
        if outcome != Outcome::Lost {
            self.link_free = self.link_free.max(now) + self.path.service(bytes);
        }
        let heard = self.link_free.max(now) + self.path.rtt;
        self.fates.push_back((heard, outcome));
        self.host.send(1);
        self.last_news = now;
        self.sent_in_phase += 1;
        if let Application::Rate(rate) = self.application {
            self.data_at = self.data_at.max(now) + time_at(rate, bytes);
        }
        if let Some(rate) = self.pacing_rate() {
            self.next_send = self.next_send.max(now) + time_at(rate, bytes);
        }
    }

    fn outcome(&self, bytes: Bytes) -> Outcome {
        let count = &self.sent_in_phase;
        match self.change {
            Change::Outage => Outcome::Lost,
            Change::Lose(which) if which.contains(count) => Outcome::Lost,
            _ if !self.path.has_room(self.host.now, self.link_free, bytes) => Outcome::Lost,
            Change::Mark(which) if which.contains(count) => Outcome::Marked,
            _ => Outcome::Delivered,
        }
    }

    /// The controller's own rate, or what hosts pace at by themselves (RFC 9002, section 7.7).
    fn pacing_rate(&self) -> Option<Bandwidth> {
        let own = self.host.controller.control().pacing_rate;
        own.or_else(|| {
            let rate = Bandwidth::from_delivery(self.window(), self.smoothed_rtt?)?;
            Some(Gain::new(5, 4) * rate)
        })
    }

    /// The oldest packets up to the second that arrived: what is missing before it is lost.
    fn acknowledge(&mut self) {
        let now = self.host.now;
        let mut outcomes = Vec::new();
        let mut arrived = 0;
        while let Some(&(heard, outcome)) = self.fates.front()
            && arrived < 2
            && (outcome == Outcome::Lost || heard <= now)
        {
            self.fates.pop_front();
            outcomes.push(outcome);
            arrived += u32::from(outcome != Outcome::Lost);
        }
        // Packets missing behind the last one that arrived are for the next acknowledgement.
        while outcomes.last() == Some(&Outcome::Lost) {
            outcomes.pop();
            self.fates.push_front((now, Outcome::Lost));
        }
        let packets = self.host.take(0, outcomes.len());
        let (mut acked, mut lost, mut marked) = (Vec::new(), Vec::new(), None);
        for (packet, outcome) in packets.into_iter().zip(outcomes) {
            match outcome {
                Outcome::Lost => lost.push(packet),
                Outcome::Delivered => acked.push(packet),
                Outcome::Marked => {
                    marked = Some(packet.sent);
                    acked.push(packet);
                }
            }
        }
        if let Some(newest) = acked.last() {
            let rtt = now.saturating_since(newest.sent);
            let smoothed = self.smoothed_rtt.map_or(rtt, |old| old * 7 / 8 + rtt / 8);
            self.smoothed_rtt = Some(smoothed);
        }
        self.last_news = now;
        self.probes = 0;
        self.host.application_limits = self.data_due().is_none_or(|time| time > now);
        self.host.acknowledge_before_losses(&acked);
        if let (Some(oldest), Some(newest)) = (lost.first(), lost.last()) {
            // RFC 9002, section 7.6.1.
            let span = newest.sent.saturating_since(oldest.sent);
            self.host.lose(&lost, span >= 3 * self.probe_timeout());
        }
        if let Some(sent) = marked {
            self.host.mark(sent);
        }
        self.delivered += acked.len() as u64;
        self.lost += lost.len() as u64;
        self.marked += u64::from(marked.is_some());
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Timer,
    Acknowledgement,
    Probe,
    Send,
}

/// RFC 9000, section 18.2: max_ack_delay.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// RFC 9002, section 6.2.2: kInitialRtt.
const INITIAL_RTT: Duration = Duration::from_millis(333);
