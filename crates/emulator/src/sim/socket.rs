//! UDP sockets on the emulated network.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};

use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

use super::host_view::HostView;
use super::hosts::{HostPort, Hosts};
use super::inboxes::InboxId;
use super::lock;
use super::shared::Shared;
use crate::host::{ReceiveStatistics, Ticket};
use crate::packet::{Ecn, Packet};

/// A UDP socket bound to an address of the emulated network.
///
/// On an ideal host it is always writable: queues are in the network, not in the sender. On a [host](crate::host) that
/// takes time it is writable when the host's processor has the time for it. All datagrams of one
/// segmented transmit enter the network at the same instant. Dropping the socket frees the
/// address.
#[derive(Debug)]
pub struct Socket {
    address: SocketAddr,
    inbox: InboxId,
    shared: Arc<Shared>,
    /// Where it is on a host that takes time.
    host: Option<HostPort>,
}

impl Socket {
    pub(super) fn new(
        address: SocketAddr,
        inbox: InboxId,
        shared: Arc<Shared>,
        host: Option<HostPort>,
    ) -> Self {
        Self {
            address,
            inbox,
            shared,
            host,
        }
    }

    /// The receive statistics; `None` on an ideal host, which has none.
    pub fn receive_statistics(&self) -> Option<ReceiveStatistics> {
        let (hosts, port) = self.hosts()?;
        hosts.machine(port).statistics(port.port)
    }

    /// An endpoint's view of the host.
    pub(super) fn host_view(&self) -> Option<Arc<HostView>> {
        let (hosts, port) = self.hosts()?;
        Some(HostView::new(port, hosts.grid(port, self.address.ip())))
    }

    fn hosts(&self) -> Option<(MutexGuard<'_, Hosts>, HostPort)> {
        let port = self.host?;
        Some((lock(self.shared.hosts.get()?), port))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Some((mut hosts, port)) = self.hosts() {
            hosts.close(self.address, port);
        }
        let inbox = lock(&self.shared.inboxes).close(self.address, self.inbox);
        // Not under the lock: a waker may own what another socket is in.
        drop(inbox);
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(SocketPoller::new(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let now = self.shared.clock.now();
        let ecn = transmit.ecn.map(from_codepoint);
        let segment = transmit.segment_size.unwrap_or(transmit.contents.len());
        let mut wire = lock(&self.shared.wire);
        if let Some((mut hosts, port)) = self.hosts() {
            let packets = transmit.contents.chunks(segment.max(1));
            let packets = packets.map(|datagram| Packet {
                source: self.address,
                destination: transmit.destination,
                ecn,
                payload: wire.buffers.copy(datagram),
            });
            let packets = packets.collect();
            let sent = hosts.with(port.host, |machine| machine.send(now, packets));
            return sent.map_err(|_| io::ErrorKind::WouldBlock.into());
        }
        for datagram in transmit.contents.chunks(segment.max(1)) {
            let packet = Packet {
                source: self.address,
                destination: transmit.destination,
                ecn,
                payload: wire.buffers.copy(datagram),
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
            inboxes.buffers.keep(packet.payload);
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
        } else {
            drop(inboxes);
        }
        if let Some((mut hosts, HostPort { host, port })) = self.hosts() {
            let now = self.shared.clock.now();
            hosts.with(host, |machine| machine.drained(now, port));
        }
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn max_transmit_segments(&self) -> usize {
        match self.hosts() {
            None => self.shared.transmit_segments,
            Some((hosts, port)) => {
                let burst = hosts.machine(port).config().send.burst_datagrams;
                usize::try_from(burst).unwrap_or(1).max(1)
            }
        }
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

/// Waits until a socket can send.
#[derive(Debug)]
pub(super) struct SocketPoller {
    socket: Arc<Socket>,
    ticket: Option<Ticket>,
}

impl SocketPoller {
    pub(super) fn new(socket: Arc<Socket>) -> Self {
        Self {
            socket,
            ticket: None,
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { socket, ticket } = self;
        let Some((mut hosts, HostPort { host, .. })) = socket.hosts() else {
            return Poll::Ready(());
        };
        let now = socket.shared.clock.now();
        let ready = hosts.with(host, |machine| machine.may_send(now, ticket, cx.waker()));
        if ready {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl UdpPoller for SocketPoller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx).map(Ok)
    }
}

impl Drop for SocketPoller {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket
            && let Some((mut hosts, HostPort { host, .. })) = self.socket.hosts()
        {
            let forgotten = hosts.with(host, |machine| machine.forget(ticket));
            drop(hosts);
            // Not under the lock: a waker may own what a socket is in.
            drop(forgotten);
        }
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
