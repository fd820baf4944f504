//! Endpoints, their connections, and the application on them.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use kneepoint_emulator::sim::endpoint_config;
use quinn_proto::{
    Connection, ConnectionHandle, Dir, Endpoint, Event, ServerConfig, StreamEvent, StreamId,
};

/// One endpoint.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) endpoint: Endpoint,
    /// Its connections' places among the peers, by their handles.
    pub(crate) peers: Vec<usize>,
}

/// One end of a connection.
pub(crate) struct Peer {
    pub(crate) host: usize,
    /// The host at the other end.
    pub(crate) remote: usize,
    pub(crate) handle: ConnectionHandle,
    pub(crate) connection: Connection,
    /// The earliest of its entries among the timers that counts.
    pub(crate) armed: Option<u64>,
    /// The client's, once there is one.
    pub(crate) stream: Option<StreamId>,
}

impl Host {
    pub(crate) fn new(number: u32, server: Option<ServerConfig>) -> Self {
        let [_, high, middle, low] = number.to_be_bytes();
        let config = Arc::new(endpoint_config(number.into()));
        Self {
            address: SocketAddr::from(([10, high, middle, low], 4433)),
            endpoint: Endpoint::new(config, server.map(Arc::new), true, None),
            peers: Vec::new(),
        }
    }
}

impl Peer {
    /// The application: the client writes for ever, the server reads and forgets. Returns whether there may be something
    /// to send.
    pub(crate) fn act(&mut self, event: Event) -> bool {
        match event {
            Event::Connected if self.host != 0 => {
                self.stream = self.connection.streams().open(Dir::Uni);
                self.write()
            }
            Event::Stream(StreamEvent::Writable { .. }) => self.write(),
            Event::Stream(StreamEvent::Opened { dir }) => {
                let stream = self.connection.streams().accept(dir);
                stream.is_some_and(|stream| self.read(stream))
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(id),
            _ => false,
        }
    }

    fn write(&mut self) -> bool {
        let Some(stream) = self.stream else {
            return false;
        };
        let mut stream = self.connection.send_stream(stream);
        let mut any = false;
        while stream
            .write_chunks(&mut [Bytes::from_static(&DATA)])
            .is_ok()
        {
            any = true;
        }
        any
    }

    fn read(&mut self, stream: StreamId) -> bool {
        let mut stream = self.connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else {
            return false;
        };
        while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        chunks.finalize().should_transmit()
    }
}

static DATA: [u8; 1 << 16] = [0; 1 << 16];
