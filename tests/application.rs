//! The example of docs/TESTING_YOUR_APPLICATION.md: a test of an application over LTE.

use std::error::Error;

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig};
use kneepoint::emulator::sim::{Testbed, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::traces;
use quinn::{Connection, Endpoint};

#[test]
fn a_page_loads_within_two_seconds_over_lte() -> Result<(), Box<dyn Error>> {
    let line = Shaper::ConstantRate {
        bytes_per_second: 12_500_000,
    };
    let up = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::new(line)
    };
    let down = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..up.clone()
    };
    let network = Network::new(NetworkConfig {
        forward: up,
        reverse: down,
        seed: 1,
    })?;
    let (page, time) = Testbed::new(network, 1).run(async |net| {
        let (server, client) = (net.server()?, net.client()?);
        let connecting = client.connect(server.local_addr()?, tls::SERVER_NAME)?;
        net.spawn_named("server", serve(server));
        let page = fetch(&connecting.await?).await?;
        Ok::<_, Box<dyn Error>>((page, net.now()))
    })??;
    assert_eq!(page.len(), 1_000_000);
    assert!(time < Nanos::from_millis(2000), "{time}");
    Ok(())
}

/// The application's server: a page for every request.
async fn serve(server: Endpoint) {
    let incoming = server.accept().await.expect("a client");
    let connection = incoming.await.expect("a handshake");
    while let Ok((mut send, mut recv)) = connection.accept_bi().await {
        let request = recv.read_to_end(100).await.expect("a short request");
        assert_eq!(request, b"GET /");
        send.write_all(&vec![b'.'; 1_000_000])
            .await
            .expect("a reader");
        send.finish().expect("an open stream");
    }
}

/// The application's client.
async fn fetch(connection: &Connection) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut send, mut recv) = connection.open_bi().await?;
    send.write_all(b"GET /").await?;
    send.finish()?;
    Ok(recv.read_to_end(10_000_000).await?)
}

/// The code above is the guide's.
#[test]
fn the_guide_shows_this_file() {
    let here = include_str!("application.rs");
    let (example, _) = here.split_once("\n/// The code above").expect("this test");
    let (_, example) = example.split_once("\n\n").expect("a heading");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    // The guide is no part of the published package.
    if let Ok(guide) = std::fs::read_to_string(folder.join("docs/TESTING_YOUR_APPLICATION.md")) {
        assert!(guide.contains(example));
    }
}
