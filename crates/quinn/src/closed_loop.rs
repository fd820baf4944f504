//! The adapter in a closed loop: a sender that window and pacer limit as in quinn, one queue, one link, a receiver
//! that acknowledges every second packet. No transport, no clock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kneepoint_controllers::host::WindowRule;
use kneepoint_controllers::{
    Algorithm, BbrSConfig, Bytes, Gain, Headroom, Selection, WindowPolicy,
};
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
/// quinn's smallest burst: ten packets.
const BURST: f64 = 10.0 * PACKET as f64;
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

/// quinn's pacer: bursts of ten packets, at 1.25 windows per smoothed RTT.
#[derive(Debug)]
struct Pacer {
    tokens: f64,
    refilled: Instant,
}

impl Pacer {
    /// When the next packet may leave.
    fn next(&mut self, now: Instant, window: u64, smoothed_rtt: Duration) -> Instant {
        let rate = 1.25 * window as f64 / smoothed_rtt.as_secs_f64();
        let elapsed = now.saturating_duration_since(self.refilled).as_secs_f64();
        self.tokens = (self.tokens + rate * elapsed).min(BURST);
        self.refilled = now;
        if self.tokens >= PACKET as f64 {
            return now;
        }
        // A nanosecond more, for what rounding takes.
        let wait = (BURST - self.tokens) / rate + 1e-9;
        now + Duration::from_secs_f64(wait)
    }
}

struct Loop {
    controller: QuinnController,
    now: Instant,
    rtt: Duration,
    pacer: Pacer,
    smoothed_rtt: Duration,
    next_send: Instant,
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
            pacer: Pacer {
                tokens: BURST,
                refilled: now,
            },
            smoothed_rtt: Duration::from_millis(333),
            next_send: now,
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
            let complete = self.flight.get(1).map(|packet| packet.acked);
            let late = self
                .flight
                .front()
                .map(|packet| packet.acked + MAX_ACK_DELAY);
            let ack = complete.into_iter().chain(late).min();
            let send = self.has_room().then_some(self.next_send);
            let next = send
                .into_iter()
                .chain(ack)
                .min()
                .expect("an empty flight has room");
            if next > end {
                self.now = end;
                break;
            }
            self.now = self.now.max(next);
            if ack == Some(next) {
                self.acknowledge();
            } else {
                self.send();
            }
            self.next_send = self.pace();
        }
        (self.delivered - before) as f64 / (RATE as f64 * span.as_secs_f64())
    }

    /// quinn stops when the next packet would reach the window.
    fn has_room(&self) -> bool {
        let [window, in_flight, packet] =
            [self.controller.window(), self.in_flight(), PACKET].map(Bytes);
        WindowRule::Below.admits(window, in_flight, packet)
    }

    fn pace(&mut self) -> Instant {
        self.pacer
            .next(self.now, self.controller.window(), self.smoothed_rtt)
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * PACKET
    }

    fn send(&mut self) {
        self.controller.on_sent(self.now, PACKET, 0);
        self.pacer.tokens -= PACKET as f64;
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
        let (mut newest_lost, mut newest_acked) = (None, None);
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
                newest_acked = Some(packet.sent);
                self.controller.packet_acked(self.now, packet.sent, PACKET);
            }
        }
        self.delivered += acked * PACKET;
        self.lost += lost;
        if acked > 0 {
            let in_flight = self.in_flight() + lost;
            // RFC 9002, section 5.3.
            let sample = newest_acked.map_or(self.rtt, |sent| self.now - sent);
            self.smoothed_rtt = if self.delivered == acked * PACKET {
                sample
            } else {
                (7 * self.smoothed_rtt + sample) / 8
            };
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
        assert!(used > 0.95, "{selection}: {used}");
        // These know no other end of growth than a full queue.
        use Algorithm::{Compound, Cubic, NewReno};
        if [NewReno, Cubic, Compound].contains(&selection.algorithm()) {
            continue;
        }
        // Below two bandwidth-delay products, of ten that the buffer holds.
        assert!(
            path.longest_queue < 2 * RTT,
            "{selection}: {:?}",
            path.longest_queue
        );
        assert_eq!(path.lost, 0, "{selection}");
    }
}

/// The share of the link used from 10 s to 15 s after its round trip became so many times as long.
fn used_after_a_longer_path(config: &BbrSConfig, before: Duration, times: u32) -> f64 {
    let mut path = Loop::new(Factory::new(config.clone()).expect("valid"));
    path.run(before);
    path.rtt = times * RTT;
    path.run(Duration::from_secs(10));
    path.run(Duration::from_secs(5))
}

/// Trap: a window of about one bandwidth-delay product takes a longer path for a queue, and shrinks until ProbeRTT.
#[test]
fn bbr_s_finds_a_path_that_has_become_longer() {
    let watching = BbrSConfig::tuned();
    let mut trusting = watching.clone();
    trusting.core.probe_standing_queue = false;
    for before in [4, 7, 10] {
        let before = Duration::from_secs(before);
        for times in [2, 3, 6] {
            let used = used_after_a_longer_path(&watching, before, times);
            assert!(used > 0.8, "{times} times after {before:?}: {used}");
        }
        // Without the watch it is the next ProbeRTT that ends this.
        let used = used_after_a_longer_path(&trusting, before, 3);
        assert!(used < 0.5, "{before:?}: {used}");
    }
}

/// Trap: with a queue on the old path, the first guess at the longer path's minimum is that queue's.
#[test]
fn a_standing_queue_does_not_hide_the_longer_path() {
    let mut config = BbrSConfig::tuned();
    config.core.window_policy = WindowPolicy::Track(Headroom {
        idle: Gain::new(1, 25),
        least: Gain::new(1, 4),
        most: Gain::new(3, 5),
    });
    for before in [4, 7, 10, 13] {
        let before = Duration::from_secs(before);
        let used = used_after_a_longer_path(&config, before, 3);
        assert!(used > 0.8, "{before:?}: {used}");
    }
}
