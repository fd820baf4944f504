//! What holds for every controller, whatever happens to it.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::{
    Bytes, Controller, Environment, FilterSnapshot, Flow, Loss, Selection, Snapshot, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Something that happens to a sender.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Time passes; the controller's timers fire as they come due, or late.
    Wait { nanos: u64, timers: bool },
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
    /// A packet was marked.
    Mark,
    /// Packets leave the flight without a word.
    Discard { packets: u8 },
    /// Whether the application limits the sender from now on.
    Application { limits: bool },
    /// The path carries other datagrams.
    Mtu { bytes: u16 },
}

#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Timestamp,
    bytes: Bytes,
}

/// A sender and what can be said about it from outside.
#[derive(Debug)]
struct World {
    controller: Box<dyn Controller>,
    flow: Flow,
    flight: VecDeque<Packet>,
    now: Timestamp,
    mtu: Bytes,
    largest_mtu: Bytes,
    application_limits: bool,
    probed: Bytes,
}

impl Clone for World {
    fn clone(&self) -> Self {
        Self {
            controller: self.controller.clone_box(),
            flow: self.flow.clone(),
            flight: self.flight.clone(),
            ..*self
        }
    }
}

impl World {
    fn new(selection: Selection, mtu: u16) -> Self {
        let mtu = Bytes(u64::from(mtu));
        let environment = Environment {
            now: Timestamp::ZERO,
            mtu,
            seed: 7,
        };
        Self {
            controller: selection
                .config()
                .build(&environment)
                .expect("every preset is valid"),
            flow: Flow::new(Timestamp::ZERO),
            flight: VecDeque::new(),
            now: Timestamp::ZERO,
            mtu,
            largest_mtu: mtu,
            application_limits: false,
            probed: Bytes::ZERO,
        }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Wait { nanos, timers } => self.wait(Duration::from_nanos(nanos), timers),
            Step::Send { packets } => {
                let room = self.controller.control().window - self.flow.in_flight();
                self.send(u64::from(packets).min(room.0 / self.mtu.0));
            }
            Step::Probe => {
                self.probed += self.mtu;
                self.send(1);
            }
            Step::Ack { skip, packets } => self.ack(skip, packets),
            Step::Lose {
                skip,
                packets,
                persistent,
            } => {
                let lost = self.take(skip, packets);
                if let Some(newest) = lost.last() {
                    let bytes = lost.iter().map(|packet| packet.bytes).sum();
                    let event = self.flow.on_lost(
                        self.now,
                        &Loss {
                            newest_sent: newest.sent,
                            bytes,
                            packets: lost.len() as u64,
                            persistent_congestion: persistent,
                        },
                    );
                    self.controller.on_congestion(&event);
                }
            }
            Step::Mark => {
                let sent = self.flight.front().map_or(self.now, |packet| packet.sent);
                let event = self.flow.on_ecn_mark(self.now, sent);
                self.controller.on_congestion(&event);
            }
            Step::Discard { packets } => drop(self.take(0, packets)),
            Step::Application { limits } => self.application_limits = limits,
            Step::Mtu { bytes } => {
                self.mtu = Bytes(u64::from(bytes));
                self.largest_mtu = self.largest_mtu.max(self.mtu);
                self.controller.on_mtu_update(self.mtu);
            }
        }
    }

    fn wait(&mut self, span: Duration, timers: bool) {
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

    fn send(&mut self, packets: u64) {
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

    fn take(&mut self, skip: u8, packets: u8) -> Vec<Packet> {
        let skip = usize::from(skip).min(self.flight.len());
        let end = (skip + usize::from(packets)).min(self.flight.len());
        self.flight.drain(skip..end).collect()
    }

    fn ack(&mut self, skip: u8, packets: u8) {
        for packet in self.take(skip, packets) {
            self.flow
                .on_packet_acked(self.now, packet.sent, packet.bytes);
        }
        let in_flight = self.flight.iter().map(|packet| packet.bytes).sum();
        let event = self
            .flow
            .on_ack_end(self.now, in_flight, self.application_limits);
        if let Some(event) = event {
            self.controller.on_ack(&event);
        }
        if self.controller.control().self_limited {
            self.flow.mark_app_limited(self.now);
        }
    }

    /// The initial window or the smallest, of the largest packets so far; what was delivered; and what was sent past
    /// the window, since a window in recovery follows what is in flight.
    fn window_bound(&self) -> Bytes {
        self.largest_mtu.packets(4).max(Bytes(14_720)) + self.flow.delivered() + self.probed
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let control = self.controller.control();
        prop_assert!(control.window >= self.mtu.packets(2), "{control:?}");
        prop_assert!(
            control.window <= self.window_bound(),
            "{control:?} > {}",
            self.window_bound()
        );
        prop_assert!(control.send_quantum >= self.mtu);
        let snapshot = self.controller.snapshot();
        prop_assert_eq!(snapshot.congestion_window, control.window);
        if let FilterSnapshot::Skip {
            mean,
            variance,
            process_noise,
            measurement_noise,
            ..
        } = snapshot.filter
        {
            for value in [mean, variance, process_noise, measurement_noise] {
                prop_assert!(value.is_finite() && value >= 0.0, "{snapshot:?}");
            }
        }
        Ok(())
    }

    fn seen(&self) -> (Snapshot, Bytes) {
        (self.controller.snapshot(), self.flow.in_flight())
    }
}

/// Nothing, or anything from a nanosecond to a minute, each order of magnitude as likely as the others.
fn spans() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (spans(), any::<bool>()).prop_map(|(nanos, timers)| Step::Wait { nanos, timers }),
        10 => (1..=64u8).prop_map(|packets| Step::Send { packets }),
        1 => Just(Step::Probe),
        10 => (0..3u8, 0..=64u8).prop_map(|(skip, packets)| Step::Ack { skip, packets }),
        2 => (0..3u8, 1..=64u8, any::<bool>())
            .prop_map(|(skip, packets, persistent)| Step::Lose { skip, packets, persistent }),
        1 => Just(Step::Mark),
        1 => (1..=8u8).prop_map(|packets| Step::Discard { packets }),
        1 => any::<bool>().prop_map(|limits| Step::Application { limits }),
        1 => (1200..=65_527u16).prop_map(|bytes| Step::Mtu { bytes }),
    ]
}

/// A path that serves packets at a rate between 64 kb/s and 100 Gb/s, the RTT from nothing to a minute.
#[derive(Debug, Clone, Copy)]
struct Path {
    bytes_per_second: f64,
    rtt: Duration,
    mtu: u16,
    /// Every so many-th packet is lost.
    lose_every: u64,
    ack_every: u8,
}

fn paths() -> impl Strategy<Value = Path> {
    (
        (3.9..10.1f64),
        spans(),
        1200..=65_527u16,
        5..2000u64,
        1..20u8,
    )
        .prop_map(|(exponent, rtt, mtu, lose_every, ack_every)| Path {
            bytes_per_second: 10f64.powf(exponent),
            rtt: Duration::from_nanos(rtt),
            mtu,
            lose_every,
            ack_every,
        })
}

/// Sends `packets` over `path`, window-limited; checks after every acknowledgement.
fn run_over(world: &mut World, path: Path, packets: u64) -> Result<(), TestCaseError> {
    let mut arrivals: VecDeque<Timestamp> = VecDeque::new();
    let mut link_free = world.now;
    let mut sent = 0;
    while sent < packets {
        while world.flow.in_flight() + world.mtu <= world.controller.control().window {
            world.send(1);
            sent += 1;
            let service = world.mtu.0 as f64 / path.bytes_per_second;
            link_free = link_free.max(world.now) + Duration::from_secs_f64(service);
            arrivals.push_back(link_free + path.rtt);
        }
        let batch = arrivals.len().min(usize::from(path.ack_every));
        let Some(&next) = arrivals.get(batch.saturating_sub(1)) else {
            break;
        };
        let until_next = next.saturating_since(world.now);
        world.wait(until_next, true);
        arrivals.drain(..batch);
        let batch = u8::try_from(batch).expect("at most ack_every");
        if sent % path.lose_every < u64::from(batch) {
            world.apply(Step::Lose {
                skip: 0,
                packets: 1,
                persistent: false,
            });
            world.ack(0, batch - 1);
        } else {
            world.ack(0, batch);
        }
        world.check()?;
    }
    Ok(())
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 192,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn any_interleaving_keeps_the_window_in_bounds(
        mtu in 1200..=9000u16,
        events in prop::collection::vec(steps(), 1..400),
        fork in any::<prop::sample::Index>(),
    ) {
        let fork = fork.index(events.len());
        for selection in Selection::all() {
            let mut world = World::new(selection, mtu);
            let mut again = World::new(selection, mtu);
            let mut copy = None;
            for (index, &event) in events.iter().enumerate() {
                if index == fork {
                    copy = Some(world.clone());
                }
                world.apply(event);
                world.check()?;
                // The same events give the same windows.
                again.apply(event);
                prop_assert_eq!(world.seen(), again.seen());
                // A copy goes on as the original does.
                if let Some(copy) = &mut copy {
                    copy.apply(event);
                    prop_assert_eq!(world.seen(), copy.seen());
                }
            }
        }
    }

    #[test]
    fn any_path_keeps_the_window_in_bounds(
        first in paths(),
        second in paths(),
        silence in spans(),
        larger_mtu in 1200..=65_527u16,
    ) {
        for selection in Selection::all() {
            let mut world = World::new(selection, first.mtu);
            run_over(&mut world, first, 1500)?;
            // The path changes under the connection.
            world.wait(Duration::from_nanos(silence), true);
            world.apply(Step::Mtu { bytes: larger_mtu });
            run_over(&mut world, second, 1500)?;
            prop_assert!(world.flow.delivered() > Bytes::ZERO);
        }
    }
}
