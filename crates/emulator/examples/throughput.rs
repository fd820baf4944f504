//! How fast the virtual-time runtime is: flows of quinn, with TLS, each over a 10 Mb/s link's worth of a shared link.
//!
//! `cargo run --release --example throughput`, with an optional number of flows (1), of seconds (60) and of runs (5), and then
//! `inside` to run inside of a tokio runtime, as in `#[tokio::test]`, or `without` to leave tokio out.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig};
use kneepoint_emulator::sim::{Net, SimError, Simulation, Testbed, tls};
use kneepoint_emulator::time::Nanos;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: u32| arguments.next().map_or(Ok(default), |text| text.parse());
    let (flows, seconds, runs) = (next(1)?, next(60)?, next(5)?);
    let place = arguments.next().unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for _ in 0..runs {
        match place.as_str() {
            "inside" => runtime.block_on(async { run(flows, seconds, true) })?,
            place => run(flows, seconds, place != "without")?,
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures real time"
)]
fn run(flows: u32, seconds: u32, tokio: bool) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let link = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        queue: Queue::DropTail(Limit::bytes(50_000 * u64::from(flows))),
        ..LinkConfig::constant(1_250_000 * u64::from(flows))
    };
    let end: Nanos = Duration::from_secs(seconds.into()).into();
    let network = Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    })?;
    let simulation = Simulation::builder().tokio(tokio).build(network);
    let bed = Testbed::with(simulation, 1).deadline(end);
    let result: Result<Result<(), Box<dyn Error>>, _> = bed.run(async |net| {
        let server = serve(&net)?;
        for _ in 1..flows {
            let task = net.clone();
            net.spawn(async move { fill(&task, server).await.map_err(|error| error.to_string()) });
        }
        fill(&net, server).await
    });
    assert_eq!(result.err(), Some(SimError::Deadline { at: end }));

    let elapsed = start.elapsed().as_secs_f64();
    let [forward, reverse] = [Direction::Forward, Direction::Reverse].map(|direction| {
        let simulation = bed.simulation();
        simulation.with_network(|network| *network.link(direction).statistics())
    });
    let packets = forward.offered.packets + reverse.offered.packets;
    println!(
        "{flows} flows, {seconds} s in {elapsed:.3} s: {packets} packets, {:.0} per second; {} bytes delivered, {} packets dropped",
        packets as f64 / elapsed,
        forward.delivered.bytes,
        forward.queue_full.packets,
    );
    Ok(())
}

/// Opens a server that reads and forgets whatever comes.
fn serve(net: &Net) -> Result<SocketAddr, Box<dyn Error>> {
    let server = net.server()?;
    let address = server.local_addr()?;
    let tasks = net.clone();
    net.spawn(async move {
        while let Some(incoming) = server.accept().await {
            tasks.spawn(async move {
                let connection = incoming.await?;
                while let Ok(mut stream) = connection.accept_uni().await {
                    while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
                }
                Ok::<_, quinn::ConnectionError>(())
            });
        }
    });
    Ok(address)
}

/// Sends for ever.
async fn fill(net: &Net, server: SocketAddr) -> Result<(), Box<dyn Error>> {
    let client = net.client()?;
    let connection = client.connect(server, tls::SERVER_NAME)?.await?;
    let mut stream = connection.open_uni().await?;
    loop {
        stream.write_chunk(Bytes::from_static(&DATA)).await?;
    }
}

/// Shared by all flows, so that what quinn keeps until it is acknowledged, up to 1.25 MB for each, takes no memory.
static DATA: [u8; 1 << 16] = [0; 1 << 16];
