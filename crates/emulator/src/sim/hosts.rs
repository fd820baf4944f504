//! The hosts of a simulation that take time.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::inboxes::Inboxes;
use super::lock;
use crate::addresses::AddressMap;
use crate::host::{Effect, HostConfig, Machine, PortId};
use crate::network::Network;
use crate::network::schedule::Schedule;
use crate::packet::Packet;
use crate::time::Nanos;

/// All hosts that take time: one for each IP address.
#[derive(Debug)]
pub(super) struct Hosts {
    seed: u64,
    machines: Vec<Machine>,
    by_ip: BTreeMap<IpAddr, usize>,
    ports: AddressMap<HostPort>,
    schedule: Schedule,
}

/// A socket of a host.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostPort {
    pub(super) host: usize,
    pub(super) port: PortId,
}

/// When timers of a host expire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    phase: Nanos,
    step: Nanos,
}

impl Hosts {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            machines: Vec::new(),
            by_ip: BTreeMap::new(),
            ports: AddressMap::default(),
            schedule: Schedule::new(1),
        }
    }

    /// Opens a socket. Its host is as its first socket said.
    pub(super) fn open(&mut self, address: SocketAddr, config: Arc<HostConfig>) -> HostPort {
        let ip = address.ip();
        let host = *self.by_ip.entry(ip).or_insert_with(|| {
            let mut generator = generator(self.seed, ip, HOST);
            let generator = || Pcg64::seed_from_u64(generator.next_u64());
            self.machines.push(Machine::new(config, generator));
            self.machines.len() - 1
        });
        // As many leaves as there are hosts, or twice as many.
        self.schedule = Schedule::new(self.machines.len());
        for (place, machine) in self.machines.iter().enumerate() {
            self.schedule.set(place, machine.next_event());
        }
        let port = self.machines[host].open(generator(self.seed, ip, address.port().into()));
        let port = HostPort { host, port };
        self.ports.insert(address, port);
        port
    }

    pub(super) fn close(&mut self, address: SocketAddr, HostPort { host, port }: HostPort) {
        self.ports.remove(&address);
        self.machines[host].close(port);
    }

    pub(super) fn port(&self, address: SocketAddr) -> Option<HostPort> {
        self.ports.get(&address).copied()
    }

    pub(super) fn machine(&self, HostPort { host, .. }: HostPort) -> &Machine {
        &self.machines[host]
    }

    /// Does something with a host, which may change when it wants to act.
    pub(super) fn with<T>(&mut self, host: usize, f: impl FnOnce(&mut Machine) -> T) -> T {
        let machine = &mut self.machines[host];
        let result = f(machine);
        self.schedule.set(host, machine.next_event());
        result
    }

    /// When timers of a host expire.
    pub(super) fn grid(&self, HostPort { host, .. }: HostPort, ip: IpAddr) -> Grid {
        let step = self.machines[host].config().timer_granularity;
        let phase = generator(self.seed, ip, TIMERS).next_u64() % step.0.max(1);
        Grid {
            phase: Nanos(phase),
            step,
        }
    }

    pub(super) fn next_event(&self) -> Option<Nanos> {
        self.schedule.next()
    }

    /// A packet arrives; it is handed back if its host takes no time.
    pub(super) fn arrive(&mut self, now: Nanos, packet: Packet) -> Option<Packet> {
        let Some(HostPort { host, port }) = self.port(packet.destination) else {
            return Some(packet);
        };
        self.with(host, |machine| machine.arrive(now, port, packet));
        None
    }

    /// Lets everything happen that is due by `now`.
    pub(super) fn run(
        &mut self,
        now: Nanos,
        network: &mut Network,
        inboxes: &Mutex<Inboxes>,
        wakers: &mut Vec<Waker>,
    ) {
        while let Some((host, _)) = self.schedule.due(now) {
            let mut inboxes = lock(inboxes);
            self.with(host, |machine| {
                machine.poll(now, &mut |effect| match effect {
                    Effect::Depart(packet) => network.send(now, packet),
                    Effect::Deliver(packet) => wakers.extend(inboxes.push(packet)),
                    Effect::Wake(waker) => wakers.push(waker),
                });
            });
        }
    }
}

impl Grid {
    /// When a timer expires.
    pub(super) fn round_up(self, deadline: Nanos) -> Nanos {
        let Self { phase, step } = self;
        if step == Nanos::ZERO {
            return deadline;
        }
        let past = (deadline.0 % step.0 + step.0 - phase.0) % step.0;
        if past == 0 {
            return deadline;
        }
        deadline + (step - Nanos(past))
    }
}

/// A generator for one purpose of one host, whatever other hosts there are.
fn generator(seed: u64, ip: IpAddr, purpose: u64) -> Pcg64 {
    let (words, bits) = match ip {
        IpAddr::V4(ip) => ([0, u32::from(ip).into()], 32),
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            ([(bits >> 64) as u64, bits as u64], 128)
        }
    };
    // Each word goes through the generator's own mixing.
    let words = [words[0], words[1], bits, purpose];
    let seed = words.into_iter().fold(seed, |seed, word| {
        Pcg64::seed_from_u64(seed).next_u64() ^ word
    });
    Pcg64::seed_from_u64(seed)
}

/// Purposes beyond those of ports.
const HOST: u64 = 1 << 16;
const TIMERS: u64 = HOST + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_expire_at_the_next_multiple() {
        let grid = Grid {
            phase: Nanos(300),
            step: Nanos(1000),
        };
        for (deadline, expected) in [
            (0, 300),
            (300, 300),
            (301, 1300),
            (1299, 1300),
            (1300, 1300),
        ] {
            assert_eq!(
                grid.round_up(Nanos(deadline)),
                Nanos(expected),
                "{deadline}"
            );
        }
        let exact = Grid {
            phase: Nanos(0),
            step: Nanos(0),
        };
        assert_eq!(exact.round_up(Nanos(17)), Nanos(17));
        assert_eq!(grid.round_up(Nanos::MAX), Nanos::MAX);
    }
}
