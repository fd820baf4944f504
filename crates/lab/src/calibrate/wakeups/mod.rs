//! From the arrival of a datagram until the application, which sleeps, has read it.

#[cfg(target_os = "linux")]
mod arrival;
#[cfg(not(target_os = "linux"))]
#[path = "sending.rs"]
mod arrival;

use std::hint::spin_loop;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::{CalibrateError, LOOPBACK, Samples};
use crate::real_clock::now;

/// Sends datagrams to a thread that waits for each, as an application over tokio waits, and measures from the system's time
/// stamp of the arrival until the datagram has been read. Where there is no time stamp, from the sending call, which over
/// loopback delivers before it returns.
pub(super) fn measure(duration: Duration, seed: u64) -> Result<Samples, CalibrateError> {
    let receiver = UdpSocket::bind(LOOPBACK).map_err(CalibrateError::system("open a socket"))?;
    let to = receiver
        .local_addr()
        .map_err(CalibrateError::system("open a socket"))?;
    let epoch = now();
    let receiving = thread::spawn(move || receive(receiver, epoch, duration));
    let sent = send(to, epoch, duration, seed);
    let delays = receiving.join().map_err(|_| CalibrateError::Panicked)?;
    sent.map_err(CalibrateError::system("send over loopback"))?;
    let delays = delays.map_err(CalibrateError::system("receive over loopback"))?;
    Samples::new(delays).ok_or(CalibrateError::Nothing {
        what: "wake-up delay",
    })
}

/// Each datagram is the time of sending.
fn send(to: SocketAddr, epoch: Instant, duration: Duration, seed: u64) -> io::Result<()> {
    let socket = UdpSocket::bind(LOOPBACK)?;
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut next = now();
    while now().saturating_duration_since(epoch) < duration {
        next += Duration::from_nanos(generator.random_range(GAP_NANOS));
        while now() < next {
            spin_loop();
        }
        let at = now().saturating_duration_since(epoch).as_nanos() as u64;
        socket.send_to(&at.to_be_bytes(), to)?;
    }
    Ok(())
}

fn receive(socket: UdpSocket, epoch: Instant, duration: Duration) -> io::Result<Vec<Duration>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut delays = Vec::new();
    let receiving = async {
        socket.set_nonblocking(true)?;
        let socket = tokio::net::UdpSocket::from_std(socket)?;
        arrival::prepare(&socket)?;
        loop {
            socket.readable().await?;
            read_all(&socket, epoch, &mut delays)?;
        }
    };
    match runtime.block_on(async { timeout(duration, receiving).await }) {
        Ok(result) => result,
        Err(_elapsed) => Ok(()),
    }
    .map(|()| delays)
}

/// The first datagram has waited for the thread to wake up; those behind it have not.
fn read_all(
    socket: &tokio::net::UdpSocket,
    epoch: Instant,
    delays: &mut Vec<Duration>,
) -> io::Result<()> {
    let mut buffer = [0; 8];
    let mut first = true;
    loop {
        match arrival::read(socket, &mut buffer) {
            Ok(waited) if first => {
                delays.push(waited.unwrap_or_else(|| {
                    let sent = Duration::from_nanos(u64::from_be_bytes(buffer));
                    now().saturating_duration_since(epoch).saturating_sub(sent)
                }));
                first = false;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Between two datagrams: long enough to fall asleep in.
const GAP_NANOS: std::ops::Range<u64> = 100_000..1_000_000;
