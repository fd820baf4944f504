//! A host that does what quinn 0.11 does not: it paces at the controller's rate, and reports losses that were none.
//!
//! It has packets to send at all times, and a receiver that acknowledges each one. A packet is lost once three sent later
//! have been acknowledged (RFC 9002, section 6.1.1), and all are once nothing has been for [`TIMEOUT`].

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use kneepoint_controllers::host::WindowRule;
use kneepoint_controllers::{
    Bbr3Config, Bytes, Controller, ControllerConfig, Environment, Flow, Loss, Timestamp, Transport,
};
use kneepoint_emulator::link::{ConfigError, LinkConfig};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::packet::Packet;
use kneepoint_emulator::time::Nanos;

use super::setup::return_link;
use crate::watch::{Course, Moment};

struct Host {
    controller: Box<dyn Controller>,
    flow: Flow,
    now: Nanos,
    /// When the pacer lets the next packet go.
    next_send: Nanos,
    next_number: u64,
    /// Number and departure of what is in flight, oldest first.
    flight: VecDeque<(u64, Timestamp)>,
    /// What was declared lost and has not been acknowledged since.
    lost: BTreeMap<u64, Timestamp>,
    last_ack: Nanos,
}

/// Runs the draft's BBRv3 for so many milliseconds over `link`.
pub(super) fn run(link: LinkConfig, millis: u64) -> Result<Course, ConfigError> {
    let mut network = Network::new(NetworkConfig {
        forward: link,
        reverse: return_link(),
        seed: 1,
    })?;
    let (left, right) = (address(0), address(1));
    network.attach(Side::Left, left);
    network.attach(Side::Right, right);
    let mut host = Host::new();
    let mut moments = Vec::new();
    for millisecond in 1..=millis {
        let end = Nanos::from_millis(millisecond);
        while let Some(next) = host.next_event(&network).filter(|&next| next <= end) {
            host.now = host.now.max(next);
            let mut arrived = Vec::new();
            network.poll(host.now, &mut |time, packet| arrived.push((time, packet)));
            for (time, mut packet) in arrived {
                if packet.destination == left {
                    host.acknowledged(number(&packet));
                } else {
                    packet.payload.truncate(NUMBER);
                    (packet.source, packet.destination) = (right, left);
                    network.send(time, packet);
                }
            }
            host.check_timeout();
            while host.may_send() && host.next_send <= host.now {
                let mut payload = host.send().to_be_bytes().to_vec();
                payload.resize(MTU.0 as usize, 0);
                let packet = Packet {
                    source: left,
                    destination: right,
                    ecn: None,
                    payload,
                };
                network.send(host.now, packet);
            }
        }
        host.now = end;
        moments.push(Moment {
            at: end.into(),
            snapshot: host.controller.snapshot(),
        });
    }
    let link = network.link(Direction::Forward);
    Ok(Course {
        moments,
        records: link
            .log()
            .map_or_else(Vec::new, |log| log.records().to_vec()),
        statistics: *link.statistics(),
    })
}

impl Host {
    fn new() -> Self {
        let environment = Environment {
            now: Timestamp::ZERO,
            mtu: MTU,
            seed: 1,
            transport: Transport { paces: true },
        };
        Self {
            controller: Bbr3Config::paper()
                .build(&environment)
                .expect("the preset is valid"),
            flow: Flow::new(Timestamp::ZERO),
            now: Nanos::ZERO,
            next_send: Nanos::ZERO,
            next_number: 0,
            flight: VecDeque::new(),
            lost: BTreeMap::new(),
            last_ack: Nanos::ZERO,
        }
    }

    fn next_event(&self, network: &Network) -> Option<Nanos> {
        let send = self.may_send().then_some(self.next_send.max(self.now));
        let timeout = (!self.flight.is_empty()).then(|| self.timeout());
        [network.next_event(), send, timeout]
            .into_iter()
            .flatten()
            .min()
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_nanos(self.now.0)
    }

    fn timeout(&self) -> Nanos {
        self.last_ack + TIMEOUT.into()
    }

    fn may_send(&self) -> bool {
        let window = RULE.reported(self.controller.control().window);
        RULE.admits(window, self.in_flight(), MTU)
    }

    fn in_flight(&self) -> Bytes {
        MTU.packets(self.flight.len() as u64)
    }

    fn send(&mut self) -> u64 {
        let now = self.time();
        if self.flight.is_empty() {
            self.last_ack = self.now;
        }
        let event = self.flow.on_sent(now, MTU);
        self.controller.on_sent(&event);
        let number = self.next_number;
        self.next_number += 1;
        self.flight.push_back((number, now));
        if let Some(rate) = self.controller.control().pacing_rate {
            let gap = MTU.0 * 1_000_000_000 / rate.bytes_per_second().max(1);
            self.next_send = self.now + Nanos(gap);
        }
        number
    }

    fn acknowledged(&mut self, number: u64) {
        let now = self.time();
        self.last_ack = self.now;
        let place = self.flight.iter().position(|&(flying, _)| flying == number);
        let late = self.lost.remove(&number);
        let Some(sent) = place
            .and_then(|place| self.flight.remove(place))
            .map(|(_, sent)| sent)
            .or(late)
        else {
            return;
        };
        self.flow.on_packet_acked(now, sent, MTU);
        let in_flight = self.in_flight();
        if let Some(ack) = self.flow.on_ack_end(now, in_flight, false) {
            self.controller.on_ack(ack);
        }
        if late.is_some() && self.lost.is_empty() {
            // Everything that was declared lost has arrived after all.
            self.controller.on_spurious_loss(now);
        }
        let missing = self
            .flight
            .partition_point(|&(flying, _)| flying + REORDERING <= number);
        self.declare_lost(missing, false);
    }

    fn check_timeout(&mut self) {
        if !self.flight.is_empty() && self.now >= self.timeout() {
            self.last_ack = self.now;
            self.declare_lost(self.flight.len(), true);
        }
    }

    /// The oldest `count` packets in flight are lost.
    fn declare_lost(&mut self, count: usize, persistent_congestion: bool) {
        let lost: Vec<_> = self.flight.drain(..count).collect();
        let Some(&(_, newest_sent)) = lost.last() else {
            return;
        };
        let loss = Loss {
            newest_sent,
            bytes: MTU.packets(lost.len() as u64),
            packets: lost.len() as u64,
            persistent_congestion,
        };
        let event = self.flow.on_lost(self.time(), &loss);
        self.controller.on_congestion(&event);
        self.lost.extend(lost);
    }
}

fn number(packet: &Packet) -> u64 {
    let bytes = packet.payload.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(bytes)
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, host, 1], 1))
}

/// Bytes that a packet's number takes.
const NUMBER: usize = size_of::<u64>();

/// noq's, and RFC 9002's.
const RULE: WindowRule = WindowRule::UpTo;

const MTU: Bytes = Bytes(1250);

/// Packets (RFC 9002, section 6.1.1).
const REORDERING: u64 = 3;

/// Some round trips of the plain path with a full window.
const TIMEOUT: Duration = Duration::from_millis(300);
