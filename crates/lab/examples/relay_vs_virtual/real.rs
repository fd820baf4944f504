//! The upload in real time: a client, a relay and a server in threads of this process.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use kneepoint_emulator::link::{Link, PacketOutcome};
use kneepoint_emulator::log_format::{LoggedPacket, PacketSink};
use kneepoint_emulator::relay::{Lateness, Relay, RelayConfig, Sinks, Snapshot};
use kneepoint_emulator::time::Nanos;
use quinn::{Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::{Outcome, Scenario, transfer};

/// The statistics of the relay's link and of the relay. The seed is the controller's.
pub(crate) fn run(scenario: &Scenario, seed: u64) -> Result<(Outcome, Snapshot), Box<dyn Error>> {
    let server_runtime = runtime()?;
    let server = endpoint(&server_runtime, Some(transfer::server()))?;
    let outcome = Arc::new(Mutex::new(Outcome::default()));
    let sinks = Sinks {
        up: Some(Box::new(Sum(Arc::clone(&outcome)))),
        down: None,
        capture: None,
    };
    let (up, down) = scenario.links();
    let config = RelayConfig {
        busy: scenario.busy,
        ..RelayConfig::new(LOOPBACK, server.local_addr()?, up, down)
    };
    let relay = Relay::start(config, sinks)?;

    let received = Arc::new(AtomicU64::new(0));
    let receiving = transfer::receive(server, Arc::clone(&received));
    let limit = scenario.duration;
    let server = thread::spawn(move || {
        // The client never ends it.
        let _ = server_runtime.block_on(async { timeout(limit, receiving).await });
    });
    let client_runtime = runtime()?;
    let mut client = endpoint(&client_runtime, None)?;
    client.set_default_client_config(transfer::client(&scenario.controller, seed)?);
    let sending = transfer::upload(client, relay.local_addr());
    match client_runtime.block_on(async { timeout(limit, sending).await }) {
        Ok(result) => result?,
        Err(_elapsed) => {}
    }
    let goodput_bytes = received.load(Ordering::Relaxed);
    server.join().map_err(|_| "the server has panicked")?;
    let summary = relay.stop().summary;

    let mut outcome = *outcome.lock().unwrap_or_else(PoisonError::into_inner);
    outcome.goodput_bytes = goodput_bytes;
    outcome.dropped = summary.up.statistics.all_dropped().packets;
    Ok((outcome, summary))
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A socket that holds some milliseconds at a gigabit per second, if the system lets it: what finds it full is lost behind the
/// link.
fn socket() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(LOOPBACK)?;
    socket2::SockRef::from(&socket).set_recv_buffer_size(4 << 20)?;
    Ok(socket)
}

/// How many bytes of UDP payload such a socket holds, in datagrams of quinn's size.
pub(crate) fn receive_buffer() -> io::Result<u64> {
    let (receiver, sender) = (socket()?, UdpSocket::bind(LOOPBACK)?);
    receiver.set_nonblocking(true)?;
    let to = receiver.local_addr()?;
    let nominal = socket2::SockRef::from(&receiver).recv_buffer_size()?;
    let mut datagram = [0; 1452];
    for _ in 0..nominal / datagram.len() + 1 {
        sender.send_to(&datagram, to)?;
    }
    let mut bytes = 0;
    while let Ok(size) = receiver.recv(&mut datagram) {
        bytes += size as u64;
    }
    Ok(bytes)
}

fn endpoint(runtime: &Runtime, server: Option<ServerConfig>) -> io::Result<Endpoint> {
    let socket = socket()?;
    let _context = runtime.enter();
    Endpoint::new(
        EndpointConfig::default(),
        server,
        socket,
        Arc::new(TokioRuntime),
    )
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
pub(crate) fn print(summary: &Snapshot) {
    for (name, path) in [("up", &summary.up), ("down", &summary.down)] {
        let Lateness {
            packets,
            p50,
            p99,
            max,
        } = path.lateness;
        let micros = |time: Nanos| time.0 / 1000;
        println!(
            "{name}: {packets} packets, lateness p50 {} us, p99 {} us, max {} us; {} not taken by the system",
            micros(p50),
            micros(p99),
            micros(max),
            path.unsent
        );
    }
    let unread = summary.unread.map(|packets| packets.to_string());
    println!(
        "not read in time by the relay: {}",
        unread.as_deref().unwrap_or("unknown")
    );
}

/// Adds up the queueing of packets.
struct Sum(Arc<Mutex<Outcome>>);

impl PacketSink for Sum {
    fn packet(&mut self, packet: &LoggedPacket) -> io::Result<()> {
        if let PacketOutcome::Sent { departure, .. } = packet.record.outcome {
            let mut outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.packets += 1;
            outcome.queueing += (departure - packet.record.arrival).into();
        }
        Ok(())
    }

    fn advance(&mut self, _: Nanos, _: &Link) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: Nanos, _: &Link) -> io::Result<()> {
        Ok(())
    }
}

const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
