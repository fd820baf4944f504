//! The relay between real sockets on loopback. Nothing here depends on how fast the machine is.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod datagrams;
mod transfer;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::relay::{Relay, RelayConfig, Sinks};
use kneepoint_emulator::time::Nanos;

/// Both loopback addresses.
fn loopbacks() -> [SocketAddr; 2] {
    [
        (Ipv4Addr::LOCALHOST, 0).into(),
        (Ipv6Addr::LOCALHOST, 0).into(),
    ]
}

/// A link of 100 Mb/s and a delay that has to be waited for.
fn link() -> LinkConfig {
    LinkConfig {
        delay: Nanos::from_millis(3).into(),
        ..LinkConfig::constant(12_500_000)
    }
}

/// A relay to a server, with the same link in both directions.
fn relay(server: SocketAddr, link: LinkConfig) -> Relay {
    start(RelayConfig::new(
        SocketAddr::new(server.ip(), 0),
        server,
        link.clone(),
        link,
    ))
}

fn start(config: RelayConfig) -> Relay {
    Relay::start(config, Sinks::default()).unwrap()
}
