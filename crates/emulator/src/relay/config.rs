//! What a relay is made of.

use std::net::SocketAddr;
use std::time::Duration;

use super::RelayError;
use crate::link::LinkConfig;

/// The configuration of a relay. Its memory is bounded by `memory` per direction, a few megabytes of buffers, and a
/// socket for each of `clients`.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Where clients send to; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// The server.
    pub to: SocketAddr,
    /// Whether to listen at an address that other machines can reach.
    pub allow_remote: bool,
    /// The link from the clients to the server, shared by all. Its `log` is turned on if there is a sink for it.
    pub up: LinkConfig,
    /// The link from the server to the clients, shared by all.
    pub down: LinkConfig,
    /// The source of all randomness.
    pub seed: u64,
    /// The most clients at a time; positive. What others send is dropped until one has been idle for long enough.
    pub clients: usize,
    /// How long a client may neither send nor receive before it is forgotten; positive. Longer than what the transport
    /// calls idle, or its packets come from another address.
    pub idle: Duration,
    /// The most memory that packets on their way may take in each direction, in bytes, counting
    /// [`PACKET_MEMORY`](super::PACKET_MEMORY) for each beside its size; positive. What arrives beyond that is dropped. With
    /// a log, a quarter of it is for what waits to be logged: packets beyond that are left out of the log.
    pub memory: u64,
    /// Whether to spin before a packet is due rather than to sleep: it is sent more precisely, and takes a processor for
    /// each direction that has traffic.
    pub busy: bool,
}

impl RelayConfig {
    /// A relay of two links, with [`DEFAULT_CLIENTS`], [`DEFAULT_IDLE`] and [`DEFAULT_MEMORY`].
    pub fn new(listen: SocketAddr, to: SocketAddr, up: LinkConfig, down: LinkConfig) -> Self {
        Self {
            listen,
            to,
            allow_remote: false,
            up,
            down,
            seed: 1,
            clients: DEFAULT_CLIENTS,
            idle: DEFAULT_IDLE,
            memory: DEFAULT_MEMORY,
            busy: false,
        }
    }

    pub(super) fn validate(&self) -> Result<(), RelayError> {
        // An unspecified address also accepts other machines.
        if !self.allow_remote && !self.listen.ip().to_canonical().is_loopback() {
            return Err(RelayError::Remote(self.listen));
        }
        let (listen, to) = (self.listen.ip().to_canonical(), self.to.ip().to_canonical());
        let same_host = listen == to || listen.is_unspecified() && to.is_loopback();
        if same_host && self.to.port() != 0 && self.listen.port() == self.to.port() {
            return Err(RelayError::Loop(self.to));
        }
        let limits = [
            ("the server's port", self.to.port() == 0),
            ("the number of clients", self.clients == 0),
            ("the idle time", self.idle.is_zero()),
            ("the memory", self.memory == 0),
        ];
        match limits.into_iter().find(|(_, zero)| *zero) {
            Some((what, _)) => Err(RelayError::Zero(what)),
            None => Ok(()),
        }
    }
}

/// As many clients as fit the usual limit of 1024 open files, with room for the rest of the process.
pub const DEFAULT_CLIENTS: usize = 512;

/// Twice the 30 s that quinn, like others, calls idle.
pub const DEFAULT_IDLE: Duration = Duration::from_secs(60);

/// A second at 2 Gb/s.
pub const DEFAULT_MEMORY: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn config(listen: &str, to: &str) -> RelayConfig {
        let link = LinkConfig::constant(1_000);
        RelayConfig::new(
            listen.parse().unwrap(),
            to.parse().unwrap(),
            link.clone(),
            link,
        )
    }

    #[test]
    fn only_loopback_addresses_are_listened_at_unless_others_are_allowed() {
        for listen in [
            "127.0.0.1:1",
            "127.1.2.3:1",
            "[::1]:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert!(config(listen, "127.0.0.1:2").validate().is_ok(), "{listen}");
        }
        for listen in [
            "0.0.0.0:1",
            "[::]:1",
            "192.0.2.1:1",
            "[2001:db8::1]:1",
            "[::ffff:192.0.2.1]:1",
        ] {
            let mut config = config(listen, "127.0.0.1:2");
            let refused = config.validate();
            assert!(
                matches!(refused, Err(RelayError::Remote(address)) if address == config.listen)
            );
            config.allow_remote = true;
            assert!(config.validate().is_ok(), "{listen}");
        }
    }

    #[test]
    fn a_relay_does_not_send_to_itself() {
        for (listen, to) in [
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "127.0.0.1:1"),
            ("[::ffff:127.0.0.1]:1", "127.0.0.1:1"),
        ] {
            let config = RelayConfig {
                allow_remote: true,
                ..config(listen, to)
            };
            assert!(
                matches!(config.validate(), Err(RelayError::Loop(_))),
                "{listen}"
            );
        }
        assert!(config("127.0.0.1:1", "127.0.0.2:1").validate().is_ok());
    }

    #[test]
    fn limits_are_positive() {
        let good = config("127.0.0.1:1", "127.0.0.1:2");
        let bad = [
            config("127.0.0.1:1", "127.0.0.1:0"),
            RelayConfig {
                clients: 0,
                ..good.clone()
            },
            RelayConfig {
                idle: Duration::ZERO,
                ..good.clone()
            },
            RelayConfig { memory: 0, ..good },
        ];
        for config in bad {
            assert!(
                matches!(config.validate(), Err(RelayError::Zero(_))),
                "{config:?}"
            );
        }
    }
}
