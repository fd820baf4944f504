//! A congestion controller of one's own in one file, tried over an emulated LTE link beside `knee`: LEDBAT (RFC 6817),
//! which holds the queue at a target.
//!
//! `cargo run --release --example custom_controller`
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kneepoint::controllers::{
    AckEvent, Bytes, ConfigError, CongestionEvent, Control, Controller, ControllerConfig,
    Environment, Mode, Timestamp,
};
use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::{Factory, IntoFactory as _};
use kneepoint::{Algorithm, Snapshot, traces};
use quinn::TransportConfig;

/// The configuration builds the controllers. Documented fields, and a `validate` that refuses nonsense.
#[derive(Debug, Clone)]
struct LedbatConfig {
    /// The queueing delay to aim for: above zero. RFC 6817, section 2.5, allows up to 100 ms.
    target: Duration,
}

/// One connection's controller. It is told what happens and keeps a window: no clock, no I/O, no transport.
#[derive(Debug, Clone)]
struct Ledbat {
    target: Duration,
    window: Bytes,
    base_delay: Option<Duration>,
    /// Losses of packets that left before this belong to a reduction already made.
    reduced_at: Timestamp,
    mtu: Bytes,
}

impl ControllerConfig for LedbatConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.target.is_zero() {
            let target = format!("{:?}", self.target);
            return Err(ConfigError::new("target", target, "above zero"));
        }
        Ok(())
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        Ok(Box::new(Ledbat {
            target: self.target,
            window: environment.mtu * 10,
            base_delay: None,
            reduced_at: environment.now,
            mtu: environment.mtu,
        }))
    }
}

impl Controller for Ledbat {
    /// No delivery rates, please: keeping what they need costs more than this whole algorithm.
    fn wants_rate_samples(&self) -> bool {
        false
    }

    /// RFC 6817, section 2.4.2: a window's worth of acknowledgements moves the window by up to a packet, the further from
    /// the target the more.
    fn on_ack(&mut self, ack: &AckEvent) {
        let rtt = ack.rtt();
        let base = self.base_delay.map_or(rtt, |base| base.min(rtt));
        self.base_delay = Some(base);
        let queueing = (rtt - base).as_secs_f64();
        let off_target = (1.0 - queueing / self.target.as_secs_f64()).max(-1.0);
        if ack.app_limited && off_target > 0.0 {
            return;
        }
        let share = ack.acked.0 as f64 / self.window.0 as f64;
        let window = self.window.0 as f64 + off_target * share * self.mtu.0 as f64;
        self.window = Bytes(window as u64).max(self.mtu * 2);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.newest_sent >= self.reduced_at {
            self.reduced_at = event.now;
            self.window = Bytes(self.window.0 / 2).max(self.mtu * 2);
        }
    }

    fn on_mtu_update(&mut self, mtu: Bytes) {
        self.mtu = mtu;
        self.window = self.window.max(mtu * 2);
    }

    fn control(&self) -> Control {
        Control::window(self.window, self.mtu * 10)
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new("ledbat", Mode::CongestionAvoidance, self.window);
        snapshot.min_rtt = self.base_delay;
        snapshot
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("controller   delivered Mb/s   RTT at the end");
    let target = Duration::from_millis(25);
    for (name, controller) in [
        ("ledbat", ledbat(target)?),
        ("knee", Algorithm::Knee.into()),
    ] {
        let (rate, rtt) = upload(controller)?;
        println!("{name:10} {rate:16.2} {rtt:16.1?}");
    }
    Ok(())
}

/// The controllers' factory; rejects a target of zero.
pub(crate) fn ledbat(target: Duration) -> Result<Factory, ConfigError> {
    Factory::new(LedbatConfig { target })
}

/// Sends for half a minute over the bundled LTE trace, in virtual time. Returns how many megabits per second arrived, and the
/// round-trip time at the end.
pub(crate) fn upload(controller: Factory) -> Result<(f64, Duration), Box<dyn Error>> {
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
        forward: lte,
        reverse: fast,
        seed: 1,
    })?);
    let address: SocketAddr = "10.0.1.1:4433".parse()?;
    let receiver = Some(tls::server_config());
    let receiver = sim.endpoint(Side::Right, address, endpoint_config(1), receiver)?;
    let sender = sim.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;
    sim.handle().spawn(async move {
        if let Some(incoming) = receiver.accept().await
            && let Ok(connection) = incoming.await
            && let Ok(mut stream) = connection.accept_uni().await
        {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(Some(_)) = stream.read(&mut buffer).await {}
        }
    });

    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controller.factory());
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    let rtt = sim.block_on(async {
        let connection = sender
            .connect_with(config, address, tls::SERVER_NAME)?
            .await?;
        let mut stream = connection.open_uni().await?;
        let handle = sim.handle();
        handle.spawn(async move { while stream.write_all(&[0; 10_000]).await.is_ok() {} });
        handle.sleep(DURATION).await;
        let rtt = connection.rtt();
        connection.close(0u32.into(), b"enough");
        Ok::<_, Box<dyn Error>>(rtt)
    })??;
    let delivered = sim.with_network(|network| {
        let link = network.link(Direction::Forward);
        link.statistics().delivered.bytes
    });
    Ok((delivered as f64 * 8e-6 / DURATION.as_secs_f64(), rtt))
}

/// How long the upload lasts.
const DURATION: Duration = Duration::from_secs(30);
