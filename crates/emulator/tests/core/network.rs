//! Hosts, sides and the order of deliveries.

use std::net::SocketAddr;

use kneepoint_emulator::link::{ConfigError, LinkConfig};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::time::Nanos;

use crate::common::{address, drain_network, ms, packet_between};

fn network(delay: Nanos) -> Network {
    let link = LinkConfig {
        delay: delay.into(),
        overhead: 0,
        ..LinkConfig::constant(1_000_000)
    };
    let mut network = Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    })
    .unwrap();
    for host in [1, 2] {
        network.attach(Side::Left, address(host));
    }
    for host in [11, 12] {
        network.attach(Side::Right, address(host));
    }
    network
}

fn send(network: &mut Network, now: Nanos, from: u8, to: u8) {
    network.send(now, packet_between(address(from), address(to)));
}

/// A delivery at a millisecond, from a host to another.
fn between((millis, from, to): (u64, u8, u8)) -> (Nanos, SocketAddr, SocketAddr) {
    (ms(millis), address(from), address(to))
}

#[test]
fn flows_share_the_link_towards_their_destination() {
    let mut network = network(ms(10));
    send(&mut network, ms(0), 1, 11);
    send(&mut network, ms(0), 2, 12);
    send(&mut network, ms(0), 11, 2);
    // At equal times, the forward link's packet comes first.
    let expected = [(11, 1, 11), (11, 11, 2), (12, 2, 12)];
    assert_eq!(drain_network(&mut network), expected.map(between));
    let delivered = [Direction::Forward, Direction::Reverse]
        .map(|direction| network.link(direction).statistics().delivered.packets);
    assert_eq!(delivered, [2, 1]);
    assert_eq!(network.unroutable(), 0);
}

#[test]
fn a_late_poll_delivers_in_the_order_of_time() {
    let mut network = network(ms(0));
    for _ in 0..2 {
        send(&mut network, ms(0), 1, 11);
    }
    send(&mut network, Nanos(500_000), 11, 1);
    let mut times = Vec::new();
    network.poll(ms(100), &mut |time, _| times.push(time.0));
    assert_eq!(times, [1_000_000, 1_500_000, 2_000_000]);
    assert_eq!(network.next_event(), None);
}

#[test]
fn a_poll_delivers_nothing_that_is_not_due() {
    let mut network = network(ms(5));
    send(&mut network, ms(0), 1, 11);
    send(&mut network, ms(2), 11, 1);
    let mut delivered = 0;
    network.poll(Nanos(5_999_999), &mut |_, _| delivered += 1);
    assert_eq!(delivered, 0);
    assert_eq!(network.next_event(), Some(ms(6)));
    network.poll(ms(6), &mut |_, _| delivered += 1);
    assert_eq!((delivered, network.next_event()), (1, Some(ms(8))));
}

#[test]
fn packets_to_nowhere_are_counted() {
    let mut network = network(ms(0));
    send(&mut network, ms(0), 1, 99);
    send(&mut network, ms(0), 1, 2);
    send(&mut network, ms(0), 1, 1);
    assert_eq!(network.unroutable(), 3);
    assert_eq!(network.next_event(), None);
    // A source need not be attached, and a host may change sides.
    send(&mut network, ms(0), 99, 1);
    network.attach(Side::Right, address(2));
    send(&mut network, ms(0), 1, 2);
    let expected = [(1, 1, 2), (1, 99, 1)].map(between);
    assert_eq!(drain_network(&mut network), expected);
}

#[test]
fn a_payload_is_moved() {
    let mut network = network(ms(0));
    let packet = packet_between(address(1), address(11));
    let place = packet.payload.as_ptr();
    network.send(ms(0), packet);
    network.poll(ms(1), &mut |_, packet| {
        assert_eq!(packet.payload.as_ptr(), place)
    });
}

#[test]
fn the_links_lose_independently_and_a_bad_link_is_refused() {
    let rate = LinkConfig::constant(1_000_000);
    let lossy = LinkConfig {
        loss: 0.5.into(),
        log: true,
        ..rate.clone()
    };
    let config = NetworkConfig {
        forward: lossy.clone(),
        reverse: lossy,
        seed: 5,
    };
    let outcomes = |seed: u64| {
        let mut network = Network::new(NetworkConfig {
            seed,
            ..config.clone()
        })
        .unwrap();
        network.attach(Side::Left, address(1));
        network.attach(Side::Right, address(11));
        for _ in 0..200 {
            send(&mut network, ms(0), 1, 11);
            send(&mut network, ms(0), 11, 1);
        }
        [Direction::Forward, Direction::Reverse].map(|direction| {
            let log = network.link(direction).log().unwrap();
            log.records()
                .iter()
                .map(|record| record.outcome)
                .collect::<Vec<_>>()
        })
    };
    let [forward, reverse] = outcomes(5);
    assert_ne!(forward, reverse);
    assert_eq!([forward.clone(), reverse], outcomes(5));
    assert_ne!(forward, outcomes(6)[0]);

    let bad = LinkConfig {
        loss: 2.0.into(),
        ..rate.clone()
    };
    let error = Network::new(NetworkConfig {
        forward: rate,
        reverse: bad,
        seed: 0,
    })
    .unwrap_err();
    assert_eq!(error, ConfigError::Loss(2.0));
}
