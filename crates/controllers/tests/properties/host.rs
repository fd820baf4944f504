//! A sender to which anything may happen, in any order.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::{Bytes, ControllerSpec, Environment, Snapshot, Transport};
use kneepoint_testkit::{Adapter, Lost, Neutral};

/// Something that happens to a sender.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Time passes; the controller's timers fire as they come due, or late.
    Wait { nanos: u64, timers: bool },
    /// The clock runs backwards, as that of a host with a fault may.
    Back { nanos: u64 },
    /// Packets leave in one batch, as far as the window has room.
    Send { packets: u8 },
    /// A packet leaves whatever the window says: a probe.
    Probe,
    /// An acknowledgement of some packets in flight arrives.
    Ack { skip: u8, packets: u8 },
    /// Packets are declared lost.
    Lose {
        skip: u8,
        packets: u8,
        persistent: bool,
    },
    /// The packets declared lost last have arrived after all.
    Spurious,
    /// A packet was marked.
    Mark,
    /// Packets leave the flight without a word.
    Discard { packets: u8 },
    /// Whether the application limits the sender from now on.
    Application { limits: bool },
    /// The path carries other datagrams.
    Mtu { bytes: u16 },
}

/// A sender.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) adapter: Neutral,
    pub(crate) now: Duration,
    /// In bytes.
    pub(crate) mtu: u64,
    application_limits: bool,
    /// The send times and bytes of the packets in flight.
    flight: VecDeque<(Duration, u64)>,
}

impl Host {
    /// A connection that begins now.
    pub(crate) fn new(spec: &ControllerSpec, mtu: u16) -> Self {
        let controller = spec.build(&Environment::new(Bytes(mtu.into()), 7, Transport::PACES));
        Self {
            adapter: Neutral::new(controller),
            now: Duration::ZERO,
            mtu: mtu.into(),
            application_limits: false,
            flight: VecDeque::new(),
        }
    }

    pub(crate) fn apply(&mut self, step: Step) {
        match step {
            Step::Wait { nanos, timers } => self.wait(Duration::from_nanos(nanos), timers),
            Step::Back { nanos } => {
                self.now = self.now.saturating_sub(Duration::from_nanos(nanos));
            }
            Step::Send { packets } => {
                let room = (0..u64::from(packets)).take_while(|&more| self.has_room(more));
                self.send(room.count() as u64);
            }
            Step::Probe => self.send(1),
            Step::Ack { skip, packets } => {
                let acked = self.take(skip.into(), packets.into());
                self.acknowledge(&acked);
            }
            Step::Lose {
                skip,
                packets,
                persistent,
            } => {
                let lost = self.take(skip.into(), packets.into());
                self.lose(&lost, persistent);
            }
            Step::Spurious => self.adapter.on_spurious_loss(self.now),
            Step::Mark => {
                let sent = self.flight.front().map_or(self.now, |packet| packet.0);
                self.adapter.on_ecn_mark(self.now, sent);
            }
            Step::Discard { packets } => drop(self.take(0, packets.into())),
            Step::Application { limits } => self.application_limits = limits,
            Step::Mtu { bytes } => {
                self.mtu = bytes.into();
                self.adapter.controller.on_mtu_update(Bytes(self.mtu));
            }
        }
    }

    pub(crate) fn wait(&mut self, span: Duration, timers: bool) {
        let end = self.now + span;
        // As many as a host fires at once: the rest come late.
        for _ in 0..16 {
            match self.adapter.next_timer() {
                Some(due) if timers && due <= end => self.adapter.on_timer(due),
                _ => break,
            }
        }
        self.now = end;
    }

    /// Whether the window allows a packet after `more` others.
    pub(crate) fn has_room(&self, more: u64) -> bool {
        let in_flight = self.adapter.sampler.in_flight().0 + self.mtu * more;
        self.adapter.may_send(in_flight, self.mtu)
    }

    /// Packets leave in one batch.
    pub(crate) fn send(&mut self, packets: u64) {
        if packets == 0 {
            return;
        }
        self.adapter.on_sent(self.now, self.mtu * packets);
        let sent = (0..packets).map(|_| (self.now, self.mtu));
        self.flight.extend(sent);
    }

    /// Takes packets out of the flight, the oldest but `skip` first.
    fn take(&mut self, skip: usize, packets: usize) -> Vec<(Duration, u64)> {
        let skip = skip.min(self.flight.len());
        let end = (skip + packets).min(self.flight.len());
        self.flight.drain(skip..end).collect()
    }

    /// An acknowledgement of these packets arrives.
    fn acknowledge(&mut self, packets: &[(Duration, u64)]) {
        for &(sent, bytes) in packets {
            self.adapter.on_packet_acked(self.now, sent, bytes);
        }
        let in_flight = self.flight.iter().map(|packet| packet.1).sum();
        self.adapter
            .on_end_acks(self.now, in_flight, self.application_limits);
    }

    /// These packets are declared lost.
    fn lose(&mut self, packets: &[(Duration, u64)], persistent: bool) {
        let Some(&(newest_sent, _)) = packets.last() else {
            return;
        };
        let lost = Lost {
            newest_sent,
            bytes: packets.iter().map(|packet| packet.1).sum(),
            packets: packets.len() as u64,
            persistent,
        };
        self.adapter.on_lost(self.now, &lost);
    }

    /// Its visible state.
    pub(crate) fn seen(&self) -> (Snapshot, Bytes) {
        let Neutral {
            controller,
            sampler,
            ..
        } = &self.adapter;
        (controller.snapshot(), sampler.in_flight())
    }
}
