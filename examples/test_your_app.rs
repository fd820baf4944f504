//! An application under test over an emulated LTE link: requests and answers on quinn, unmodified, in virtual time. A minute
//! of the link takes a fraction of a second, and a seed gives the same packets every time.
//!
//! `cargo test --example test_your_app` runs the tests, `cargo run --example test_your_app` prints a few answers' times.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use kneepoint::{ControllerSpec, traces};
use quinn::{Connection, Endpoint, TransportConfig};

/// The application: a server that answers with as many bytes as it is asked for. It knows no emulator.
async fn serve(connection: Connection) {
    while let Ok((mut answer, mut request)) = connection.accept_bi().await {
        let Ok(request) = request.read_to_end(8).await else {
            continue;
        };
        let Ok(length) = request.try_into().map(u64::from_be_bytes) else {
            continue;
        };
        // The client decides how much memory this takes.
        let length = length.min(MAX_ANSWER);
        // An error means that the client has lost interest.
        if answer.write_all(&vec![7; length as usize]).await.is_ok() {
            let _ = answer.finish();
        }
    }
}

/// The application: a client that asks.
async fn ask(connection: &Connection, length: u64) -> Result<usize, Box<dyn Error>> {
    let (mut request, mut answer) = connection.open_bi().await?;
    request.write_all(&length.to_be_bytes()).await?;
    request.finish()?;
    Ok(answer.read_to_end(usize::MAX).await?.len())
}

/// The test bench: a server behind an LTE link, and a client with several requests of a given size. Returns the time of
/// each response.
fn over_lte(
    controller: ControllerSpec,
    loss: f64,
    length: u64,
    times: usize,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let up = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        loss: loss.into(),
        ..LinkConfig::constant(1_250_000)
    };
    let down = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..up.clone()
    };
    let sim = Simulation::new(Network::new(NetworkConfig {
        forward: up,
        reverse: down,
        seed: 1,
    })?);

    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controller.factory());
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport));
    let address: SocketAddr = "10.0.1.1:4433".parse()?;
    let server = sim.endpoint(Side::Right, address, endpoint_config(1), Some(config))?;
    let client = sim.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;

    sim.handle().spawn(accept(server));
    let handle = sim.handle();
    sim.block_on(async {
        let connecting = client.connect_with(tls::client_config(), address, tls::SERVER_NAME)?;
        let connection = connecting.await?;
        let mut took = Vec::new();
        for _ in 0..times {
            let asked = handle.now();
            let received = ask(&connection, length).await?;
            if received as u64 != length {
                return Err(format!("{received} of {length} bytes").into());
            }
            took.push((handle.now() - asked).into());
        }
        Ok(took)
    })?
}

async fn accept(server: Endpoint) {
    if let Some(incoming) = server.accept().await
        && let Ok(connection) = incoming.await
    {
        serve(connection).await;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for took in over_lte("knee".parse()?, 0.01, 200_000, 10)? {
        println!("200 kB took {:6.1} ms", took.as_secs_f64() * 1e3);
    }
    Ok(())
}

/// Bytes.
const MAX_ANSWER: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use kneepoint::Algorithm;

    #[test]
    fn a_small_answer_takes_little_more_than_a_round_trip() {
        for took in over_lte(Algorithm::Knee.into(), 0.0, 1000, 20).unwrap() {
            assert!(took >= Duration::from_millis(40), "{took:?}");
            assert!(took < Duration::from_millis(150), "{took:?}");
        }
    }

    #[test]
    fn a_large_answer_is_whole_and_in_time_though_packets_are_lost() {
        let took = over_lte(Algorithm::Knee.into(), 0.02, 5_000_000, 1).unwrap();
        assert!(took[0] < Duration::from_secs(10), "{took:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_nanoseconds() {
        let run = || over_lte(Algorithm::Knee.into(), 0.02, 100_000, 5).unwrap();
        assert_eq!(run(), run());
    }
}
