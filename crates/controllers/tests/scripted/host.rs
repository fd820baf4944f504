//! A controller, its accounting and the packets in flight: what every host keeps.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::host::WindowRule;
use kneepoint_controllers::{
    Bytes, Controller, Environment, Flow, Loss, Selection, Snapshot, Timestamp, Transport,
};

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
    /// What was declared lost last has arrived after all.
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

/// A packet in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) sent: Timestamp,
    pub(crate) bytes: Bytes,
}

/// A sender.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) flow: Flow,
    pub(crate) now: Timestamp,
    pub(crate) mtu: Bytes,
    pub(crate) application_limits: bool,
    rule: WindowRule,
    flight: VecDeque<Packet>,
}

impl Clone for Host {
    fn clone(&self) -> Self {
        Self {
            controller: self.controller.clone_box(),
            flow: self.flow.clone(),
            flight: self.flight.clone(),
            ..*self
        }
    }
}

impl Host {
    /// A connection that begins now.
    pub(crate) fn new(selection: Selection, mtu: u16) -> Self {
        Self::with_rule(selection, mtu, WindowRule::UpTo)
    }

    /// A connection of a host that compares the flight with its window in this way.
    pub(crate) fn with_rule(selection: Selection, mtu: u16, rule: WindowRule) -> Self {
        let mtu = Bytes(u64::from(mtu));
        let environment = Environment {
            now: Timestamp::ZERO,
            mtu,
            seed: 7,
            transport: Transport { paces: true },
        };
        let controller = selection.build(&environment);
        Self {
            flow: if controller.wants_rate_samples() {
                Flow::new(Timestamp::ZERO)
            } else {
                Flow::without_rate_samples(Timestamp::ZERO)
            },
            controller,
            flight: VecDeque::new(),
            now: Timestamp::ZERO,
            mtu,
            application_limits: false,
            rule,
        }
    }

    pub(crate) fn apply(&mut self, step: Step) {
        match step {
            Step::Wait { nanos, timers } => self.wait(Duration::from_nanos(nanos), timers),
            Step::Back { nanos } => self.now = self.now - Duration::from_nanos(nanos),
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
            Step::Spurious => self.controller.on_spurious_loss(self.now),
            Step::Mark => {
                let sent = self.flight.front().map_or(self.now, |packet| packet.sent);
                self.mark(sent);
            }
            Step::Discard { packets } => drop(self.take(0, packets.into())),
            Step::Application { limits } => self.application_limits = limits,
            Step::Mtu { bytes } => {
                self.mtu = Bytes(u64::from(bytes));
                self.controller.on_mtu_update(self.mtu);
            }
        }
    }

    pub(crate) fn wait(&mut self, span: Duration, timers: bool) {
        let end = self.now + span;
        // As many as a host fires at once: the rest come late.
        for _ in 0..16 {
            match self.controller.next_timer() {
                Some(due) if timers && due <= end => self.controller.on_timer(due),
                _ => break,
            }
        }
        self.now = end;
    }

    /// Whether the window lets a packet leave, after so many more.
    pub(crate) fn has_room(&self, more: u64) -> bool {
        let window = self.rule.reported(self.controller.control().window);
        let in_flight = self.flow.in_flight() + self.mtu.packets(more);
        self.rule.admits(window, in_flight, self.mtu)
    }

    /// Packets leave in one batch.
    pub(crate) fn send(&mut self, packets: u64) {
        if packets == 0 {
            return;
        }
        let event = self.flow.on_sent(self.now, self.mtu.packets(packets));
        self.controller.on_sent(&event);
        for _ in 0..packets {
            self.flight.push_back(Packet {
                sent: self.now,
                bytes: self.mtu,
            });
        }
    }

    /// Takes packets out of the flight, the oldest but `skip` first.
    pub(crate) fn take(&mut self, skip: usize, packets: usize) -> Vec<Packet> {
        let skip = skip.min(self.flight.len());
        let end = (skip + packets).min(self.flight.len());
        self.flight.drain(skip..end).collect()
    }

    /// An acknowledgement of these packets arrives.
    pub(crate) fn acknowledge(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.flow
                .on_packet_acked(self.now, packet.sent, packet.bytes);
        }
        self.end_acknowledgement(self.flight.iter().map(|packet| packet.bytes).sum());
    }

    /// The same from a host that learns of losses only after it: they still count as in flight.
    pub(crate) fn acknowledge_before_losses(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.flow
                .on_packet_acked(self.now, packet.sent, packet.bytes);
        }
        self.end_acknowledgement(self.flow.in_flight());
    }

    fn end_acknowledgement(&mut self, in_flight: Bytes) {
        let event = self
            .flow
            .on_ack_end(self.now, in_flight, self.application_limits);
        if let Some(event) = event {
            self.controller.on_ack(event);
        }
    }

    /// These packets are declared lost.
    pub(crate) fn lose(&mut self, packets: &[Packet], persistent_congestion: bool) {
        let Some(newest) = packets.last() else {
            return;
        };
        let loss = Loss {
            newest_sent: newest.sent,
            bytes: packets.iter().map(|packet| packet.bytes).sum(),
            packets: packets.len() as u64,
            persistent_congestion,
        };
        let event = self.flow.on_lost(self.now, &loss);
        self.controller.on_congestion(&event);
    }

    /// A packet that had left at `sent` was marked.
    pub(crate) fn mark(&mut self, sent: Timestamp) {
        let event = self.flow.on_ecn_mark(self.now, sent);
        self.controller.on_congestion(&event);
    }

    /// What can be seen of it from outside.
    pub(crate) fn seen(&self) -> (Snapshot, Bytes) {
        (self.controller.snapshot(), self.flow.in_flight())
    }
}
