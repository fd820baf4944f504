//! Downloads a few megabytes over a recorded-looking LTE link, in virtual time, and shows what the congestion
//! controller of the server makes of the link. Client and server are unmodified quinn, in one process.
//!
//! `cargo run --release --example loopback`, with an optional name of a controller: `knee`, `bbr`, `bbr:tuned` ...
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Handle, Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use kneepoint::{ControllerSpec, ParseAlgorithmError, Snapshot, traces};
use quinn::{Connection, Endpoint, TransportConfig};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1);
    let controller: ControllerSpec = name
        .as_deref()
        .unwrap_or("knee")
        .parse()
        .map_err(|error: ParseAlgorithmError| error.to_string())?;

    let bytes = download(controller, |line| println!("{line}"))?;
    println!("{bytes} bytes arrived");
    Ok(())
}

/// Downloads; hands what the server sees each second to `print`, and the time that it took. Returns how many bytes came.
pub(crate) fn download(
    controller: ControllerSpec,
    print: fn(String),
) -> Result<usize, Box<dyn Error>> {
    // From the client on the left a fast link, back to it the trace: 40 ms for a round trip.
    let fast = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(125_000_000)
    };
    let lte = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..fast.clone()
    };
    let sim = Simulation::new(Network::new(NetworkConfig {
        forward: fast,
        reverse: lte,
        seed: 1,
    })?);

    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controller.factory());
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport));

    let address: SocketAddr = "10.0.1.1:4433".parse()?;
    let server = sim.endpoint(Side::Right, address, endpoint_config(1), Some(config))?;
    let client = sim.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;

    sim.handle().spawn(serve(sim.handle(), server, print));
    let bytes = sim.block_on(async {
        let connecting = client.connect_with(tls::client_config(), address, tls::SERVER_NAME)?;
        let connection = connecting.await?;
        let mut stream = connection.accept_uni().await?;
        let data = stream.read_to_end(DOWNLOAD).await?;
        Ok::<_, Box<dyn Error>>(data.len())
    })??;
    print(format!("{} of virtual time", sim.now()));
    Ok(bytes)
}

/// Sends [`DOWNLOAD`] bytes to every client.
async fn serve(handle: Handle, server: Endpoint, print: fn(String)) {
    while let Some(incoming) = server.accept().await {
        let Ok(connection) = incoming.await else {
            continue;
        };
        handle.spawn(report(handle.clone(), connection.clone(), print));
        handle.spawn(async move {
            if let Ok(mut stream) = connection.open_uni().await
                && stream.write_all(&vec![0; DOWNLOAD]).await.is_ok()
                && stream.finish().is_ok()
            {
                connection.closed().await;
            }
        });
    }
}

/// Prints a line a second.
async fn report(handle: Handle, connection: Connection, print: fn(String)) {
    print("   time   sent Mb/s   RTT ms   controller".to_owned());
    let mut before = 0;
    while connection.close_reason().is_none() {
        handle.sleep(Duration::from_secs(1)).await;
        let sent = connection.stats().udp_tx.bytes;
        print(format!(
            "{:5.1} s {:11.2} {:8.1}   {}",
            handle.now().as_secs_f64(),
            (sent - before) as f64 * 8e-6,
            connection.rtt().as_secs_f64() * 1e3,
            kneepoint::quinn::snapshot(connection.congestion_state())
                .map_or(String::new(), describe),
        ));
        before = sent;
    }
}

fn describe(state: Snapshot) -> String {
    format!(
        "{:?}: estimates {:.2} Mb/s and {:.1} ms, window {} kB",
        state.mode,
        state
            .bandwidth
            .map_or(0.0, |rate| rate.megabits_per_second()),
        state.min_rtt.map_or(0.0, |rtt| rtt.as_secs_f64() * 1e3),
        state.congestion_window.0 / 1000,
    )
}

/// Bytes.
pub(crate) const DOWNLOAD: usize = 10_000_000;
