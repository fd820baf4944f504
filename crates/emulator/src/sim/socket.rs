//! UDP sockets on the emulated network.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

use super::inboxes::InboxId;
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
    inbox: InboxId,
    shared: Arc<Shared>,
}

impl Socket {
    pub(super) fn new(address: SocketAddr, inbox: InboxId, shared: Arc<Shared>) -> Self {
        Self {
            address,
            inbox,
            shared,
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let inbox = lock(&self.shared.inboxes).close(self.address, self.inbox);
        // Not under the lock: a waker may own what another socket is in.
        drop(inbox);
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
        let mut wire = lock(&self.shared.wire);
        for datagram in transmit.contents.chunks(segment.max(1)) {
            let packet = Packet {
                source: self.address,
                destination: transmit.destination,
                ecn,
                payload: wire.spare.copy(datagram),
            };
            wire.network.send(now, packet);
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut inboxes = lock(&self.shared.inboxes);
        let mut count = 0;
        for (buf, meta) in bufs.iter_mut().zip(meta) {
            let Some(packet) = inboxes.get(self.inbox).pop() else {
                break;
            };
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
            inboxes.spare.keep(packet.payload);
            count += 1;
        }
        if count > 0 {
            return Poll::Ready(Ok(count));
        }
        let reader = &mut inboxes.get(self.inbox).reader;
        if !reader
            .as_ref()
            .is_some_and(|reader| reader.will_wake(cx.waker()))
        {
            let previous = reader.replace(cx.waker().clone());
            drop(inboxes);
            drop(previous);
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
