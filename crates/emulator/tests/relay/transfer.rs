//! Transfers over QUIC.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint_emulator::log_format::{LogFormat, PacketSink, Writer};
use kneepoint_emulator::relay::{Relay, RelayConfig, Sinks, Snapshot};
use kneepoint_emulator::sim::tls;
use quinn::Endpoint;
use tokio::time::timeout;

use crate::{link, loopbacks};

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

/// What comes is sent back.
async fn echo(endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await.unwrap();
            let (mut back, mut stream) = connection.accept_bi().await.unwrap();
            let data = stream.read_to_end(SIZE).await.unwrap();
            back.write_all(&data).await.unwrap();
            back.finish().unwrap();
            connection.closed().await;
        });
    }
}

async fn transfer(loopback: SocketAddr, server: SocketAddr, fill: u8) {
    let client = Endpoint::client(loopback).unwrap();
    let connecting = client.connect_with(tls::client_config(), server, tls::SERVER_NAME);
    let connection = connecting.unwrap().await.unwrap();
    let (mut stream, mut back) = connection.open_bi().await.unwrap();
    stream.write_all(&vec![fill; SIZE]).await.unwrap();
    stream.finish().unwrap();
    assert_eq!(back.read_to_end(SIZE).await.unwrap(), vec![fill; SIZE]);
    connection.close(0u32.into(), b"");
    client.wait_idle().await;
}

/// Two clients at once. Returns the logs of both directions, too.
fn run(loopback: SocketAddr, loss: f64) -> (Snapshot, [String; 2]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let files = [File::default(), File::default()];
    let summary = runtime.block_on(async {
        let server = Endpoint::server(tls::server_config(), loopback).unwrap();
        let mut link = link();
        link.loss = loss.into();
        let config = RelayConfig::new(loopback, server.local_addr().unwrap(), link.clone(), link);
        let [up, down] = files.clone().map(|file| {
            let writer = Writer::new(file, LogFormat::Lateness).unwrap();
            Some(Box::new(writer) as Box<dyn PacketSink>)
        });
        let relay = Relay::start(
            config,
            Sinks {
                up,
                down,
                capture: None,
            },
        )
        .unwrap();
        tokio::spawn(echo(server));
        let address = relay.local_addr();
        let both = async {
            let one = tokio::spawn(transfer(loopback, address, 1));
            let other = tokio::spawn(transfer(loopback, address, 2));
            one.await.unwrap();
            other.await.unwrap();
        };
        timeout(PATIENCE, both).await.unwrap();
        let stopped = relay.stop();
        stopped.log.unwrap();
        stopped.summary
    });
    let logs = files.map(|file| String::from_utf8(file.0.lock().unwrap().clone()).unwrap());
    (summary, logs)
}

#[test]
fn clients_reach_the_server_over_both_families() {
    for loopback in loopbacks() {
        let (summary, logs) = run(loopback, 0.0);
        assert_eq!((summary.clients_seen, summary.foreign), (2, 0));
        for (path, log) in [summary.up, summary.down].iter().zip(logs) {
            let statistics = &path.statistics;
            assert!(statistics.delivered.bytes > 2 * SIZE as u64);
            assert_eq!(statistics.all_dropped().packets, 0);
            assert_eq!((path.overflow, path.unlogged), (0, 0));
            assert_eq!(
                path.lateness.packets,
                statistics.delivered.packets - path.forgotten
            );
            check(&log, path.lateness.packets);
            let arrivals = log.lines().filter(|line| line.contains(" + "));
            assert_eq!(arrivals.count() as u64, statistics.offered.packets);
        }
    }
}

#[test]
fn a_transfer_survives_losses() {
    let [loopback, _] = loopbacks();
    let (summary, [log, _]) = run(loopback, 0.02);
    let lost = summary.up.statistics.lost.packets;
    assert!(lost > 0);
    let drops = log.lines().filter(|line| line.contains(" d 1 "));
    assert_eq!(drops.count() as u64, lost);
}

/// Every packet that was sent is in the log with its lateness, and the lines are in the order of time.
fn check(log: &str, sent: u64) {
    let lines: Vec<Vec<&str>> = log
        .lines()
        .skip(1)
        .map(|line| line.split(' ').collect())
        .collect();
    let times = lines.iter().map(|line| line[0].parse::<u64>().unwrap());
    assert!(times.is_sorted());
    let late = lines.iter().filter(|line| line[1] == "-" && line[4] != "-");
    assert_eq!(late.count() as u64, sent);
    assert!(lines.iter().any(|line| line[1] == "#"));
}

const SIZE: usize = 300_000;

/// For a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(120);
