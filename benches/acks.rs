//! Nanoseconds per acknowledgement: `bbr` and `bbr-s` beside quinn's own controllers, through quinn's trait.
//!
//! The script is a steady state: so many packets in flight on a path of 40 ms, two packets per acknowledgement, two
//! sent in turn, and once in a thousand acknowledgements a loss, so that none stays in slow start. One iteration is
//! all the calls that quinn makes for that: `on_sent`, `on_ack` twice, `on_end_acks`, and a look at the window.
//!
//! `on_ack` wants quinn's `RttEstimator`, which nobody else can construct. But it can be copied: [`Capture`] takes
//! one from a real connection over an emulated path of those 40 ms.

use std::any::Any;
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kneepoint::Algorithm;
use kneepoint::emulator::link::{LinkConfig, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint::quinn::factory;
use quinn::TransportConfig;
use quinn::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::RttEstimator;

type SharedFactory = Arc<dyn ControllerFactory + Send + Sync>;

fn acks(criterion: &mut Criterion) {
    let (start, rtt) = capture();
    let controllers: [(&str, SharedFactory); 5] = [
        ("bbr", factory(Algorithm::Bbr)),
        ("bbr-s", factory(Algorithm::BbrS)),
        ("quinn-cubic", Arc::new(CubicConfig::default())),
        ("quinn-new-reno", Arc::new(NewRenoConfig::default())),
        ("quinn-bbr", Arc::new(BbrConfig::default())),
    ];
    let mut group = criterion.benchmark_group("ack");
    for (name, factory) in controllers {
        for packets in [10, 100, 1000] {
            let mut script = Script::new(factory.clone().build(start, MTU), start, rtt, packets);
            for _ in 0..WARM_UP {
                script.step();
            }
            group.bench_function(BenchmarkId::new(name, packets), |bencher| {
                bencher.iter(|| black_box(script.step()));
            });
        }
    }
    group.finish();
}

/// A sender that keeps a fixed number of packets in flight.
struct Script {
    controller: Box<dyn Controller>,
    rtt: RttEstimator,
    now: Instant,
    /// Between acknowledgements.
    interval: Duration,
    /// When each pair of packets in flight was sent.
    sent: VecDeque<Instant>,
    steps: u64,
}

impl Script {
    fn new(controller: Box<dyn Controller>, now: Instant, rtt: RttEstimator, packets: u32) -> Self {
        let pairs = packets / 2;
        let mut script = Self {
            controller,
            rtt,
            now,
            interval: RTT / pairs,
            sent: VecDeque::new(),
            steps: 0,
        };
        for _ in 0..pairs {
            script.now += script.interval;
            script.send();
        }
        script
    }

    /// One acknowledgement, and what it lets the sender send.
    fn step(&mut self) -> u64 {
        self.steps += 1;
        self.now += self.interval;
        let (now, size) = (self.now, u64::from(MTU));
        let sent = self.sent.pop_front().expect("pairs are in flight");
        let lossy = self.steps.is_multiple_of(ACKS_PER_LOSS);
        for _ in usize::from(lossy)..2 {
            self.controller.on_ack(now, sent, size, false, &self.rtt);
        }
        let in_flight = 2 * size * self.sent.len() as u64;
        let largest = Some(2 * self.steps);
        self.controller
            .on_end_acks(now, in_flight + u64::from(lossy) * size, false, largest);
        if lossy {
            self.controller.on_congestion_event(now, sent, false, size);
        }
        self.send();
        self.controller.window()
    }

    fn send(&mut self) {
        let last = 2 * (self.steps + self.sent.len() as u64) + 1;
        self.controller.on_sent(self.now, 2 * u64::from(MTU), last);
        self.sent.push_back(self.now);
    }
}

/// The estimator of a real connection, and a time at which it held.
fn capture() -> (Instant, RttEstimator) {
    let link = LinkConfig {
        delay: (RTT / 2).into(),
        ..LinkConfig::new(Shaper::ConstantRate {
            bytes_per_second: 125_000_000,
        })
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
    captured.expect("packets were acknowledged")
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
        10 * u64::from(MTU)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Of the path, without queues.
const RTT: Duration = Duration::from_millis(40);

/// Bytes: what quinn starts with.
const MTU: u16 = 1200;

/// A loss rate of 0.05 %, at two packets per acknowledgement.
const ACKS_PER_LOSS: u64 = 1000;

/// Acknowledgements before the measurement: twenty round trips of the largest window.
const WARM_UP: usize = 10_000;

criterion_group!(benches, acks);
criterion_main!(benches);
