//! How fast the virtual-time runtime is: a minute of one flow of quinn, with TLS, over a 10 Mb/s link.
//!
//! `cargo run --release --example throughput`, with an optional number of datagrams per transmit.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{SimError, Simulation, endpoint_config, tls};
use kneepoint_emulator::time::Nanos;

fn main() -> Result<(), Box<dyn Error>> {
    let segments = std::env::args().nth(1).map(|argument| argument.parse());
    let segments = segments.transpose()?.unwrap_or(1);
    for _ in 0..5 {
        run(segments)?;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures real time"
)]
fn run(segments: usize) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let link = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        queue: Queue::DropTail(Limit::bytes(50_000)),
        ..LinkConfig::new(Shaper::ConstantRate {
            bytes_per_second: 1_250_000,
        })
    };
    let network = Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    })?;
    let sim = Simulation::builder()
        .transmit_segments(segments)
        .build(network);
    let server_address: SocketAddr = "10.0.0.2:4433".parse()?;
    let server = sim.endpoint(
        Side::Right,
        server_address,
        endpoint_config(1),
        Some(tls::server_config()),
    )?;
    let client = sim.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;

    sim.handle().spawn(async move {
        while let Some(incoming) = server.accept().await {
            let Ok(connection) = incoming.await else {
                continue;
            };
            while let Ok(mut stream) = connection.accept_uni().await {
                while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
            }
        }
    });
    let transfer = async {
        let connection = client
            .connect_with(tls::client_config(), server_address, tls::SERVER_NAME)?
            .await?;
        let mut stream = connection.open_uni().await?;
        let data = vec![0; 1 << 16];
        loop {
            stream.write_all(&data).await?;
        }
    };
    let minute: Nanos = Duration::from_secs(60).into();
    let result: Result<Result<(), Box<dyn Error>>, _> = sim.block_on_until(minute, transfer);
    assert_eq!(result.err(), Some(SimError::Deadline { at: minute }));

    let elapsed = start.elapsed().as_secs_f64();
    let [forward, reverse] = [Direction::Forward, Direction::Reverse]
        .map(|direction| sim.with_network(|network| *network.link(direction).statistics()));
    let packets = forward.offered.packets + reverse.offered.packets;
    println!(
        "60 s in {elapsed:.3} s: {packets} packets, {:.0} per second; {} bytes delivered, {} packets dropped",
        packets as f64 / elapsed,
        forward.delivered.bytes,
        forward.queue_full.packets,
    );
    Ok(())
}
