//! UDP sockets on the emulated network.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

use super::lock;
use super::shared::Shared;
use crate::packet::{Ecn, Packet};

/// A UDP socket bound to an address of the emulated network.
///
/// It is always writable: queues are in the network, not in the sender. All datagrams of one
/// segmented transmit enter the network at the same instant. Dropping the socket frees the
/// address.
#[derive(Debug)]
pub struct Socket {
    address: SocketAddr,
    inbox: Arc<Inbox>,
    shared: Arc<Shared>,
}

/// The packets that arrived at one address and were not read yet.
#[derive(Debug, Default)]
pub(super) struct Inbox(Mutex<Received>);

#[derive(Debug, Default)]
struct Received {
    packets: VecDeque<Packet>,
    bytes: usize,
    reader: Option<Waker>,
}

impl Inbox {
    /// Queues `packet`; returns the waker of a reader that waits for it. Drops the packet if the
    /// application does not read, as a kernel does.
    pub(super) fn push(&self, packet: Packet) -> Option<Waker> {
        let mut received = lock(&self.0);
        if received.bytes + packet.payload.len() > RECEIVE_BUFFER {
            return None;
        }
        received.bytes += packet.payload.len();
        received.packets.push_back(packet);
        received.reader.take()
    }

    /// Whether an arrival wakes `waker`.
    pub(super) fn is_read_by(&self, waker: &Waker) -> bool {
        let received = lock(&self.0);
        let reader = received.reader.as_ref();
        reader.is_some_and(|reader| reader.will_wake(waker))
    }
}

impl Socket {
    pub(super) fn new(address: SocketAddr, inbox: Arc<Inbox>, shared: Arc<Shared>) -> Self {
        Self {
            address,
            inbox,
            shared,
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        lock(&self.shared.inboxes).remove(&self.address);
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(AlwaysWritable)
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let now = self.shared.clock.now();
        let ecn = transmit.ecn.map(from_codepoint);
        let segment = transmit.segment_size.unwrap_or(transmit.contents.len());
        let mut network = lock(&self.shared.network);
        for datagram in transmit.contents.chunks(segment.max(1)) {
            network.send(
                now,
                Packet {
                    source: self.address,
                    destination: transmit.destination,
                    ecn,
                    payload: datagram.to_vec(),
                },
            );
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut received = lock(&self.inbox.0);
        let mut count = 0;
        for (buf, meta) in bufs.iter_mut().zip(meta) {
            let Some(packet) = received.packets.pop_front() else {
                break;
            };
            received.bytes -= packet.payload.len();
            // A datagram larger than the buffer is cut off, as by a kernel.
            let len = packet.payload.len().min(buf.len());
            buf[..len].copy_from_slice(&packet.payload[..len]);
            *meta = RecvMeta {
                addr: packet.source,
                len,
                stride: len,
                ecn: packet.ecn.map(to_codepoint),
                dst_ip: Some(self.address.ip()),
            };
            count += 1;
        }
        if count > 0 {
            return Poll::Ready(Ok(count));
        }
        match &mut received.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            absent => *absent = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn max_transmit_segments(&self) -> usize {
        self.shared.transmit_segments
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct AlwaysWritable;

impl UdpPoller for AlwaysWritable {
    fn poll_writable(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
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

/// How much a socket holds for an application that does not read, in bytes of payload.
const RECEIVE_BUFFER: usize = 64 << 20;
