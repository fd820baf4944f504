//! The common parts of `server.rs` and `client.rs`: HTTP/0.9 over QUIC on real sockets, certificates, controllers by
//! name, and a line of figures each second.
//!
//! The protocol is what QUIC implementations test each other with: ALPN `hq-interop`, `GET /path` and a line's end on a
//! stream, and the file comes back on it. See docs/INTEROP.md.

pub(crate) mod controller;
pub(crate) mod download;
pub(crate) mod qlog;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod tls;

/// A result with any error.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
