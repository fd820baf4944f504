//! The server behind the relay, and what the system drops before a socket.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::SockRef;

/// Reads all that comes, and answers what begins with [`ANSWER`].
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    socket: UdpSocket,
    counts: Arc<Counts>,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    stop: AtomicBool,
    received: AtomicU64,
    answered: AtomicU64,
    /// The relay's sockets, as far as they have sent anything to be answered.
    proxies: Mutex<HashSet<SocketAddr>>,
}

/// What a server has seen.
pub(crate) struct Seen {
    /// What came, and what the system dropped before it was read.
    pub(crate) came: u64,
    pub(crate) answered: u64,
}

impl Server {
    pub(crate) fn start() -> io::Result<Self> {
        let socket = socket()?;
        let counts = Arc::new(Counts::default());
        let (reading, counting) = (socket.try_clone()?, Arc::clone(&counts));
        let reader = thread::spawn(move || read(&reading, &counting));
        Ok(Self {
            address: socket.local_addr()?,
            socket,
            counts,
            reader,
        })
    }

    /// One of the relay's sockets that has sent something to be answered.
    pub(crate) fn proxy(&self) -> Option<SocketAddr> {
        let proxies = self.counts.proxies.lock();
        let proxies = proxies.unwrap_or_else(PoisonError::into_inner);
        proxies.iter().next().copied()
    }

    /// A socket that sends as this server.
    pub(crate) fn sender(&self) -> io::Result<UdpSocket> {
        self.socket.try_clone()
    }

    pub(crate) fn end(self) -> Seen {
        self.counts.stop.store(true, Relaxed);
        // It has nothing to say.
        let _ = self.reader.join();
        Seen {
            came: self.counts.received.load(Relaxed) + dropped(self.address),
            answered: self.counts.answered.load(Relaxed),
        }
    }
}

fn read(socket: &UdpSocket, counts: &Counts) {
    let mut buffer = vec![0; 1 << 16];
    while !counts.stop.load(Relaxed) {
        let Ok((size, source)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        counts.received.fetch_add(1, Relaxed);
        if buffer.first() == Some(&ANSWER) && size > 0 {
            let proxies = counts.proxies.lock();
            let mut proxies = proxies.unwrap_or_else(PoisonError::into_inner);
            proxies.insert(source);
            drop(proxies);
            let sent = socket.send_to(buffer.get(..size).unwrap_or_default(), source);
            counts.answered.fetch_add(u64::from(sent.is_ok()), Relaxed);
        }
    }
}

/// On loopback, with as much room as the system grants, and no long waits.
pub(crate) fn socket() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    SockRef::from(&socket).set_recv_buffer_size(8 << 20)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    Ok(socket)
}

/// What the system has dropped before a socket of this address on IPv4.
pub(crate) fn dropped(address: SocketAddr) -> u64 {
    let SocketAddr::V4(address) = address else {
        return 0;
    };
    let octets = u32::from_ne_bytes(address.ip().octets());
    let name = format!("{octets:08X}:{:04X}", address.port());
    let table = fs::read_to_string("/proc/net/udp").unwrap_or_default();
    let line = table.lines().find(|line| line.contains(&name));
    let drops = line.and_then(|line| line.split_whitespace().next_back());
    drops.and_then(|drops| drops.parse().ok()).unwrap_or(0)
}

/// The first byte of what is answered.
pub(crate) const ANSWER: u8 = b'?';
