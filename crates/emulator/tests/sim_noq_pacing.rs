//! noq's pacer rounds waits of less than half a nanosecond to none, and then waits for the same moment again.
//!
//! Time goes on between two polls on a real clock. On the virtual clock it stands still while anything can run, so a connection that
//! asks to be woken at once, for ever, is a livelock.
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::{Network, NetworkConfig, Side};
use kneepoint_emulator::sim::noq::{endpoint, endpoint_config, tls};
use kneepoint_emulator::sim::{SimError, Simulation};
use kneepoint_emulator::time::Nanos;
use noq::TransportConfig;
use noq::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// A pacing rate in bytes per second, and a window that never limits.
#[derive(Debug, Clone, Copy)]
struct Paced(u64);

impl Controller for Paced {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        1 << 30
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.pacing_rate = Some(self.0);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Paced {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

/// Sends a megabyte over 10 Gb/s and 50 us at a pacing rate.
fn send_at(bytes_per_second: u64) -> Result<(), SimError> {
    let link = LinkConfig {
        delay: Nanos::from_micros(25).into(),
        ..LinkConfig::constant(1_250_000_000)
    };
    let network = Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    });
    let simulation = Simulation::builder()
        .step_limit(20_000)
        .build(network.unwrap());
    let handle = simulation.handle();
    let [left, right] = ["10.0.0.1:0", "10.0.0.2:4433"].map(|at| at.parse::<SocketAddr>().unwrap());
    let server = Some(tls::server_config());
    let server = endpoint(&handle, Side::Right, right, endpoint_config(1), server).unwrap();
    let client = endpoint(&handle, Side::Left, left, endpoint_config(2), None).unwrap();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(Paced(bytes_per_second)));
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    client.set_default_client_config(config);
    handle.spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        stream.read_to_end(usize::MAX).await.unwrap();
        connection.closed().await;
    });
    simulation.block_on(async {
        let connecting = client.connect(right, tls::SERVER_NAME).unwrap();
        let connection = connecting.await.unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        stream.write_all(&vec![0; 1_000_000]).await.unwrap();
        stream.finish().unwrap();
        assert_eq!(stream.stopped().await, Ok(None));
    })
}

/// Up to two bytes in a nanosecond every wait lasts for a nanosecond at least. Above, a byte that is missing is no wait.
#[test]
fn pacing_above_sixteen_gigabits_per_second_spins_in_noq() {
    for rate in [1_250_000_000, 1_999_000_000] {
        assert_eq!(send_at(rate).err().map(|error| error.to_string()), None);
    }
    let error = send_at(3_300_000_000).unwrap_err().to_string();
    assert!(error.starts_with("livelock"), "{error}");
    // The error names the task: noq's driver of the connection.
    assert!(
        error.contains("noq") && error.contains("connection.rs"),
        "{error}"
    );
}
