//! What holds whatever happens in whatever order.

use std::time::Duration;

use kneepoint_controllers::{Algorithm, ControllerSpec, DeliveryRateSampler};
use kneepoint_testkit::events::origin;
use proptest::prelude::*;

use super::super::*;
use super::{MTU, reproducible};

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
            adapter: crate::closed_loop::build(spec.into(), now, 1200),
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
