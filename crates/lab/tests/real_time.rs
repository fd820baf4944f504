//! The workloads in real time: over the relay, between sockets of the system. They are the code that runs in virtual time.
//!
//! Nothing here depends on how fast the machine is.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::relay::{Relay, RelayConfig, Sinks, Snapshot};
use kneepoint_emulator::sim::tls;
use kneepoint_emulator::time::Nanos;
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::dash::abr::Algorithm;
use kneepoint_lab::dash::{Playback, Video, play, serve};
use kneepoint_lab::workload::{Clock, Load, receive, send};
use quinn::{Connection, Endpoint, ServerConfig, TokioRuntime, TransportConfig};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(resolve("knee", 1).expect("a controller of ours"));
    Arc::new(transport)
}

fn server() -> Endpoint {
    let mut config: ServerConfig = tls::server_config();
    config.transport_config(transport());
    Endpoint::server(config, LOOPBACK).expect("loopback has a port")
}

/// 100 Mb/s and 2 ms each way to this server.
fn relay(server: &Endpoint) -> Relay {
    let link = LinkConfig {
        delay: Nanos::from_millis(2).into(),
        ..LinkConfig::constant(12_500_000)
    };
    let address = server.local_addr().expect("it is bound");
    let config = RelayConfig::new(LOOPBACK, address, link.clone(), link);
    Relay::start(config, Sinks::default()).expect("the relay starts")
}

async fn connect(client: &Endpoint, relay: &Relay) -> Connection {
    let mut config = tls::client_config();
    config.transport_config(transport());
    let connecting = client.connect_with(config, relay.local_addr(), tls::SERVER_NAME);
    let connecting = connecting.expect("the configuration is valid");
    connecting.await.expect("the server is there")
}

fn block_on(test: impl Future<Output = Snapshot>) -> Snapshot {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(test)
}

#[test]
fn segments_bulk_and_requests_cross_the_relay() {
    let until = |millis, load: Load| load.until(Duration::from_millis(millis));
    let phases = [
        // It begins one segment, however late it is, and waits until that has arrived.
        until(
            1000,
            Load::Segments {
                bytes: SEGMENT,
                period: Duration::from_secs(60),
            },
        ),
        until(1200, Load::Greedy),
        until(
            1400,
            Load::Requests {
                bytes: 2000,
                pause: Duration::from_millis(10),
            },
        ),
    ];
    let summary = block_on(async {
        let server = server();
        let relay = relay(&server);
        let clock = Clock::new(Arc::new(TokioRuntime));
        clock.spawn(receive(clock.clone(), server.clone(), HashMap::new()));
        let client = Endpoint::client(LOOPBACK).expect("loopback has a port");
        let connection = connect(&client, &relay).await;
        // The phases count from here on.
        send(&Clock::new(Arc::new(TokioRuntime)), &connection, &phases).await;
        assert_eq!(connection.close_reason(), None);
        connection.close(0_u32.into(), b"");
        client.wait_idle().await;
        relay.stop().summary
    });
    assert!(summary.up.statistics.delivered.bytes > SEGMENT);
}

#[test]
fn a_video_is_played_over_the_relay() {
    let video = Arc::new(Video::big_buck_bunny(2));
    let summary = block_on(async {
        let server = server();
        let relay = relay(&server);
        let clock = Clock::new(Arc::new(TokioRuntime));
        let served = Arc::clone(&video);
        clock.spawn(serve(clock.clone(), server.clone(), served, drop));
        let client = Endpoint::client(LOOPBACK).expect("loopback has a port");
        let connection = connect(&client, &relay).await;
        let mut abr = Algorithm::Dynamic.build(&video, 1);
        let mut playback = Playback::default();
        let played = play(
            &clock,
            &connection,
            &[],
            &video,
            abr.as_mut(),
            &mut playback,
        )
        .await;
        assert_eq!(played, Ok(()));
        assert_eq!(playback.downloads.len(), 2);
        assert_eq!(playback.buffer.played(), video.length());
        connection.close(0_u32.into(), b"");
        client.wait_idle().await;
        relay.stop().summary
    });
    assert!(summary.down.statistics.delivered.bytes > 2 * video.segment_bytes(0));
}

/// Bytes.
const SEGMENT: u64 = 200_000;
