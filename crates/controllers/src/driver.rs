//! A path of one queue in front of one link, to drive controllers with in tests: no transport, no clock, no
//! randomness.

use std::collections::VecDeque;
use std::time::Duration;

use crate::config::{Environment, Transport};
use crate::controller::Controller;
use crate::event::{AckEvent, RateSample};
use crate::flow::{Flow, Loss};
use crate::host::WindowRule;
use crate::registry::Selection;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// The path and the application.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) rate: Bandwidth,
    pub(crate) rtt: Duration,
    pub(crate) buffer: Bytes,
    /// Packets per acknowledgement.
    pub(crate) ack_every: u64,
    /// What the application produces per second; all there is room for if absent.
    pub(crate) application: Option<Bandwidth>,
    /// Every so many-th packet is lost at random.
    pub(crate) lose_every: Option<u64>,
}

/// An acknowledgement that measured what it acknowledges over its round trip.
pub(crate) fn ack(now: Timestamp, rtt: Duration, acked: Bytes, round: u64) -> AckEvent {
    let rate = Bandwidth::from_delivery(acked, rtt).expect("a round trip takes time");
    AckEvent {
        now,
        acked,
        acked_packets: acked.0.div_ceil(MTU.0),
        acks: 1,
        lost: Bytes::ZERO,
        newest_sent: now - rtt,
        rtt,
        rate: Some(RateSample {
            delivery_rate: rate,
            delivered: acked,
            interval: rtt,
            send_interval: rtt,
            app_limited: false,
            prior_delivered: Bytes::ZERO,
            in_flight_at_send: acked,
            lost: Bytes::ZERO,
        }),
        prior_in_flight: acked.packets(2),
        in_flight: acked,
        delivered: acked,
        round,
        round_start: true,
        app_limited: false,
    }
}

/// 10 Mb/s, 40 ms, ten bandwidth-delay products of buffer, a greedy application.
pub(crate) const PLAIN: Scenario = Scenario {
    rate: Bandwidth::from_bytes_per_second(1_250_000),
    rtt: Duration::from_millis(40),
    buffer: Bytes(500_000),
    ack_every: 2,
    application: None,
    lose_every: None,
};

pub(crate) const MTU: Bytes = Bytes(1200);

pub(crate) fn environment() -> Environment {
    Environment {
        now: Timestamp::ZERO,
        mtu: MTU,
        seed: 1,
        transport: Transport { paces: true },
    }
}

pub(crate) struct Driver {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) flow: Flow,
    pub(crate) scenario: Scenario,
    rule: WindowRule,
    pub(crate) now: Timestamp,
    pub(crate) delivered: Bytes,
    pub(crate) lost: Bytes,
    pub(crate) largest_window: Bytes,
    /// Round-trip times of the packets acknowledged since the last call of [`Driver::take_rtts`].
    rtts: Vec<Duration>,
    flight: VecDeque<Packet>,
    link_free: Timestamp,
    next_send: Timestamp,
    produced: Bytes,
    sent: Bytes,
    count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Timestamp,
    acked: Timestamp,
    lost: bool,
}

impl Driver {
    pub(crate) fn new(controller: Box<dyn Controller>, scenario: Scenario) -> Self {
        Self::with_rule(controller, scenario, WindowRule::UpTo)
    }

    pub(crate) fn with_rule(
        controller: Box<dyn Controller>,
        scenario: Scenario,
        rule: WindowRule,
    ) -> Self {
        Self {
            rule,
            controller,
            flow: Flow::new(Timestamp::ZERO),
            scenario,
            now: Timestamp::ZERO,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            largest_window: Bytes::ZERO,
            rtts: Vec::new(),
            flight: VecDeque::new(),
            link_free: Timestamp::ZERO,
            next_send: Timestamp::ZERO,
            produced: Bytes::ZERO,
            sent: Bytes::ZERO,
            count: 0,
        }
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let send = self.next_send_time();
            let ack = self.next_ack_time();
            let timer = self.controller.next_timer();
            let Some(next) = [send, ack, timer]
                .into_iter()
                .flatten()
                .min()
                .filter(|next| *next <= end)
            else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
            if timer == Some(next) {
                self.controller.on_timer(next);
            } else if ack == Some(next) {
                self.acknowledge();
            } else {
                self.send();
            }
            self.largest_window = self.largest_window.max(self.controller.control().window);
        }
    }

    pub(crate) fn take_rtts(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.rtts)
    }

    /// The mean rate of delivery over the next `span`.
    pub(crate) fn measure(&mut self, span: Duration) -> Bandwidth {
        let before = self.delivered;
        self.run_for(span);
        Bandwidth::from_delivery(self.delivered - before, span).expect("a positive span")
    }

    fn next_send_time(&self) -> Option<Timestamp> {
        let window = self.rule.reported(self.controller.control().window);
        let room = self.rule.admits(window, self.flow.in_flight(), MTU);
        let data = match self.scenario.application {
            None => self.now,
            Some(rate) => {
                let needed = (self.sent + MTU).0.saturating_mul(1_000_000_000)
                    / rate.bytes_per_second().max(1);
                Timestamp::from_nanos(needed)
            }
        };
        room.then(|| self.next_send.max(self.now).max(data))
    }

    fn next_ack_time(&self) -> Option<Timestamp> {
        let batch = usize::try_from(self.scenario.ack_every).expect("a small number");
        let complete = self.flight.get(batch - 1).map(|packet| packet.acked);
        // A receiver does not wait for ever for the rest of a batch (RFC 9000, section 13.2.1: max_ack_delay).
        let late = self
            .flight
            .front()
            .map(|packet| packet.acked + Duration::from_millis(25));
        complete.into_iter().chain(late).min()
    }

    fn send(&mut self) {
        let event = self.flow.on_sent(self.now, MTU);
        self.controller.on_sent(&event);
        self.count += 1;
        self.sent += MTU;
        self.produced += MTU;
        let waiting = self
            .scenario
            .rate
            .bytes_in(self.link_free.saturating_since(self.now));
        let random_loss = self
            .scenario
            .lose_every
            .is_some_and(|every| self.count.is_multiple_of(every));
        let lost = random_loss || waiting + MTU > self.scenario.buffer;
        if !lost {
            let service = Duration::from_nanos(
                MTU.0 * 1_000_000_000 / self.scenario.rate.bytes_per_second().max(1),
            );
            self.link_free = self.link_free.max(self.now) + service;
        }
        self.flight.push_back(Packet {
            sent: self.now,
            acked: self.link_free.max(self.now) + self.scenario.rtt,
            lost,
        });
        if let Some(rate) = self.controller.control().pacing_rate {
            let gap = Duration::from_nanos(MTU.0 * 1_000_000_000 / rate.bytes_per_second().max(1));
            self.next_send = self.now + gap;
        }
    }

    fn acknowledge(&mut self) {
        let mut lost = Bytes::ZERO;
        let mut newest_lost = Timestamp::ZERO;
        let mut taken = 0;
        while let Some(packet) = self.flight.front().copied() {
            if packet.acked > self.now || taken >= self.scenario.ack_every {
                break;
            }
            self.flight.pop_front();
            if packet.lost {
                lost += MTU;
                newest_lost = packet.sent;
            } else {
                taken += 1;
                self.flow.on_packet_acked(self.now, packet.sent, MTU);
                self.delivered += MTU;
                self.rtts.push(self.now.saturating_since(packet.sent));
            }
        }
        let in_flight = self.flow.in_flight();
        let waiting_for_data = self
            .next_send_time()
            .is_some_and(|time| self.scenario.application.is_some() && time > self.now);
        if let Some(ack) = self.flow.on_ack_end(self.now, in_flight, waiting_for_data) {
            self.controller.on_ack(ack);
        }
        if lost > Bytes::ZERO {
            self.lost += lost;
            let event = self.flow.on_lost(
                self.now,
                &Loss {
                    newest_sent: newest_lost,
                    bytes: lost,
                    packets: lost.0 / MTU.0,
                    persistent_congestion: false,
                },
            );
            self.controller.on_congestion(&event);
        }
    }
}

/// Trap: a host that never lets a window of whole packets be full keeps a controller that waits for that from ever growing.
#[test]
fn every_hosts_rule_makes_the_same_sender() {
    let lossy = Scenario {
        lose_every: Some(300),
        ..PLAIN
    };
    for selection in Selection::all() {
        for scenario in [PLAIN, lossy] {
            let [one, other] = WindowRule::ALL.map(|rule| {
                let controller = selection.build(&environment());
                let mut driver = Driver::with_rule(controller, scenario, rule);
                driver.run_for(Duration::from_secs(5));
                let snapshot = driver.controller.snapshot();
                (
                    driver.delivered,
                    driver.lost,
                    driver.largest_window,
                    snapshot,
                )
            });
            assert_eq!(one, other, "{selection}");
        }
    }
}
