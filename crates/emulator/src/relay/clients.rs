//! Who sends through the relay. Without I/O: sockets come from the caller.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::time::Nanos;

/// The clients, each with a socket of its own towards the server.
#[derive(Debug)]
pub(super) struct Clients<S> {
    by_address: HashMap<SocketAddr, Client<S>>,
    addresses: HashMap<usize, SocketAddr>,
    next_token: usize,
    most: usize,
    idle: Nanos,
    seen: u64,
}

#[derive(Debug)]
pub(super) struct Client<S> {
    pub(super) socket: Arc<S>,
    /// Our address that it sends to: it expects answers from there.
    pub(super) local: Option<IpAddr>,
    token: usize,
    active: Nanos,
}

/// Why a client is not admitted.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There are too many.
    Full,
    /// It gets no socket.
    NoSocket,
}

impl<S> Clients<S> {
    /// At most so many clients, forgotten after so long. Their tokens count from `first_token`.
    pub(super) fn new(most: usize, idle: Nanos, first_token: usize) -> Self {
        Self {
            by_address: HashMap::new(),
            addresses: HashMap::new(),
            next_token: first_token,
            most,
            idle,
            seen: 0,
        }
    }

    /// Notes that a client has sent something, and admits it if it is new.
    pub(super) fn admit(
        &mut self,
        address: SocketAddr,
        local: Option<IpAddr>,
        now: Nanos,
        open: impl FnOnce(usize) -> io::Result<S>,
    ) -> Result<(), Refusal> {
        if let Some(client) = self.by_address.get_mut(&address) {
            client.active = now;
            client.local = local;
            return Ok(());
        }
        if self.by_address.len() >= self.most {
            self.expire(now);
        }
        if self.by_address.len() >= self.most {
            return Err(Refusal::Full);
        }
        let token = self.next_token;
        let socket = open(token).map_err(|_| Refusal::NoSocket)?;
        self.next_token += 1;
        self.seen += 1;
        self.addresses.insert(token, address);
        let client = Client {
            socket: Arc::new(socket),
            local,
            token,
            active: now,
        };
        self.by_address.insert(address, client);
        Ok(())
    }

    /// Notes that something has come for the client of a token; `None` if it is forgotten.
    pub(super) fn answered(&mut self, token: usize, now: Nanos) -> Option<(SocketAddr, &Arc<S>)> {
        let address = *self.addresses.get(&token)?;
        let client = self.by_address.get_mut(&address)?;
        client.active = now;
        Some((address, &client.socket))
    }

    pub(super) fn get(&self, address: SocketAddr) -> Option<&Client<S>> {
        self.by_address.get(&address)
    }

    /// Forgets the clients that have been idle for too long.
    pub(super) fn expire(&mut self, now: Nanos) {
        let (idle, addresses) = (self.idle, &mut self.addresses);
        self.by_address.retain(|_, client| {
            let keep = now - client.active < idle;
            if !keep {
                addresses.remove(&client.token);
            }
            keep
        });
    }

    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// How many there were, those forgotten included.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = &Arc<S>> {
        self.by_address.values().map(|client| &client.socket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    fn clients() -> Clients<usize> {
        Clients::new(2, Nanos(100), 7)
    }

    #[test]
    fn each_client_has_one_socket() {
        let mut clients = clients();
        for (now, port) in [(0, 1), (1, 2), (2, 1)] {
            assert!(clients.admit(address(port), None, Nanos(now), Ok).is_ok());
        }
        assert_eq!((clients.len(), clients.seen()), (2, 2));
        assert_eq!(
            clients.get(address(2)).map(|client| *client.socket),
            Some(8)
        );
        let (found, socket) = clients.answered(7, Nanos(3)).unwrap();
        assert_eq!((found, **socket), (address(1), 7));
        assert!(clients.answered(9, Nanos(3)).is_none());
    }

    #[test]
    fn their_number_is_bounded() {
        let mut clients = clients();
        assert!(clients.admit(address(1), None, Nanos(0), Ok).is_ok());
        assert!(clients.admit(address(2), None, Nanos(50), Ok).is_ok());
        let refused = clients.admit(address(3), None, Nanos(99), Ok);
        assert!(matches!(refused, Err(Refusal::Full)));
        // The first one makes room once it has been idle.
        assert!(clients.admit(address(3), None, Nanos(100), Ok).is_ok());
        assert!(clients.get(address(1)).is_none());
        assert_eq!((clients.len(), clients.seen()), (2, 3));
    }

    #[test]
    fn either_direction_keeps_a_client() {
        let mut clients = clients();
        assert!(clients.admit(address(1), None, Nanos(0), Ok).is_ok());
        assert!(clients.answered(7, Nanos(90)).is_some());
        clients.expire(Nanos(189));
        assert_eq!(clients.sockets().count(), 1);
        clients.expire(Nanos(190));
        assert_eq!(clients.len(), 0);
        assert!(clients.answered(7, Nanos(191)).is_none());
        // Its token does not come back.
        assert!(clients.admit(address(1), None, Nanos(192), Ok).is_ok());
        assert!(clients.answered(8, Nanos(193)).is_some());
    }

    #[test]
    fn without_a_socket_nobody_is_admitted() {
        let mut clients = clients();
        let refused = clients.admit(address(1), None, Nanos(0), |_| Err(io::Error::other("no")));
        assert!(matches!(refused, Err(Refusal::NoSocket)));
        assert_eq!((clients.len(), clients.seen()), (0, 0));
    }
}
