//! The adapter in a closed loop: a sender that window, pacer and quantum limit as in noq, one queue, one link, a
//! receiver that acknowledges every second packet. No transport, no clock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kneepoint_controllers::host::WindowRule;
use kneepoint_controllers::{Algorithm, Bytes, Selection};
use noq_proto::congestion::{Controller, ControllerFactory};

use crate::adapter::NoqController;
use crate::factory::Factory;

/// An instant to count from: there is no other way to make one. Nothing depends on which it is.
#[expect(
    clippy::disallowed_methods,
    reason = "an Instant has no constructor; tests only add to it"
)]
pub(crate) fn origin() -> Instant {
    Instant::now()
}

const MTU: u16 = 1200;
const PACKET: u64 = MTU as u64;
/// 10 Mb/s, in bytes/s.
const RATE: u64 = 1_250_000;
const RTT: Duration = Duration::from_millis(40);
/// Ten bandwidth-delay products.
const BUFFER: Duration = Duration::from_millis(400);
/// A receiver's delay of an odd packet's acknowledgement (RFC 9000, section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// noq's budget for a burst at these rates, in packets.
const BURST: f64 = 10.0 * PACKET as f64;

#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Instant,
    acked: Instant,
    lost: bool,
}

struct Loop {
    controller: NoqController,
    now: Instant,
    smoothed_rtt: Duration,
    tokens: f64,
    refilled: Instant,
    next_send: Instant,
    link_free: Instant,
    flight: VecDeque<Packet>,
    /// Nothing gets through before.
    outage_until: Instant,
    delivered: u64,
    lost: u64,
    longest_queue: Duration,
}

impl Loop {
    fn new(factory: Factory) -> Self {
        let now = origin();
        let controller = Arc::new(factory).build(now, MTU);
        let controller = controller.into_any().downcast::<NoqController>();
        Self {
            controller: *controller.expect("the factory builds ours"),
            now,
            smoothed_rtt: Duration::from_millis(333),
            tokens: BURST,
            refilled: now,
            next_send: now,
            link_free: now,
            flight: VecDeque::new(),
            outage_until: now,
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
            let mut arrived = self.flight.iter().filter(|packet| !packet.lost);
            let first = arrived.next().map(|packet| packet.acked);
            let second = arrived.next().map(|packet| packet.acked);
            let late = first.map(|first| first + MAX_ACK_DELAY);
            let ack = second.into_iter().chain(late).min();
            let send = self.has_room().then_some(self.next_send);
            // Everything in flight is lost: a probe leaves, as slowly as after a long series of them.
            let probe = ack.is_none().then_some(self.now + RTT);
            let next = send.into_iter().chain(ack).chain(probe).min();
            let next = next.expect("there is always a probe").max(self.now);
            if next > end {
                self.now = end;
                break;
            }
            self.now = next;
            match ack {
                Some(ack) if ack <= next => self.acknowledge(),
                _ => self.send(),
            }
            self.next_send = self.pace();
        }
        (self.delivered - before) as f64 / (RATE as f64 * span.as_secs_f64())
    }

    /// noq stops when the next packet would exceed the window.
    fn has_room(&self) -> bool {
        let in_flight = Bytes(self.flight.len() as u64 * PACKET);
        WindowRule::UpTo.admits(Bytes(self.controller.window()), in_flight, Bytes(PACKET))
    }

    /// When the next packet may leave: noq's token bucket at the controller's rate, or at 5/4 windows per round trip.
    fn pace(&mut self) -> Instant {
        let metrics = self.controller.metrics();
        let rate = metrics.pacing_rate.map_or_else(
            || 1.25 * metrics.congestion_window as f64 / self.smoothed_rtt.as_secs_f64(),
            |rate| rate.max(1) as f64,
        );
        let elapsed = self.now.saturating_duration_since(self.refilled);
        self.tokens = (self.tokens + rate * elapsed.as_secs_f64()).min(BURST);
        self.refilled = self.now;
        let missing = (PACKET as f64 - self.tokens).max(0.0);
        self.now + Duration::from_secs_f64(missing / rate)
    }

    fn send(&mut self) {
        self.controller.on_packet_sent(self.now, MTU, 0);
        self.tokens = (self.tokens - PACKET as f64).max(0.0);
        let queue = self.link_free.saturating_duration_since(self.now);
        let lost = queue > BUFFER || self.now < self.outage_until;
        if !lost {
            self.longest_queue = self.longest_queue.max(queue);
            let service = Duration::from_nanos(PACKET * 1_000_000_000 / RATE);
            self.link_free = self.link_free.max(self.now) + service;
        }
        self.flight.push_back(Packet {
            sent: self.now,
            acked: self.link_free.max(self.now) + RTT,
            lost,
        });
    }

    /// Everything that arrived by now, up to two packets, in noq's order: the acknowledged, the end, the lost.
    fn acknowledge(&mut self) {
        let mut newest_lost = None;
        let (mut acked, mut lost) = (0, 0);
        while acked < 2
            && let Some(packet) = self.flight.front().copied()
            && (packet.lost || packet.acked <= self.now)
        {
            self.flight.pop_front();
            if packet.lost {
                lost += PACKET;
                newest_lost = Some(packet.sent);
            } else {
                acked += 1;
                let rtt = self.now.saturating_duration_since(packet.sent);
                self.smoothed_rtt = self.smoothed_rtt * 7 / 8 + rtt / 8;
                self.controller.packet_acked(self.now, packet.sent, PACKET);
            }
        }
        self.delivered += acked * PACKET;
        self.lost += lost;
        if acked > 0 {
            let in_flight = self.flight.len() as u64 * PACKET + lost;
            self.controller
                .on_end_acks(self.now, in_flight, false, None);
        }
        if let Some(sent) = newest_lost {
            for _ in 0..lost / PACKET {
                self.controller.on_packet_lost(MTU, 0, self.now);
            }
            self.controller
                .on_congestion_event(self.now, sent, false, false, lost, 0);
        }
    }
}

#[test]
fn every_selection_fills_the_pipe_with_a_bounded_queue() {
    for selection in Selection::all() {
        let mut path = Loop::new(selection.into());
        path.run(Duration::from_secs(5));
        let used = path.run(Duration::from_secs(30));
        assert!(used > 0.9, "{selection}: {used}");
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

/// Trap: after an outage the estimate is that of the outage, and a sender that paces at it measures nothing else.
#[test]
fn every_selection_is_back_five_seconds_after_an_outage() {
    for selection in Selection::all() {
        let mut path = Loop::new(selection.into());
        path.run(Duration::from_secs(10));
        path.outage_until = path.now + Duration::from_secs(2);
        path.run(Duration::from_secs(7));
        let used = path.run(Duration::from_secs(10));
        assert!(used > 0.8, "{selection}: {used}");
    }
}
