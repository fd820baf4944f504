//! The values of our controllers in quinn's qlog: window, pacing rate and slow-start threshold.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use kneepoint::{Algorithm, traces};
use quinn::{QlogConfig, TransportConfig};
use serde_json::Value;

/// A file that can be read while it is written.
#[derive(Debug, Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Uploads over the bundled LTE trace and returns every value of each of the three metrics.
fn metrics(algorithm: Algorithm, bytes: usize, queue: u64) -> [Vec<f64>; 3] {
    let fast = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(125_000_000)
    };
    let lte = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(queue)),
        ..fast.clone()
    };
    let network = NetworkConfig {
        forward: lte,
        reverse: fast,
        seed: 1,
    };
    let sim = Simulation::new(Network::new(network).unwrap());
    let address: SocketAddr = "10.0.1.1:4433".parse().unwrap();
    let receiver = Some(tls::server_config());
    let receiver = sim
        .endpoint(Side::Right, address, endpoint_config(1), receiver)
        .unwrap();
    let any = "10.0.0.1:0".parse().unwrap();
    let sender = sim
        .endpoint(Side::Left, any, endpoint_config(2), None)
        .unwrap();
    sim.handle().spawn(async move {
        let connection = receiver.accept().await.unwrap().await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
        connection.closed().await;
    });

    let file = File::default();
    let mut qlog = QlogConfig::default();
    qlog.writer(Box::new(file.clone()))
        .start_time(sim.handle().instant());
    let mut transport = TransportConfig::default();
    transport
        .qlog_stream(qlog.into_stream())
        .congestion_controller_factory(algorithm.factory());
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    sim.block_on(async {
        let connecting = sender.connect_with(config, address, tls::SERVER_NAME);
        let connection = connecting.unwrap().await.unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        stream.write_all(&vec![0; bytes]).await.unwrap();
        stream.finish().unwrap();
        stream.stopped().await.unwrap();
    })
    .unwrap();

    let text = file.0.lock().unwrap();
    // A JSON text sequence (RFC 7464): a record separator before each.
    let events: Vec<Value> = text
        .split(|byte| *byte == 0x1e)
        .filter_map(|record| serde_json::from_slice(record).ok())
        .collect();
    ["congestion_window", "pacing_rate", "ssthresh"].map(|name| {
        let values = events
            .iter()
            .filter_map(|event| event["data"][name].as_f64());
        values.collect()
    })
}

#[test]
fn a_model_shows_its_window_and_its_pacing_rate() {
    let [window, pacing_rate, threshold] = metrics(Algorithm::BbrS, 3_000_000, 3_000_000);
    assert!(window.len() > 100, "{}", window.len());
    assert!(window.iter().all(|window| (2400.0..3e6).contains(window)));
    assert!(pacing_rate.len() > 10, "{}", pacing_rate.len());
    // In bits per second: the link carries 30 Mb/s at most, and Startup asks for 2.9 times the estimate.
    let fastest = pacing_rate.iter().copied().fold(0.0, f64::max);
    assert!((5e6..200e6).contains(&fastest), "{fastest}");
    assert_eq!(threshold, [0.0; 0], "BBR has none");
}

#[test]
fn slow_start_shows_its_threshold_after_a_loss() {
    let [window, pacing_rate, threshold] = metrics(Algorithm::Cubic, 3_000_000, 50_000);
    assert!(window.len() > 100, "{}", window.len());
    assert_eq!(pacing_rate, [0.0; 0], "quinn paces by the window");
    assert!(!threshold.is_empty());
    assert!(threshold.iter().all(|bytes| (2400.0..3e6).contains(bytes)));
}
