//! The TLS identity of simulations, for noq: see [`sim::tls`](crate::sim::tls).

use std::sync::Arc;

use noq::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq::{ClientConfig, ServerConfig};

use crate::sim::tls::{INITIAL_SUITE, client_crypto, server_crypto};

pub use crate::sim::tls::SERVER_NAME;

/// A server of the fixed identity. Anyone can impersonate it: for simulations only.
pub fn server_config() -> ServerConfig {
    let crypto = QuicServerConfig::try_from(server_crypto());
    ServerConfig::with_crypto(Arc::new(crypto.expect(INITIAL_SUITE)))
}

/// A client that trusts the fixed identity, and nothing else.
pub fn client_config() -> ClientConfig {
    let crypto = QuicClientConfig::try_from(client_crypto());
    ClientConfig::new(Arc::new(crypto.expect(INITIAL_SUITE)))
}
