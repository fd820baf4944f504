//! A server's configuration for wtransport, with Kneepoint's controller.

use std::net::SocketAddr;

use kneepoint::Algorithm;
use kneepoint::quinn::IntoFactory as _;
use wtransport::config::QuicTransportConfig;
use wtransport::{Identity, ServerConfig};

/// A server at `address` that sends with `knee`.
pub fn server_config(address: SocketAddr, identity: Identity) -> ServerConfig {
    let mut transport = QuicTransportConfig::default();
    transport.congestion_controller_factory(Algorithm::default().factory());
    ServerConfig::builder()
        .with_bind_address(address)
        .with_custom_transport(identity, transport)
        .build()
}
