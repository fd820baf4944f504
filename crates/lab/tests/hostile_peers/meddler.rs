//! A host behind something that meddles with what comes in.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use kneepoint_emulator::sim::{Handle, Socket};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

/// What happens to the datagrams that come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meddling {
    /// Each comes twice.
    Duplicate,
    /// A byte of one in so many is inverted.
    Corrupt(u64),
    /// One in every two lots of so many comes so many later.
    Reorder(u64),
    /// They lose their ECN codepoints.
    Bleach,
    /// They are marked.
    Mark,
    /// Larger ones do not pass.
    Mtu(usize),
}

/// A socket that meddles in a span of time.
#[derive(Debug)]
pub(crate) struct Meddler {
    socket: Arc<Socket>,
    handle: Handle,
    meddling: Meddling,
    during: Range<Duration>,
    state: Mutex<State>,
}

type Datagram = (Vec<u8>, RecvMeta);

#[derive(Debug, Default)]
struct State {
    seen: u64,
    /// What the endpoint gets next.
    ready: VecDeque<Datagram>,
    /// A datagram, and the count at which it comes.
    held: Option<(u64, Datagram)>,
}

impl Meddler {
    pub(crate) fn new(
        socket: Arc<Socket>,
        handle: Handle,
        meddling: Meddling,
        during: Range<Duration>,
    ) -> Self {
        Self {
            socket,
            handle,
            meddling,
            during,
            state: Mutex::default(),
        }
    }

    fn pass(&self, state: &mut State, (mut bytes, mut meta): Datagram) {
        state.seen += 1;
        if self.during.contains(&self.handle.now().into()) {
            match self.meddling {
                Meddling::Duplicate => state.ready.push_back((bytes.clone(), meta)),
                Meddling::Corrupt(every) if state.seen.is_multiple_of(every) => {
                    let last = bytes.len() - 1;
                    bytes[last] = !bytes[last];
                }
                Meddling::Reorder(by) if state.held.is_none() && state.seen.is_multiple_of(by) => {
                    state.held = Some((state.seen + by, (bytes, meta)));
                    return;
                }
                Meddling::Bleach => meta.ecn = None,
                Meddling::Mark => meta.ecn = meta.ecn.map(|_| EcnCodepoint::Ce),
                Meddling::Mtu(mtu) if bytes.len() > mtu => return,
                _ => {}
            }
        }
        state.ready.push_back((bytes, meta));
        let seen = state.seen;
        if let Some((_, held)) = state.held.take_if(|(at, _)| *at <= seen) {
            state.ready.push_back(held);
        }
    }
}

impl AsyncUdpSocket for Meddler {
    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let state = &mut *self.state.lock().unwrap();
        loop {
            if let Some((bytes, about)) = state.ready.pop_front() {
                bufs[0][..bytes.len()].copy_from_slice(&bytes);
                meta[0] = about;
                return Poll::Ready(Ok(1));
            }
            let count = ready!(self.socket.poll_recv(cx, bufs, meta))?;
            for (buf, meta) in bufs.iter().zip(&*meta).take(count) {
                self.pass(state, (buf[..meta.len].to_vec(), *meta));
            }
        }
    }

    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.socket).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.socket.try_send(transmit)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.socket.max_transmit_segments()
    }

    fn may_fragment(&self) -> bool {
        self.socket.may_fragment()
    }
}
