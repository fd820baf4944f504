//! Whole connections between hosts that take time.
#![cfg(all(feature = "serde", feature = "noq"))]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::net::SocketAddr;
use std::time::Duration;

use kneepoint_emulator::host::{Distribution, HostConfig};
use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Record};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{Net, Simulation, Testbed, tls};
use kneepoint_emulator::time::Nanos;
use quinn::Connection;
use sim_support::{bytes, client, connect, discard, link, network, over_noq, serve, upload};

/// What the links did while a client sent a megabyte, and how long it took.
fn transfer(network: Network, hosts: Option<HostConfig>) -> (Vec<Record>, Nanos) {
    let builder = Simulation::builder();
    let builder = match hosts {
        Some(hosts) => builder.hosts(hosts),
        None => builder,
    };
    let sim = builder.build(network);
    let handle = sim.handle();
    serve(&sim, discard);
    sim.block_on(async {
        let endpoint = client(&handle, 1);
        let connection = connect(&endpoint).await;
        upload(&connection, &bytes(1_000_000)).await;
        connection.close(0u32.into(), b"");
        endpoint.wait_idle().await;
    })
    .unwrap();
    let records = sim.with_network(|network| {
        let links = [Direction::Forward, Direction::Reverse].map(|side| network.link(side));
        let records = links.map(|link| link.log().unwrap().records().to_vec());
        records.concat()
    });
    (records, sim.now())
}

#[test]
fn ideal_hosts_are_as_no_hosts() {
    let ideal = transfer(network(link()), Some(HostConfig::ideal()));
    assert_eq!(ideal, transfer(network(link()), None));
}

#[test]
fn every_preset_carries_connections_of_both_stacks_and_the_same_seed_repeats_them() {
    for name in HostConfig::PRESETS {
        let host = HostConfig::preset(name).unwrap();
        let run = || transfer(network(link()), Some(host.clone()));
        let (records, took) = run();
        assert_eq!((records.clone(), took), run(), "{name}");
        // At 10 Mb/s it takes 0.8 s, and some time to get going.
        assert!(took < Nanos::from_millis(2_500), "{name}: {took}");
        assert!(noq_transfer(&host) < Nanos::from_millis(2_500), "{name}");
    }
}

fn noq_transfer(host: &HostConfig) -> Nanos {
    let sim = Simulation::builder()
        .hosts(host.clone())
        .build(network(link()));
    let data = bytes(1_000_000);
    over_noq::serve(&sim, |connection| {
        over_noq::receive(connection, bytes(1_000_000))
    });
    let endpoint = over_noq::client(&sim.handle(), "10.0.0.1:0");
    sim.block_on(async {
        let connection = over_noq::connect(&endpoint).await;
        over_noq::upload(&connection, &data).await;
        connection.close(0u32.into(), b"");
    })
    .unwrap();
    sim.now()
}

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], port))
}

/// 1 Gb/s, 1 ms.
fn fast() -> Network {
    let link = LinkConfig {
        delay: Duration::from_micros(500).into(),
        queue: Queue::DropTail(Limit::bytes(100_000)),
        log: true,
        ..LinkConfig::constant(125_000_000)
    };
    Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 7,
    })
    .unwrap()
}

/// A connection to a server that reads everything.
async fn connected(net: &Net) -> Connection {
    let (server, client) = (net.server().unwrap(), net.client().unwrap());
    let address = server.local_addr().unwrap();
    net.spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        discard(connection).await;
    });
    let connecting = client.connect(address, tls::SERVER_NAME);
    connecting.unwrap().await.unwrap()
}

#[test]
fn a_saturated_receiver_sets_the_pace_and_delays_acknowledgements() {
    // 50 us for a datagram of 1,452 bytes: some 230 Mb/s, of a link of 1 Gb/s.
    let mut slow = HostConfig::ideal();
    slow.processor.receive_datagram = Nanos::from_micros(50);
    slow.receive.batch_time = Some(Nanos::from_micros(500));
    slow.receive.buffer_bytes = 200_000;
    let took = |slow: Option<HostConfig>| {
        let bed = Testbed::new(fast(), 1);
        let bed = match slow {
            Some(slow) => bed.hosts_at("right", slow).unwrap(),
            None => bed,
        };
        bed.run(async |net| {
            let connection = connected(&net).await;
            upload(&connection, &bytes(4_000_000)).await;
            (net.now(), connection.rtt())
        })
        .unwrap()
    };
    let (ideal, short) = took(None);
    let (slow, long) = took(Some(slow));
    let rate = 32.0 / slow.as_secs_f64();
    assert!((100.0..235.0).contains(&rate), "{rate} Mb/s");
    assert!(ideal < Nanos::from_millis(80), "{ideal}");
    assert!(long > 2 * short, "{short:?}, {long:?}");
}

/// Trap: what a batch takes to read would be a part of every round trip. quinn looks at the clock first, then reads.
#[test]
fn a_batch_has_the_time_stamp_of_its_beginning() {
    let mut slow = HostConfig::ideal();
    slow.processor.receive_datagram = Nanos::from_millis(5);
    let bed = Testbed::new(fast(), 1).hosts_at("left", slow).unwrap();
    let rtt = bed.run(async |net| {
        let connection = connected(&net).await;
        for _ in 0..40 {
            upload(&connection, &[7]).await;
            net.sleep(Duration::from_millis(100)).await;
        }
        connection.rtt()
    });
    // 1 ms, without the 5 ms for which the client works.
    let rtt = rtt.unwrap();
    assert!(rtt < Duration::from_millis(2), "{rtt:?}");
}

#[test]
fn a_slow_receiver_drops_packets_above_its_buffer() {
    let mut slow = HostConfig::ideal();
    slow.processor.receive_datagram = Nanos::from_micros(100);
    slow.receive.buffer_bytes = 20_000;
    let sim = Simulation::builder().hosts(slow).build(fast());
    let (from, to) = (address(1, 1000), address(2, 1000));
    let sender = sim.bind(Side::Left, from).unwrap();
    let receiver = sim.bind(Side::Right, to).unwrap();
    let contents = vec![7; 1000];
    for _ in 0..80 {
        let transmit = quinn::udp::Transmit {
            destination: to,
            ecn: None,
            contents: &contents,
            segment_size: None,
            src_ip: None,
        };
        quinn::AsyncUdpSocket::try_send(&*sender, &transmit).unwrap();
    }
    sim.run_until(Nanos::from_millis(100)).unwrap();
    let statistics = receiver.receive_statistics().unwrap();
    assert_eq!(statistics.arrived.packets, 80);
    assert!(statistics.dropped.packets >= 45, "{statistics:?}");
    // Nobody reads: one batch is handed over, and the rest waits.
    assert_eq!(statistics.batches, 1);
}

#[test]
fn a_host_is_the_same_whatever_others_there_are() {
    let phone = || HostConfig::preset("phone").unwrap();
    let wakes = |others: u8| {
        let sim = Simulation::builder().hosts(phone()).build(fast());
        let others = (0..others).map(|n| sim.bind(Side::Right, address(100 + n, 9)));
        let others = others.collect::<Result<Vec<_>, _>>().unwrap();
        let took = transfer_in(&sim);
        drop(others);
        took
    };
    assert_eq!(wakes(0), wakes(5));
}

fn transfer_in(sim: &Simulation) -> Nanos {
    let handle = sim.handle();
    serve(sim, discard);
    sim.block_on(async {
        let endpoint = client(&handle, 1);
        let connection = connect(&endpoint).await;
        upload(&connection, &bytes(100_000)).await;
    })
    .unwrap();
    sim.now()
}

#[test]
fn a_host_that_is_not_valid_opens_no_socket() {
    let mut host = HostConfig::ideal();
    host.receive.wakeup = Distribution::Quantiles(Vec::new());
    host.timer_granularity = Nanos::from_millis(1);
    host.name = "mine".to_owned();
    let sim = Simulation::builder().hosts(host).build(fast());
    let error = sim.bind(Side::Left, address(1, 1)).unwrap_err();
    let expected = "mine: number of receive.wakeup_us.quantiles = 0 is not between 2 and 10001";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn network_files_name_the_hosts_of_their_nodes() {
    let text = |hosts: &str| {
        format!(
            r#"
            seed = 1
            {hosts}
            [[link]]
            name = "forward"
            from = "left"
            to = "right"
            rate_mbps = 10.0
            delay_ms = 20.0
            queue_bytes = 100000
            [[link]]
            name = "reverse"
            from = "right"
            to = "left"
            rate_mbps = 10.0
            delay_ms = 20.0
            queue_bytes = 100000
            "#
        )
    };
    let bind = |hosts: &str, side| {
        let network = Network::parse(&text(hosts), "n", ".".as_ref()).unwrap();
        let socket = Simulation::new(network).bind(side, address(1, 1)).unwrap();
        socket.receive_statistics().is_some()
    };
    assert!(!bind("", Side::Left));
    assert!(bind(r#"hosts = { all = "server" }"#, Side::Left));
    assert!(bind(
        r#"hosts = { all = "server", left = "phone" }"#,
        Side::Left
    ));
    assert!(!bind(
        r#"hosts = { all = "server", left = "ideal" }"#,
        Side::Left
    ));
    assert!(bind(
        r#"hosts = { all = "server", left = "ideal" }"#,
        Side::Right
    ));
    for (hosts, reason) in [
        (
            r#"hosts = { all = "laptop" }"#,
            "hosts: there is no host preset 'laptop'",
        ),
        (
            r#"hosts = { middle = "server" }"#,
            "there is no node middle",
        ),
        (
            r#"hosts = { all = "missing.toml" }"#,
            "hosts: cannot read host",
        ),
    ] {
        let error = Network::parse(&text(hosts), "n", ".".as_ref())
            .unwrap_err()
            .to_string();
        let (place, error) = error.split_once(": ").unwrap();
        assert!(place.starts_with("n:"), "{place}");
        assert!(error.starts_with(reason), "{error}");
    }
}
