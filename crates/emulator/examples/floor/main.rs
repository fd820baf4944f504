//! The least that a simulation of quinn has to do: the protocol with TLS, times in order and one queue for each direction,
//! without quinn's tasks, an executor or an emulator. What `throughput` takes beyond this is the virtual-time runtime's.
//!
//! `cargo run --release --example floor`, with the arguments of `throughput`, over the same link and with the same output.

mod host;
mod link;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use kneepoint_emulator::sim::tls;
use quinn_proto::{Connection, ConnectionEvent, ConnectionHandle, DatagramEvent};

use self::host::{Host, Peer};
use self::link::{Link, Packet, SECOND};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: u32| arguments.next().map_or(Ok(default), |text| text.parse());
    let (flows, seconds, runs) = (next(1)?, next(60)?, next(5)?);
    for _ in 0..runs {
        run(flows, seconds)?;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures real time"
)]
fn run(flows: u32, seconds: u32) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut world = World::new(start, flows);
    world.connect(flows)?;
    world.run_until(u64::from(seconds) * SECOND);

    let elapsed = start.elapsed().as_secs_f64();
    let [forward, reverse] = &world.links;
    let packets = forward.offered + reverse.offered;
    println!(
        "{flows} flows, {seconds} s in {elapsed:.3} s: {packets} packets, {:.0} per second; {} bytes delivered, {} packets dropped",
        packets as f64 / elapsed,
        forward.delivered_bytes,
        forward.dropped,
    );
    Ok(())
}

/// Everything, in nanoseconds since `epoch`.
struct World {
    epoch: Instant,
    now: u64,
    /// The server, then the clients.
    hosts: Vec<Host>,
    /// The clients' connections, then the server's.
    peers: Vec<Peer>,
    /// To the server and back.
    links: [Link; 2],
    /// When which peer's timer may be due.
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// What a connection writes its packet to.
    buffer: Vec<u8>,
}

impl World {
    fn new(epoch: Instant, flows: u32) -> Self {
        let server = Host::new(0, Some(tls::server_config()));
        let clients = (1..=flows).map(|number| Host::new(number, None));
        Self {
            epoch,
            now: 0,
            hosts: std::iter::once(server).chain(clients).collect(),
            peers: Vec::new(),
            links: [(); 2].map(|()| Link::new(flows)),
            timers: BinaryHeap::new(),
            buffer: Vec::new(),
        }
    }

    fn connect(&mut self, flows: u32) -> Result<(), Box<dyn Error>> {
        let server = self.hosts[0].address;
        let config = tls::client_config();
        for host in 1..=flows as usize {
            let endpoint = &mut self.hosts[host].endpoint;
            let (handle, connection) =
                endpoint.connect(self.epoch, config.clone(), server, tls::SERVER_NAME)?;
            self.insert(host, 0, handle, connection);
            self.drive(host - 1);
        }
        Ok(())
    }

    fn insert(
        &mut self,
        host: usize,
        remote: usize,
        handle: ConnectionHandle,
        connection: Connection,
    ) {
        self.hosts[host].peers.push(self.peers.len());
        self.peers.push(Peer {
            host,
            remote,
            handle,
            connection,
            armed: None,
            stream: None,
        });
    }

    fn run_until(&mut self, end: u64) {
        loop {
            let [forward, reverse] = [0, 1].map(|link| self.links[link].next());
            let timer = self.timers.peek().map_or(u64::MAX, |entry| entry.0.0);
            let packet = forward.min(reverse);
            let next = packet.min(timer);
            if next > end {
                return;
            }
            self.now = next;
            if packet > timer {
                self.fire();
            } else if let Some(packet) = self.links[usize::from(reverse < forward)].deliver() {
                self.receive(packet);
            }
        }
    }

    fn instant(&self) -> Instant {
        self.epoch + Duration::from_nanos(self.now)
    }

    fn fire(&mut self) {
        let Some(Reverse((time, place))) = self.timers.pop() else {
            return;
        };
        // An earlier entry has taken its place unless it is the one that counts.
        if self.peers[place].armed == Some(time) {
            self.peers[place].armed = None;
            self.drive(place);
        }
    }

    fn receive(&mut self, packet: Packet) {
        let now = self.instant();
        let from = self.hosts[packet.from].address;
        let host = &mut self.hosts[packet.to];
        let local = Some(host.address.ip());
        self.buffer.clear();
        let event =
            host.endpoint
                .handle(now, from, local, packet.ecn, packet.data, &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let place = host.peers[handle.0];
                self.peers[place].connection.handle_event(event);
                self.drive(place);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = host.endpoint.accept(incoming, now, &mut self.buffer, None);
                let (handle, connection) = accepted.expect("nothing is wrong with the clients");
                self.insert(packet.to, packet.from, handle, connection);
                self.drive(self.peers.len() - 1);
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Does all that a connection wants to be done now, in the order in which quinn's driver does.
    fn drive(&mut self, place: usize) {
        let now = self.instant();
        loop {
            self.transmit(place, now);
            let peer = &mut self.peers[place];
            let mut again = false;
            if peer.connection.poll_timeout().is_some_and(|due| due <= now) {
                peer.connection.handle_timeout(now);
                again = true;
            }
            while let Some(event) = peer.connection.poll_endpoint_events() {
                let endpoint = &mut self.hosts[peer.host].endpoint;
                let answer: Option<ConnectionEvent> = endpoint.handle_event(peer.handle, event);
                if let Some(event) = answer {
                    peer.connection.handle_event(event);
                    again = true;
                }
            }
            while let Some(event) = peer.connection.poll() {
                again |= peer.act(event);
            }
            if !again {
                break;
            }
        }
        let peer = &mut self.peers[place];
        if let Some(due) = peer.connection.poll_timeout() {
            let due = due.saturating_duration_since(self.epoch).as_nanos() as u64;
            // A later one waits for the entry that is there.
            if peer.armed.is_none_or(|armed| due < armed) {
                peer.armed = Some(due);
                self.timers.push(Reverse((due, place)));
            }
        }
    }

    fn transmit(&mut self, place: usize, now: Instant) {
        let peer = &mut self.peers[place];
        let link = &mut self.links[usize::from(peer.host == 0)];
        loop {
            self.buffer.clear();
            let Some(transmit) = peer.connection.poll_transmit(now, 1, &mut self.buffer) else {
                return;
            };
            if let Some(due) = link.offer(self.now, transmit.size) {
                link.push(Packet {
                    due,
                    from: peer.host,
                    to: peer.remote,
                    ecn: transmit.ecn,
                    data: BytesMut::from(&self.buffer[..transmit.size]),
                });
            }
        }
    }
}
