//! Unmodified noq over the emulated network.
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::net::SocketAddr;
use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Record, StepMark};
use kneepoint_emulator::network::{Direction, Side};
use kneepoint_emulator::sim::Simulation;
use kneepoint_emulator::sim::noq::{NoqSocket, tls};
use kneepoint_emulator::time::Nanos;
use noq::{ConnectionError, PathId};
use sim_support::over_noq::{client, connect, receive, serve, upload};
use sim_support::{DELAY, RATE, bytes, link, network, seconds, server_address, simulation};

/// An upload over `forward`: what passed in both directions, and when it was over.
fn transfer(forward: LinkConfig, data: &[u8]) -> (Simulation, Vec<Record>) {
    let sim = Simulation::new(network(forward));
    let expected = data.to_vec();
    serve(&sim, move |connection| {
        receive(connection, expected.clone())
    });
    let endpoint = client(&sim.handle(), "10.0.0.1:0");
    sim.block_on_until(seconds(60), async {
        upload(&connect(&endpoint).await, data).await;
    })
    .unwrap();
    let log = sim.with_network(|network| {
        [Direction::Forward, Direction::Reverse]
            .into_iter()
            .filter_map(|direction| network.link(direction).log())
            .flat_map(|log| log.records().iter().copied())
            .collect()
    });
    (sim, log)
}

#[test]
fn a_bulk_transfer_arrives_intact_at_the_rate_of_the_link() {
    let data = bytes(5_000_000);
    let (sim, _) = transfer(link(), &data);
    let share = data.len() as f64 / sim.now().as_secs_f64() / RATE as f64;
    // Headers cost 5 %; the handshake, slow start and the last acknowledgement the rest.
    assert!((0.85..0.96).contains(&share), "{share}");
}

#[test]
fn two_runs_give_the_same_packets() {
    let lossy = LinkConfig {
        loss: 0.02.into(),
        ..link()
    };
    let data = bytes(1_000_000);
    let (first_sim, first) = transfer(lossy.clone(), &data);
    let (second_sim, second) = transfer(lossy, &data);
    assert!(first.len() > 700 && first == second);
    assert_eq!(first_sim.now(), second_sim.now());
    let lost = first_sim.with_network(|network| network.link(Direction::Forward).statistics().lost);
    assert!(lost.packets > 5);
}

#[test]
fn marks_of_the_path_reach_the_sender() {
    let marking = LinkConfig {
        queue: Queue::StepMark(StepMark {
            threshold: Limit::bytes(30_000),
            drop_not_ect: false,
            limit: None,
        }),
        ..link()
    };
    let (sim, _) = transfer(marking, &bytes(3_000_000));
    let statistics = sim.with_network(|network| *network.link(Direction::Forward).statistics());
    // A sender that heard nothing of them would fill the queue without an end: 3 MB all marked.
    let marked = statistics.marked.packets;
    assert!((1..1000).contains(&marked), "{marked}");
    assert_eq!(statistics.lost.packets, 0);
}

#[test]
fn the_round_trip_time_is_that_of_the_path() {
    let sim = simulation();
    serve(&sim, |connection| receive(connection, Vec::new()));
    let endpoint = client(&sim.handle(), "10.0.0.1:0");
    sim.block_on(async {
        let connection = connect(&endpoint).await;
        sim.handle().sleep(Duration::from_secs(1)).await;
        // Large packets of MTU discovery take a millisecond longer.
        let rtt = connection.rtt(PathId::ZERO).unwrap();
        assert!(rtt > 2 * DELAY && rtt < 2 * DELAY + Duration::from_millis(2));
    })
    .unwrap();
}

#[test]
fn a_connection_without_a_peer_times_out_in_virtual_time() {
    let sim = simulation();
    let endpoint = client(&sim.handle(), "10.0.0.1:0");
    let result = sim.block_on(async {
        let connecting = endpoint.connect(server_address(), tls::SERVER_NAME);
        connecting.unwrap().await.map(drop)
    });
    assert_eq!(result, Ok(Err(ConnectionError::TimedOut)));
    assert!(sim.now() >= seconds(30), "{}", sim.now());
}

#[test]
fn a_client_can_move_to_another_address() {
    let sim = simulation();
    let data = bytes(500_000);
    let expected = data.clone();
    serve(&sim, move |connection| {
        receive(connection, expected.clone())
    });
    let endpoint = client(&sim.handle(), "10.0.0.1:0");
    sim.block_on_until(seconds(20), async {
        let connection = connect(&endpoint).await;
        upload(&connection, &data).await;
        let moved = "10.0.0.77:7".parse().unwrap();
        let socket = NoqSocket::new(sim.bind(Side::Left, moved).unwrap());
        endpoint.rebind_abstract(Box::new(socket)).unwrap();
        upload(&connection, &data).await;
        assert_eq!(endpoint.local_addr().unwrap(), moved);
    })
    .unwrap();
}

/// Both stacks on one clock and one bottleneck.
#[test]
fn quinn_and_noq_share_a_simulation() {
    let sim = simulation();
    let data = bytes(1_000_000);
    let expected = data.clone();
    serve(&sim, move |connection| {
        receive(connection, expected.clone())
    });
    let quinn_server = SocketAddr::from(([10, 0, 1, 2], 4433));
    let config = kneepoint_emulator::sim::tls::server_config();
    let seeded = kneepoint_emulator::sim::endpoint_config;
    let server = sim.endpoint(Side::Right, quinn_server, seeded(3), Some(config));
    let server = server.unwrap();
    sim.handle().spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        sim_support::discard(connection).await;
    });
    let over_noq = client(&sim.handle(), "10.0.0.1:0");
    let over_quinn = sim_support::client(&sim.handle(), 2);
    let other = data.clone();
    let noq_upload = sim.handle().spawn(async move {
        upload(&connect(&over_noq).await, &other).await;
    });
    sim.block_on(async {
        let connecting = over_quinn.connect(quinn_server, tls::SERVER_NAME);
        sim_support::upload(&connecting.unwrap().await.unwrap(), &data).await;
        noq_upload.await;
    })
    .unwrap();
    // Two megabytes cannot pass in less, and neither starves.
    let min = Nanos::from_millis(1600);
    assert!(sim.now() > min && sim.now() < min + min, "{}", sim.now());
}
