//! Single datagrams.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kneepoint_emulator::link::{Limit, Link, Queue};
use kneepoint_emulator::log_format::{LoggedPacket, PacketSink};
use kneepoint_emulator::relay::{Relay, RelayConfig, Sinks, Snapshot};
use kneepoint_emulator::time::Nanos;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};

use crate::{link, loopbacks, relay, start};

/// A blocking socket that knows of ECN.
struct Peer {
    io: UdpSocket,
    state: UdpSocketState,
}

impl Peer {
    fn bind(address: SocketAddr) -> Self {
        let io = UdpSocket::bind(address).unwrap();
        let state = UdpSocketState::new(UdpSockRef::from(&io)).unwrap();
        io.set_nonblocking(false).unwrap();
        io.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { io, state }
    }

    fn address(&self) -> SocketAddr {
        self.io.local_addr().unwrap()
    }

    fn send(&self, destination: SocketAddr, ecn: Option<EcnCodepoint>, contents: &[u8]) {
        let transmit = Transmit {
            destination,
            ecn,
            contents,
            segment_size: None,
            src_ip: None,
        };
        let socket = UdpSockRef::from(&self.io);
        self.state.try_send(socket, &transmit).unwrap();
    }

    fn receive(&self) -> (SocketAddr, Option<EcnCodepoint>, Vec<u8>) {
        let mut buffer = vec![0; 1 << 16];
        let mut meta = [RecvMeta::default()];
        let socket = UdpSockRef::from(&self.io);
        let mut slices = [IoSliceMut::new(&mut buffer)];
        self.state.recv(socket, &mut slices, &mut meta).unwrap();
        buffer.truncate(meta[0].len);
        (meta[0].addr, meta[0].ecn, buffer)
    }
}

/// Looks at a relay until it is as expected.
fn eventually(relay: &Relay, expected: impl Fn(&Snapshot) -> bool) -> Snapshot {
    let idle = UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    idle.set_read_timeout(Some(PAUSE)).unwrap();
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        let snapshot = relay.snapshot();
        if expected(&snapshot) {
            return snapshot;
        }
        // Nobody sends: this waits.
        assert!(idle.recv(&mut [0]).is_err());
    }
    panic!("in vain: {:?}", relay.snapshot());
}

#[test]
fn marks_and_payloads_pass_both_ways() {
    let marks = [
        None,
        Some(EcnCodepoint::Ect0),
        Some(EcnCodepoint::Ect1),
        Some(EcnCodepoint::Ce),
    ];
    for loopback in loopbacks() {
        let (client, server) = (Peer::bind(loopback), Peer::bind(loopback));
        let relay = relay(server.address(), link());
        for (size, mark) in [0, 1, 1200, 9000].into_iter().zip(marks) {
            let contents = vec![7; size];
            client.send(relay.local_addr(), mark, &contents);
            let (proxy, seen, received) = server.receive();
            assert_eq!((seen, &received), (mark, &contents));
            assert_ne!(proxy, relay.local_addr());
            server.send(proxy, mark, &received);
            let (source, seen, received) = client.receive();
            assert_eq!(
                (source, seen, received),
                (relay.local_addr(), mark, contents)
            );
        }
        let summary = relay.stop().summary;
        for path in [summary.up, summary.down] {
            assert_eq!(path.statistics.delivered.packets, 4);
            assert_eq!((path.lateness.packets, path.unsent), (4, 0));
            assert!(path.lateness.p50 <= path.lateness.p99);
        }
    }
}

#[test]
fn drops_are_counted_by_cause() {
    let [loopback, _] = loopbacks();
    let (client, server) = (Peer::bind(loopback), Peer::bind(loopback));
    let mut up = link();
    up.loss = 1.0.into();
    let config = RelayConfig::new(loopback, server.address(), up, link());
    let relay = start(config);
    for _ in 0..50 {
        client.send(relay.local_addr(), None, b"lost");
    }
    // The counters belong to different threads.
    let snapshot = eventually(&relay, |snapshot| {
        snapshot.up.statistics.offered.packets == 50 && snapshot.clients > 0
    });
    assert_eq!(snapshot.up.statistics.lost.packets, 50);
    assert_eq!((snapshot.clients, snapshot.refused), (1, 0));
}

#[test]
fn packets_above_the_memory_are_dropped() {
    let [loopback, _] = loopbacks();
    let (client, server) = (Peer::bind(loopback), Peer::bind(loopback));
    let mut slow = link();
    slow.delay = Duration::from_secs(3600).into();
    let config = RelayConfig {
        memory: 10_000,
        ..RelayConfig::new(loopback, server.address(), slow.clone(), slow)
    };
    let relay = start(config);
    for _ in 0..20 {
        client.send(relay.local_addr(), None, &[0; 1000]);
    }
    let all =
        |snapshot: &Snapshot| snapshot.up.statistics.offered.packets + snapshot.up.overflow == 20;
    let snapshot = eventually(&relay, all);
    // 1284 bytes each.
    assert_eq!(snapshot.up.overflow, 12);
}

#[test]
fn clients_are_apart_and_bounded() {
    let [loopback, _] = loopbacks();
    let server = Peer::bind(loopback);
    let clients = [(); 3].map(|()| Peer::bind(loopback));
    let config = RelayConfig {
        clients: 2,
        ..RelayConfig::new(loopback, server.address(), link(), link())
    };
    let relay = start(config);
    let mut proxies = Vec::new();
    for client in &clients[..2] {
        client.send(relay.local_addr(), None, b"hello");
        proxies.push(server.receive().0);
    }
    assert_ne!(proxies[0], proxies[1]);
    // Whoever answers an answer is where it says it is, and keeps its place.
    for (client, proxy) in clients.iter().zip(&proxies) {
        server.send(*proxy, None, b"welcome");
        client.receive();
        client.send(relay.local_addr(), None, b"thanks");
        server.receive();
    }
    clients[2].send(relay.local_addr(), None, b"too many");
    let snapshot = eventually(&relay, |snapshot| snapshot.refused == 1);
    assert_eq!((snapshot.clients, snapshot.clients_seen), (2, 2));
    // A stranger is not the server.
    clients[2].send(proxies[0], None, b"from elsewhere");
    eventually(&relay, |snapshot| snapshot.foreign == 1);
    for (client, proxy) in clients.iter().zip(&proxies) {
        server.send(*proxy, None, proxy.to_string().as_bytes());
        assert_eq!(client.receive().2, proxy.to_string().into_bytes());
    }
    // All ports are free again.
    let address = relay.local_addr();
    drop(relay);
    UdpSocket::bind(address).unwrap();
}

/// What is read of a flood is never all of it: the relay looks up all the same when it is to stop, and its books balance.
#[test]
fn a_flood_does_not_keep_it_from_stopping() {
    let [loopback, _] = loopbacks();
    let server = Peer::bind(loopback);
    let mut up = link();
    up.queue = Queue::DropTail(Limit::packets(3));
    let config = RelayConfig {
        clients: 4,
        ..RelayConfig::new(loopback, server.address(), up, link())
    };
    let relay = start(config);
    let (address, over) = (relay.local_addr(), AtomicBool::new(false));
    let summary = thread::scope(|scope| {
        scope.spawn(|| {
            // More sources than clients: nobody answers them, and each makes room for the next.
            let peers = [(); 8].map(|()| UdpSocket::bind(loopback).unwrap());
            while !over.load(Ordering::Relaxed) {
                for peer in &peers {
                    // A full buffer is part of a flood.
                    _ = peer.send_to(&[0; 1200], address);
                }
            }
        });
        eventually(&relay, |snapshot| {
            snapshot.clients_seen > 8 && snapshot.up.received() > 1000
        });
        let summary = relay.stop().summary;
        over.store(true, Ordering::Relaxed);
        summary
    });
    assert!(summary.clients <= 4, "{summary:?}");
    assert_eq!(summary.refused, 0);
    let gone = summary.clients_seen - summary.clients as u64;
    assert_eq!(summary.displaced, gone);
    let up = summary.up;
    let dropped = up.statistics.all_dropped().packets + up.overflow + up.unsent + up.forgotten;
    assert_eq!(up.received(), up.sent() + dropped + up.on_the_way());
    if cfg!(target_os = "linux") {
        assert_eq!(up.waited.packets, up.received(), "{up:?}");
    }
}

/// What is not read before the end counts, too. Not all of it finds room in the socket's buffer.
#[test]
#[cfg(target_os = "linux")]
fn every_packet_is_accounted_for() {
    let [loopback, _] = loopbacks();
    let (client, server) = (Peer::bind(loopback), Peer::bind(loopback));
    let relay = start(RelayConfig {
        memory: 100_000,
        ..RelayConfig::new(loopback, server.address(), link(), link())
    });
    for _ in 0..20_000 {
        client.send(relay.local_addr(), None, &[0; 1200]);
    }
    let summary = relay.stop().summary;
    let known = summary.up.received() + summary.unread.unwrap();
    assert_eq!((known, summary.refused), (20_000, 0), "{summary:?}");
}

/// Its answers to itself would be answered again, for ever.
#[test]
fn the_server_is_no_client() {
    let [loopback, _] = loopbacks();
    let server = Peer::bind(loopback);
    let relay = relay(server.address(), link());
    server.send(relay.local_addr(), None, b"from where answers come");
    let snapshot = eventually(&relay, |snapshot| snapshot.refused == 1);
    assert_eq!((snapshot.clients_seen, snapshot.up.received()), (0, 0));
}

/// A sink that takes no packet, ever.
struct Stuck;

impl PacketSink for Stuck {
    fn packet(&mut self, _: &LoggedPacket) -> io::Result<()> {
        loop {
            thread::park();
        }
    }

    fn advance(&mut self, _: Nanos, _: &Link) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: Nanos, _: &Link) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stuck_log_does_not_keep_it_from_stopping() {
    let [loopback, _] = loopbacks();
    let (client, server) = (Peer::bind(loopback), Peer::bind(loopback));
    let config = RelayConfig::new(loopback, server.address(), link(), link());
    let sinks = Sinks {
        up: Some(Box::new(Stuck)),
        down: None,
        capture: None,
    };
    let relay = Relay::start(config, sinks).unwrap();
    // Each on its own, so that more batches wait than there is room for.
    for _ in 0..200 {
        client.send(relay.local_addr(), None, b"one more");
        server.receive();
    }
    let stopped = relay.stop();
    assert_eq!(stopped.log.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(stopped.summary.up.sent(), 200);
}

/// For a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);
