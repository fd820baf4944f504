//! Networks of more than two links.

use std::net::SocketAddr;

use kneepoint_emulator::link::{ConfigError, LinkConfig, Shaper};
use kneepoint_emulator::network::{
    CrossTraffic, Duplex, Network, NetworkError, Pattern, Rebinding, Topology,
};
use kneepoint_emulator::packet::Packet;
use kneepoint_emulator::time::Nanos;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{address, drain_network, ms, packet_between};
use crate::strategies::links;

/// 1000 bytes take a millisecond at `kilobytes` 1000, and then the delay.
fn line(kilobytes: u64, delay: Nanos) -> Duplex {
    let shaper = Shaper::ConstantRate {
        bytes_per_second: kilobytes * 1000,
    };
    Duplex::both(LinkConfig {
        delay: delay.into(),
        overhead: 0,
        ..LinkConfig::new(shaper)
    })
}

fn traffic(from: SocketAddr, to: SocketAddr) -> CrossTraffic {
    CrossTraffic {
        from,
        to,
        pattern: Pattern::Constant,
        bytes_per_second: 500_000,
        payload: 1000,
        ecn: None,
        start: Nanos::ZERO,
        stop: Some(ms(100)),
    }
}

#[test]
fn a_dumbbell_has_access_links() {
    let access = [line(2000, ms(1)), line(500, ms(5))];
    let mut topology = Topology::dumbbell(line(1000, ms(10)), &access, &access[..1]);
    for (node, host) in [("left-1", 1), ("left-2", 2), ("right-1", 11)] {
        topology.host(node, address(host)).unwrap();
    }
    let mut network = topology.build(1).unwrap();
    network.send(ms(0), packet_between(address(1), address(11)));
    network.send(ms(0), packet_between(address(2), address(11)));
    network.send(ms(0), packet_between(address(1), address(2)));
    let expected = [
        // Behind the first packet on its access link, and over no bottleneck: 1 ms, 1 ms; 2 ms, 5 ms.
        (ms(9), address(1), address(2)),
        // Each way of an access link takes half a millisecond and one; the bottleneck 1 ms and 10.
        (ms(14), address(1), address(11)),
        (Nanos(19_500_000), address(2), address(11)),
    ];
    assert_eq!(drain_network(&mut network), expected);
    let delivered = |name| {
        network
            .link_named(name)
            .unwrap()
            .statistics()
            .delivered
            .packets
    };
    assert_eq!(
        (
            delivered("forward"),
            delivered("left-1-up"),
            delivered("left-2-down")
        ),
        (2, 2, 1)
    );
    assert!(network.link_named("left-3-up").is_none());
}

#[test]
fn flows_of_a_parking_lot_share_common_links() {
    let mut topology = Topology::parking_lot(&[line(1000, ms(0)), line(1000, ms(0))]);
    for (node, host) in [("node-0", 1), ("node-1", 2), ("node-2", 3)] {
        topology.host(node, address(host)).unwrap();
    }
    let mut network = topology.build(1).unwrap();
    network.send(ms(0), packet_between(address(1), address(3)));
    network.send(ms(0), packet_between(address(1), address(2)));
    network.send(ms(1), packet_between(address(2), address(3)));
    network.send(ms(1), packet_between(address(3), address(1)));
    let found: Vec<_> = drain_network(&mut network)
        .into_iter()
        .map(|(time, _, to)| (time, to))
        .collect();
    // The packet that crosses both came to the second link at the same time, but before.
    let expected = [
        (ms(2), address(3)),
        (ms(2), address(2)),
        (ms(3), address(3)),
        (ms(3), address(1)),
    ];
    let by_host = |mut deliveries: Vec<(Nanos, SocketAddr)>| {
        deliveries.sort_unstable();
        deliveries
    };
    assert_eq!(by_host(found.clone()), by_host(expected.to_vec()));
    assert!(found.is_sorted_by_key(|(time, _)| *time));
}

#[test]
fn a_flow_may_have_a_path_of_its_own() {
    let mut topology = Topology::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| topology.node(name));
    topology.link("direct", a, c, line(1000, ms(5)).forward);
    let over = [
        topology.link("a-b", a, b, line(1000, ms(1)).forward),
        topology.link("b-c", b, c, line(1000, ms(1)).forward),
    ];
    topology.host("a", address(1)).unwrap();
    topology.host("a", address(2)).unwrap();
    topology.host("c", address(3)).unwrap();
    topology.path(address(1), address(3), over.to_vec());
    let broken = |links: &[_]| {
        let mut topology = topology.clone();
        topology.path(address(1), address(3), links.to_vec());
        topology.build(1).unwrap_err()
    };
    for links in [&[][..], &over[..1], &over[1..], &[over[0], over[0]]] {
        assert!(matches!(broken(links), NetworkError::BrokenPath { .. }));
    }
    let mut network = topology.build(1).unwrap();
    network.send(ms(0), packet_between(address(1), address(3)));
    network.send(ms(0), packet_between(address(2), address(3)));
    let expected = [
        (ms(4), address(1), address(3)),
        (ms(6), address(2), address(3)),
    ];
    assert_eq!(drain_network(&mut network), expected);
}

#[test]
fn traffic_from_nowhere_takes_its_share() {
    let mut topology = Topology::point_to_point(line(1000, ms(0)));
    for (node, host) in [("left", 1), ("left", 2), ("right", 11), ("right", 12)] {
        topology.host(node, address(host)).unwrap();
    }
    topology.traffic(traffic(address(1), address(11)));
    let mut network = topology.build(1).unwrap();
    assert_eq!(network.next_event(), Some(ms(0)));
    // The source's packets come every 2 ms and take one.
    network.send(ms(4), packet_between(address(2), address(12)));
    assert_eq!(
        drain_network(&mut network),
        [(ms(6), address(2), address(12))]
    );
    let received = network.received(address(11)).unwrap();
    assert_eq!((received.packets, received.bytes), (50, 50_000));
    assert_eq!(network.received(address(12)), None);
}

#[test]
fn a_rebound_client_sends_from_another_address() {
    let mut topology = Topology::point_to_point(line(1000, ms(10)));
    let (client, outside, server) = (address(1), address(99), address(11));
    topology.host("left", client).unwrap();
    topology.host("right", server).unwrap();
    let at = ms(20);
    topology.rebind(Rebinding {
        at,
        inside: client,
        outside,
    });
    let mut network = topology.build(1).unwrap();
    network.send(ms(0), packet_between(client, server));
    network.send(ms(0), packet_between(server, client));
    network.send(ms(15), packet_between(server, client));
    network.send(ms(20), packet_between(client, server));
    network.send(ms(20), packet_between(server, outside));
    let expected = [
        (ms(11), client, server),
        (ms(11), server, client),
        (ms(31), outside, server),
        (ms(31), server, client),
    ];
    let mut found = drain_network(&mut network);
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected);
    // The one that was on its way to the old address.
    assert_eq!(network.unroutable(), 1);
}

/// What is on the longer path arrives, and is overtaken.
#[test]
fn a_flow_takes_another_path_from_a_time_on() {
    let mut topology = Topology::point_to_point(line(1000, ms(30)));
    let (left, right) = (topology.node("left"), topology.node("right"));
    let shorter = topology.link("shorter", left, right, line(1000, ms(10)).forward);
    let (client, server) = (address(1), address(11));
    topology.host("left", client).unwrap();
    topology.host("right", server).unwrap();
    topology.path_from(ms(20), client, server, vec![shorter]);
    let mut network = topology.build(1).unwrap();
    for time in [ms(0), ms(19), ms(20)] {
        network.send(time, packet_between(client, server));
    }
    let arrivals = drain_network(&mut network);
    let times: Vec<Nanos> = arrivals.iter().map(|(time, ..)| *time).collect();
    assert_eq!(times, [ms(31), ms(31), ms(50)]);
    let carried = network.link_named("shorter").unwrap().statistics();
    assert_eq!(carried.delivered.packets, 1);
}

#[test]
fn a_client_may_have_addresses_at_two_nodes() {
    let access = [line(1000, ms(1)), line(1000, ms(30))];
    let mut topology = Topology::dumbbell(line(1000, ms(1)), &access, &[]);
    topology.host("right", address(11)).unwrap();
    topology.host("left-1", address(1)).unwrap();
    let mut network = topology.build(1).unwrap();
    let cellular = network.node("left-2").unwrap();
    network.attach_at(cellular, address(2)).unwrap();
    network.send(ms(0), packet_between(address(1), address(11)));
    network.send(ms(0), packet_between(address(2), address(11)));
    let expected = [
        (ms(4), address(1), address(11)),
        (ms(33), address(2), address(11)),
    ];
    assert_eq!(drain_network(&mut network), expected);
}

#[test]
fn invalid_networks_are_rejected() {
    let pair = || Topology::point_to_point(line(1000, ms(0)));
    let refused = |change: &dyn Fn(&mut Topology)| {
        let mut topology = pair();
        topology.host("left", address(1)).unwrap();
        topology.host("right", address(2)).unwrap();
        change(&mut topology);
        topology.build(1).unwrap_err().to_string()
    };
    assert_eq!(Topology::new().build(1).unwrap_err(), NetworkError::NoLink);
    let host = pair().host("middle", address(1)).unwrap_err();
    assert_eq!(host.to_string(), "there is no node middle");
    assert!(pair().link_named("sideways").is_err());
    let twice = refused(&|topology| topology.host("left", address(2)).unwrap());
    assert_eq!(twice, "there are two hosts 10.0.0.2:4433");
    let itself = refused(&|topology| {
        let left = topology.node("left");
        topology.link("x", left, left, line(1, ms(0)).forward);
    });
    assert_eq!(itself, "link x leads from left to itself");
    let name = refused(&|topology| {
        let (left, right) = (topology.node("left"), topology.node("right"));
        topology.link("forward", left, right, line(1, ms(0)).forward);
    });
    assert_eq!(name, "there are two links forward");
    let slow = refused(&|topology| {
        let (left, right) = (topology.node("left"), topology.node("right"));
        topology.link("slow", left, right, line(0, ms(0)).forward);
    });
    assert_eq!(slow, format!("link slow: {}", ConfigError::ZeroRate));
    let good = traffic(address(1), address(2));
    for (bad, message) in [
        (
            CrossTraffic {
                to: address(9),
                ..good.clone()
            },
            "10.0.0.9:4433 is not attached",
        ),
        (
            CrossTraffic {
                payload: 0,
                ..good.clone()
            },
            "payload 0 is not from 1",
        ),
        (
            CrossTraffic {
                bytes_per_second: 0,
                ..good.clone()
            },
            "rate 0 is not positive",
        ),
        (
            CrossTraffic {
                bytes_per_second: u64::MAX,
                ..good.clone()
            },
            "at most a packet a nanosecond",
        ),
        (
            CrossTraffic {
                pattern: Pattern::OnOff {
                    on: ms(0),
                    off: ms(1),
                },
                ..good
            },
            "sending time 0 is not positive",
        ),
    ] {
        let found = refused(&|topology| topology.traffic(bad.clone()));
        assert!(found.contains(message), "{found}");
    }
}

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Constant),
        Just(Pattern::Poisson),
        (1..50_u64, 0..50_u64).prop_map(|(on, off)| Pattern::OnOff {
            on: ms(on),
            off: ms(off)
        }),
    ]
}

#[derive(Debug, Clone)]
struct Scenario {
    bottlenecks: Vec<Duplex>,
    /// When, from which node and to which.
    sends: Vec<(u64, usize, usize)>,
    patterns: Vec<Pattern>,
    rebinding: Option<u64>,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let duplex = (links(), links()).prop_map(|(forward, reverse)| Duplex { forward, reverse });
    let sends = vec((0..300_u64, 0..4_usize, 0..4_usize), 0..60);
    let all = (
        vec(duplex, 1..4),
        sends,
        vec(patterns(), 0..3),
        proptest::option::of(0..300_u64),
    );
    all.prop_map(|(bottlenecks, mut sends, patterns, rebinding)| {
        sends.sort_unstable();
        Scenario {
            bottlenecks,
            sends,
            patterns,
            rebinding,
        }
    })
}

impl Scenario {
    fn network(&self, seed: u64) -> Network {
        let mut topology = Topology::parking_lot(&self.bottlenecks);
        let nodes = self.bottlenecks.len() + 1;
        for node in 0..nodes {
            topology.host(&format!("node-{node}"), host(node)).unwrap();
        }
        for (index, pattern) in self.patterns.iter().enumerate() {
            let sink = SocketAddr::from(([10, 0, 2, 1], index as u16));
            topology.host(&format!("node-{}", nodes - 1), sink).unwrap();
            topology.traffic(CrossTraffic {
                pattern: *pattern,
                ..traffic(host(0), sink)
            });
        }
        if let Some(at) = self.rebinding {
            let (inside, outside) = (host(0), address(200));
            topology.rebind(Rebinding {
                at: ms(at),
                inside,
                outside,
            });
        }
        topology.build(seed).unwrap()
    }

    /// What is delivered, and the network after it.
    fn run(&self, seed: u64) -> (Vec<(Nanos, Packet)>, Network) {
        let mut network = self.network(seed);
        let mut delivered = Vec::new();
        let mut last = Nanos::ZERO;
        let mut step = |network: &mut Network, now: Nanos| {
            assert!(now >= last, "{now} comes after {last}");
            last = now;
            network.poll(now, &mut |time, packet| {
                assert_eq!(time, now, "a delivery before its event");
                delivered.push((time, packet));
            });
            assert!(
                network.next_event().is_none_or(|next| next > now),
                "no progress"
            );
        };
        for (time, from, to) in &self.sends {
            while let Some(now) = network.next_event().filter(|now| *now <= ms(*time)) {
                step(&mut network, now);
            }
            let nodes = self.bottlenecks.len() + 1;
            network.send(
                ms(*time),
                packet_between(host(from % nodes), host(to % nodes)),
            );
        }
        while let Some(now) = network.next_event() {
            step(&mut network, now);
        }
        (delivered, network)
    }
}

fn host(node: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, node as u8], 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn packets_are_conserved_and_seeds_repeat(scenario in scenarios(), seed in any::<u64>()) {
        let (delivered, network) = scenario.run(seed);
        let (mut made, mut dropped) = (0, 0);
        for (name, link) in network.links() {
            let statistics = link.statistics();
            let (offered, copies) = (statistics.offered, statistics.duplicated);
            let (out, lost) = (statistics.delivered, statistics.all_dropped());
            prop_assert_eq!(offered.packets + copies.packets, out.packets + lost.packets, "{}", name);
            prop_assert_eq!(offered.bytes + copies.bytes, out.bytes + lost.bytes, "{}", name);
            made += copies.packets;
            dropped += lost.packets;
        }
        let sinks = (0..scenario.patterns.len() as u16).map(|port| ([10, 0, 2, 1], port).into());
        let sunk: u64 = sinks.map(|sink: SocketAddr| network.received(sink).unwrap().packets).sum();
        let arrived = delivered.len() as u64 + sunk + dropped + network.unroutable();
        let entered = scenario.sends.len() as u64 + network.generated() + made;
        prop_assert_eq!(arrived, entered);
        prop_assert!(delivered.iter().all(|(_, packet)| packet.payload.len() == 1000));

        let (again, other) = scenario.run(seed);
        prop_assert_eq!(again, delivered);
        prop_assert_eq!(other.unroutable(), network.unroutable());
    }

    #[test]
    fn a_late_poll_finds_what_prompt_ones_do(scenario in scenarios(), seed in any::<u64>()) {
        let (prompt, _) = scenario.run(seed);
        let mut network = scenario.network(seed);
        let nodes = scenario.bottlenecks.len() + 1;
        for (time, from, to) in &scenario.sends {
            network.send(ms(*time), packet_between(host(from % nodes), host(to % nodes)));
        }
        let mut late = Vec::new();
        while let Some(next) = network.next_event() {
            network.poll(next.max(ms(5_000)), &mut |time, packet| late.push((time, packet)));
        }
        prop_assert_eq!(late, prompt);
    }
}
