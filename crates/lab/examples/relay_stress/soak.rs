//! Clients that come and go for a long time.

use std::collections::VecDeque;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kneepoint_lab::units::Rate;

use crate::AnyError;
use crate::relayed::{Relayed, now};
use crate::server::{ANSWER, Server, dropped, socket};

/// All clients.
#[derive(Default)]
struct Clients {
    /// Each with the time at which it came, in that order.
    here: VecDeque<(Instant, UdpSocket)>,
    joined: u64,
    sent: u64,
    /// What came to those that are gone, and what the system dropped before it was read.
    came: u64,
}

pub(crate) fn run(minutes: u32, rate: Rate, number: u32) -> Result<(), AnyError> {
    let log = Path::new("target/relay_soak.log");
    for direction in ["up", "down"] {
        let path = log.with_extension(format!("log.{direction}"));
        // It need not be there.
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink("/dev/null", path)?;
    }
    let server = Server::start()?;
    let options = format!("{OPTIONS} --log {}", log.display());
    let relay = Relayed::start(server.address, &options, true)?;
    let mut clients = Clients::default();
    println!("| minute | clients so far | Mb/s | relay's MB |\n|---|---|---|---|");
    println!("| 0 | 0 | 0 | {} |", relay.base / 1024);
    let begun = now();
    for minute in 1..=minutes {
        let (from, before) = (now(), clients.sent);
        clients.live(relay.address, rate, number, begun + MINUTE * minute)?;
        let megabits = (clients.sent - before) as f64 * SIZE as f64 * 8e-6;
        println!(
            "| {minute} | {} | {:.0} | {} |",
            clients.joined,
            megabits / from.elapsed().as_secs_f64(),
            relay.resident() / 1024
        );
    }
    // What is on its way arrives.
    for _ in 0..100 {
        thread::sleep(PAUSE * 5);
        clients.read();
    }
    clients.leave(clients.here.len());
    let end = relay.end()?;
    let seen = server.end();
    print!("{}", end.summary);
    let books = [
        (
            "sent and known",
            clients.sent + seen.answered,
            end.known_of_clients() + end.count("down:", " packets received"),
        ),
        ("to the server", end.count("up:", " sent,"), seen.came),
        ("to the clients", end.count("down:", " sent,"), clients.came),
    ];
    println!("peak of the memory: {} MB; {books:?}", end.peak / 1024);
    let balanced = books.iter().all(|(_, one, other)| one == other);
    balanced
        .then_some(())
        .ok_or_else(|| "the counts do not balance".into())
}

impl Clients {
    /// Sends at this rate, as long as the machine keeps up. Every eighth datagram is answered.
    fn live(
        &mut self,
        relay: SocketAddr,
        rate: Rate,
        number: u32,
        until: Instant,
    ) -> Result<(), AnyError> {
        let (begun, mut sent, mut contents) = (now(), 0, [0; SIZE]);
        let per_second = rate.bits_per_second() as f64 / 8.0 / SIZE as f64;
        while now() < until {
            let here = self.here.iter();
            let gone = here.filter(|(joined, _)| joined.elapsed() > STAY).count();
            self.leave(gone);
            let last = self.here.back();
            if last.is_none_or(|(joined, _)| joined.elapsed() > STAY / number.max(1)) {
                let socket = socket()?;
                socket.set_nonblocking(true)?;
                self.here.push_back((now(), socket));
                self.joined += 1;
            }
            // Before it leaves, a client only listens.
            let senders = self.here.iter().rev();
            let senders = senders.take_while(|(joined, _)| joined.elapsed() < STAY - LISTENING);
            let senders: Vec<&UdpSocket> = senders.map(|(_, socket)| socket).collect();
            let due = (begun.elapsed().as_secs_f64() * per_second) as u64;
            // What a pause of this process has missed is not made up for.
            sent = due.saturating_sub(BURST).max(sent);
            for (number, socket) in (sent..due).zip(senders.into_iter().cycle()) {
                contents[0] = if number.is_multiple_of(8) { ANSWER } else { 0 };
                self.sent += u64::from(socket.send_to(&contents, relay).is_ok());
            }
            sent = due;
            self.read();
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn read(&mut self) {
        for (_, socket) in &self.here {
            while socket.recv(&mut [0; SIZE]).is_ok() {
                self.came += 1;
            }
        }
    }

    /// The first so many leave.
    fn leave(&mut self, number: usize) {
        for (_, socket) in self.here.drain(..number) {
            self.came += socket.local_addr().map_or(0, dropped);
        }
    }
}

const OPTIONS: &str =
    "--stats off --up 1Gbps --down 1Gbps --delay 10ms --memory 64MiB --idle 3s --log-format csv";

const SIZE: usize = 1200;

const MINUTE: Duration = Duration::from_secs(60);

/// How long a client is there.
const STAY: Duration = Duration::from_secs(15);

/// How long of it, at the end, it sends nothing.
const LISTENING: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(2);

/// The most datagrams at a time: 20 ms at 500 Mb/s.
const BURST: u64 = 1000;
