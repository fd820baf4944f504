//! What tasks, timers and sockets share.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::Waker;

use super::clock::Clock;
use super::lock;
use super::ready::{BoxFuture, Ready, ReadyQueue};
use super::socket::Inbox;
use super::task::{Identity, TaskName};
use super::timers::Timers;
use super::unfinished::Wait;
use crate::network::Network;
use crate::time::Nanos;

/// Locks are taken in the order of the fields, and never held while something is polled or woken.
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) network: Mutex<Network>,
    pub(super) timers: Mutex<Timers>,
    pub(super) inboxes: Mutex<BTreeMap<SocketAddr, Arc<Inbox>>>,
    pub(super) ready: Arc<ReadyQueue>,
    pub(super) transmit_segments: usize,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every socket and every timer holds it: no more than what tells simulations apart.
        f.debug_struct("Shared")
            .field("now", &self.clock.now())
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(network: Network, transmit_segments: usize) -> Self {
        Self {
            clock: Clock::new(),
            network: Mutex::new(network),
            timers: Mutex::default(),
            inboxes: Mutex::default(),
            ready: Arc::default(),
            transmit_segments,
        }
    }

    /// Queues a task of the transport; drops it if the simulation is gone.
    pub(super) fn spawn(&self, future: BoxFuture) {
        self.spawn_as(future, Identity::new(TaskName::Transport));
    }

    /// Queues a task; drops it if the simulation is gone.
    pub(super) fn spawn_as(&self, future: BoxFuture, identity: Arc<Identity>) {
        drop(self.ready.push(Ready::Spawned(future, identity)));
    }

    /// What will wake a task, apart from other tasks.
    pub(super) fn waits(&self, waker: &Waker) -> Vec<Wait> {
        let timers = lock(&self.timers).waiting(waker);
        let mut waits: Vec<Wait> = timers.into_iter().map(Wait::Timer).collect();
        let inboxes = lock(&self.inboxes);
        let read = inboxes.iter().filter(|(_, inbox)| inbox.is_read_by(waker));
        waits.extend(read.map(|(address, _)| Wait::Packet(*address)));
        waits
    }

    /// When the network or a timer wants to act next. The end of time never comes.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        let packet = lock(&self.network).next_event().unwrap_or(Nanos::MAX);
        let timer = lock(&self.timers).next().unwrap_or(Nanos::MAX);
        Some(packet.min(timer)).filter(|&next| next < Nanos::MAX)
    }

    /// Lets the network and then the timers act; packets due at an instant arrive before timers
    /// of that instant expire.
    pub(super) fn run_events(&self, now: Nanos, wakers: &mut Vec<Waker>) {
        let mut network = lock(&self.network);
        if network.next_event().is_some_and(|next| next <= now) {
            let inboxes = lock(&self.inboxes);
            network.poll(now, &mut |_, packet| {
                // Nobody hears a packet to an address that was unbound while it was in flight.
                if let Some(inbox) = inboxes.get(&packet.destination) {
                    wakers.extend(inbox.push(packet));
                }
            });
        }
        drop(network);
        lock(&self.timers).fire(now, wakers);
    }
}
