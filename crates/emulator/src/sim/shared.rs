//! The state that tasks, timers and sockets share.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::Waker;
use std::time::Instant;

use super::clock::Clock;
use super::hosts::Hosts;
use super::inboxes::{BufferPool, Inboxes};
use super::lock;
use super::ready::{BoxFuture, Ready, ReadyQueue};
use super::task::{Identity, TaskName};
use super::timers::Timers;
use super::unfinished::Wait;
use crate::network::Network;
use crate::time::Nanos;

/// Locks are taken in the order of the fields, and never held while something is polled or woken.
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) wire: Mutex<Wire>,
    pub(super) timers: Mutex<Timers>,
    /// The hosts that take time; nothing until there is one.
    pub(super) hosts: OnceLock<Mutex<Hosts>>,
    pub(super) inboxes: Mutex<Inboxes>,
    pub(super) ready: Arc<ReadyQueue>,
    pub(super) transmit_segments: usize,
}

/// The network, and buffers for packets that enter it.
pub(super) struct Wire {
    pub(super) network: Network,
    pub(super) buffers: BufferPool,
}

/// The network and the timers, locked.
pub(super) struct Events<'a> {
    wire: MutexGuard<'a, Wire>,
    timers: MutexGuard<'a, Timers>,
    hosts: Option<MutexGuard<'a, Hosts>>,
    inboxes: &'a Mutex<Inboxes>,
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
    pub(super) fn new(
        network: Network,
        transmit_segments: usize,
        epoch: Instant,
        ready: Arc<ReadyQueue>,
    ) -> Self {
        Self {
            clock: Clock::new(epoch),
            wire: Mutex::new(Wire {
                network,
                buffers: BufferPool::default(),
            }),
            timers: Mutex::default(),
            hosts: OnceLock::new(),
            inboxes: Mutex::default(),
            ready,
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

    /// The events that will wake a task, other tasks excepted.
    pub(super) fn waits(&self, waker: &Waker) -> Vec<Wait> {
        let timers = lock(&self.timers).waiting(waker);
        let mut waits: Vec<Wait> = timers.into_iter().map(Wait::Timer).collect();
        let inboxes = lock(&self.inboxes);
        waits.extend(inboxes.read_by(waker).into_iter().map(Wait::Packet));
        waits
    }

    /// Locks what time lets happen.
    pub(super) fn events(&self) -> Events<'_> {
        Events {
            wire: lock(&self.wire),
            timers: lock(&self.timers),
            hosts: self.hosts.get().map(lock),
            inboxes: &self.inboxes,
        }
    }
}

impl Events<'_> {
    /// When the network, a host or a timer wants to act next. The end of time never comes.
    pub(super) fn next(&self) -> Option<Nanos> {
        let packet = self.wire.network.next_event().unwrap_or(Nanos::MAX);
        let timer = self.timers.next().unwrap_or(Nanos::MAX);
        let host = self.hosts.as_ref().and_then(|hosts| hosts.next_event());
        let host = host.unwrap_or(Nanos::MAX);
        Some(packet.min(timer).min(host)).filter(|&next| next < Nanos::MAX)
    }

    /// Lets the network, then the hosts and then the timers act; packets due at an instant arrive before timers
    /// of that instant expire.
    pub(super) fn run(&mut self, now: Nanos, wakers: &mut Vec<Waker>) {
        let Wire { network, buffers } = &mut *self.wire;
        if network.next_event().is_some_and(|next| next <= now) {
            let mut inboxes = lock(self.inboxes);
            buffers.take(&mut inboxes.buffers);
            match &mut self.hosts {
                None => network.poll(now, &mut |_, packet| wakers.extend(inboxes.push(packet))),
                Some(hosts) => network.poll(now, &mut |_, packet| {
                    let passed = hosts.arrive(now, packet);
                    wakers.extend(passed.and_then(|packet| inboxes.push(packet)));
                }),
            }
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.run(now, network, self.inboxes, wakers);
        }
        self.timers.fire(now, wakers);
    }
}
