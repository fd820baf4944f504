//! The window on the unmodified stacks: the flight, and the reported window.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint_controllers::{
    AckEvent, Bytes, ConfigError, CongestionEvent, Control, Controller, ControllerConfig,
    ControllerSpec, Environment, Mode, SentEvent, Snapshot, Timestamp,
};
use kneepoint_emulator::link::{Limit, LinkConfig, Queue};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_emulator::sim::{Testbed, tls};
use kneepoint_emulator::time::Nanos;
use kneepoint_lab::controllers::Candidate;
use kneepoint_lab::trial::{FlowPlan, Trial};
use kneepoint_quinn::{Factory, IntoFactory as _, snapshot};

/// A constant window.
#[derive(Debug, Clone)]
struct Fixed {
    packets: u64,
    mtu: Bytes,
    /// In packets: the most in flight from the second second on, when the largest datagram has been found.
    seen: Arc<Mutex<u64>>,
}

impl Controller for Fixed {
    fn on_sent(&mut self, event: &SentEvent) {
        if event.now > Timestamp::from_origin(Duration::from_secs(1)) {
            let in_flight = event.prior_in_flight + event.bytes;
            let mut seen = self.seen.lock().expect("no panics");
            *seen = (*seen).max(in_flight.0.div_ceil(self.mtu.0));
        }
    }

    fn on_ack(&mut self, _: &AckEvent) {}

    fn on_congestion(&mut self, _: &CongestionEvent) {}

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
    }

    fn control(&self) -> Control {
        Control::window(self.mtu * self.packets, self.mtu * self.packets)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new("fixed", Mode::CongestionAvoidance, self.control().window)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

impl ControllerConfig for Fixed {
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Self {
            mtu: environment.mtu,
            ..self.clone()
        }))
    }
}

/// The most packets in flight over a path of 40 ms, and how many arrived in the last two of three seconds.
fn filled(packets: u64, candidate: impl FnOnce(Fixed) -> Candidate) -> (u64, u64) {
    let link = LinkConfig {
        delay: Duration::from_millis(20).into(),
        ..LinkConfig::constant(12_500_000)
    };
    let seen = Arc::default();
    let fixed = Fixed {
        packets,
        mtu: Bytes::ZERO,
        seen: Arc::clone(&seen),
    };
    let end = Duration::from_secs(3);
    let flow = FlowPlan::greedy(candidate(fixed), Duration::ZERO, end);
    let topology = Topology::point_to_point(Duplex::both(link));
    let trial = Trial::new(topology, vec![flow], end);
    let outcome = trial.run().expect("it runs");
    let arrived = outcome.flows[0].received_between(Duration::from_secs(1), end);
    let max = *seen.lock().expect("no panics");
    (max, arrived / 1400)
}

/// Trap: quinn sends while the flight stays below its window. Two packets would be one, and each would wait for an
/// acknowledgement that its receiver delays.
#[test]
fn minimum_windows_are_filled() {
    for packets in [2, 4] {
        let (max, arrived) = filled(packets, |fixed| {
            Candidate::Quinn(Factory::new(fixed).expect("valid").factory())
        });
        assert_eq!(max, packets);
        // Each round trip of 40 ms so many: the receiver acknowledges the second at once.
        let expected = 50 * packets;
        assert!(
            arrived.abs_diff(expected) <= 2 * packets,
            "{arrived}, not {expected}"
        );
        // noq's pacer spreads so few over the round trip, so that they take longer.
        let (max, _) = filled(packets, |fixed| {
            let factory = kneepoint_noq::Factory::new(fixed).expect("valid");
            Candidate::Noq(Arc::new(factory))
        });
        assert_eq!(max, packets);
    }
}

/// The largest datagram that quinn finds here.
const MTU: u64 = 1452;

/// Trap: if an adapter computes its own window, no sender follows the controller's.
#[test]
fn a_snapshot_shows_the_window_that_quinn_keeps_to() {
    let link = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        queue: Queue::DropTail(Limit::bytes(100_000)),
        ..LinkConfig::constant(2_500_000)
    };
    for selection in ControllerSpec::all() {
        let bed = Testbed::symmetric(link.clone(), 1).expect("a valid link");
        let full = bed.run(async |net| {
            let mut transport = quinn::TransportConfig::default();
            transport.congestion_controller_factory(selection.clone().factory());
            let mut config = tls::client_config();
            config.transport_config(Arc::new(transport));
            let server = net.server().expect("a server");
            let client = net.client().expect("a client");
            let address = server.local_addr().expect("bound");
            let connecting = client.connect_with(config, address, tls::SERVER_NAME);
            net.spawn_named("server", async move {
                let connection = server.accept().await.expect("a client").await;
                let connection = connection.expect("a handshake");
                while let Ok(mut stream) = connection.accept_uni().await {
                    while let Ok(Some(_)) = stream.read_chunk(1 << 20, true).await {}
                }
            });
            let connection = connecting.expect("valid").await.expect("a server");
            let writer = connection.clone();
            net.spawn_named("client", async move {
                let mut stream = writer.open_uni().await.expect("a stream");
                while stream.write_all(&[0; 10_000]).await.is_ok() {}
            });
            let mut full = 0;
            for _ in 0..60 {
                net.sleep(Duration::from_millis(50)).await;
                let state = snapshot(connection.congestion_state()).expect("ours");
                // quinn's own statistics show its rule's window: one byte more. While less is in flight it may be told another one,
                // which it paces by.
                let told = connection.stats().path.cwnd - 1;
                if state.in_flight.0 + MTU > state.congestion_window.0 {
                    assert_eq!(state.congestion_window.0, told, "{selection}");
                    full += 1;
                }
            }
            connection.close(0u32.into(), b"");
            full
        });
        let full = full.expect("it runs");
        assert!(full >= 10, "{selection}: full at {full} of 60 looks");
    }
}
