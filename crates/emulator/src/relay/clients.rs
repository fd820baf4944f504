//! The clients of the relay. Without I/O: the caller provides the sockets.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
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
    max: usize,
    idle: Nanos,
    seen: u64,
    /// Nobody can have been idle for too long before.
    next_expiry: Nanos,
    /// The tokens of clients that have not shown that they receive, oldest first, and some that have or are forgotten.
    unproven: VecDeque<usize>,
    displaced: u64,
    /// The sockets of clients that are forgotten.
    gone: Vec<Arc<S>>,
}

#[derive(Debug)]
pub(super) struct Client<S> {
    pub(super) socket: Arc<S>,
    /// Our address that it sends to: it expects answers from there.
    pub(super) local: Option<IpAddr>,
    token: usize,
    active: Nanos,
    standing: Standing,
}

/// Whether a client is where it says it is. A source address can be made up; who answers an answer has received it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The server has not sent anything to it.
    Unanswered,
    /// It has not sent anything since.
    Answered,
    /// It has.
    Proven,
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
    /// At most `max` clients, which are forgotten after `idle`. Their tokens count from `first_token`.
    pub(super) fn new(max: usize, idle: Nanos, first_token: usize) -> Self {
        Self {
            by_address: HashMap::new(),
            addresses: HashMap::new(),
            next_token: first_token,
            max,
            idle,
            seen: 0,
            next_expiry: Nanos::ZERO,
            unproven: VecDeque::new(),
            displaced: 0,
            gone: Vec::new(),
        }
    }

    /// Records that a client has sent a packet, and admits a new client. If there are too many, it replaces the oldest
    /// client that has not proved that it receives packets: forged source addresses cannot lock out others.
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
            if client.standing == Standing::Answered {
                client.standing = Standing::Proven;
            }
            return Ok(());
        }
        if self.by_address.len() >= self.max && now >= self.next_expiry {
            self.expire(now);
        }
        if self.by_address.len() >= self.max && !self.displace() {
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
            standing: Standing::Unanswered,
        };
        self.unproven.push_back(token);
        self.by_address.insert(address, client);
        Ok(())
    }

    /// Notes that something has come for the client of a token; `None` if it is forgotten.
    pub(super) fn answered(&mut self, token: usize, now: Nanos) -> Option<(SocketAddr, &Arc<S>)> {
        let address = *self.addresses.get(&token)?;
        let client = self.by_address.get_mut(&address)?;
        client.active = now;
        if client.standing == Standing::Unanswered {
            client.standing = Standing::Answered;
        }
        Some((address, &client.socket))
    }

    /// Forgets the oldest client that has not shown that it receives; returns whether there was one.
    pub(super) fn displace(&mut self) -> bool {
        while let Some(token) = self.unproven.pop_front() {
            let Some(address) = self.addresses.get(&token).copied() else {
                continue;
            };
            if let Entry::Occupied(client) = self.by_address.entry(address)
                && client.get().standing != Standing::Proven
            {
                self.gone.push(client.remove().socket);
                self.addresses.remove(&token);
                self.displaced += 1;
                return true;
            }
        }
        false
    }

    pub(super) fn get(&self, address: SocketAddr) -> Option<&Client<S>> {
        self.by_address.get(&address)
    }

    /// Forgets the clients that have been idle for too long.
    pub(super) fn expire(&mut self, now: Nanos) {
        let (idle, addresses, gone) = (self.idle, &mut self.addresses, &mut self.gone);
        let mut longest_idle = now;
        self.by_address.retain(|_, client| {
            let keep = now - client.active < idle;
            if keep {
                longest_idle = longest_idle.min(client.active);
            } else {
                addresses.remove(&client.token);
                gone.push(Arc::clone(&client.socket));
            }
            keep
        });
        self.next_expiry = longest_idle + idle;
        self.unproven.retain(|token| addresses.contains_key(token));
    }

    /// For so long nobody could have been seen to be active.
    pub(super) fn excuse(&mut self, time: Nanos, now: Nanos) {
        for client in self.by_address.values_mut() {
            client.active = (client.active + time).min(now);
        }
    }

    /// The sockets of clients that were forgotten since.
    pub(super) fn take_gone(&mut self) -> Vec<Arc<S>> {
        std::mem::take(&mut self.gone)
    }

    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// How many there were, those forgotten included.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// How many made room for others.
    pub(super) fn displaced(&self) -> u64 {
        self.displaced
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

    /// Admits a client that answers an answer.
    fn prove(clients: &mut Clients<usize>, port: u16, token: usize, now: u64) {
        assert!(clients.admit(address(port), None, Nanos(now), Ok).is_ok());
        assert!(clients.answered(token, Nanos(now)).is_some());
        assert!(clients.admit(address(port), None, Nanos(now), Ok).is_ok());
    }

    #[test]
    fn forged_sources_do_not_lock_clients_out() {
        let mut clients = clients();
        prove(&mut clients, 1, 7, 0);
        // Each takes the other place from the one before, answered or not; the proven client keeps its own.
        for port in 2..100 {
            assert!(clients.admit(address(port), None, Nanos(1), Ok).is_ok());
            assert!(clients.get(address(1)).is_some());
            if port % 2 == 0 {
                assert!(clients.answered(usize::from(port) + 6, Nanos(1)).is_some());
            }
        }
        assert_eq!(
            (clients.len(), clients.seen(), clients.displaced()),
            (2, 99, 97)
        );
        assert_eq!(clients.addresses.len(), 2);
        assert!(clients.unproven.len() <= 2, "{:?}", clients.unproven);
        // A new one that receives its answer and goes on stays.
        assert!(clients.admit(address(200), None, Nanos(2), Ok).is_ok());
        assert!(clients.answered(106, Nanos(2)).is_some());
        assert!(clients.admit(address(200), None, Nanos(2), Ok).is_ok());
        let refused = clients.admit(address(201), None, Nanos(3), Ok);
        assert!(matches!(refused, Err(Refusal::Full)));
    }

    /// A flood of strangers must not cost a look at every client for each of its packets.
    #[test]
    fn clients_are_looked_through_only_when_one_can_be_idle() {
        let mut clients = clients();
        prove(&mut clients, 1, 7, 0);
        prove(&mut clients, 2, 8, 0);
        assert!(clients.admit(address(3), None, Nanos(10), Ok).is_err());
        assert_eq!(clients.next_expiry, Nanos(100));
        // Whoever is active since then does not make it sooner.
        assert!(clients.admit(address(1), None, Nanos(60), Ok).is_ok());
        assert!(clients.admit(address(3), None, Nanos(99), Ok).is_err());
        assert_eq!(clients.next_expiry, Nanos(100));
        assert!(clients.admit(address(3), None, Nanos(100), Ok).is_ok());
        assert!(clients.get(address(2)).is_none());
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
        for (port, token, now) in [(1, 7, 0), (2, 8, 50)] {
            prove(&mut clients, port, token, now);
        }
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

    /// Trap: after a stop of the process all clients look idle, though their packets wait to be read.
    #[test]
    fn clients_are_excused_for_a_time_in_which_nobody_looked() {
        let mut clients = clients();
        prove(&mut clients, 1, 7, 0);
        clients.excuse(Nanos(500), Nanos(550));
        clients.expire(Nanos(550));
        assert_eq!(clients.len(), 1);
        clients.expire(Nanos(600));
        assert_eq!((clients.len(), clients.take_gone().len()), (0, 1));
    }

    #[test]
    fn without_a_socket_no_client_is_admitted() {
        let mut clients = clients();
        let refused = clients.admit(address(1), None, Nanos(0), |_| Err(io::Error::other("no")));
        assert!(matches!(refused, Err(Refusal::NoSocket)));
        assert_eq!((clients.len(), clients.seen()), (0, 0));
    }
}
