//! A UDP socket with batched I/O.

use std::array;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};

use mio::net::UdpSocket;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, Transmit, UdpSockRef, UdpSocketState};

use super::received::{self, Received};
use crate::packet::Ecn;
use crate::time::Nanos;

/// A socket that never blocks.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) io: UdpSocket,
    state: UdpSocketState,
    local: SocketAddr,
}

/// One datagram as it came.
#[derive(Debug)]
pub(super) struct Datagram<'a> {
    pub(super) source: SocketAddr,
    /// The address it was sent to.
    pub(super) local: Option<IpAddr>,
    pub(super) ecn: Option<Ecn>,
    /// How long it had waited to be read, if that is known.
    pub(super) waited: Option<Nanos>,
    pub(super) payload: &'a [u8],
}

/// Datagrams of one size but the last, which may be smaller, for one destination.
#[derive(Debug)]
pub(super) struct Train<'a> {
    pub(super) destination: SocketAddr,
    /// The address to send from, where the socket has several.
    pub(super) local: Option<IpAddr>,
    pub(super) ecn: Option<Ecn>,
    pub(super) contents: &'a [u8],
    pub(super) size: usize,
}

impl Socket {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let io = std::net::UdpSocket::bind(address)?;
        received::stamp_arrivals(&io);
        let state = UdpSocketState::new(UdpSockRef::from(&io))?;
        // As much as the system grants: what does not fit is lost without having seen the link.
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&io), SOCKET_BUFFER);
        let _ = state.set_send_buffer_size(UdpSockRef::from(&io), SOCKET_BUFFER);
        let local = io.local_addr()?;
        Ok(Self {
            io: UdpSocket::from_std(io),
            state,
            local,
        })
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.local
    }

    /// Takes what has come, as much as one call yields. [`WouldBlock`](io::ErrorKind::WouldBlock) if that is nothing.
    pub(super) fn receive(
        &self,
        buffers: &mut Buffers,
        each: &mut dyn FnMut(Datagram<'_>),
    ) -> io::Result<()> {
        let Buffers { memory, received } = buffers;
        received.clear();
        let mut chunks = memory.chunks_exact_mut(LARGEST_DATAGRAM);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        self.io
            .try_io(|| received::receive(&self.io, &self.state, &mut slices, received))?;
        for (slice, known) in slices.iter().zip(received) {
            let content = slice.get(..known.length).unwrap_or_default();
            let mut deliver = |payload| {
                each(Datagram {
                    source: known.source,
                    local: known.local,
                    ecn: known.ecn.map(from_codepoint),
                    waited: known.waited,
                    payload,
                });
            };
            if content.is_empty() {
                deliver(content);
            }
            content.chunks(known.stride.max(1)).for_each(deliver);
        }
        Ok(())
    }

    /// Reads what is left, but not for ever what still comes; returns how many datagrams there were.
    pub(super) fn drain(&self) -> u64 {
        // The buffers are large, and most sockets are empty.
        if self.io.peek(&mut [0]).is_err() {
            return 0;
        }
        let (mut buffers, mut datagrams) = (Buffers::new(), 0);
        while datagrams < MAX_LEFT && self.receive(&mut buffers, &mut |_| datagrams += 1).is_ok() {}
        datagrams
    }

    /// The most datagrams in a train.
    pub(super) fn max_train(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Sends a train; returns how many datagrams could not be sent.
    pub(super) fn send(&self, train: &Train<'_>) -> u64 {
        let several = train.contents.len() > train.size;
        if self.try_send(train, several.then_some(train.size)).is_ok() {
            return 0;
        }
        if !several {
            return 1;
        }
        // The system may have no segmentation offload after all.
        let mut failed = 0;
        for contents in train.contents.chunks(train.size.max(1)) {
            let single = Train { contents, ..*train };
            failed += u64::from(self.try_send(&single, None).is_err());
        }
        failed
    }

    /// The buffer is full only for moments on loopback, so that waiting for room is cheaper than asking for notice.
    fn try_send(&self, train: &Train<'_>, segment_size: Option<usize>) -> io::Result<()> {
        let transmit = Transmit {
            destination: train.destination,
            ecn: train.ecn.map(to_codepoint),
            contents: train.contents,
            segment_size,
            src_ip: train.local,
        };
        let mut attempts = 0;
        loop {
            let result = self.io.try_io(|| {
                let socket = UdpSockRef::from(&self.io);
                self.state.try_send(socket, &transmit)
            });
            match result {
                Err(error) if is_full(&error) && attempts < SEND_ATTEMPTS => {
                    attempts += 1;
                    std::thread::yield_now();
                }
                result => return result,
            }
        }
    }
}

/// Room for one batch.
#[derive(Debug)]
pub(super) struct Buffers {
    memory: Vec<u8>,
    received: Vec<Received>,
}

impl Buffers {
    pub(super) fn new() -> Self {
        Self {
            memory: vec![0; LARGEST_DATAGRAM * BATCH_SIZE],
            received: Vec::with_capacity(BATCH_SIZE),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

fn from_codepoint(codepoint: EcnCodepoint) -> Ecn {
    match codepoint {
        EcnCodepoint::Ect0 => Ecn::Ect0,
        EcnCodepoint::Ect1 => Ecn::Ect1,
        EcnCodepoint::Ce => Ecn::Ce,
    }
}

fn to_codepoint(ecn: Ecn) -> EcnCodepoint {
    match ecn {
        Ecn::Ect0 => EcnCodepoint::Ect0,
        Ecn::Ect1 => EcnCodepoint::Ect1,
        Ecn::Ce => EcnCodepoint::Ce,
    }
}

/// More than the largest UDP payload; also of what the system has joined.
const LARGEST_DATAGRAM: usize = 1 << 16;

/// The largest UDP payload over IPv4, in bytes.
pub(super) const LARGEST_PAYLOAD: usize = 65_507;

/// More datagrams than a socket buffer holds: the system counts some hundred bytes for each.
const MAX_LEFT: u64 = 1 << 16;

/// The requested socket buffers, in bytes: 60 ms at 1 Gb/s.
const SOCKET_BUFFER: usize = 8 << 20;

/// How often to try to send into a full buffer before the datagrams are given up.
const SEND_ATTEMPTS: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_counted() {
        let socket = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        for size in [0, 1, 1200].repeat(30) {
            sender.send_to(&vec![0; size], socket.local()).unwrap();
        }
        assert_eq!((socket.drain(), socket.drain()), (90, 0));
    }
}
