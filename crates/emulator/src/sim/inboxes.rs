//! Datagrams that have arrived at the sockets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Waker;

use crate::addresses::AddressMap;
use crate::packet::Packet;

/// The inboxes of all sockets.
#[derive(Debug, Default)]
pub(super) struct Inboxes {
    places: AddressMap<usize>,
    inboxes: Vec<Inbox>,
    /// Places without a socket.
    free: Vec<usize>,
    /// Buffers of packets that have been read.
    pub(super) buffers: BufferPool,
}

/// The packets that arrived at one address and were not read yet.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) reader: Option<Waker>,
    packets: VecDeque<Packet>,
    bytes: usize,
}

/// Identifies an inbox until it is closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct InboxId(usize);

impl Inboxes {
    /// Gives an address that has none an inbox.
    pub(super) fn open(&mut self, address: SocketAddr) -> InboxId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.inboxes.push(Inbox::default());
            self.inboxes.len() - 1
        });
        self.places.insert(address, place);
        InboxId(place)
    }

    /// Takes the inbox away from its address.
    pub(super) fn close(&mut self, address: SocketAddr, InboxId(place): InboxId) -> Inbox {
        self.places.remove(&address);
        self.free.push(place);
        std::mem::take(&mut self.inboxes[place])
    }

    pub(super) fn is_open(&self, address: SocketAddr) -> bool {
        self.places.contains_key(&address)
    }

    pub(super) fn get(&mut self, InboxId(place): InboxId) -> &mut Inbox {
        &mut self.inboxes[place]
    }

    /// Queues `packet`; returns the waker of a reader that waits for it. Nobody hears a packet to an address that was
    /// unbound while it was in flight.
    pub(super) fn push(&mut self, packet: Packet) -> Option<Waker> {
        let place = *self.places.get(&packet.destination)?;
        self.inboxes[place].push(packet)
    }

    /// The addresses at which an arrival wakes `waker`, in order.
    pub(super) fn read_by(&self, waker: &Waker) -> Vec<SocketAddr> {
        let read = self.places.iter().filter(|(_, place)| {
            let reader = self.inboxes[**place].reader.as_ref();
            reader.is_some_and(|reader| reader.will_wake(waker))
        });
        let mut addresses: Vec<SocketAddr> = read.map(|(address, _)| *address).collect();
        addresses.sort_unstable();
        addresses
    }
}

impl Inbox {
    /// Drops the packet if the application does not read, as a kernel does.
    fn push(&mut self, packet: Packet) -> Option<Waker> {
        if self.bytes + packet.payload.len() > RECEIVE_BUFFER {
            return None;
        }
        self.bytes += packet.payload.len();
        self.packets.push_back(packet);
        self.reader.take()
    }

    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.payload.len();
        Some(packet)
    }
}

/// Buffers to use again, the latest first: it is still in the processor's caches, and an allocator would look for one of
/// its size among those that are not.
#[derive(Debug, Default)]
pub(super) struct BufferPool(Vec<Vec<u8>>);

impl BufferPool {
    /// A copy of `datagram`.
    pub(super) fn copy(&mut self, datagram: &[u8]) -> Vec<u8> {
        if datagram.len() < MIN_SPARE {
            return datagram.to_vec();
        }
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(datagram);
        buffer
    }

    /// Keeps a buffer that a large datagram was in.
    pub(super) fn keep(&mut self, buffer: Vec<u8>) {
        if buffer.len() >= MIN_SPARE {
            self.0.push(buffer);
        }
    }

    /// Takes all buffers of `other`.
    pub(super) fn take(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }
}

/// How much a socket holds for an application that does not read, in bytes of payload.
const RECEIVE_BUFFER: usize = 64 << 20;
/// Allocators are quick about small buffers, and those of acknowledgements need not be as large as those of data.
const MIN_SPARE: usize = 512;
