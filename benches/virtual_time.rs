//! Packets per second in virtual time: one flow with TLS fills a link of 10 Mb/s for 60 s. One element is a packet,
//! of either direction.

use std::net::SocketAddr;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kneepoint::Algorithm;
use kneepoint::emulator::link::{Limit, LinkConfig, Queue};
use kneepoint::emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{SimError, Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use quinn::TransportConfig;
use quinn::congestion::{ControllerFactory, CubicConfig};

type SharedFactory = Arc<dyn ControllerFactory + Send + Sync>;

/// One for each run: a factory counts the controllers it builds, and gives each a seed of its own.
type NewFactory = fn() -> SharedFactory;

fn minute(criterion: &mut Criterion) {
    let controllers: [(&str, NewFactory); 2] = [
        ("knee", || Algorithm::Knee.factory()),
        ("quinn-cubic", || Arc::new(CubicConfig::default())),
    ];
    let mut group = criterion.benchmark_group("minute_at_10_mbps");
    group.sample_size(10);
    for (name, factory) in controllers {
        group.throughput(Throughput::Elements(run(factory())));
        group.bench_function(name, |bencher| bencher.iter(|| run(factory())));
    }
    group.finish();
}

/// Simulates [`DURATION`]; returns the number of packets.
fn run(controller: SharedFactory) -> u64 {
    let link = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        queue: Queue::DropTail(Limit::bytes(50_000)),
        ..LinkConfig::constant(1_250_000)
    };
    let network = NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    };
    let sim = Simulation::new(Network::new(network).expect("the network is valid"));

    let address: SocketAddr = "10.0.1.1:4433".parse().expect("an address");
    let server = Some(tls::server_config());
    let server = sim.endpoint(Side::Right, address, endpoint_config(1), server);
    let server = server.expect("the address is free");
    sim.handle().spawn(async move {
        let incoming = server.accept().await.expect("a client");
        let connection = incoming.await.expect("the handshake succeeds");
        let mut stream = connection.accept_uni().await.expect("a stream");
        while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
    });

    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controller);
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    let address_of_client = "10.0.0.1:0".parse().expect("an address");
    let client = sim.endpoint(Side::Left, address_of_client, endpoint_config(2), None);
    let client = client.expect("the address is free");
    let result = sim.block_on_until(DURATION, async {
        let connecting = client.connect_with(config, address, tls::SERVER_NAME);
        let connection = connecting.expect("the client is configured").await;
        let connection = connection.expect("the server is there");
        let mut stream = connection.open_uni().await.expect("the connection lives");
        let data = vec![0; 1 << 16];
        while stream.write_all(&data).await.is_ok() {}
    });
    assert_eq!(result, Err(SimError::Deadline { at: DURATION }));

    sim.with_network(|network| {
        [Direction::Forward, Direction::Reverse]
            .map(|direction| network.link(direction).statistics().offered.packets)
            .iter()
            .sum()
    })
}

/// Virtual.
const DURATION: Nanos = Nanos::from_millis(60_000);

criterion_group!(benches, minute);
criterion_main!(benches);
