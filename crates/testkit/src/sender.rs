//! The sender and its receiver.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use kneepoint_emulator::link::{Link, LinkConfig};
use kneepoint_emulator::packet::{Ecn, Packet};

use crate::adapter::{Adapter, Lost};
use crate::lie::Lie;
use crate::pacer::{Pacer, Pacing, time_at};
use crate::path::{AckPolicy, Application, Packets, Scenario};
use crate::rtt::Rtt;

/// A sender on a path. What is public may be changed between events, and then holds from then on.
#[derive(Debug)]
pub struct Sender<T> {
    /// The controller.
    pub adapter: T,
    /// What there is to send.
    pub application: Application,
    /// The receiver's policy.
    pub acks: AckPolicy,
    /// What it reports instead of what has arrived, if it lies.
    pub lie: Option<Lie>,
    /// How long an acknowledgement takes.
    pub return_delay: Duration,
    /// The size of a packet, in bytes.
    pub mtu: u64,
    /// What happens when nothing is heard.
    pub timeout: Timeout,
    /// Bytes acknowledged.
    pub delivered: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Acknowledgements that told of marks.
    pub marked: u64,
    /// Packets acknowledged before they were sent. A transport closes the connection (RFC 9000, section 13.1).
    pub unsent: u64,
    /// The largest window so far, in bytes.
    pub largest_window: u64,
    /// The most that waited for the link, in bytes.
    pub largest_queue: u64,
    now: Duration,
    /// The link, after those before it that are not empty yet.
    links: VecDeque<Link>,
    pacer: Pacer,
    rtt: Rtt,
    rtts: Vec<Duration>,
    /// Oldest first.
    flight: VecDeque<Sent>,
    in_flight: u64,
    next_number: u64,
    largest_acked: Option<u64>,
    /// What was declared lost and has not been acknowledged since.
    missing: BTreeMap<u64, Sent>,
    /// When something was last heard, or sent.
    last_news: Duration,
    probes: u32,
    /// When the application has the next packet.
    data_at: Duration,
    lose: Packets,
    mark: Packets,
    /// Packets since it was said which are lost and marked.
    fated: u64,
    /// What has arrived and was not acknowledged: numbers, and whether they are marked.
    arrived: Vec<(u64, bool)>,
    /// When the first of it arrived.
    arrived_at: Duration,
    /// The first number that no report has reached.
    unreported: u64,
    /// When acknowledgements on their way will be here, and what they say.
    returning: VecDeque<(Duration, Vec<(u64, bool)>)>,
}

/// What a sender does when it hears nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// It sends a probe, whatever the window says (RFC 9002, section 6.2).
    Probe,
    /// It declares everything lost after so long, as TCP does (RFC 6298, section 5).
    LoseAll(Duration),
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    number: u64,
    at: Duration,
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Timer,
    Arrival,
    AckDelay,
    Ack,
    LossDelay,
    Timeout,
    Send,
}

impl<T: Adapter> Sender<T> {
    /// A connection that begins now, with packets of 1200 bytes and [`Pacing::Own`].
    pub fn new(adapter: T, scenario: &Scenario) -> Self {
        Self {
            application: scenario.application,
            lose: scenario.lose,
            ..Self::over(adapter, scenario.link(), scenario.rtt, scenario.acks)
        }
    }

    /// The same over any link.
    ///
    /// # Panics
    /// If the link's configuration is not valid.
    pub fn over(adapter: T, link: LinkConfig, return_delay: Duration, acks: AckPolicy) -> Self {
        let link = Link::new(link, SEED).expect("a valid link");
        Self {
            largest_window: adapter.window(),
            adapter,
            application: Application::Greedy,
            acks,
            lie: None,
            return_delay,
            mtu: 1200,
            timeout: Timeout::Probe,
            delivered: 0,
            lost: 0,
            marked: 0,
            unsent: 0,
            largest_queue: 0,
            now: Duration::ZERO,
            links: VecDeque::from([link]),
            pacer: Pacer::new(Pacing::Own),
            rtt: Rtt::UNKNOWN,
            rtts: Vec::new(),
            flight: VecDeque::new(),
            in_flight: 0,
            next_number: 0,
            largest_acked: None,
            missing: BTreeMap::new(),
            last_news: Duration::ZERO,
            probes: 0,
            data_at: Duration::ZERO,
            lose: Packets::None,
            mark: Packets::None,
            fated: 0,
            arrived: Vec::new(),
            arrived_at: Duration::ZERO,
            unreported: 0,
            returning: VecDeque::new(),
        }
    }

    /// The same with another pacer.
    pub fn paced(mut self, pacing: Pacing) -> Self {
        self.pacer = Pacer::new(pacing);
        self
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// What is in flight, in bytes.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The link.
    pub fn link(&self) -> &Link {
        self.links.back().expect("there always is one")
    }

    /// From now on packets take another link. What is on the one before it arrives first.
    ///
    /// # Panics
    /// If the link's configuration is not valid.
    pub fn set_link(&mut self, link: LinkConfig) {
        let link = Link::new(link, SEED).expect("a valid link");
        self.links.push_back(link);
        self.leave_empty_links();
    }

    /// From now on these packets, counted from 0, are lost and marked on their way to the link.
    pub fn set_fates(&mut self, lose: Packets, mark: Packets) {
        (self.lose, self.mark, self.fated) = (lose, mark, 0);
    }

    /// The round-trip times of the packets acknowledged since the last call.
    pub fn take_rtts(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.rtts)
    }

    /// Runs for `span`.
    pub fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.step(end) {}
    }

    /// Runs for `span`. Returns the share of the link's capacity that was delivered meanwhile.
    pub fn utilization(&mut self, span: Duration) -> f64 {
        let (begin, before) = (self.now, self.delivered);
        self.run_for(span);
        let capacity = self.link().capacity(begin.into(), self.now.into());
        (self.delivered - before) as f64 / capacity as f64
    }

    /// Lets the next thing happen, if anything does by `end`. Otherwise it is `end`, and the answer no.
    pub fn step(&mut self, end: Duration) -> bool {
        let Some((time, event)) = self.next_event().filter(|&(time, _)| time <= end) else {
            self.now = end;
            return false;
        };
        self.now = self.now.max(time);
        match event {
            Event::Timer => self.adapter.on_timer(self.now),
            Event::Arrival => self.arrive(),
            Event::AckDelay => self.return_ack(),
            Event::Ack => self.acknowledge(),
            Event::LossDelay => self.detect_losses(),
            Event::Timeout => match self.timeout {
                Timeout::Probe => {
                    self.probes += 1;
                    self.send();
                }
                Timeout::LoseAll(_) => {
                    self.last_news = self.now;
                    self.declare_lost(self.flight.len(), true);
                }
            },
            Event::Send => self.send(),
        }
        // What the receiver does wakes no sender.
        if !matches!(event, Event::Arrival | Event::AckDelay) {
            self.pacer.update(self.now, self.rate(), self.mtu);
            self.largest_window = self.largest_window.max(self.adapter.window());
        }
        true
    }

    fn next_event(&self) -> Option<(Duration, Event)> {
        let arrival = self.links.front().and_then(Link::next_event);
        let ack_delay = (!self.arrived.is_empty()).then(|| self.arrived_at + self.acks.max_delay);
        let loss_delay = self.overtaken().map(|sent| sent.at + self.rtt.loss_delay());
        let candidates = [
            (self.adapter.next_timer(), Event::Timer),
            (arrival.map(Duration::from), Event::Arrival),
            (ack_delay, Event::AckDelay),
            (self.returning.front().map(|ack| ack.0), Event::Ack),
            (loss_delay, Event::LossDelay),
            (self.timeout_due(), Event::Timeout),
            (self.send_due(), Event::Send),
        ];
        candidates
            .into_iter()
            .filter_map(|(time, event)| Some((time?, event)))
            .min_by_key(|(time, _)| *time)
    }

    /// The oldest packet in flight, if a later one has been acknowledged.
    fn overtaken(&self) -> Option<&Sent> {
        let oldest = self.flight.front()?;
        self.largest_acked
            .is_some_and(|largest| oldest.number < largest)
            .then_some(oldest)
    }

    fn probe_timeout(&self) -> Duration {
        self.rtt.probe_timeout(self.acks.max_delay)
    }

    fn timeout_due(&self) -> Option<Duration> {
        self.flight.front()?;
        let wait = match self.timeout {
            Timeout::Probe => self.probe_timeout() * 2u32.saturating_pow(self.probes),
            Timeout::LoseAll(wait) => wait,
        };
        Some(self.last_news + wait)
    }

    fn data_due(&self) -> Option<Duration> {
        match self.application {
            Application::Greedy => Some(self.now),
            Application::Rate(_) => Some(self.data_at),
            Application::Silent => None,
        }
    }

    /// When the window, the pacer and the application let the next packet go.
    fn send_due(&self) -> Option<Duration> {
        let data = self.data_due()?;
        let room = self.adapter.may_send(self.in_flight, self.mtu);
        room.then(|| data.max(self.pacer.next).max(self.now))
    }

    fn rate(&self) -> Option<u64> {
        let own = self.adapter.pacing_rate();
        if self.pacer.pacing == Pacing::Own {
            return own;
        }
        own.or_else(|| {
            let window = 5 * u128::from(self.adapter.window()) * 1_000_000_000;
            let rate = window / (4 * self.rtt.smoothed?.as_nanos()).max(1);
            Some(u64::try_from(rate).unwrap_or(u64::MAX))
        })
    }

    fn send(&mut self) {
        let (now, bytes, number) = (self.now, self.mtu, self.next_number);
        if self.timeout == Timeout::Probe || self.flight.is_empty() {
            self.last_news = now;
        }
        self.next_number += 1;
        self.adapter.on_sent(now, bytes);
        self.in_flight += bytes;
        self.flight.push_back(Sent {
            number,
            at: now,
            bytes,
        });
        let ecn = match self.mark.contains(self.fated) {
            true => Ecn::Ce,
            false => Ecn::Ect0,
        };
        if !self.lose.contains(self.fated) {
            let link = self.links.back_mut().expect("there always is one");
            link.offer(now.into(), packet(number, bytes, ecn));
            self.largest_queue = self.largest_queue.max(link.queued().bytes);
        }
        self.fated += 1;
        if let Application::Rate(rate) = self.application {
            self.data_at = self.data_at.max(now) + time_at(rate, bytes);
        }
        self.pacer.on_sent(now, self.rate(), bytes);
    }

    fn leave_empty_links(&mut self) {
        while self.links.len() > 1 && self.links[0].in_transit() == 0 {
            self.links.pop_front();
        }
    }

    /// The receiver gets what is due.
    fn arrive(&mut self) {
        let now = self.now;
        let mut arrived = Vec::new();
        self.links[0].poll(now.into(), |_, packet| arrived.push(packet));
        self.leave_empty_links();
        for packet in arrived {
            if self.arrived.is_empty() {
                self.arrived_at = now;
            }
            let number = packet.payload.first_chunk().copied().unwrap_or_default();
            let marked = packet.ecn == Some(Ecn::Ce);
            self.arrived.push((u64::from_be_bytes(number), marked));
            if self.arrived.len() >= self.acks.every {
                self.return_ack();
            }
        }
    }

    fn return_ack(&mut self) {
        let due = self.now + self.return_delay;
        // Acknowledgements do not overtake each other.
        let due = self.returning.back().map_or(due, |last| due.max(last.0));
        let mut report = std::mem::take(&mut self.arrived);
        if let Some(lie) = self.lie {
            lie.change(&mut report, self.unreported);
        }
        let next = report.iter().map(|packet| packet.0 + 1).max();
        self.unreported = self.unreported.max(next.unwrap_or(0));
        self.returning.push_back((due, report));
    }

    fn acknowledge(&mut self) {
        let Some((_, packets)) = self.returning.pop_front() else {
            return;
        };
        let now = self.now;
        let (mut late, mut marked) = (false, None);
        for (number, is_marked) in packets {
            let place = self
                .flight
                .binary_search_by_key(&number, |sent| sent.number);
            let sent = match place.ok().and_then(|place| self.flight.remove(place)) {
                Some(sent) => {
                    self.in_flight -= sent.bytes;
                    sent
                }
                None => match self.missing.remove(&number) {
                    Some(sent) => {
                        late = true;
                        sent
                    }
                    None => {
                        self.unsent += u64::from(number >= self.next_number);
                        continue;
                    }
                },
            };
            self.adapter.on_packet_acked(now, sent.at, sent.bytes);
            self.delivered += sent.bytes;
            self.rtts.push(now - sent.at);
            if self.largest_acked.is_none_or(|largest| number > largest) {
                self.largest_acked = Some(number);
                self.rtt.update(now - sent.at);
            }
            if is_marked {
                marked = Some(sent.at);
            }
        }
        (self.last_news, self.probes) = (now, 0);
        let app_limited = self.data_due().is_none_or(|time| time > now);
        self.adapter.on_end_acks(now, self.in_flight, app_limited);
        if late && self.missing.is_empty() {
            self.adapter.on_spurious_loss(now);
        }
        self.detect_losses();
        if let Some(sent) = marked {
            self.marked += 1;
            self.adapter.on_ecn_mark(now, sent);
        }
    }

    /// RFC 9002, section 6.1: a packet is lost once three later ones, or any and some time ago, have been acknowledged.
    fn detect_losses(&mut self) {
        let (now, delay) = (self.now, self.rtt.loss_delay());
        let Some(largest) = self.largest_acked else {
            return;
        };
        let lost = self.flight.partition_point(|sent| {
            sent.number + REORDERING <= largest || sent.number < largest && sent.at + delay <= now
        });
        self.declare_lost(lost, false);
    }

    /// The oldest `count` packets in flight are lost, perhaps because nothing was heard.
    fn declare_lost(&mut self, count: usize, silence: bool) {
        let period = 3 * self.probe_timeout();
        let lost: Vec<Sent> = self.flight.drain(..count).collect();
        let Some(newest) = lost.last() else {
            return;
        };
        let bytes = lost.iter().map(|sent| sent.bytes).sum();
        self.in_flight -= bytes;
        self.lost += lost.len() as u64;
        // RFC 9002, section 7.6.2: nothing sent meanwhile was acknowledged.
        let mut runs = lost.chunk_by(|one, next| one.number + 1 == next.number);
        let lasting = runs.any(|run| run[run.len() - 1].at - run[0].at >= period);
        let event = Lost {
            newest_sent: newest.at,
            bytes,
            packets: lost.len() as u64,
            persistent: silence || lasting && self.rtt.smoothed.is_some(),
        };
        self.adapter.on_lost(self.now, &event);
        let lost = lost.into_iter().map(|sent| (sent.number, sent));
        self.missing.extend(lost);
    }
}

fn packet(number: u64, bytes: u64, ecn: Ecn) -> Packet {
    let mut payload = number.to_be_bytes().to_vec();
    payload.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    Packet {
        source: address,
        destination: address,
        ecn: Some(ecn),
        payload,
    }
}

/// Of what the link does at random.
const SEED: u64 = 1;

/// Packets (RFC 9002, section 6.1.1: kPacketThreshold).
const REORDERING: u64 = 3;
