//! A copy of a real connection's RTT estimator.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kneepoint::emulator::link::LinkConfig;
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Simulation, endpoint_config, tls};
use quinn::TransportConfig;
use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

use super::{RTT, Start};

/// The estimator of a real connection, and a time at which it held.
pub(crate) fn capture() -> Start {
    let link = LinkConfig {
        delay: (RTT / 2).into(),
        ..LinkConfig::constant(125_000_000)
    };
    let network = NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    };
    let sim = Simulation::new(Network::new(network).expect("the network is valid"));
    let address = "10.0.1.1:4433".parse().expect("an address");
    let server = Some(tls::server_config());
    let server = sim.endpoint(Side::Right, address, endpoint_config(1), server);
    let server = server.expect("the address is free");
    sim.handle().spawn(async move {
        if let Some(incoming) = server.accept().await
            && let Ok(connection) = incoming.await
        {
            connection.closed().await;
        }
    });

    let capture = Capture::default();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(capture.clone()));
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    let address_of_client = "10.0.0.1:0".parse().expect("an address");
    let client = sim.endpoint(Side::Left, address_of_client, endpoint_config(2), None);
    let client = client.expect("the address is free");
    sim.block_on(async {
        let connecting = client.connect_with(config, address, tls::SERVER_NAME);
        let connection = connecting.expect("the client is configured").await;
        let connection = connection.expect("the server is there");
        sim.handle().sleep(Duration::from_secs(1)).await;
        connection.close(0u32.into(), b"");
    })
    .expect("the simulation runs to the end");
    let captured = *capture.0.lock().expect("nothing panics under this lock");
    let (now, rtt) = captured.expect("packets were acknowledged");
    Start { now, rtt }
}

/// A controller that does nothing but copy the estimator it is shown.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Option<(Instant, RttEstimator)>>>);

impl ControllerFactory for Capture {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.clone_box()
    }
}

impl Controller for Capture {
    fn on_ack(&mut self, now: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().expect("nothing panics under this lock") = Some((now, *rtt));
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        self.initial_window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        12_000
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
