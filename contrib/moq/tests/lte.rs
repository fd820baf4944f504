//! Ten seconds of 3 Mb/s over the bundled LTE-like trace, in virtual time: every frame arrives, and soon.

use std::sync::Arc;
use std::time::Duration;

use kneepoint::Algorithm;
use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Net, Testbed, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use kneepoint::traces;
use moq_net::Timestamp;
use moq_over_lte::{Failure, origin, publish, subscribe};
use quinn::TransportConfig;
use tokio::time::interval;

const FRAMES: u64 = 300;
/// 30 of them a second are 3 Mb/s.
const FRAME_BYTES: usize = 12_500;

/// 12.5 MB/s up, and the LTE-like trace down.
fn lte() -> Result<Testbed, Failure> {
    let up = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(12_500_000)
    };
    let down = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..up.clone()
    };
    let network = NetworkConfig {
        forward: up,
        reverse: down,
        seed: 1,
    };
    Ok(Testbed::new(Network::new(network)?, 1))
}

/// The publisher's endpoint: it sends with `knee`.
fn server(net: &Net) -> Result<quinn::Endpoint, Failure> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Algorithm::Knee.factory());
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport));
    Ok(net.server_at(Side::Right, config)?)
}

/// Accepts a subscriber, and publishes the frames. Returns the name of the controller that it sent with.
async fn broadcast(endpoint: quinn::Endpoint) -> Result<&'static str, Failure> {
    let connection = endpoint.accept().await.ok_or("closed")?.await?;
    let origin = origin(1)?;
    let broadcast = origin.create_broadcast("room")?;
    let track = broadcast.create_track("video", None)?;
    broadcast.announce(Default::default())?;
    let _session = publish(connection.clone(), &origin).await?;
    track.used().await?;
    // One group: a subscriber gives a group up for a newer one.
    let mut group = track.append_group()?;
    let mut ticks = interval(Duration::from_millis(33));
    for number in 0..FRAMES {
        ticks.tick().await;
        let mut frame = vec![0; FRAME_BYTES];
        frame[..8].copy_from_slice(&number.to_be_bytes());
        group.write_frame(Timestamp::ZERO, frame)?;
    }
    group.finish()?;
    track.finish()?;
    connection.closed().await;
    let state = kneepoint::quinn::snapshot(connection.congestion_state());
    Ok(state.ok_or("the controller is another one")?.algorithm)
}

#[test]
fn a_broadcast_arrives_in_time() -> Result<(), Failure> {
    let (arrivals, algorithm) = lte()?.run(async |net| {
        let server = server(&net)?;
        let address = server.local_addr()?;
        let broadcast = tokio::spawn(broadcast(server));
        let connection = net.client()?.connect(address, tls::SERVER_NAME)?.await?;
        let origin = origin(2)?;
        let _session = subscribe(connection.clone(), origin.clone()).await?;
        let consumer = origin.consume();
        consumer.routed("room").await.ok_or("no such broadcast")?;
        let room = consumer.request_broadcast("room").await?;
        let mut video = room.track("video")?.subscribe(None).await?;
        let mut arrivals = Vec::new();
        while let Some(mut group) = video.recv_group().await? {
            while let Some(frame) = group.read_frame().await? {
                assert_eq!(frame.payload.len(), FRAME_BYTES);
                arrivals.push(net.now());
            }
        }
        connection.close(0u32.into(), b"done");
        Ok::<_, Failure>((arrivals, broadcast.await??))
    })??;
    assert_eq!(algorithm, "knee");
    assert_eq!(arrivals.len(), FRAMES as usize);
    let last = arrivals.iter().max().copied().unwrap_or(Nanos::ZERO);
    assert!(last < Nanos::from_millis(11_000), "{last}");
    Ok(())
}
