//! What holds whatever happens in whatever order.

use std::time::Duration;

use kneepoint_controllers::{
    Algorithm, ControllerSpec, DeliveryRateSampler, Environment, Transport,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::super::*;
use super::MTU;
use crate::closed_loop::origin;

#[derive(Debug, Clone, Copy)]
enum Step {
    Wait { nanos: u64 },
    Send { packets: u8 },
    Ack { packets: u8, app_limited: bool },
    Lose { packets: u8, persistent: bool },
    Mark,
    Mtu { bytes: u16 },
}

fn steps() -> impl Strategy<Value = Step> {
    let spans = prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ];
    prop_oneof![
        10 => spans.prop_map(|nanos| Step::Wait { nanos }),
        10 => (1..=64u8).prop_map(|packets| Step::Send { packets }),
        10 => (0..=64u8, any::<bool>())
            .prop_map(|(packets, app_limited)| Step::Ack { packets, app_limited }),
        1 => (1..=64u8, any::<bool>())
            .prop_map(|(packets, persistent)| Step::Lose { packets, persistent }),
        1 => Just(Step::Mark),
        1 => (1200..=65_527u16).prop_map(|bytes| Step::Mtu { bytes }),
    ]
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 128,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Something that a peer does, or the network.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Wait {
        nanos: u64,
    },
    /// The sender sends data, or acknowledges what the peer has sent.
    Send {
        packets: u8,
        data: bool,
    },
    /// The peer acknowledges the newest so many packets, or those of them that hold no data.
    Acknowledge {
        newest: u8,
        data: bool,
    },
}

fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0.0..9.5f64).prop_map(|exponent| Deed::Wait { nanos: 10f64.powf(exponent) as u64 }),
        4 => (1..=8u8, any::<bool>()).prop_map(|(packets, data)| Deed::Send { packets, data }),
        4 => (1..=8u8).prop_map(|newest| Deed::Acknowledge { newest, data: false }),
        1 => (1..=8u8).prop_map(|newest| Deed::Acknowledge { newest, data: true }),
    ]
}

/// quinn's side of a connection: which packets it knows, and what it tells the controller of them.
struct Sender {
    adapter: QuinnController,
    now: Instant,
    next: u64,
    largest_acked: u64,
    /// By number: when it left, and its bytes in flight, none without data.
    sent: std::collections::BTreeMap<u64, (Instant, u64)>,
}

impl Sender {
    fn new(spec: ControllerSpec) -> Self {
        let now = origin();
        Self {
            adapter: crate::closed_loop::build(spec.into(), now),
            now,
            next: 0,
            largest_acked: 0,
            sent: std::collections::BTreeMap::new(),
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent.values().map(|&(_, bytes)| bytes).sum()
    }

    fn perform(&mut self, deed: Deed) {
        match deed {
            Deed::Wait { nanos } => self.now += Duration::from_nanos(nanos),
            Deed::Send { packets, data } => {
                let bytes = if data { MTU } else { 40 };
                for _ in 0..packets {
                    self.next += 1;
                    let in_flight = if data { MTU } else { 0 };
                    self.sent.insert(self.next, (self.now, in_flight));
                    self.adapter.on_sent(self.now, bytes, self.next);
                }
            }
            Deed::Acknowledge { newest, data } => self.acknowledge(newest.into(), data),
        }
    }

    /// In the order of quinn-proto 0.11, `Connection::on_ack_received`.
    fn acknowledge(&mut self, newest: u64, data: bool) {
        let first = self.next.saturating_sub(newest);
        let acked: Vec<u64> = (self.sent.range(first..))
            .filter(|(_, (_, bytes))| data || *bytes == 0)
            .map(|(&number, _)| number)
            .collect();
        let Some(&largest) = acked.last() else { return };
        self.largest_acked = self.largest_acked.max(largest);
        for number in acked {
            if let Some((sent, bytes @ 1..)) = self.sent.remove(&number) {
                self.adapter.packet_acked(self.now, sent, bytes);
            }
        }
        let in_flight = self.in_flight();
        self.adapter.on_end_acks(self.now, in_flight, false, None);
        // RFC 9002, section 6.1.1: what three later packets have overtaken is lost.
        let rest = self.sent.split_off(&self.largest_acked.saturating_sub(2));
        let lost = std::mem::replace(&mut self.sent, rest);
        let bytes = lost.values().map(|&(_, bytes)| bytes).sum();
        if let Some((_, &(sent, _))) = lost.last_key_value()
            && bytes > 0
        {
            self.adapter
                .on_congestion_event(self.now, sent, false, bytes);
        }
    }
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn whatever_happens_two_packets_fit_and_the_controllers_window_is_shown(
        steps in prop::collection::vec(steps(), 1..400),
    ) {
        for spec in ControllerSpec::all() {
            let start = origin();
            let environment = Environment::new(Bytes(MTU), 1, Transport::WINDOW_ONLY);
            let inner = spec.config().build(&environment).expect("presets are valid");
            let mut adapter = QuinnController::new(inner, start, Bytes(MTU));
            let mut now = start;
            let mut mtu = MTU;
            let mut flight: Vec<(Instant, u64)> = Vec::new();
            for &step in &steps {
                let total = |flight: &[(Instant, u64)]| flight.iter().map(|&(_, bytes)| bytes).sum();
                match step {
                    Step::Wait { nanos } => now += Duration::from_nanos(nanos),
                    Step::Send { packets } => {
                        adapter.on_sent(now, mtu * u64::from(packets), 0);
                        flight.extend((0..packets).map(|_| (now, mtu)));
                    }
                    Step::Ack { packets, app_limited } => {
                        let count = flight.len().min(usize::from(packets));
                        for (sent, bytes) in flight.drain(..count) {
                            adapter.packet_acked(now, sent, bytes);
                        }
                        adapter.on_end_acks(now, total(&flight), app_limited, None);
                    }
                    Step::Lose { packets, persistent } => {
                        let count = flight.len().min(usize::from(packets));
                        let lost: Vec<_> = flight.drain(..count).collect();
                        if let Some(&(sent, _)) = lost.last() {
                            adapter.on_congestion_event(now, sent, persistent, total(&lost));
                        }
                    }
                    Step::Mark => adapter.on_congestion_event(now, now, false, 0),
                    Step::Mtu { bytes } => {
                        mtu = u64::from(bytes);
                        adapter.on_mtu_update(bytes);
                    }
                }
                let window = adapter.adapter.control().window;
                prop_assert!(window.0 >= 2 * mtu, "{spec}");
                prop_assert!(adapter.window() > 2 * mtu, "{spec}");
                prop_assert_eq!(adapter.metrics().congestion_window, window.0);
                prop_assert_eq!(adapter.snapshot().congestion_window, window);
                if total(&flight) + mtu > window.0 {
                    prop_assert!(adapter.window() <= window.0 + 1, "{spec}");
                }
            }
        }
    }

    /// Trap: a peer that acknowledges only what holds no data makes the sender lose and send again for ever.
    #[test]
    fn no_peer_decides_how_long_the_history_is(
        deeds in prop::collection::vec(deeds(), 1..600),
    ) {
        for spec in [Algorithm::BbrS, Algorithm::Bbr3].map(ControllerSpec::from) {
            let mut sender = Sender::new(spec);
            for &deed in &deeds {
                sender.perform(deed);
                prop_assert!(sender.adapter.adapter.sampler().history_len() <= DeliveryRateSampler::MAX_HISTORY);
            }
            // From now on nothing is delivered.
            for _ in 0..1000 {
                sender.perform(Deed::Send { packets: 2, data: true });
                sender.perform(Deed::Wait { nanos: 1_000_000 });
                sender.perform(Deed::Send { packets: 4, data: false });
                sender.perform(Deed::Acknowledge { newest: 4, data: false });
            }
            let (remembered, known) = (sender.adapter.adapter.sampler().history_len(), sender.sent.len());
            prop_assert!(remembered <= known.max(8), "{remembered} for {known} packets");
        }
    }
}
