//! The adapter in a closed loop: a sender that the window alone limits, one queue, one link, a receiver that
//! acknowledges every second packet. No transport, no clock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kneepoint_controllers::{BbrSConfig, ControllerConfig, Selection};
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::adapter::QuinnController;
use crate::factory::Factory;

/// An instant to count from: there is no other way to make one. Nothing depends on which it is.
#[expect(
    clippy::disallowed_methods,
    reason = "an Instant has no constructor; tests only add to it"
)]
pub(crate) fn origin() -> Instant {
    Instant::now()
}

/// A controller of this configuration, built as quinn does.
pub(crate) fn build(factory: Factory, now: Instant) -> QuinnController {
    *Arc::new(factory)
        .build(now, MTU)
        .into_any()
        .downcast::<QuinnController>()
        .expect("the factory builds ours")
}

pub(crate) const MTU: u16 = 1200;
const PACKET: u64 = MTU as u64;

/// 10 Mb/s, in bytes/s.
const RATE: u64 = 1_250_000;
const RTT: Duration = Duration::from_millis(40);
/// Ten bandwidth-delay products.
const BUFFER: Duration = Duration::from_millis(400);
/// A receiver's delay of an odd packet's acknowledgement (RFC 9000, section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Instant,
    acked: Instant,
    lost: bool,
}

struct Loop {
    controller: QuinnController,
    now: Instant,
    rtt: Duration,
    link_free: Instant,
    flight: VecDeque<Packet>,
    delivered: u64,
    lost: u64,
    longest_queue: Duration,
}

impl Loop {
    fn new(factory: Factory) -> Self {
        let now = origin();
        Self {
            controller: build(factory, now),
            now,
            rtt: RTT,
            link_free: now,
            flight: VecDeque::new(),
            delivered: 0,
            lost: 0,
            longest_queue: Duration::ZERO,
        }
    }

    /// Runs for `span`. Returns the share of the link that was used.
    fn run(&mut self, span: Duration) -> f64 {
        let end = self.now + span;
        let before = self.delivered;
        self.longest_queue = Duration::ZERO;
        loop {
            // quinn stops when the next packet would reach the window.
            while self.in_flight() + PACKET < self.controller.window() {
                self.send();
            }
            let complete = self.flight.get(1).map(|packet| packet.acked);
            let late = self
                .flight
                .front()
                .map(|packet| packet.acked + MAX_ACK_DELAY);
            let next = complete
                .into_iter()
                .chain(late)
                .min()
                .expect("something is always in flight");
            if next > end {
                self.now = end;
                break;
            }
            self.now = self.now.max(next);
            self.acknowledge();
        }
        (self.delivered - before) as f64 / (RATE as f64 * span.as_secs_f64())
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * PACKET
    }

    fn send(&mut self) {
        self.controller.on_sent(self.now, PACKET, 0);
        let queue = self.link_free.saturating_duration_since(self.now);
        let lost = queue > BUFFER;
        if !lost {
            self.longest_queue = self.longest_queue.max(queue);
            let service = Duration::from_nanos(PACKET * 1_000_000_000 / RATE);
            self.link_free = self.link_free.max(self.now) + service;
        }
        self.flight.push_back(Packet {
            sent: self.now,
            acked: self.link_free.max(self.now) + self.rtt,
            lost,
        });
    }

    /// Everything that arrived by now, up to two packets, in quinn's order: the acknowledged, the end, the lost.
    fn acknowledge(&mut self) {
        let mut newest_lost = None;
        let (mut acked, mut lost) = (0, 0);
        while acked < 2
            && let Some(packet) = self.flight.front().copied()
            && packet.acked <= self.now
        {
            self.flight.pop_front();
            if packet.lost {
                lost += PACKET;
                newest_lost = Some(packet.sent);
            } else {
                acked += 1;
                self.controller.packet_acked(self.now, packet.sent, PACKET);
            }
        }
        self.delivered += acked * PACKET;
        self.lost += lost;
        if acked > 0 {
            let in_flight = self.in_flight() + lost;
            self.controller
                .on_end_acks(self.now, in_flight, false, None);
        }
        if let Some(sent) = newest_lost {
            self.controller
                .on_congestion_event(self.now, sent, false, lost);
        }
    }
}

#[test]
fn every_selection_fills_the_pipe_with_a_bounded_queue() {
    for selection in Selection::all() {
        let mut path = Loop::new(selection.into());
        path.run(Duration::from_secs(5));
        let used = path.run(Duration::from_secs(30));
        println!("{selection} {used} {:?} {} {:?}", path.longest_queue, path.lost, path.controller.snapshot());
    }
}

#[test]
fn bbr_s_finds_a_path_that_has_become_longer() {
    for suspect in [true, false] {
        let mut config = BbrSConfig::tuned();
        config.core.suspect_longer_path = suspect;
        config.validate().expect("valid");
        for before in [4, 7, 10, 11, 13, 17, 22] {
        let mut path = Loop::new(Factory::new(config.clone()).expect("valid"));
        path.run(Duration::from_secs(before));
        path.rtt = Duration::from_millis(120);
        let used : Vec<f64>= (0..10).map(|_| path.run(Duration::from_secs(5))).collect();
        println!("{suspect} {before} {used:.2?}");
        if suspect && before == 10 {
        let mut path = Loop::new(Factory::new(config.clone()).expect("valid"));
        path.run(Duration::from_secs(before));
        path.rtt = Duration::from_millis(120);
        for i in 0..60 { let u = path.run(Duration::from_millis(200)); let s = path.controller.snapshot(); println!("{i} {u:.2} w {} bw {:.3} min {:?} {:?} {:?}", path.controller.window(), s.bandwidth.unwrap().as_f64()/1.25e6, s.min_rtt.unwrap(), s.rounds, s.filter); }
        }
        }
    }
}
