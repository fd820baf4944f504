//! What the accounting keeps, whatever happens: bytes are conserved, no rate exceeds what was acknowledged, and the
//! history is bounded.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Wait {
        nanos: u64,
    },
    Send {
        packets: u8,
        bytes: u16,
    },
    Ack {
        skip: u8,
        packets: u8,
        app_limited: bool,
    },
    Lose {
        skip: u8,
        packets: u8,
    },
    Limit,
}

/// A packet, and what had been delivered when the first packet of the same instant left: packets of one instant cannot
/// be told apart, and the older view gives first.
#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Timestamp,
    bytes: Bytes,
    delivered: Bytes,
}

fn steps() -> impl Strategy<Value = Step> {
    let spans = prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ];
    prop_oneof![
        4 => spans.prop_map(|nanos| Step::Wait { nanos }),
        4 => (1..=64u8, 1..=65_527u16).prop_map(|(packets, bytes)| Step::Send { packets, bytes }),
        4 => (0..3u8, 0..=64u8, any::<bool>())
            .prop_map(|(skip, packets, app_limited)| Step::Ack { skip, packets, app_limited }),
        1 => (0..3u8, 1..=64u8).prop_map(|(skip, packets)| Step::Lose { skip, packets }),
        1 => Just(Step::Limit),
    ]
}

fn total(packets: &[Packet]) -> Bytes {
    packets.iter().map(|packet| packet.bytes).sum()
}

fn take(flight: &mut Vec<Packet>, skip: u8, packets: u8) -> Vec<Packet> {
    let skip = usize::from(skip).min(flight.len());
    let end = (skip + usize::from(packets)).min(flight.len());
    flight.drain(skip..end).collect()
}

fn check_acknowledgement(
    sampler: &mut DeliveryRateSampler,
    now: Timestamp,
    acked: &[Packet],
    in_flight: Bytes,
    app_limited: bool,
) -> Result<(), TestCaseError> {
    let prior = (sampler.in_flight(), sampler.delivered());
    for packet in acked {
        sampler.on_run_acked(now, packet.sent, packet.bytes, 1);
    }
    // The packets themselves account for all that is in flight; the host has nothing to correct.
    prop_assert_eq!(sampler.in_flight(), in_flight);
    let Some(event) = sampler.on_ack_end(now, in_flight, app_limited) else {
        prop_assert!(acked.is_empty());
        return Ok(());
    };
    prop_assert_eq!(event.acked, total(acked));
    prop_assert_eq!(event.acked_packets, acked.len() as u64);
    prop_assert_eq!(event.prior_in_flight, prior.0);
    prop_assert_eq!(event.in_flight + event.acked, prior.0);
    prop_assert_eq!(event.delivered, prior.1 + event.acked);
    let newest = acked
        .iter()
        .map(|packet| packet.sent)
        .max()
        .unwrap_or_default();
    prop_assert_eq!(event.newest_sent, newest);
    prop_assert_eq!(event.rtt(), now.saturating_since(newest));
    if let Some(rate) = event.rate {
        // No more than was delivered since the oldest of the packets left, over no less than its round trip.
        let min = acked
            .iter()
            .map(|packet| packet.delivered)
            .min()
            .unwrap_or_default();
        prop_assert!(rate.delivered <= event.delivered - min);
        let max = Bandwidth::from_delivery(rate.delivered, event.rtt());
        prop_assert!(
            max.is_none_or(|max| rate.delivery_rate <= max),
            "{rate:?} {event:?}"
        );
    }
    Ok(())
}

/// Something that a host reports, true or not.
#[derive(Debug, Clone, Copy)]
enum Report {
    Forwards {
        nanos: u64,
    },
    /// Hosts' clocks do not run backwards; should one, nothing may depend on chance.
    Backwards {
        nanos: u64,
    },
    Send {
        bytes: u64,
    },
    /// Packets that left so many sends ago are acknowledged, those that were acknowledged or lost before too.
    Ack {
        ago: usize,
        packets: u8,
    },
    /// The end of an acknowledgement, of which nothing counts if no packets came before it.
    AckEnd {
        in_flight: u64,
        app_limited: bool,
    },
    Lose {
        ago: usize,
        bytes: u64,
    },
    Mark {
        ago: usize,
    },
    Limit,
}

fn reports() -> impl Strategy<Value = Report> {
    let bytes = 1..10_000u64;
    prop_oneof![
        4 => (0.0..10.8f64).prop_map(|exponent| Report::Forwards { nanos: 10f64.powf(exponent) as u64 }),
        2 => (0.0..7.0f64).prop_map(|exponent| Report::Backwards { nanos: 10f64.powf(exponent) as u64 }),
        8 => bytes.clone().prop_map(|bytes| Report::Send { bytes }),
        6 => (0..40usize, 1..4u8).prop_map(|(ago, packets)| Report::Ack { ago, packets }),
        3 => (0..100_000u64, any::<bool>())
            .prop_map(|(in_flight, app_limited)| Report::AckEnd { in_flight, app_limited }),
        1 => (0..200usize, bytes).prop_map(|(ago, bytes)| Report::Lose { ago, bytes }),
        1 => (0..200usize).prop_map(|ago| Report::Mark { ago }),
        1 => Just(Report::Limit),
    ]
}

/// A flow, and when each of its packets left.
#[derive(Debug, Clone)]
struct Told {
    sampler: DeliveryRateSampler,
    now: Timestamp,
    sent: Vec<Timestamp>,
}

impl Told {
    fn new() -> Self {
        Self {
            sampler: DeliveryRateSampler::new(Timestamp::ZERO),
            now: Timestamp::ZERO,
            sent: vec![Timestamp::ZERO],
        }
    }

    fn sent(&self, ago: usize) -> Timestamp {
        self.sent[self.sent.len().saturating_sub(1 + ago)]
    }

    /// What the flow makes of a report, in words.
    fn tell(&mut self, report: Report) -> String {
        let now = self.now;
        match report {
            Report::Forwards { nanos } => {
                self.now = now + Duration::from_nanos(nanos);
                String::new()
            }
            Report::Backwards { nanos } => {
                self.now = now - Duration::from_nanos(nanos);
                String::new()
            }
            Report::Send { bytes } => {
                self.sent.push(now);
                format!("{:?}", self.sampler.on_sent(now, Bytes(bytes)))
            }
            Report::Ack { ago, packets } => {
                for newer in 0..usize::from(packets) {
                    let sent = self.sent(ago.saturating_sub(newer));
                    self.sampler.on_run_acked(now, sent, Bytes(1200), 1);
                }
                String::new()
            }
            Report::AckEnd {
                in_flight,
                app_limited,
            } => format!(
                "{:?}",
                self.sampler.on_ack_end(now, Bytes(in_flight), app_limited)
            ),
            Report::Lose { ago, bytes } => {
                let loss = Loss {
                    newest_sent: self.sent(ago),
                    bytes: Bytes(bytes),
                    persistent_congestion: false,
                };
                format!("{:?}", self.sampler.on_lost(now, &loss))
            }
            Report::Mark { ago } => {
                let sent = self.sent(ago);
                format!("{:?}", self.sampler.on_ecn_mark(now, sent))
            }
            Report::Limit => {
                self.sampler.mark_app_limited(now);
                String::new()
            }
        }
    }
}

/// A sender to which nothing is ever acknowledged that counts.
#[derive(Debug, Clone, Copy)]
enum Unheard {
    Wait {
        nanos: u64,
    },
    /// Data, or a packet that only acknowledges and is never in flight for the host.
    Send {
        packets: u8,
        data: bool,
    },
    /// The oldest of them are lost.
    Lose {
        packets: u8,
    },
    /// An acknowledgement of packets that only acknowledge.
    AckOfNothing {
        app_limited: bool,
    },
}

fn unheard() -> impl Strategy<Value = Unheard> {
    prop_oneof![
        2 => (0.0..10.8f64).prop_map(|exponent| Unheard::Wait { nanos: 10f64.powf(exponent) as u64 }),
        4 => (1..=8u8, any::<bool>()).prop_map(|(packets, data)| Unheard::Send { packets, data }),
        3 => (1..=32u8).prop_map(|packets| Unheard::Lose { packets }),
        2 => any::<bool>().prop_map(|app_limited| Unheard::AckOfNothing { app_limited }),
    ]
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn bytes_are_conserved_and_rates_are_bounded(steps in prop::collection::vec(steps(), 1..400)) {
        let mut now = Timestamp::ZERO;
        let mut sampler = DeliveryRateSampler::new(now);
        let mut flight: Vec<Packet> = Vec::new();
        let (mut sent, mut lost) = (Bytes::ZERO, Bytes::ZERO);
        let mut round = 0;
        let mut batches: Vec<Timestamp> = Vec::new();
        let mut instant = (now, Bytes::ZERO);
        for step in steps {
            match step {
                Step::Wait { nanos } => now = now + Duration::from_nanos(nanos),
                Step::Send { packets, bytes } => {
                    let bytes = Bytes(u64::from(bytes));
                    let event = sampler.on_sent(now, bytes * u64::from(packets));
                    prop_assert_eq!(event.prior_in_flight, total(&flight));
                    sent += event.bytes;
                    batches.push(now);
                    if instant.0 != now {
                        instant = (now, sampler.delivered());
                    }
                    let packet = Packet { sent: now, bytes, delivered: instant.1 };
                    flight.extend((0..packets).map(|_| packet));
                }
                Step::Ack { skip, packets, app_limited } => {
                    let acked = take(&mut flight, skip, packets);
                    let in_flight = total(&flight);
                    check_acknowledgement(&mut sampler, now, &acked, in_flight, app_limited)?;
                    if let Some(oldest) = acked.iter().map(|packet| packet.sent).min() {
                        batches.retain(|&sent| sent >= oldest - GROUP_LIFETIME);
                    }
                }
                Step::Lose { skip, packets } => {
                    let gone = take(&mut flight, skip, packets);
                    if let Some(newest) = gone.last() {
                        lost += total(&gone);
                        let event = sampler.on_lost(now, &Loss { newest_sent: newest.sent, bytes: total(&gone), persistent_congestion: false });
                        prop_assert_eq!(event.in_flight, total(&flight));
                    }
                }
                Step::Limit => sampler.mark_app_limited(now),
            }
            prop_assert_eq!(sampler.delivered() + sampler.in_flight() + lost, sent);
            prop_assert!(sampler.ack.round >= round && sampler.ack.round <= round + 1);
            round = sampler.ack.round;
            // No more history than batches sent since shortly before the oldest packet acknowledged last.
            prop_assert!(sampler.history_len() <= batches.len());
        }
    }

    /// Whatever a host reports in whatever order, times that run backwards too: the history has a largest size, and a clone
    /// goes on as its original does.
    #[test]
    fn any_reports_keep_the_history_bounded_and_a_clone_equal(
        reports in prop::collection::vec(reports(), 1..600),
        forks in prop::collection::vec(any::<prop::sample::Index>(), 3),
    ) {
        let forks: Vec<usize> = forks.iter().map(|fork| fork.index(reports.len())).collect();
        let mut original = Told::new();
        let mut clones: Vec<Told> = Vec::new();
        for (index, &report) in reports.iter().enumerate() {
            if forks.contains(&index) {
                clones.push(original.clone());
            }
            let expected = original.tell(report);
            for clone in &mut clones {
                prop_assert_eq!(&clone.tell(report), &expected);
            }
            prop_assert!(original.sampler.history_len() <= DeliveryRateSampler::MAX_HISTORY);
        }
    }

    /// What is lost leaves the history though nothing is ever delivered: what remains is in flight, or left after it.
    #[test]
    fn what_is_remembered_without_a_delivery_is_in_flight(
        steps in prop::collection::vec(unheard(), 1..600),
    ) {
        let mut now = Timestamp::ZERO;
        let mut sampler = DeliveryRateSampler::new(now);
        // In flight; and batches of any kind since the newest lost packet left.
        let mut flight: Vec<Packet> = Vec::new();
        let mut batches: Vec<Timestamp> = Vec::new();
        for step in steps {
            match step {
                Unheard::Wait { nanos } => now = now + Duration::from_nanos(nanos),
                Unheard::Send { packets, data } => {
                    let bytes = if data { Bytes(1200) } else { Bytes(40) };
                    sampler.on_sent(now, bytes * packets.into());
                    batches.push(now);
                    let packet = Packet { sent: now, bytes, delivered: Bytes::ZERO };
                    flight.extend((0..packets).filter(|_| data).map(|_| packet));
                }
                Unheard::Lose { packets } => {
                    let gone = take(&mut flight, 0, packets);
                    if let Some(newest) = gone.last() {
                        sampler.on_lost(now, &Loss { newest_sent: newest.sent, bytes: total(&gone), persistent_congestion: false });
                        batches.retain(|&sent| sent >= newest.sent);
                    }
                }
                Unheard::AckOfNothing { app_limited } => {
                    let event = sampler.on_ack_end(now, total(&flight), app_limited);
                    prop_assert!(event.is_none());
                    if flight.is_empty() {
                        batches.clear();
                    }
                }
            }
            prop_assert!(sampler.history_len() <= batches.len());
        }
    }
}
