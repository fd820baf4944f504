//! The harness for tests of applications.
#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::future::pending;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::{Direction, Duplex, Network, Topology};
use kneepoint_emulator::sim::{
    Net, SimError, Simulation, TaskName, Testbed, Wait, endpoint_config, tls,
};
use kneepoint_emulator::time::Nanos;
use quinn::{Connection, ConnectionError, Endpoint};
use sim_support::{DELAY, RATE, bytes, link, upload};

fn testbed() -> Testbed {
    Testbed::symmetric(link(), 1).unwrap()
}

async fn connect(client: &Endpoint, server: SocketAddr) -> Connection {
    let connecting = client.connect(server, tls::SERVER_NAME).unwrap();
    connecting.await.unwrap()
}

/// Opens a server that hands every connection to `serve`, as a task of its own.
fn serve<F>(net: &Net, serve: impl Fn(Connection) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let server = net.server().unwrap();
    let address = server.local_addr().unwrap();
    let tasks = net.clone();
    net.spawn_named("accept", async move {
        while let Some(incoming) = server.accept().await {
            let connection = incoming.await.unwrap();
            tasks.spawn_named("serve", serve(connection));
        }
    });
    address
}

#[test]
fn many_clients_carry_data_in_both_directions_at_once() {
    const CLIENTS: usize = 20;
    let bed = testbed();
    let data = Arc::new(bytes(100_000));
    let sent = Arc::clone(&data);
    let times = bed
        .run(async |net| {
            let server = serve(&net, move |connection| {
                let data = Arc::clone(&sent);
                async move {
                    let download = async { upload(&connection, &data).await };
                    let reader = async {
                        let mut stream = connection.accept_uni().await.unwrap();
                        assert!(stream.read_to_end(usize::MAX).await.unwrap() == *data);
                    };
                    both(download, reader).await;
                    connection.closed().await;
                }
            });
            let clients = [(); CLIENTS].map(|()| {
                let (client, data, net) = (net.client().unwrap(), Arc::clone(&data), net.clone());
                net.clone().spawn(async move {
                    let connection = connect(&client, server).await;
                    let reader = async {
                        let mut stream = connection.accept_uni().await.unwrap();
                        assert!(stream.read_to_end(usize::MAX).await.unwrap() == *data);
                    };
                    both(upload(&connection, &data), reader).await;
                    connection.close(0u32.into(), b"");
                    client.wait_idle().await;
                    net.now()
                })
            });
            let mut times = Vec::new();
            for client in clients {
                times.push(client.await);
            }
            times
        })
        .unwrap();
    let last = times.iter().max().unwrap().as_secs_f64();
    let min = (CLIENTS * data.len()) as f64 / RATE as f64;
    // A queue full of first flights takes its time to recover, and a closed connection to drain.
    assert!((min..4.0 * min).contains(&last), "{last}");
    // Each direction has carried all of the data once, and little of it twice.
    for direction in [Direction::Forward, Direction::Reverse] {
        let count = bed
            .run(async |net| net.statistics(direction).delivered)
            .unwrap();
        let share = count.bytes as f64 / (CLIENTS * data.len()) as f64;
        assert!((1.0..1.5).contains(&share), "{share}");
    }
    // Nobody waits for more than the next connection.
    assert_eq!(
        bed.simulation()
            .with_network(|network| network.in_transit()),
        0
    );
}

/// Both futures, at once.
async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (Box::pin(one), Box::pin(other));
    let mut done = (false, false);
    std::future::poll_fn(|cx| {
        done.0 = done.0 || one.as_mut().poll(cx).is_ready();
        done.1 = done.1 || other.as_mut().poll(cx).is_ready();
        if done == (true, true) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[test]
fn streams_and_datagrams_share_a_connection() {
    let lossless = Testbed::symmetric(link(), 1).unwrap();
    let (datagrams, streams) = lossless
        .run(async |net| {
            let server = serve(&net, |connection| async move {
                let datagrams = async {
                    while let Ok(datagram) = connection.read_datagram().await {
                        connection.send_datagram(datagram).unwrap();
                    }
                };
                let streams = async {
                    while let Ok((mut send, mut recv)) = connection.accept_bi().await {
                        let request = recv.read_to_end(100_000).await.unwrap();
                        send.write_all(&request).await.unwrap();
                        send.finish().unwrap();
                    }
                };
                both(datagrams, streams).await;
            });
            let client = net.client().unwrap();
            let connection = connect(&client, server).await;
            for n in 0..10u8 {
                connection.send_datagram(vec![n; 100].into()).unwrap();
            }
            let mut streams = 0;
            for _ in 0..10 {
                let (mut send, mut recv) = connection.open_bi().await.unwrap();
                send.write_all(&[7; 10_000]).await.unwrap();
                send.finish().unwrap();
                streams += recv.read_to_end(100_000).await.unwrap().len();
            }
            let mut datagrams = Vec::new();
            for _ in 0..10 {
                datagrams.push(connection.read_datagram().await.unwrap()[0]);
            }
            (datagrams, streams)
        })
        .unwrap();
    assert_eq!(datagrams, (0..10).collect::<Vec<u8>>());
    assert_eq!(streams, 100_000);
}

#[test]
fn a_closed_connection_drains_on_both_ends() {
    let reason = testbed()
        .run(async |net| {
            let server = net.server().unwrap();
            let address = server.local_addr().unwrap();
            let closed = net.spawn(async move {
                let connection = server.accept().await.unwrap().await.unwrap();
                let reason = connection.closed().await;
                server.wait_idle().await;
                assert_eq!(server.open_connections(), 0);
                reason
            });
            let client = net.client().unwrap();
            let connection = connect(&client, address).await;
            connection.close(7u32.into(), b"enough");
            drop(connection);
            let start = net.now();
            client.wait_idle().await;
            assert_eq!(client.open_connections(), 0);
            // Three times the probe timeout (RFC 9000, section 10.2), which is more than a round trip.
            assert!(net.now() - start > Nanos::from(6 * DELAY));
            closed.await
        })
        .unwrap();
    let ConnectionError::ApplicationClosed(close) = reason else {
        panic!("{reason}");
    };
    assert_eq!(close.error_code, 7u32.into());
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        Testbed::symmetric(
            LinkConfig {
                loss: 0.05.into(),
                ..link()
            },
            seed,
        )
        .unwrap()
        .run(async |net| {
            let server = serve(&net, sim_support::discard);
            let client = net.client().unwrap();
            upload(&connect(&client, server).await, &bytes(300_000)).await;
            let offered = net.statistics(Direction::Forward).offered;
            (net.now(), offered)
        })
        .unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn endpoints_use_the_given_address() {
    let line = |bytes_per_second| {
        let line = LinkConfig::constant(bytes_per_second);
        Duplex::both(LinkConfig {
            delay: DELAY.into(),
            ..line
        })
    };
    let mut topology = Topology::parking_lot(&[line(RATE), line(RATE), line(RATE)]);
    let attached = SocketAddr::from(([10, 0, 0, 1], 9));
    topology.host("node-3", attached).unwrap();
    let bed = Testbed::new(topology.build(1).unwrap(), 1);
    let (rtt, offered) = bed
        .run(async |net| {
            let server = net.server_at(attached, tls::server_config()).unwrap();
            net.spawn(async move {
                let connection = server.accept().await.unwrap().await.unwrap();
                connection.closed().await;
            });
            // The next free address, as the first is taken.
            let client = net.client_at("node-0", tls::client_config()).unwrap();
            assert_eq!(
                client.local_addr().unwrap(),
                "10.0.0.2:49152".parse().unwrap()
            );
            let connection = connect(&client, attached).await;
            let nowhere = net.client_at("node-9", tls::client_config()).unwrap_err();
            assert_eq!(nowhere.kind(), std::io::ErrorKind::NotFound);
            let taken = net.server_at(attached, tls::server_config()).unwrap_err();
            assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
            assert_eq!(net.statistics_of("forward-9"), None);
            (
                connection.rtt(),
                net.statistics_of("forward-3").unwrap().offered,
            )
        })
        .unwrap();
    assert!(rtt > 6 * DELAY && rtt < 7 * DELAY, "{rtt:?}");
    assert!(offered.packets > 0);
}

#[test]
fn a_timeout_and_the_deadline_are_in_virtual_time() {
    let bed = testbed().deadline(Duration::from_secs(5));
    let elapsed = bed
        .run(async |net| {
            let never = net.timeout(Duration::from_secs(3), pending::<()>());
            let elapsed = never.await.unwrap_err();
            net.sleep(Duration::from_secs(1)).await;
            (elapsed.at, net.now())
        })
        .unwrap();
    assert_eq!(
        elapsed,
        (Nanos::from_millis(3000), Nanos::from_millis(4000))
    );
    let at = Nanos::from_millis(5000);
    let late = bed.run(async |net| net.sleep(Duration::from_secs(2)).await);
    assert_eq!(late, Err(SimError::Deadline { at }));
}

#[test]
fn a_panic_of_a_task_names_it() {
    let bed = testbed();
    let error = bed
        .run(async |net| {
            net.spawn_named("accountant", async { panic!("the books do not balance") });
            pending::<()>().await;
        })
        .unwrap_err();
    let text = error.to_string();
    let SimError::Panic { at, task, message } = error else {
        panic!("{error}");
    };
    assert_eq!(
        (at, message.as_str()),
        (Nanos::ZERO, "the books do not balance")
    );
    let TaskName::Spawned { name, at } = task else {
        panic!("{task}");
    };
    assert_eq!(name.as_deref(), Some("accountant"));
    assert_eq!(at.file(), file!());
    let place = format!("task `accountant` spawned at {at} panicked at 0.000000 s: the books");
    assert!(text.starts_with(&place), "{text}");
}

#[test]
fn a_panic_without_a_name_or_a_text_is_found_too() {
    let bed = testbed();
    let run = || {
        bed.run(async |net| {
            net.spawn(async { std::panic::panic_any(42) });
            pending::<()>().await;
        })
    };
    let SimError::Panic { task, message, .. } = run().unwrap_err() else {
        panic!("no panic");
    };
    assert_eq!(message, "something that is not a text");
    assert!(matches!(task, TaskName::Spawned { name: None, at } if at.file() == file!()));
}

#[test]
fn a_failed_assertion_of_the_test_itself_unwinds() {
    let bed = testbed();
    let run = catch_unwind(AssertUnwindSafe(|| {
        bed.run(async |net| {
            net.sleep(Duration::from_secs(1)).await;
            assert_eq!(1, 2, "arithmetic");
        })
    }));
    let payload = run.unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.contains("arithmetic"), "{text}");
}

#[test]
fn a_deadlock_names_the_waiting_tasks() {
    let bed = testbed();
    let error = bed
        .run(async |net| {
            let server = net.server().unwrap();
            let address = server.local_addr().unwrap();
            let reader = net.spawn_named("reader", async move {
                let connection = server.accept().await.unwrap().await.unwrap();
                connection.accept_uni().await.map(drop)
            });
            let sleeper = net.handle().sleep_until(Nanos::MAX);
            net.spawn_named("sleeper", sleeper);
            let client = net.client().unwrap();
            let mut config = tls::client_config();
            let mut transport = quinn::TransportConfig::default();
            transport.max_idle_timeout(None);
            config.transport_config(Arc::new(transport));
            let connecting = client.connect_with(config, address, tls::SERVER_NAME);
            let connection = connecting.unwrap().await.unwrap();
            connection.close(0u32.into(), b"");
            reader.await.unwrap_err();
            net.spawn_named("bystander", pending::<()>()).await;
        })
        .unwrap_err();
    let text = error.to_string();
    let SimError::Deadlock(unfinished) = error else {
        panic!("{error}");
    };
    assert_eq!(unfinished.packets, 0);
    let name = |name: &TaskName| match name {
        TaskName::Spawned { name, .. } => name.clone().unwrap_or_default(),
        name => name.to_string(),
    };
    let tasks: Vec<_> = unfinished
        .tasks
        .iter()
        .map(|task| {
            let waits = task.waits_for.iter().map(|wait| match wait {
                Wait::Task(task) => name(task),
                wait => wait.to_string(),
            });
            (name(&task.name), waits.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let expected = [
        ("the future of the run", "bystander"),
        ("sleeper", "a timer that never expires"),
        ("a task of the transport", "a packet to 10.0.0.2:49152"),
        ("bystander", ""),
    ];
    let expected = expected.map(|(task, waits)| (task.to_owned(), waits.to_owned()));
    assert_eq!(tasks, expected, "{text}");
    assert!(
        text.contains("spawned at crates/emulator/tests/sim_testbed.rs:"),
        "{text}"
    );
    assert!(
        text.contains("waits for what another task or a thread does, or a timer of tokio"),
        "{text}"
    );
    assert!(text.contains("with 0 packets in the network"), "{text}");
}

#[test]
fn after_a_deadline_the_unfinished_tasks_are_known() {
    let bed = testbed().deadline(Duration::from_secs(1));
    let woken = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&woken);
    let result = bed.run(async |net| {
        let ticker = net.clone();
        net.spawn_named("ticker", async move {
            loop {
                ticker.sleep(Duration::from_millis(300)).await;
                *counter.lock().unwrap() += 1;
            }
        })
        .await
    });
    assert!(matches!(result, Err(SimError::Deadline { .. })));
    assert_eq!(*woken.lock().unwrap(), 3);
    let unfinished = bed.unfinished().unwrap();
    let waits: Vec<_> = unfinished
        .tasks
        .iter()
        .map(|task| &task.waits_for[..])
        .collect();
    assert_eq!(waits, [[Wait::Timer(Nanos::from_millis(1200))]]);
}

#[test]
fn a_livelock_names_the_task_that_does_not_rest() {
    let network = sim_support::network(link());
    let bed = Testbed::with(Simulation::builder().step_limit(100).build(network), 1);
    let error = bed
        .run(async |net| {
            net.spawn_named(
                "spinner",
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    std::task::Poll::<()>::Pending
                }),
            )
            .await
        })
        .unwrap_err();
    let SimError::Livelock {
        task: Some(task), ..
    } = error
    else {
        panic!("{error}");
    };
    assert!(task.to_string().starts_with("task `spinner`"), "{task}");
}

#[test]
fn custom_endpoints_are_accepted() {
    let network = Network::new(kneepoint_emulator::network::NetworkConfig {
        forward: link(),
        reverse: link(),
        seed: 1,
    });
    let bed = Testbed::new(network.unwrap(), 1);
    let address = bed
        .run(async |net| {
            let address = "10.9.9.9:9".parse().unwrap();
            let side = kneepoint_emulator::network::Side::Left;
            let endpoint = net
                .handle()
                .endpoint(side, address, endpoint_config(3), None);
            endpoint.unwrap().local_addr().unwrap()
        })
        .unwrap();
    assert_eq!(address, "10.9.9.9:9".parse().unwrap());
}

#[test]
fn errors_are_sentences_as_a_test_prints_them_too() {
    let error = Testbed::symmetric(LinkConfig::constant(0), 1).unwrap_err();
    assert_eq!(format!("{error:?}"), "the rate of a link must be positive");
    let error: Box<dyn std::error::Error> = SimError::Nested.into();
    assert_eq!(format!("{error:?}"), "the simulation is already running");
}
