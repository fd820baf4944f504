//! Carries attacks out.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::AnyError;
use crate::attacks::{ALL, Attack, Ending, Flood, Log};
use crate::prober::{Pings, Prober};
use crate::relayed::{End, Relayed};
use crate::server::Server;

/// A row for each of the attacks that have `only` in their names.
pub(crate) fn run(seconds: u64, only: &str, logs: &Path) -> Result<(), AnyError> {
    println!(
        "| attack | MB before | peak MB | sent | read | refused | unread | dropped | to server | pings answered % | later ones % | balanced | SIGTERM ms |"
    );
    println!("|---|{}", "---|".repeat(12));
    let mut balanced = true;
    for attack in ALL.iter().filter(|attack| attack.name.contains(only)) {
        balanced &= carry_out(attack, Duration::from_secs(seconds), logs)?;
    }
    balanced
        .then_some(())
        .ok_or_else(|| "the counts of an attack do not balance".into())
}

fn carry_out(attack: &Attack, time: Duration, logs: &Path) -> Result<bool, AnyError> {
    let server = Server::start()?;
    let mut options = format!("--stats off {}", attack.options);
    if attack.options.contains("--stats") {
        options = attack.options.to_owned();
    }
    if let Some(log) = log(attack.log, logs)? {
        options += &format!(" --log {}", log.display());
    }
    let relay = Relayed::start(server.address, &options, attack.heard)?;
    let early = Prober::start(relay.address)?;
    let victim = loop {
        thread::sleep(SETTLED);
        // Behind a long delay no ping arrives in time to be answered.
        if let Some(proxy) = server.proxy() {
            break proxy;
        }
        if attack.flood == Flood::Client || attack.flood == Flood::Spoofed {
            break relay.address;
        }
    };
    let over = Arc::new(AtomicBool::new(false));
    let flood = flood(attack, &server, relay.address, victim, Arc::clone(&over))?;
    thread::sleep(time / 4);
    let late = Prober::start(relay.address)?;
    thread::sleep(time / 4);
    if attack.ending == Ending::Asleep {
        relay.signal("-STOP")?;
        thread::sleep(ASLEEP);
        relay.signal("-CONT")?;
    }
    thread::sleep(time / 2);
    let end = |sent: Option<u64>| -> Result<bool, AnyError> {
        early.stop();
        late.stop();
        thread::sleep(SETTLED);
        let base = relay.base;
        let end = relay.end()?;
        over.store(true, Relaxed);
        // They read what the relay has sent until its end.
        let pings = [late.end()?, early.end()?];
        Ok(report(attack, base, &end, sent, &pings, server))
    };
    if attack.ending == Ending::Flooded {
        let result = end(None);
        flood.join().map_err(|_| "the flood panicked")?;
        return result;
    }
    over.store(true, Relaxed);
    let sent = flood.join().map_err(|_| "the flood panicked")?;
    thread::sleep(SETTLED);
    end(Some(sent))
}

/// Prints the row; returns whether the counts balance. The flood has `sent` so much, unless it outlived the relay.
fn report(
    attack: &Attack,
    base: u64,
    end: &End,
    sent: Option<u64>,
    pings: &[Pings; 2],
    server: Server,
) -> bool {
    let seen = server.end();
    let before = "dropped before a link";
    let up = end.count("up:", " packets received");
    let down = end.count("down:", " packets received");
    let unread = end.count(before, " not read in time");
    let refused =
        end.count(before, " of clients not admitted") + end.count(before, " from strangers");
    let to_server = end.count("up:", " sent,");
    let known = up + down + unread + refused;
    let by_pings: u64 = pings.iter().map(|pings| pings.sent).sum();
    // What was sent, who read it, and what came out of it.
    let all = sent.map(|sent| sent + by_pings + seen.answered);
    let answers: u64 = pings.iter().map(|pings| pings.came).sum();
    let checks = [
        ("sent and known", all.unwrap_or(known), known),
        ("to the server", to_server, seen.came),
        ("to the clients", end.count("down:", " sent,"), answers),
    ];
    let wrong: Vec<String> = checks
        .iter()
        .filter(|(_, one, other)| one != other)
        .map(|(what, one, other)| format!("{what}: {one} and {other}"))
        .collect();
    let verdict = if wrong.is_empty() {
        "yes".to_owned()
    } else {
        wrong.join(", ")
    };
    let share = |pings: &Pings| 100.0 * pings.answered as f64 / pings.sent.max(1) as f64;
    println!(
        "| {} | {} | {} | {} | {} | {refused} | {unread} | {} | {to_server} | {:.0} | {:.0} | {verdict} | {} |",
        attack.name,
        base / 1024,
        end.peak / 1024,
        all.map_or_else(|| "-".to_owned(), |all| all.to_string()),
        up + down,
        end.count("up:", " dropped,") + end.count("down:", " dropped,"),
        share(&pings[1]),
        share(&pings[0]),
        end.took.as_millis(),
    );
    if end.summary.is_empty() {
        println!("{}: no summary", attack.name);
    }
    wrong.is_empty() && !end.summary.is_empty()
}

/// Begins a flood; it returns how many datagrams the system has taken.
fn flood(
    attack: &Attack,
    server: &Server,
    relay: SocketAddr,
    victim: SocketAddr,
    over: Arc<AtomicBool>,
) -> io::Result<JoinHandle<u64>> {
    let (socket, to) = match attack.flood {
        Flood::Client | Flood::Spoofed => (UdpSocket::bind("127.0.0.1:0")?, relay),
        Flood::Stranger => (UdpSocket::bind("127.0.0.1:0")?, victim),
        Flood::Server => (server.sender()?, victim),
    };
    let (contents, spoofed) = (vec![0; attack.size], attack.flood == Flood::Spoofed);
    Ok(thread::spawn(move || {
        let mut sent = 0;
        let mut host: u32 = 0;
        while !over.load(Relaxed) {
            let result = if spoofed {
                host = host % HOSTS + 1;
                let source = Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 0).to_bits() + host);
                UdpSocket::bind((source, 0)).and_then(|socket| socket.send_to(&contents, to))
            } else {
                socket.send_to(&contents, to)
            };
            // A full buffer is part of a flood.
            sent += u64::from(result.is_ok());
        }
        sent
    }))
}

/// Makes the place for a log.
fn log(log: Log, directory: &Path) -> Result<Option<PathBuf>, AnyError> {
    let base = directory.join("relay_stress.log");
    for direction in ["up", "down"] {
        let path = base.with_extension(format!("log.{direction}"));
        // It need not be there.
        let _ = fs::remove_file(&path);
        match log {
            Log::None | Log::File => {}
            Log::Full => std::os::unix::fs::symlink("/dev/full", path)?,
            Log::Slow | Log::Stuck => {
                Command::new("mkfifo").arg(&path).status()?;
                thread::spawn(move || read(&path, log == Log::Slow));
            }
        }
    }
    Ok((log != Log::None).then_some(base))
}

/// Reads a pipe slowly, or never; ends with its writer.
fn read(path: &Path, slowly: bool) -> io::Result<()> {
    let mut pipe = File::open(path)?;
    let mut buffer = [0; 25_000];
    loop {
        thread::sleep(Duration::from_millis(100));
        if slowly && pipe.read(&mut buffer)? == 0 {
            return Ok(());
        }
    }
}

/// Until all that was sent has been read, and what is due has left.
const SETTLED: Duration = Duration::from_millis(500);

const ASLEEP: Duration = Duration::from_secs(3);

/// So many addresses are spoofed.
const HOSTS: u32 = 60_000;
