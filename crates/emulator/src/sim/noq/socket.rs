//! noq's sockets, on top of those that quinn uses.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use noq::udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit};
use noq::{AsyncUdpSocket, UdpSender};
use quinn::AsyncUdpSocket as _;
use quinn::udp;

use crate::sim::socket::{Socket, SocketPoller};

/// A [`Socket`] as noq sees it: for [`noq::Endpoint::rebind_abstract`], say.
///
/// Clones send from the same address and read the same packets.
#[derive(Debug, Clone)]
pub struct NoqSocket(Arc<Socket>);

impl NoqSocket {
    /// noq's view of `socket`.
    pub fn new(socket: Arc<Socket>) -> Self {
        Self(socket)
    }
}

impl AsyncUdpSocket for NoqSocket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(Sender {
            writable: SocketPoller::new(Arc::clone(&self.0)),
            socket: Arc::clone(&self.0),
        })
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut received = [nothing_received(); BATCH_SIZE];
        let room = received.len().min(meta.len());
        let result = self.0.poll_recv(cx, bufs, &mut received[..room]);
        for (meta, received) in meta.iter_mut().zip(&received) {
            let udp::RecvMeta {
                addr,
                len,
                stride,
                ecn,
                dst_ip,
            } = *received;
            *meta = RecvMeta::default();
            meta.addr = addr;
            meta.len = len;
            meta.stride = stride;
            meta.ecn = ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
            meta.dst_ip = dst_ip;
        }
        result
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn may_fragment(&self) -> bool {
        self.0.may_fragment()
    }
}

/// One who sends from a socket, and waits for its host if that is busy.
#[derive(Debug)]
struct Sender {
    socket: Arc<Socket>,
    writable: SocketPoller,
}

impl UdpSender for Sender {
    fn poll_send(
        mut self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let transmit = udp::Transmit {
            destination: transmit.destination,
            ecn: transmit
                .ecn
                .and_then(|ecn| udp::EcnCodepoint::from_bits(ecn as u8)),
            contents: transmit.contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        if self.writable.poll(cx).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(self.socket.try_send(&transmit))
    }

    fn max_transmit_segments(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.socket.max_transmit_segments()).unwrap_or(NonZeroUsize::MIN)
    }
}

fn nothing_received() -> udp::RecvMeta {
    udp::RecvMeta {
        addr: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        len: 0,
        stride: 0,
        ecn: None,
        dst_ip: None,
    }
}
