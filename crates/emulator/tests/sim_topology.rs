//! quinn over networks of more than two links.

#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::net::SocketAddr;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{CrossTraffic, Duplex, Network, Pattern, Rebinding, Topology};
use kneepoint_emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint_emulator::time::Nanos;

fn line(bytes_per_second: u64) -> Duplex {
    Duplex::both(LinkConfig {
        delay: Nanos::from_millis(5).into(),
        queue: Queue::DropTail(Limit::packets(200)),
        ..LinkConfig::constant(bytes_per_second)
    })
}

fn host(last: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, last], 4433))
}

/// A client behind a network address translator, a server, and traffic that takes half the bottleneck.
fn network() -> Network {
    let access = [line(12_500_000), line(12_500_000)];
    let mut topology = Topology::dumbbell(line(1_250_000), &access, &access);
    for (node, last) in [("left-1", 1), ("right-1", 2), ("left-2", 3), ("right-2", 4)] {
        topology.host(node, host(last)).unwrap();
    }
    topology.traffic(CrossTraffic {
        from: host(3),
        to: host(4),
        pattern: Pattern::Poisson,
        bytes_per_second: 625_000,
        payload: 1200,
        ecn: None,
        start: Nanos::ZERO,
        stop: None,
    });
    topology.rebind(Rebinding {
        at: Nanos::from_millis(500),
        inside: host(1),
        outside: host(99),
    });
    topology.build(1).unwrap()
}

#[test]
fn a_transfer_survives_a_new_address() {
    let simulation = Simulation::new(network());
    let handle = simulation.handle();
    assert!(handle.bind_attached(host(77)).is_err());
    let socket = |last| handle.bind_attached(host(last)).unwrap();
    let server = Some(tls::server_config());
    let server = handle
        .endpoint_on(socket(2), endpoint_config(1), server)
        .unwrap();
    let client = handle
        .endpoint_on(socket(1), endpoint_config(2), None)
        .unwrap();
    let received = handle.spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        let before = connection.remote_address();
        let mut stream = connection.accept_uni().await.unwrap();
        let data = stream.read_to_end(2_000_000).await.unwrap();
        (before, connection.remote_address(), data.len())
    });
    let (before, after, length) = simulation
        .block_on_until(Nanos::from_millis(20_000), async {
            let connecting = client.connect_with(tls::client_config(), host(2), tls::SERVER_NAME);
            let connection = connecting.unwrap().await.unwrap();
            let mut stream = connection.open_uni().await.unwrap();
            stream.write_all(&vec![7; 1_000_000]).await.unwrap();
            stream.finish().unwrap();
            received.await
        })
        .unwrap();
    assert_eq!((before, after, length), (host(1), host(99), 1_000_000));
    // Alone it would take 0.8 s.
    assert!(
        simulation.now() > Nanos::from_millis(1000),
        "{}",
        simulation.now()
    );
    let sunk = simulation.with_network(|network| network.received(host(4)).unwrap());
    assert!(sunk.packets > 400, "{sunk:?}");
}
