use std::net::SocketAddr;

use proptest::prelude::*;
use rand::SeedableRng;

use super::*;
use crate::host::{Distribution, OtherWork};

const fn us(micros: u64) -> Nanos {
    Nanos::from_micros(micros)
}

fn packet(number: u64, bytes: usize) -> Packet {
    let address = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut payload = vec![0; bytes.max(8)];
    payload[..8].copy_from_slice(&number.to_le_bytes());
    Packet {
        source: address,
        destination: address,
        ecn: None,
        payload,
    }
}

fn number(packet: &Packet) -> u64 {
    u64::from_le_bytes(packet.payload[..8].try_into().unwrap())
}

fn machine(config: HostConfig) -> (Machine, PortId) {
    assert!(config.validate().is_ok());
    let mut seed = 0;
    let mut machine = Machine::new(Arc::new(config), || {
        seed += 1;
        Pcg64::seed_from_u64(seed)
    });
    let port = machine.open(Pcg64::seed_from_u64(9));
    (machine, port)
}

/// What a host did, by when.
#[derive(Debug, Default)]
struct Seen {
    read: Vec<(Nanos, u64)>,
    sent: Vec<(Nanos, u64)>,
}

/// Lets all happen that is due before a time; every reader reads at once.
fn advance(machine: &mut Machine, port: PortId, until: Nanos, seen: &mut Seen) {
    while let Some(now) = machine.next_event().filter(|next| *next < until) {
        let mut handed = false;
        machine.poll(now, &mut |effect| match effect {
            Effect::Depart(packet) => seen.sent.push((now, number(&packet))),
            Effect::Deliver(packet) => {
                seen.read.push((now, number(&packet)));
                handed = true;
            }
            Effect::Wake(_) => {}
        });
        if handed {
            machine.drained(now, port);
        }
    }
}

#[test]
fn a_batch_holds_arrivals_until_its_work_is_done() {
    let mut config = HostConfig::ideal();
    config.receive.wakeup = Distribution::Fixed(us(100));
    config.receive.batch_time = Some(us(50));
    config.processor.wakeup = us(3);
    config.processor.receive_datagram = us(10);
    let (mut machine, port) = machine(config);
    let mut seen = Seen::default();
    // It wakes at 100 us; the first two take until 123 us, by which two more have come; these until 143 us; and the last one,
    // which came at 140 us, until 153 us. What comes at 149 us is a batch of its own: 50 us are over.
    for (number, time) in [0, 99, 110, 122, 140, 149].into_iter().enumerate() {
        advance(&mut machine, port, us(time), &mut seen);
        machine.arrive(us(time), port, packet(number as u64, 100));
    }
    advance(&mut machine, port, us(152), &mut seen);
    assert_eq!(seen.read, []);
    advance(&mut machine, port, us(154), &mut seen);
    assert_eq!(seen.read, [0, 1, 2, 3, 4].map(|number| (us(153), number)));
    // Awake: no wake-up delay, but the work to begin a batch.
    advance(&mut machine, port, Nanos::MAX, &mut seen);
    assert_eq!(seen.read[5..], [(us(166), 5)]);
    let statistics = machine.statistics(port).unwrap();
    assert_eq!((statistics.batches, statistics.read.packets), (2, 6));
}

#[test]
fn the_time_stamp_of_a_batch_is_its_beginning() {
    let mut config = HostConfig::ideal();
    config.receive.wakeup = Distribution::Fixed(us(100));
    config.processor.receive_datagram = us(10);
    let (mut machine, port) = machine(config);
    machine.arrive(us(5), port, packet(0, 100));
    while let Some(now) = machine.next_event() {
        machine.poll(now, &mut |_| {});
        if now < us(115) {
            assert_eq!(machine.stamp(port), None);
        }
    }
    assert_eq!(machine.stamp(port), Some(us(105)));
    machine.drained(us(115), port);
    assert_eq!(machine.stamp(port), None);
}

/// Others have the processor from 1 to 2 ms. What comes meanwhile is read when they leave it, with the time stamp of that.
#[test]
fn a_batch_does_not_begin_while_others_have_the_processor() {
    let mut config = HostConfig::ideal();
    config.processor.receive_datagram = us(1);
    config.processor.others = Some(OtherWork {
        gap: Distribution::Fixed(us(1000)),
        slice: Distribution::Fixed(us(1000)),
    });
    let (mut machine, port) = machine(config);
    for time in [1200, 1700] {
        advance(&mut machine, port, us(time), &mut Seen::default());
        machine.arrive(us(time), port, packet(time, 100));
    }
    let mut read = 0;
    while let Some(now) = machine.next_event() {
        machine.poll(now, &mut |effect| {
            read += u32::from(matches!(effect, Effect::Deliver(_)));
        });
    }
    assert_eq!((read, machine.stamp(port)), (2, Some(us(2000))));
}

#[test]
fn a_full_buffer_drops_arrivals() {
    let mut config = HostConfig::ideal();
    config.receive.wakeup = Distribution::Fixed(us(100));
    config.receive.buffer_bytes = 1000;
    let (mut machine, port) = machine(config);
    for number in 0..15 {
        machine.arrive(us(1), port, packet(number, 100));
    }
    let mut seen = Seen::default();
    advance(&mut machine, port, Nanos::MAX, &mut seen);
    assert_eq!(
        seen.read,
        Vec::from_iter((0..10).map(|number| (us(101), number)))
    );
    let statistics = machine.statistics(port).unwrap();
    assert_eq!(
        (statistics.arrived.packets, statistics.dropped.packets),
        (15, 5)
    );
    assert_eq!(statistics.dropped.bytes, 500);
}

#[test]
fn bursts_take_the_processor_and_keep_their_distance() {
    let mut config = HostConfig::ideal();
    config.send.burst_datagrams = 4;
    config.send.pause = Distribution::Fixed(us(100));
    config.processor.send_burst = us(5);
    config.processor.send_datagram = us(2);
    config.processor.send_byte_nanos = 10.0;
    let (mut machine, port) = machine(config);
    // Ten datagrams of 100 bytes: bursts of 4, 4 and 2, of 17, 17 and 11 us.
    let packets = (0..10).map(|number| packet(number, 100));
    assert_eq!(machine.send(us(0), packets.collect()), Ok(()));
    let mut seen = Seen::default();
    advance(&mut machine, port, Nanos::MAX, &mut seen);
    let times = [17, 17, 17, 17, 134, 134, 134, 134, 245, 245];
    let expected = times
        .into_iter()
        .zip(0..)
        .map(|(time, number)| (us(time), number));
    assert_eq!(seen.sent, Vec::from_iter(expected));
}

#[test]
fn waiting_senders_take_turns_and_may_pass() {
    let mut config = HostConfig::ideal();
    config.processor.send_burst = us(10);
    let (mut machine, _) = machine(config);
    let waker = Waker::noop();
    let (mut first, mut second) = (None, None);
    assert!(machine.may_send(us(0), &mut first, waker));
    assert_eq!(machine.send(us(0), vec![packet(0, 100)]), Ok(()));
    assert!(!machine.may_send(us(0), &mut first, waker));
    assert!(!machine.may_send(us(1), &mut second, waker));
    assert!(!machine.may_send(us(2), &mut first, waker));
    let poll = |machine: &mut Machine| {
        let (mut woken, mut left) = (0, 0);
        machine.poll(us(10), &mut |effect| match effect {
            Effect::Wake(_) => woken += 1,
            Effect::Depart(_) => left += 1,
            Effect::Deliver(_) => {}
        });
        (woken, left)
    };
    // The first is woken, does nothing, and so does not keep the second from sending.
    assert_eq!(machine.next_event(), Some(us(10)));
    machine.forget(Ticket(u64::MAX));
    let mut events = Vec::new();
    while machine.next_event() == Some(us(10)) {
        events.push(poll(&mut machine));
        if machine.may_send(us(10), &mut second, waker) {
            break;
        }
    }
    assert_eq!(events.iter().map(|(_, left)| left).sum::<u32>(), 1);
    assert_eq!(machine.send(us(10), vec![packet(1, 100)]), Ok(()));
}

#[test]
fn a_full_send_buffer_refuses_and_one_that_is_empty_never_does() {
    let mut config = HostConfig::ideal();
    config.send.buffer_bytes = 150;
    config.processor.send_burst = us(10);
    let (mut machine, _) = machine(config);
    assert_eq!(machine.send(us(0), vec![packet(0, 1000)]), Ok(()));
    assert_eq!(machine.send(us(0), vec![packet(1, 100)]), Err(Full));
    while let Some(now) = machine.next_event() {
        machine.poll(now, &mut |_| {});
    }
    assert_eq!(machine.send(us(20), vec![packet(1, 100)]), Ok(()));
}

#[test]
fn sparse_arrivals_wait_as_the_distribution_says() {
    let mut config = HostConfig::ideal();
    config.receive.wakeup = Distribution::Exponential {
        mean: us(200),
        max: us(20_000),
    };
    let (mut machine, port) = machine(config);
    let mut seen = Seen::default();
    let count = 4_000;
    for number in 0..count {
        let time = Nanos::from_millis(50 * number);
        advance(&mut machine, port, time, &mut seen);
        machine.arrive(time, port, packet(number, 100));
    }
    advance(&mut machine, port, Nanos::MAX, &mut seen);
    let waits = seen
        .read
        .iter()
        .map(|(time, number)| (*time - Nanos::from_millis(50 * number)).0);
    let mean = waits.sum::<u64>() as f64 / count as f64 / 1e3;
    assert!((mean / 200.0 - 1.0).abs() < 0.05, "{mean} us");
    assert_eq!(machine.statistics(port).unwrap().batches, count);
}

fn any_host() -> impl Strategy<Value = HostConfig> {
    let span = || (0..300_000_u64).prop_map(Nanos);
    let waits = || {
        prop_oneof![
            span().prop_map(Distribution::Fixed),
            span().prop_map(|mean| Distribution::Exponential {
                mean,
                max: mean + us(500)
            }),
        ]
    };
    let receive = (
        waits(),
        prop::option::of(1..8_u32),
        prop::option::of(1..100_000_u64),
        500..4000_u64,
    );
    let send = (1..6_u32, waits(), 500..4000_u64);
    let costs = (span(), span(), span(), span(), prop::bool::ANY);
    (receive, send, costs).prop_map(|(receive, send, costs)| {
        let mut host = HostConfig::ideal();
        host.receive.wakeup = receive.0;
        host.receive.batch_datagrams = receive.1;
        host.receive.batch_time = receive.2.map(Nanos);
        host.receive.buffer_bytes = receive.3;
        host.send.burst_datagrams = send.0;
        host.send.pause = send.1;
        host.send.buffer_bytes = send.2;
        host.processor.wakeup = costs.0;
        host.processor.receive_datagram = costs.1;
        host.processor.send_burst = costs.2;
        host.processor.send_datagram = costs.3;
        host.processor.others = costs.4.then_some(OtherWork {
            gap: Distribution::Exponential {
                mean: us(300),
                max: us(900),
            },
            slice: Distribution::Exponential {
                mean: us(100),
                max: us(900),
            },
        });
        host
    })
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Arrive(usize),
    Send(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (8..400_usize).prop_map(Step::Arrive),
        (1..9_usize).prop_map(Step::Send),
        (0..400_000_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn every_datagram_is_handed_over_in_order_or_counted_as_dropped(
        host in any_host(),
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let (mut machine, port) = machine(host.clone());
        let (mut now, mut seen) = (Nanos::ZERO, Seen::default());
        let (mut arrived, mut accepted) = (0, 0);
        for step in steps {
            match step {
                Step::Arrive(bytes) => {
                    machine.arrive(now, port, packet(arrived, bytes));
                    arrived += 1;
                }
                Step::Send(count) => {
                    let packets = (0..count as u64).map(|n| packet(accepted + n, 100));
                    if machine.send(now, packets.collect()).is_ok() {
                        accepted += count as u64;
                    }
                }
                Step::Wait(span) => {
                    now = now + Nanos(span);
                    advance(&mut machine, port, now, &mut seen);
                }
            }
            // Memory is bounded by the buffers, one transmit and one batch.
            prop_assert!(machine.ports[&port].bytes <= host.receive.buffer_bytes);
            prop_assert!(machine.unsent <= host.send.buffer_bytes + 900);
            prop_assert!(machine.events.len() < 20 + machine.sends.len());
        }
        advance(&mut machine, port, Nanos::MAX, &mut seen);
        let statistics = machine.statistics(port).unwrap();
        prop_assert_eq!(statistics.arrived.packets, arrived);
        prop_assert_eq!(statistics.read.packets, seen.read.len() as u64);
        prop_assert_eq!(statistics.read.packets + statistics.dropped.packets, arrived);
        prop_assert_eq!(seen.sent.len() as u64, accepted);
        for events in [&seen.read, &seen.sent] {
            prop_assert!(events.is_sorted_by(|one, other| one.0 <= other.0 && one.1 < other.1));
        }
        prop_assert!(matches!(machine.job, Job::Idle) && machine.unsent == 0);
        prop_assert_eq!(machine.next_event(), None);
        if let Some(max) = host.receive.batch_datagrams {
            prop_assert!(statistics.batches * u64::from(max) >= statistics.read.packets);
        }
    }
}
