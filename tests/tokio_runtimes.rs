//! The harness of docs/TESTING_YOUR_APPLICATION.md inside of every kind of test that tokio's users write.
//!
//! tokio grants a cooperative budget to each poll of its tasks. A whole simulation is one such poll.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod lte;

use kneepoint::emulator::network::Side;
use kneepoint::emulator::sim::{Simulation, Testbed, noq, tls};
use kneepoint::emulator::time::Nanos;
use lte::lte;

/// The virtual times at which 1 MB and 10 MB had arrived over the LTE-like trace.
fn download() -> [Nanos; 2] {
    [1_000_000, 10_000_000].map(|size| {
        Testbed::new(lte(), 1)
            .run(async |net| {
                let (server, client) = (net.server().unwrap(), net.client().unwrap());
                let address = server.local_addr().unwrap();
                net.spawn_named("server", async move {
                    let connection = server.accept().await.unwrap().await.unwrap();
                    let mut stream = connection.open_uni().await.unwrap();
                    stream.write_all(&vec![b'.'; size]).await.unwrap();
                    stream.finish().unwrap();
                    connection.closed().await;
                });
                let connection = client.connect(address, tls::SERVER_NAME).unwrap();
                let mut stream = connection.await.unwrap().accept_uni().await.unwrap();
                assert_eq!(stream.read_to_end(size).await.unwrap().len(), size);
                net.now()
            })
            .unwrap()
    })
}

/// The same for 1 MB over noq, whose channels and notifications take from the budget too.
fn download_over_noq() -> Nanos {
    let simulation = Simulation::new(lte());
    let handle = simulation.handle();
    let address = "10.0.0.2:4433".parse().unwrap();
    let config = Some(noq::tls::server_config());
    let server = noq::endpoint(
        &handle,
        Side::Right,
        address,
        noq::endpoint_config(1),
        config,
    );
    let server = server.unwrap();
    let client = "10.0.0.1:0".parse().unwrap();
    let client = noq::endpoint(&handle, Side::Left, client, noq::endpoint_config(2), None);
    let client = client.unwrap();
    client.set_default_client_config(noq::tls::client_config());
    handle.spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        stream.write_all(&vec![b'.'; 1_000_000]).await.unwrap();
        stream.finish().unwrap();
        connection.closed().await;
    });
    let download = async {
        let connecting = client.connect(address, noq::tls::SERVER_NAME).unwrap();
        let mut stream = connecting.await.unwrap().accept_uni().await.unwrap();
        assert_eq!(
            stream.read_to_end(1_000_000).await.unwrap().len(),
            1_000_000
        );
        handle.now()
    };
    let hour = Nanos::from_millis(3_600_000);
    simulation.block_on_until(hour, download).unwrap()
}

/// Virtual time is the same wherever it runs.
fn assert_as_without_a_runtime() {
    let outside = std::thread::spawn(|| (download(), download_over_noq()));
    assert_eq!((download(), download_over_noq()), outside.join().unwrap());
}

#[tokio::test]
async fn in_a_test_of_one_thread() {
    assert_as_without_a_runtime();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_test_of_several_threads() {
    // The future of the test itself, and a task that a worker runs.
    assert_as_without_a_runtime();
    tokio::spawn(async { assert_as_without_a_runtime() })
        .await
        .unwrap();
}

#[tokio::test]
async fn on_a_thread_for_blocking_work() {
    tokio::task::spawn_blocking(assert_as_without_a_runtime)
        .await
        .unwrap();
}
