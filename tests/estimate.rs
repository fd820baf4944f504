//! What an application is told of its own connection's bandwidth, over quinn and noq, on the side that accepts connections.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::sync::Arc;
use std::time::Duration;

use kneepoint::emulator::link::{Limit, LinkConfig, Queue};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{self, Net, Simulation, Testbed};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::{IntoFactory as _, bandwidth_estimate, watch_bandwidth};
use kneepoint::{Algorithm, BandwidthEstimate, BandwidthWatch};

/// 20 Mb/s.
const RATE: u64 = 2_500_000;

fn network() -> Network {
    let link = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        queue: Queue::DropTail(Limit::bytes(200_000)),
        ..LinkConfig::constant(RATE)
    };
    Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    })
    .unwrap()
}

fn share(estimate: BandwidthEstimate) -> f64 {
    estimate.rate.as_f64() / RATE as f64
}

/// An estimate and its age.
type Seen = Option<(BandwidthEstimate, Duration)>;

/// A server with two connections, each with a handle of its own, though one factory made both controllers: what the handles read.
#[derive(Debug)]
struct Server {
    /// Of messages of 1 Mb/s.
    messages: Seen,
    /// Within a download that fills the link, by the handle and from a clone of the controller.
    download: Seen,
    asked: Option<BandwidthEstimate>,
    /// Ten seconds after it.
    later: Seen,
}

async fn serve(net: Net, algorithm: Algorithm) -> Server {
    let mut transport = quinn::TransportConfig::default();
    transport.congestion_controller_factory(algorithm.factory());
    let mut config = sim::tls::server_config();
    config.transport_config(Arc::new(transport));
    let server = net.server_at(Side::Right, config).unwrap();
    let client = net.client().unwrap();
    let mut connections = Vec::new();
    for _ in 0..2 {
        let connecting = client.connect(server.local_addr().unwrap(), sim::tls::SERVER_NAME);
        let accepting = server.accept().await.unwrap();
        let (connected, accepted) = (connecting.unwrap(), accepting.await.unwrap());
        let connected = connected.await.unwrap();
        net.spawn(async move {
            while let Ok(mut stream) = connected.accept_uni().await {
                while let Ok(Some(_)) = stream.read_chunk(usize::MAX, false).await {}
            }
        });
        connections.push(accepted);
    }
    let watches: Vec<BandwidthWatch> = connections
        .iter()
        .map(|connection| watch_bandwidth(connection.congestion_state()).unwrap())
        .collect();
    let read = |index: usize| {
        let estimate = watches[index].get()?;
        Some((estimate, estimate.age(net.handle().instant())))
    };

    let mut messages = connections[0].open_uni().await.unwrap();
    let pace = net.clone();
    net.spawn(async move {
        while messages.write_all(&[0; 2500]).await.is_ok() {
            pace.sleep(Duration::from_millis(20)).await;
        }
    });
    net.sleep(Duration::from_secs(1)).await;
    let shown = read(0);

    let mut stream = connections[1].open_uni().await.unwrap();
    let downloading = net.spawn(async move { stream.write_all(&vec![0; 5_000_000]).await });
    net.sleep(Duration::from_millis(1500)).await;
    let (download, asked) = (
        read(1),
        bandwidth_estimate(connections[1].congestion_state()),
    );
    downloading.await.unwrap();
    net.sleep(Duration::from_secs(10)).await;
    Server {
        messages: shown,
        download,
        asked,
        later: read(1),
    }
}

#[test]
fn a_server_reads_the_estimate_of_each_of_its_connections() {
    for &algorithm in Algorithm::all() {
        let testbed = Testbed::new(network(), 1);
        let server = testbed
            .run(async |net| serve(net, algorithm).await)
            .unwrap();
        let Some((download, age)) = server.download else {
            // A window says nothing of the path.
            assert!(WITHOUT_MODEL.contains(&algorithm), "{algorithm}");
            assert!((server.messages, server.asked, server.later) == (None, None, None));
            continue;
        };
        assert!(!WITHOUT_MODEL.contains(&algorithm), "{algorithm}");
        assert!(!download.lower_bound, "{algorithm}");
        // `bbr-fair` still has a burst of its startup in its maximum.
        let most = if algorithm == Algorithm::BbrFair {
            2.0
        } else {
            1.1
        };
        assert!((0.7..most).contains(&share(download)), "{algorithm}");
        assert!(age < Duration::from_millis(300), "{algorithm}");
        let min_rtt = download.min_rtt.unwrap().as_millis();
        assert!((40..45).contains(&min_rtt), "{algorithm}: {min_rtt} ms");
        let differs = share(server.asked.unwrap()) - share(download);
        assert!(differs.abs() < 0.05, "{algorithm}: {differs}");

        let (messages, _) = server.messages.unwrap();
        assert!(messages.lower_bound, "{algorithm}");
        // They are a twentieth of the link. A percentile of bursts and pauses is far less.
        assert!((0.001..0.1).contains(&share(messages)), "{algorithm}");

        // What was measured stays, and gets older.
        let (later, age) = server.later.unwrap();
        assert!(!later.lower_bound, "{algorithm}");
        assert!(age > Duration::from_secs(9), "{algorithm}");
    }
}

const WITHOUT_MODEL: [Algorithm; 4] = [
    Algorithm::NewReno,
    Algorithm::Cubic,
    Algorithm::Vegas,
    Algorithm::Compound,
];

/// quinn goes on with a clone of the controller when the peer has another port, and with a new controller when it has another address.
#[test]
fn a_handle_follows_a_new_port_and_not_a_new_address() {
    let testbed = Testbed::new(network(), 1);
    let serving = testbed.run(async |net| {
        let mut transport = quinn::TransportConfig::default();
        transport.congestion_controller_factory(Algorithm::Knee.factory());
        let mut config = sim::tls::server_config();
        config.transport_config(Arc::new(transport));
        let server = net.server_at(Side::Right, config).unwrap();
        let client = net.client().unwrap();
        let connecting = client.connect(server.local_addr().unwrap(), sim::tls::SERVER_NAME);
        let accepting = server.accept().await.unwrap();
        let (connecting, accepted) = (connecting.unwrap(), accepting.await.unwrap());
        let connected = connecting.await.unwrap();
        net.spawn(async move {
            let mut stream = connected.accept_uni().await.unwrap();
            while let Ok(Some(_)) = stream.read_chunk(usize::MAX, false).await {}
        });
        let watch = || watch_bandwidth(accepted.congestion_state()).unwrap();
        let age = |watch: &BandwidthWatch| watch.get().unwrap().age(net.handle().instant());
        let first = watch();
        let mut stream = accepted.open_uni().await.unwrap();
        net.spawn(async move { while stream.write_all(&[0; 10_000]).await.is_ok() {} });

        let address = client.local_addr().unwrap();
        let mut port = address;
        port.set_port(7);
        for (moved, follows) in [(port, true), ("10.0.0.77:7".parse().unwrap(), false)] {
            net.sleep(Duration::from_secs(1)).await;
            assert!(age(&first) < Duration::from_millis(300), "{moved}");
            let socket = net.handle().bind(Side::Left, moved).unwrap();
            client.rebind_abstract(socket).unwrap();
            net.sleep(Duration::from_secs(2)).await;
            assert_eq!(accepted.remote_address(), moved);
            let expected = age(&first) < Duration::from_millis(300);
            assert_eq!(expected, follows, "{moved}: {:?}", age(&first));
            assert!(age(&watch()) < Duration::from_millis(300), "{moved}");
        }
    });
    serving.unwrap();
}

/// noq has a controller for each path.
#[test]
fn a_noq_client_reads_the_estimate_of_its_path() {
    use kneepoint::emulator::sim::noq::{endpoint, endpoint_config, tls};
    use kneepoint::noq::{IntoFactory, bandwidth_estimate, watch_bandwidth};
    for algorithm in [Algorithm::Knee, Algorithm::Bbr3, Algorithm::Cubic] {
        let sim = Simulation::new(network());
        let handle = sim.handle();
        let open = |side, address: &str, seed, config| {
            let address = address.parse().unwrap();
            endpoint(&handle, side, address, endpoint_config(seed), config).unwrap()
        };
        let server = open(Side::Right, "10.0.1.1:4433", 1, Some(tls::server_config()));
        let client = open(Side::Left, "10.0.0.1:0", 2, None);
        handle.spawn(async move {
            let connection = server.accept().await.unwrap().await.unwrap();
            while let Ok(mut stream) = connection.accept_uni().await {
                while let Ok(Some(_)) = stream.read_chunk(usize::MAX).await {}
            }
        });
        let mut transport = noq::TransportConfig::default();
        transport.congestion_controller_factory(IntoFactory::factory(algorithm));
        let mut config = tls::client_config();
        config.transport_config(Arc::new(transport));
        client.set_default_client_config(config);
        sim.block_on(async {
            let address = "10.0.1.1:4433".parse().unwrap();
            let connecting = client.connect(address, tls::SERVER_NAME).unwrap();
            let connection = connecting.await.unwrap();
            let state = || connection.congestion_state(noq::PathId::ZERO);
            let watch = state().and_then(watch_bandwidth).unwrap();
            let mut stream = connection.open_uni().await.unwrap();
            let bytes = vec![0; 4_000_000];
            handle.spawn(async move { stream.write_all(&bytes).await });
            handle.sleep(Duration::from_secs(1)).await;
            let asked = state().and_then(bandwidth_estimate);
            if algorithm == Algorithm::Cubic {
                // A window says nothing of the path.
                assert_eq!((watch.get(), asked), (None, None));
            } else {
                let (seen, asked) = (watch.get().unwrap(), asked.unwrap());
                assert!(!seen.lower_bound, "{algorithm}: {seen:?}");
                assert!((0.7..1.1).contains(&share(seen)), "{algorithm}: {seen:?}");
                let differs = (share(asked) - share(seen)).abs();
                assert!(differs < 0.05, "{algorithm}: {asked:?} {seen:?}");
            }
            // Nobody hears of a connection that is gone.
            connection.close(0u32.into(), b"");
            drop(connection);
            handle.sleep(Duration::from_secs(10)).await;
            assert_eq!(watch.get(), None, "{algorithm}");
        })
        .unwrap();
    }
}
