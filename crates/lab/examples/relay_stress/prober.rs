//! An honest client.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::AnyError;
use crate::relayed::now;
use crate::server::{ANSWER, dropped, socket};

/// Sends a ping every 10 ms, and reads all that comes.
pub(crate) struct Prober {
    over: Arc<AtomicBool>,
    work: JoinHandle<Pings>,
}

/// What it has seen.
pub(crate) struct Pings {
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    /// Whatever came, and what the system dropped before it was read.
    pub(crate) came: u64,
}

impl Prober {
    pub(crate) fn start(relay: SocketAddr) -> io::Result<Self> {
        let socket = socket()?;
        socket.set_read_timeout(Some(EACH))?;
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let work = thread::spawn(move || ping(&socket, relay, &stop));
        Ok(Self { over, work })
    }

    /// No pings from now on.
    pub(crate) fn stop(&self) {
        self.over.store(true, Relaxed);
    }

    pub(crate) fn end(self) -> Result<Pings, AnyError> {
        self.stop();
        Ok(self.work.join().map_err(|_| "a prober panicked")?)
    }
}

fn ping(socket: &UdpSocket, relay: SocketAddr, over: &AtomicBool) -> Pings {
    let mut pings = Pings {
        sent: 0,
        answered: 0,
        came: 0,
    };
    let mut buffer = vec![0; 1 << 16];
    let mut next = now();
    let mut quiet = 0;
    // After the last ping it listens until nothing comes for a while.
    while quiet < QUIET {
        if over.load(Relaxed) {
            quiet += 1;
        } else if now() >= next {
            next += EACH;
            pings.sent += u64::from(socket.send_to(&[ANSWER; 20], relay).is_ok());
        }
        if let Ok(size) = socket.recv(&mut buffer) {
            pings.came += 1;
            pings.answered += u64::from(size == 20 && buffer.first() == Some(&ANSWER));
            quiet = 0;
        }
    }
    if let Ok(address) = socket.local_addr() {
        pings.came += dropped(address);
    }
    pings
}

const EACH: Duration = Duration::from_millis(10);

/// So many times nothing.
const QUIET: u32 = 50;
