//! What the applications need of a QUIC stack, so that the same code runs over quinn and over noq.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use bytes::Bytes;

/// The stream, the connection or the endpoint is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// A place that connections come to.
pub trait Endpoint: Send + Sync + 'static {
    /// The connections that it accepts.
    type Connection: Connection;

    /// Waits for the next connection attempt; `None` once the endpoint is closed. The future that comes with the peer's
    /// address is the handshake.
    fn accept(
        &self,
    ) -> impl Future<Output = Option<(SocketAddr, Handshake<Self::Connection>)>> + Send;
}

/// A connection that is being established.
pub type Handshake<C> = Pin<Box<dyn Future<Output = Result<C, Closed>> + Send>>;

/// A connection. Clones share it.
pub trait Connection: Clone + Send + Sync + 'static {
    /// The sending side of a stream.
    type Send: SendStream;
    /// The receiving side of a stream.
    type Receive: ReceiveStream;

    /// Over how many streams bulk data is written.
    const BULK_STREAMS: usize;

    /// Opens a stream in one direction, as soon as the peer allows one more.
    fn open_uni(&self) -> impl Future<Output = Result<Self::Send, Closed>> + Send;

    /// Opens a stream in both directions, as soon as the peer allows one more.
    fn open_bi(&self) -> impl Future<Output = Result<(Self::Send, Self::Receive), Closed>> + Send;

    /// Waits for the next stream of the peer in one direction.
    fn accept_uni(&self) -> impl Future<Output = Result<Self::Receive, Closed>> + Send;

    /// Waits for the next stream of the peer in both directions.
    fn accept_bi(&self)
    -> impl Future<Output = Result<(Self::Send, Self::Receive), Closed>> + Send;
}

/// The sending side of a stream.
pub trait SendStream: Send + 'static {
    /// Writes all of it, as soon as there is room.
    fn write(&mut self, bytes: Bytes) -> impl Future<Output = Result<(), Closed>> + Send;

    /// Ends the stream.
    ///
    /// # Errors
    /// It is closed already.
    fn finish(&mut self) -> Result<(), Closed>;

    /// Gives up what the peer has not acknowledged.
    ///
    /// # Errors
    /// It is closed already.
    fn abandon(&mut self) -> Result<(), Closed>;

    /// Waits until the peer has acknowledged all of a stream that has ended.
    fn acknowledged(&mut self) -> impl Future<Output = Result<(), Closed>> + Send;
}

/// The receiving side of a stream.
pub trait ReceiveStream: Send + 'static {
    /// The next bytes in order; `None` at the stream's end.
    fn read(&mut self) -> impl Future<Output = Result<Option<Bytes>, Closed>> + Send;
}

/// Writes the implementations for a stack: the two stacks' types differ, but not their names.
macro_rules! stack {
    ($stack:ident, $bulk_streams:expr, $read:expr) => {
        impl Endpoint for $stack::Endpoint {
            type Connection = $stack::Connection;

            async fn accept(&self) -> Option<(SocketAddr, Handshake<Self::Connection>)> {
                loop {
                    let incoming = $stack::Endpoint::accept(self).await?;
                    let peer = incoming.remote_address();
                    if let Ok(connecting) = incoming.accept() {
                        let handshake = async move { connecting.await.map_err(|_| Closed) };
                        return Some((peer, Box::pin(handshake)));
                    }
                }
            }
        }

        impl Connection for $stack::Connection {
            type Send = $stack::SendStream;
            type Receive = $stack::RecvStream;

            const BULK_STREAMS: usize = $bulk_streams;

            async fn open_uni(&self) -> Result<Self::Send, Closed> {
                $stack::Connection::open_uni(self).await.map_err(|_| Closed)
            }

            async fn open_bi(&self) -> Result<(Self::Send, Self::Receive), Closed> {
                $stack::Connection::open_bi(self).await.map_err(|_| Closed)
            }

            async fn accept_uni(&self) -> Result<Self::Receive, Closed> {
                let stream = $stack::Connection::accept_uni(self).await;
                stream.map_err(|_| Closed)
            }

            async fn accept_bi(&self) -> Result<(Self::Send, Self::Receive), Closed> {
                let streams = $stack::Connection::accept_bi(self).await;
                streams.map_err(|_| Closed)
            }
        }

        impl SendStream for $stack::SendStream {
            async fn write(&mut self, bytes: Bytes) -> Result<(), Closed> {
                self.write_chunk(bytes).await.map_err(|_| Closed)
            }

            fn finish(&mut self) -> Result<(), Closed> {
                $stack::SendStream::finish(self).map_err(|_| Closed)
            }

            fn abandon(&mut self) -> Result<(), Closed> {
                self.reset($stack::VarInt::from_u32(0)).map_err(|_| Closed)
            }

            async fn acknowledged(&mut self) -> Result<(), Closed> {
                self.stopped().await.map(drop).map_err(|_| Closed)
            }
        }

        impl ReceiveStream for $stack::RecvStream {
            async fn read(&mut self) -> Result<Option<Bytes>, Closed> {
                $read(self).await
            }
        }
    };
}

stack!(quinn, 1, read_quinn);
// noq 1.4 closes a connection once the receiver has some 2,000 full packets of one stream in pieces that are out of order:
// what follows a single loss when 3 MB are in flight. Data over several streams has room for several times that.
stack!(noq, 4, read_noq);

async fn read_quinn(stream: &mut quinn::RecvStream) -> Result<Option<Bytes>, Closed> {
    let chunk = stream.read_chunk(usize::MAX, true).await;
    Ok(chunk.map_err(|_| Closed)?.map(|chunk| chunk.bytes))
}

async fn read_noq(stream: &mut noq::RecvStream) -> Result<Option<Bytes>, Closed> {
    stream.read_chunk(usize::MAX).await.map_err(|_| Closed)
}
