//! Unmodified quinn over the emulated network.
#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::{Direction, Side};
use kneepoint_emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint_emulator::time::Nanos;
use quinn::congestion::{Controller, ControllerFactory};
use quinn::{ConnectionError, ConnectionId, ConnectionIdGenerator, TransportConfig, VarInt};
use sim_support::{
    DELAY, RATE, bytes, client, client_config, connect, discard, link, network, seconds, serve,
    server_address, simulation, upload,
};

#[test]
fn a_bulk_transfer_arrives_intact_at_the_rate_of_the_link() {
    let sim = simulation();
    let handle = sim.handle();
    let received = Arc::new(Mutex::new(Vec::new()));
    serve(&sim, {
        let received = Arc::clone(&received);
        move |connection| {
            let received = Arc::clone(&received);
            async move {
                let mut stream = connection.accept_uni().await.unwrap();
                let data = stream.read_to_end(usize::MAX).await.unwrap();
                *received.lock().unwrap() = data;
                connection.closed().await;
            }
        }
    });
    let data = bytes(5_000_000);
    sim.block_on(async { upload(&connect(&client(&handle, 1)).await, &data).await })
        .unwrap();
    assert!(*received.lock().unwrap() == data);
    let goodput = data.len() as f64 / sim.now().as_secs_f64();
    // Headers cost 5 %; the handshake, slow start and the last acknowledgement the rest.
    let share = goodput / RATE as f64;
    assert!((0.85..0.96).contains(&share), "{share}");
}

#[test]
fn the_round_trip_time_is_that_of_the_path() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, |connection| async move {
        while let Ok((mut send, mut recv)) = connection.accept_bi().await {
            let request = recv.read_to_end(100).await.unwrap();
            send.write_all(&request).await.unwrap();
            send.finish().unwrap();
        }
    });
    sim.block_on(async {
        let connection = connect(&client(&handle, 1)).await;
        handle.sleep(Duration::from_secs(1)).await;
        for _ in 0..3 {
            let start = handle.now();
            let (mut send, mut recv) = connection.open_bi().await.unwrap();
            send.write_all(b"ping").await.unwrap();
            send.finish().unwrap();
            assert_eq!(recv.read_to_end(100).await.unwrap(), b"ping");
            // The propagation delay, and the serialization of two small packets.
            let time = Duration::from(handle.now() - start);
            assert!(time > 2 * DELAY && time < 2 * DELAY + Duration::from_micros(200));
            handle.sleep(Duration::from_millis(200)).await;
        }
        // Large packets of MTU discovery take a millisecond longer.
        let rtt = connection.rtt();
        assert!(rtt > 2 * DELAY && rtt < 2 * DELAY + Duration::from_millis(2));
    })
    .unwrap();
}

#[test]
fn several_clients_share_the_bottleneck() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, discard);
    let data = bytes(1_000_000);
    sim.block_on(async {
        let uploads = [1, 2, 3].map(|n| {
            let (endpoint, data) = (client(&handle, n), data.clone());
            handle.spawn(async move { upload(&connect(&endpoint).await, &data).await })
        });
        for upload in uploads {
            upload.await;
        }
    })
    .unwrap();
    // Three megabytes cannot pass in less, and no one is starved for long.
    let min = 3e6 / RATE as f64;
    let time = sim.now().as_secs_f64();
    assert!((min..2.0 * min).contains(&time), "{time}");
}

#[test]
fn loss_slows_a_transfer_but_does_not_stall_it() {
    let lossy = LinkConfig {
        loss: 0.02.into(),
        ..link()
    };
    let sim = Simulation::new(network(lossy));
    let handle = sim.handle();
    serve(&sim, discard);
    let data = bytes(1_000_000);
    sim.block_on_until(seconds(60), async {
        upload(&connect(&client(&handle, 1)).await, &data).await;
    })
    .unwrap();
    let lost = sim.with_network(|network| network.link(Direction::Forward).statistics().lost);
    assert!(lost.packets > 5);
}

#[test]
fn a_close_reaches_the_peer_after_half_a_round_trip() {
    let sim = simulation();
    let handle = sim.handle();
    let closed = Arc::new(Mutex::new(None));
    serve(&sim, {
        let (handle, closed) = (handle.clone(), Arc::clone(&closed));
        move |connection| {
            let (handle, closed) = (handle.clone(), Arc::clone(&closed));
            async move {
                let reason = connection.closed().await;
                *closed.lock().unwrap() = Some((handle.now(), reason));
            }
        }
    });
    let at = sim
        .block_on(async {
            let endpoint = client(&handle, 1);
            let connection = connect(&endpoint).await;
            handle.sleep(Duration::from_secs(1)).await;
            let at = handle.now();
            connection.close(VarInt::from_u32(42), b"done");
            endpoint.wait_idle().await;
            at
        })
        .unwrap();
    let (time, reason) = closed.lock().unwrap().take().unwrap();
    let delay = Duration::from(time - at);
    assert!(delay > DELAY && delay < DELAY + Duration::from_millis(1));
    let ConnectionError::ApplicationClosed(close) = reason else {
        panic!("{reason}");
    };
    assert_eq!(close.error_code, VarInt::from_u32(42));
}

#[test]
fn an_idle_connection_times_out_in_virtual_time() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, discard);
    sim.block_on(async {
        let mut transport = TransportConfig::default();
        transport.max_idle_timeout(Some(Duration::from_secs(3600).try_into().unwrap()));
        let connecting = client(&handle, 1).connect_with(
            client_config(transport),
            server_address(),
            tls::SERVER_NAME,
        );
        let connection = connecting.unwrap().await.unwrap();
        // The server's default of 30 s prevails.
        assert_eq!(connection.closed().await, ConnectionError::TimedOut);
    })
    .unwrap();
    let time = sim.now();
    assert!(time > seconds(30) && time < seconds(31), "{time}");
}

#[test]
fn a_connection_without_a_peer_times_out() {
    let sim = simulation();
    let handle = sim.handle();
    let result = sim.block_on(async {
        let connecting = client(&handle, 1).connect(server_address(), tls::SERVER_NAME);
        connecting.unwrap().await.map(drop)
    });
    assert_eq!(result, Ok(Err(ConnectionError::TimedOut)));
}

#[test]
fn a_client_can_move_to_another_address() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, discard);
    let data = bytes(500_000);
    sim.block_on_until(seconds(20), async {
        let endpoint = client(&handle, 1);
        let connection = connect(&endpoint).await;
        upload(&connection, &data).await;
        let moved = "10.0.0.77:7".parse().unwrap();
        endpoint
            .rebind_abstract(sim.bind(Side::Left, moved).unwrap())
            .unwrap();
        upload(&connection, &data).await;
        assert_eq!(endpoint.local_addr().unwrap(), moved);
    })
    .unwrap();
}

#[test]
fn a_transfer_can_be_watched_while_it_runs() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, discard);
    let endpoint = client(&handle, 1);
    handle.spawn(async move { upload(&connect(&endpoint).await, &bytes(2_000_000)).await });
    let delivered = || {
        sim.with_network(|network| {
            network
                .link(Direction::Forward)
                .statistics()
                .delivered
                .bytes
        })
    };
    sim.run_until(Nanos::from_millis(500)).unwrap();
    let early = delivered();
    sim.run_until(Nanos::from_millis(1000)).unwrap();
    assert!(early > 0 && delivered() > early);
}

#[test]
fn dropping_the_simulation_frees_endpoints_and_connections() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, discard);

    // Freed with the endpoint's state, which owns the configuration.
    let endpoint_state = Arc::new(());
    let mut config = endpoint_config(1);
    let held = Arc::clone(&endpoint_state);
    config.cid_generator(move || {
        let _held = &held;
        Box::new(Cids)
    });
    // Freed with the connection's state.
    let connection_state = Arc::new(TransportConfig::default());
    let mut client = tls::client_config();
    client.transport_config(Arc::clone(&connection_state));

    let address = "10.0.0.1:0".parse().unwrap();
    let endpoint = sim.endpoint(Side::Left, address, config, None).unwrap();
    handle.spawn(async move {
        let connecting = endpoint.connect_with(client, server_address(), tls::SERVER_NAME);
        upload(&connecting.unwrap().await.unwrap(), &bytes(9_000_000)).await;
    });
    sim.run_until(seconds(1)).unwrap();
    assert!(Arc::strong_count(&endpoint_state) > 1);
    assert!(Arc::strong_count(&connection_state) > 1);
    drop(sim);
    assert_eq!(Arc::strong_count(&endpoint_state), 1);
    assert_eq!(Arc::strong_count(&connection_state), 1);
}

/// A bug in a congestion controller poisons the locks of its connection on the way.
#[test]
fn a_panic_of_a_congestion_controller_ends_the_run() {
    let sim = simulation();
    let handle = sim.handle();
    serve(&sim, discard);
    let run = catch_unwind(AssertUnwindSafe(|| {
        sim.block_on(async {
            let mut transport = TransportConfig::default();
            transport.congestion_controller_factory(Arc::new(Broken));
            let endpoint = client(&handle, 1);
            let connecting =
                endpoint.connect_with(client_config(transport), server_address(), tls::SERVER_NAME);
            let connection = connecting.unwrap().await.unwrap();
            upload(&connection, &bytes(1_000_000)).await;
        })
    }));
    let payload = run.unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"the controller is broken"));
    drop(sim);
}

#[derive(Debug, Clone)]
struct Broken;

impl ControllerFactory for Broken {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Self)
    }
}

impl Controller for Broken {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_end_acks(&mut self, _: Instant, _: u64, _: bool, largest_packet: Option<u64>) {
        assert!(largest_packet < Some(20), "the controller is broken");
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        20_000
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        20_000
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Connection IDs without any state.
struct Cids;

impl ConnectionIdGenerator for Cids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&[])
    }

    fn cid_len(&self) -> usize {
        0
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
