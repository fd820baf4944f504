//! Measures the buffer of a socket whose application does not read.

use std::io;
use std::net::UdpSocket;

use socket2::SockRef;

use super::{CalibrateError, LOOPBACK};

/// The socket buffers of each direction, at the system's default sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Bytes of UDP payload, in datagrams of 1452 bytes, that a socket keeps until they are read.
    pub receive_bytes: u64,
    /// The system's size of what waits to leave, in bytes.
    pub send_bytes: u64,
}

/// Fills a socket, then counts what is in it: the system counts its own structures as well.
pub(super) fn measure() -> Result<Buffers, CalibrateError> {
    fill().map_err(CalibrateError::system("fill a socket"))
}

fn fill() -> io::Result<Buffers> {
    let (receiver, sender) = (UdpSocket::bind(LOOPBACK)?, UdpSocket::bind(LOOPBACK)?);
    receiver.set_nonblocking(true)?;
    let to = receiver.local_addr()?;
    let nominal = SockRef::from(&receiver).recv_buffer_size()?;
    let datagram = [0; DATAGRAM];
    for _ in 0..nominal / DATAGRAM + 1 {
        sender.send_to(&datagram, to)?;
    }
    let mut receive_bytes = 0;
    while let Ok(size) = receiver.recv(&mut [0; DATAGRAM]) {
        receive_bytes += size as u64;
    }
    Ok(Buffers {
        receive_bytes,
        send_bytes: SockRef::from(&sender).send_buffer_size()? as u64,
    })
}

/// quinn's datagrams on an Ethernet path.
const DATAGRAM: usize = 1452;
