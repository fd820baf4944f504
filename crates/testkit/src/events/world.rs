//! A sender to which anything may happen, in any order, and what has to hold for it.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::{ControllerSpec, DeliveryRateSampler, FilterSnapshot};

use super::alphabet::Event;
use super::subject::{State, Subject};
use crate::Lost;

/// A sender.
#[derive(Debug, Clone)]
pub struct World<S> {
    spec: ControllerSpec,
    path: Path<S>,
    /// The path that a rebinding or a migration left.
    waiting: Option<Path<S>>,
    paths: u32,
    now: Duration,
    application_limits: bool,
    /// Oldest first.
    flight: VecDeque<Packet>,
    /// What was acknowledged last.
    acked: VecDeque<Packet>,
}

#[derive(Debug, Clone)]
struct Path<S> {
    subject: S,
    number: u32,
    mtu: u16,
    largest_mtu: u16,
    /// In bytes, as are the others.
    in_flight: u64,
    /// Reported as acknowledged, rightly or not.
    delivered: u64,
    /// Sent past the window.
    probed: u64,
    /// The accounting may know of less in flight than there is: it heard of losses that were none, or took packets for ones that only
    /// acknowledge. The end of the next acknowledgement tells it.
    misled: bool,
}

#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Duration,
    bytes: u64,
    path: u32,
}

impl<S: Subject> World<S> {
    /// A connection that begins now.
    pub fn new(spec: &ControllerSpec, mtu: u16) -> Self {
        Self {
            spec: spec.clone(),
            path: Path::new(S::connect(spec, Duration::ZERO, mtu), 0, mtu),
            waiting: None,
            paths: 1,
            now: Duration::ZERO,
            application_limits: false,
            flight: VecDeque::new(),
            acked: VecDeque::new(),
        }
    }

    /// The controller on its path.
    pub fn subject(&self) -> &S {
        &self.path.subject
    }

    /// The time since the connection began.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The datagrams that the path carries, in bytes.
    pub fn mtu(&self) -> u16 {
        self.path.mtu
    }

    /// Reported as acknowledged on this path, in bytes.
    pub fn delivered(&self) -> u64 {
        self.path.delivered
    }

    /// Whether the window allows a packet of so many bytes, or a full one.
    pub fn has_room(&self, bytes: Option<u16>) -> bool {
        let path = &self.path;
        let bytes = bytes.unwrap_or(path.mtu).into();
        self.flight.len() < MAX_FLIGHT && path.subject.may_send(path.in_flight, bytes)
    }

    /// Lets something happen.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::Wait { nanos, timers } => self.wait(Duration::from_nanos(nanos), timers),
            Event::Back { nanos } => {
                self.now = self.now.saturating_sub(Duration::from_nanos(nanos));
            }
            Event::Send { packets, bytes } => {
                // A packet that does not fit the path is a probe.
                let bytes = bytes.map(|bytes| bytes.min(self.path.mtu));
                for _ in 0..packets {
                    if !self.has_room(bytes) {
                        break;
                    }
                    self.send(bytes);
                }
            }
            Event::Probe { bytes } if self.flight.len() < MAX_FLIGHT => {
                self.path.probed += self.send(bytes);
            }
            Event::Probe { .. } => {}
            Event::Ack {
                skip,
                packets,
                newest_first,
                ends,
            } => {
                let mut acked = self.take(skip.into(), packets.into());
                if newest_first {
                    acked.reverse();
                }
                acked.iter().for_each(|&packet| self.acknowledge(packet));
                if ends {
                    self.end_acknowledgement();
                }
                self.acked.extend(acked);
                let older = self.acked.len().saturating_sub(MAX_REMEMBERED);
                self.acked.drain(..older);
            }
            Event::AckAgain { packets } => {
                let again: Vec<Packet> = self.acked.iter().take(packets.into()).copied().collect();
                again
                    .into_iter()
                    .for_each(|packet| self.acknowledge(packet));
                self.end_acknowledgement();
            }
            Event::AckUnsent { age, bytes } => {
                let sent = self.ago(age);
                self.acknowledge(Packet {
                    sent,
                    bytes: bytes.into(),
                    path: self.path.number,
                });
                self.end_acknowledgement();
            }
            Event::Lose {
                skip,
                packets,
                persistent,
            } => {
                let lost = self.take(skip.into(), packets.into());
                if let Some(newest) = lost.last() {
                    let bytes = lost.iter().map(|packet| packet.bytes).sum();
                    self.lose(newest.sent, bytes, lost.len() as u64, persistent);
                }
            }
            Event::LoseUnsent {
                age,
                bytes,
                persistent,
            } => {
                let bytes = u64::from(bytes) + 1;
                let packets = bytes.div_ceil(self.path.mtu.into());
                self.path.misled = true;
                self.lose(self.ago(age), bytes, packets, persistent);
            }
            Event::Spurious => self.path.subject.on_spurious_loss(self.now),
            Event::Mark { skip } => {
                let packet = self.flight.get(usize::from(skip));
                let sent = packet.map_or(self.now, |packet| packet.sent);
                self.path.subject.on_ecn_mark(self.now, sent);
            }
            Event::Discard { packets } => drop(self.take(0, packets.into())),
            Event::Application { limits } => self.application_limits = limits,
            Event::Mtu { bytes } => {
                self.path.mtu = bytes;
                self.path.largest_mtu = self.path.largest_mtu.max(bytes);
                self.path.subject.on_mtu_update(bytes);
            }
            Event::Rebind => {
                let mut path = self.path.clone();
                path.in_flight = 0;
                self.change_path(path);
            }
            Event::Migrate => {
                let subject = S::connect(&self.spec, self.now, MIN_MTU);
                self.change_path(Path::new(subject, 0, MIN_MTU));
            }
            Event::Return => {
                if let Some(path) = self.waiting.take() {
                    self.path = path;
                }
            }
        }
    }

    fn wait(&mut self, span: Duration, timers: bool) {
        let end = self.now + span;
        // As many as a transport fires at once: the rest come late.
        for _ in 0..16 {
            match self.path.subject.next_timer() {
                Some(due) if timers && due <= end => self.path.subject.on_timer(due),
                _ => break,
            }
        }
        self.now = end;
    }

    /// A packet leaves: one of so many bytes, or a full one. Returns its size.
    fn send(&mut self, bytes: Option<u16>) -> u64 {
        let path = &mut self.path;
        let bytes = u64::from(bytes.unwrap_or(path.mtu));
        path.subject.on_sent(self.now, bytes);
        path.in_flight += bytes;
        path.misled |= bytes <= LARGEST_ACK_ONLY;
        if path.misled {
            let past = path
                .in_flight
                .saturating_sub(path.subject.state().control.window.0);
            path.probed += past.min(bytes);
        }
        self.flight.push_back(Packet {
            sent: self.now,
            bytes,
            path: path.number,
        });
        bytes
    }

    /// Takes packets out of the flight, the oldest but `skip` first.
    fn take(&mut self, skip: usize, packets: usize) -> Vec<Packet> {
        let skip = skip.min(self.flight.len());
        let end = (skip + packets).min(self.flight.len());
        let taken: Vec<Packet> = self.flight.drain(skip..end).collect();
        for packet in &taken {
            let paths = [Some(&mut self.path), self.waiting.as_mut()]
                .into_iter()
                .flatten();
            for path in paths.filter(|path| path.number == packet.path) {
                path.in_flight -= packet.bytes;
            }
        }
        taken
    }

    fn acknowledge(&mut self, Packet { sent, bytes, .. }: Packet) {
        self.path.delivered += bytes;
        self.path.subject.on_packet_acked(self.now, sent, bytes);
    }

    fn end_acknowledgement(&mut self) {
        self.path.misled = false;
        let Path {
            subject, in_flight, ..
        } = &mut self.path;
        subject.on_end_acks(self.now, *in_flight, self.application_limits);
    }

    fn lose(&mut self, newest_sent: Duration, bytes: u64, packets: u64, persistent: bool) {
        let lost = Lost {
            newest_sent,
            bytes,
            packets,
            persistent,
        };
        self.path.subject.on_lost(self.now, &lost);
    }

    fn ago(&self, nanos: u64) -> Duration {
        self.now.saturating_sub(Duration::from_nanos(nanos))
    }

    fn change_path(&mut self, mut path: Path<S>) {
        path.number = self.paths;
        self.paths += 1;
        self.waiting = Some(std::mem::replace(&mut self.path, path));
    }

    /// All that can be seen.
    pub fn state(&self) -> State {
        self.path.subject.state()
    }

    /// The largest window that anything may lead to: the initial window or the smallest, of the largest packets so far; what was
    /// delivered; and what was sent past the window, since a window in recovery follows what is in flight.
    pub fn window_bound(&self) -> u64 {
        let Path {
            largest_mtu,
            delivered,
            probed,
            ..
        } = self.path;
        (u64::from(largest_mtu) * 4).max(14_720) + delivered + probed
    }

    /// Whether all is as it has to be.
    ///
    /// # Errors
    /// Says what is not.
    pub fn check(&self) -> Result<(), String> {
        let state = self.state();
        let State {
            snapshot,
            control,
            history,
            ..
        } = &state;
        let (mtu, window) = (u64::from(self.path.mtu), control.window.0);
        let rates = [
            snapshot.bandwidth,
            snapshot.pacing_rate,
            control.pacing_rate,
        ];
        let filter = match snapshot.filter {
            FilterSnapshot::Skip {
                mean,
                variance,
                process_noise,
                measurement_noise,
                ..
            } => [mean, variance, process_noise, measurement_noise],
            _ => [0.0; 4],
        };
        let holds = [
            (window >= 2 * mtu, "a window of two packets"),
            (window <= self.window_bound(), "a window within its bound"),
            (control.send_quantum.0 >= mtu, "a quantum of one packet"),
            (
                snapshot.congestion_window == control.window,
                "a snapshot of the window in force",
            ),
            (
                control.pacing_rate.is_none() || snapshot.pacing_rate == control.pacing_rate,
                "a snapshot of the pacing rate in force",
            ),
            (
                // No rate out of nothing, nor the largest number there is.
                rates
                    .iter()
                    .flatten()
                    .all(|rate| rate.bytes_per_second() < u64::MAX / 2),
                "finite rates",
            ),
            (
                filter
                    .iter()
                    .all(|value| value.is_finite() && *value >= 0.0),
                "a finite filter",
            ),
            (
                *history <= DeliveryRateSampler::MAX_HISTORY,
                "a bounded history",
            ),
        ];
        if let Some((_, what)) = holds.iter().find(|(holds, _)| !holds) {
            let bound = self.window_bound();
            return Err(format!("not {what}: MTU {mtu}, bound {bound}, {state:?}"));
        }
        self.path.subject.check()
    }
}

impl<S> Path<S> {
    fn new(subject: S, number: u32, mtu: u16) -> Self {
        Self {
            subject,
            number,
            mtu,
            largest_mtu: mtu,
            in_flight: 0,
            delivered: 0,
            probed: 0,
            misled: false,
        }
    }
}

/// RFC 9000, section 14.1: what a new path is known to carry.
const MIN_MTU: u16 = 1200;

/// Packets of at most so many bytes may be taken for ones that only acknowledge.
const LARGEST_ACK_ONLY: u64 = 128;

/// More packets than this are not in flight.
const MAX_FLIGHT: usize = 4096;

/// So many packets can be acknowledged again.
const MAX_REMEMBERED: usize = 64;
