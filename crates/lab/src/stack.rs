//! A QUIC stack, quinn or noq, as the laboratory uses it: the same applications run over either.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use kneepoint_controllers::Snapshot;
use kneepoint_emulator::sim::{Handle, Socket};
use serde::Serialize;

use crate::probe::{self, Recorder};

/// The stream, the connection or the endpoint is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Where a transport departs from its stack's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Flow control.
    pub windows: Windows,
    /// Whether silence closes a connection, after the stack's default time.
    pub idle_timeout: bool,
}

/// Flow control of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Windows {
    /// The stack's defaults: quinn 0.11 and noq 1.4 let 1.25 MB of each stream be unread, and 10 MB unacknowledged.
    Stock,
    /// The receiver never limits a sender.
    Large {
        /// What a sender keeps until it is acknowledged, in bytes.
        send: u64,
    },
}

impl Windows {
    /// Neither the receiver nor the sender's buffer limits a sender.
    pub const UNLIMITED: Self = Self::Large {
        send: FLOW_CONTROL_WINDOW as u64,
    };

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Large { .. } => "unlimited",
        }
    }
}

/// A place that connections come to, and go out from.
pub trait Endpoint: Sized + Send + Sync + 'static {
    /// Its connections.
    type Connection: Connection;
    /// Makes congestion controllers.
    type Factory: Clone + Send + Sync + 'static;

    /// Opens it on a socket of a simulation; for incoming connections, too, if there are limits for them.
    ///
    /// # Errors
    /// Those of the stack.
    fn simulated(
        handle: &Handle,
        socket: Arc<Socket>,
        seed: u64,
        server: Option<Limits>,
    ) -> io::Result<Self>;

    /// Opens it on a socket of a simulation for incoming connections, with controllers that `factory` makes and `recorder`
    /// observes.
    ///
    /// # Errors
    /// Those of the stack.
    fn serving(
        handle: &Handle,
        socket: Arc<Socket>,
        seed: u64,
        limits: Limits,
        factory: &Self::Factory,
        recorder: &Recorder,
    ) -> io::Result<Self>;

    /// Makes the stack's own default controllers.
    fn stock() -> Self::Factory;

    /// Opens it on a socket of the system, in tokio's runtime; for incoming connections, too, if there are limits for them.
    ///
    /// # Errors
    /// Those of the stack.
    fn on_system(socket: UdpSocket, server: Option<Limits>) -> io::Result<Self>;

    /// Connects, with a controller that `factory` makes and `recorder` observes.
    ///
    /// # Errors
    /// The stack's reason why it cannot even try.
    fn connect(
        &self,
        server: SocketAddr,
        limits: Limits,
        factory: &Self::Factory,
        recorder: &Recorder,
    ) -> Result<Handshake<Self::Connection>, String>;

    /// Moves to another socket of a simulation, as a client that changes its network does.
    ///
    /// # Errors
    /// Those of the stack.
    fn migrate(&self, socket: Arc<Socket>) -> io::Result<()>;

    /// Waits for the next connection attempt; `None` once the endpoint is closed. The future that comes with the peer's
    /// address is the handshake.
    fn accept(
        &self,
    ) -> impl Future<Output = Option<(SocketAddr, Handshake<Self::Connection>)>> + Send;
}

/// A connection that is being established, or the reason why it could not be.
pub type Handshake<C> = Pin<Box<dyn Future<Output = Result<C, String>> + Send>>;

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Close {
    /// The peer's application closed it, with this code.
    ByPeer(u64),
    /// For another reason.
    Because(String),
}

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

    /// Closes it at once.
    fn close(&self, code: u32);

    /// Waits for its end.
    fn closed(&self) -> impl Future<Output = Close> + Send;

    /// Why it ended, if it did.
    fn close_reason(&self) -> Option<String>;

    /// The state of its congestion controller, if that is one of ours.
    fn snapshot(&self) -> Option<Snapshot>;
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

/// What no link here can hold: 1 GiB.
pub const FLOW_CONTROL_WINDOW: u32 = 1 << 30;

/// Writes the implementations for a stack: the two stacks' types differ, but not their names. The module around has what does
/// differ.
macro_rules! stack {
    ($stack:ident, $factory:ty, $bulk_streams:expr) => {
        impl Endpoint for $stack::Endpoint {
            type Connection = $stack::Connection;
            type Factory = $factory;

            fn simulated(
                handle: &Handle,
                socket: Arc<Socket>,
                seed: u64,
                server: Option<Limits>,
            ) -> io::Result<Self> {
                endpoint_on(
                    handle,
                    socket,
                    endpoint_config(seed),
                    server.map(server_config),
                )
            }

            fn serving(
                handle: &Handle,
                socket: Arc<Socket>,
                seed: u64,
                limits: Limits,
                factory: &Self::Factory,
                recorder: &Recorder,
            ) -> io::Result<Self> {
                let mut transport = transport(limits);
                transport.congestion_controller_factory(observe(recorder, factory));
                log(&mut transport, recorder);
                let mut config = tls::server_config();
                config.transport_config(Arc::new(transport));
                endpoint_on(handle, socket, endpoint_config(seed), Some(config))
            }

            fn stock() -> Self::Factory {
                Arc::new($stack::congestion::CubicConfig::default())
            }

            fn on_system(socket: UdpSocket, server: Option<Limits>) -> io::Result<Self> {
                let config = $stack::EndpointConfig::default();
                let runtime = Arc::new($stack::TokioRuntime);
                Self::new(config, server.map(server_config), socket, runtime)
            }

            fn connect(
                &self,
                server: SocketAddr,
                limits: Limits,
                factory: &Self::Factory,
                recorder: &Recorder,
            ) -> Result<Handshake<Self::Connection>, String> {
                let mut transport = transport(limits);
                transport.congestion_controller_factory(observe(recorder, factory));
                log(&mut transport, recorder);
                let mut config = tls::client_config();
                config.transport_config(Arc::new(transport));
                let connecting = self
                    .connect_with(config, server, tls::SERVER_NAME)
                    .map_err(|error| error.to_string())?;
                Ok(Box::pin(async move {
                    connecting.await.map_err(|error| error.to_string())
                }))
            }

            fn migrate(&self, socket: Arc<Socket>) -> io::Result<()> {
                migrate(self, socket)
            }

            async fn accept(&self) -> Option<(SocketAddr, Handshake<Self::Connection>)> {
                loop {
                    let incoming = $stack::Endpoint::accept(self).await?;
                    let peer = incoming.remote_address();
                    if let Ok(connecting) = incoming.accept() {
                        let handshake =
                            async move { connecting.await.map_err(|error| error.to_string()) };
                        return Some((peer, Box::pin(handshake)));
                    }
                }
            }
        }

        fn server_config(limits: Limits) -> $stack::ServerConfig {
            let mut config = tls::server_config();
            config.transport_config(Arc::new(transport(limits)));
            config
        }

        fn transport(limits: Limits) -> $stack::TransportConfig {
            let mut transport = $stack::TransportConfig::default();
            if let Windows::Large { send } = limits.windows {
                let window = $stack::VarInt::from_u32(FLOW_CONTROL_WINDOW);
                transport
                    .stream_receive_window(window)
                    .receive_window(window)
                    .send_window(send);
            }
            if !limits.idle_timeout {
                transport.max_idle_timeout(None);
            }
            transport
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

            fn close(&self, code: u32) {
                $stack::Connection::close(self, code.into(), b"");
            }

            async fn closed(&self) -> Close {
                match $stack::Connection::closed(self).await {
                    $stack::ConnectionError::ApplicationClosed(close) => {
                        Close::ByPeer(close.error_code.into_inner())
                    }
                    error => Close::Because(error.to_string()),
                }
            }

            fn close_reason(&self) -> Option<String> {
                $stack::Connection::close_reason(self).map(|reason| reason.to_string())
            }

            fn snapshot(&self) -> Option<Snapshot> {
                snapshot(self)
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
    };
}

mod over_quinn {
    use kneepoint_emulator::sim::{endpoint_config, tls};

    use super::*;

    stack!(quinn, probe::SharedFactory, 1);

    impl ReceiveStream for quinn::RecvStream {
        async fn read(&mut self) -> Result<Option<Bytes>, Closed> {
            let chunk = self.read_chunk(usize::MAX, true).await;
            Ok(chunk.map_err(|_| Closed)?.map(|chunk| chunk.bytes))
        }
    }

    fn endpoint_on(
        handle: &Handle,
        socket: Arc<Socket>,
        config: quinn::EndpointConfig,
        server: Option<quinn::ServerConfig>,
    ) -> io::Result<quinn::Endpoint> {
        handle.endpoint_on(socket, config, server)
    }

    fn migrate(endpoint: &quinn::Endpoint, socket: Arc<Socket>) -> io::Result<()> {
        endpoint.rebind_abstract(socket)
    }

    fn observe(recorder: &Recorder, factory: &probe::SharedFactory) -> probe::SharedFactory {
        recorder.observe(Arc::clone(factory))
    }

    /// Writes a qlog if one is asked for.
    fn log(transport: &mut quinn::TransportConfig, recorder: &Recorder) {
        if let Some(qlog) = recorder.qlog() {
            transport.qlog_stream(qlog.into_stream());
        }
    }

    fn snapshot(connection: &quinn::Connection) -> Option<Snapshot> {
        kneepoint_quinn::snapshot(connection.congestion_state())
    }
}

mod over_noq {
    use kneepoint_emulator::sim::noq::{NoqSocket, endpoint_config, endpoint_on, tls};

    use super::*;

    // noq 1.4 closes a connection once the receiver has some 2,000 full packets of one stream in pieces that are out of order:
    // what follows a single loss when 3 MB are in flight. Data over several streams has room for several times that.
    stack!(noq, probe::noq::SharedFactory, 4);

    impl ReceiveStream for noq::RecvStream {
        async fn read(&mut self) -> Result<Option<Bytes>, Closed> {
            self.read_chunk(usize::MAX).await.map_err(|_| Closed)
        }
    }

    fn migrate(endpoint: &noq::Endpoint, socket: Arc<Socket>) -> io::Result<()> {
        endpoint.rebind_abstract(Box::new(NoqSocket::new(socket)))
    }

    fn observe(
        recorder: &Recorder,
        factory: &probe::noq::SharedFactory,
    ) -> probe::noq::SharedFactory {
        recorder.observe_noq(Arc::clone(factory))
    }

    /// noq's qlog takes a crate of its own: only quinn's is written.
    fn log(_: &mut noq::TransportConfig, _: &Recorder) {}

    fn snapshot(connection: &noq::Connection) -> Option<Snapshot> {
        let state = connection.congestion_state(noq::PathId::ZERO);
        state.and_then(kneepoint_noq::snapshot)
    }
}
