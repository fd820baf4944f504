//! One direction: the link, between the thread that receives for it and the one that sends for it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::Clock;
use super::backlog::Backlog;
use super::oversleep::Oversleep;
use super::sync::{Condvar, Mutex, MutexGuard};
use crate::link::{Count, Flow, Link, Record, Statistics};
use crate::packet::Packet;
use crate::time::Nanos;

/// A link that is waited for.
#[derive(Debug)]
pub(super) struct Path {
    clock: Clock,
    busy: bool,
    /// For packets on their way.
    memory: u64,
    backlog: Arc<Backlog>,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug)]
struct State {
    link: Link,
    /// When the sender wakes up by itself; zero while it is awake.
    sleeps_until: Nanos,
    oversleep: Oversleep,
    /// The last thing that was waited for, it was spun for.
    spun: bool,
    stopped: bool,
    overflow: u64,
}

/// The work of a sender.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The packets that are due, with their times.
    pub(super) due: Vec<(Nanos, Packet)>,
    /// The records for the log.
    pub(super) settled: Vec<(Flow, Record)>,
    /// When the first packet arrived, at the earliest, that is still to be settled.
    pub(super) horizon: Nanos,
    /// Everything that was due by then was there, in this turn or in one before.
    pub(super) now: Nanos,
}

impl Path {
    /// Packets on their way take `memory` at most; `backlog` is what of the log has left the link.
    pub(super) fn new(
        link: Link,
        clock: Clock,
        memory: u64,
        busy: bool,
        backlog: Arc<Backlog>,
    ) -> Self {
        Self {
            clock,
            busy,
            memory,
            backlog,
            state: Mutex::new(State {
                link,
                sleeps_until: Nanos::ZERO,
                oversleep: Oversleep::default(),
                spun: false,
                stopped: false,
                overflow: 0,
            }),
            wake: Condvar::new(),
        }
    }

    /// Puts packets onto the link that arrived at the given time.
    pub(super) fn offer(&self, now: Nanos, packets: impl Iterator<Item = Packet>) {
        let mut state = self.lock();
        for packet in packets {
            if memory(state.link.statistics()) > self.memory {
                state.overflow += 1;
                continue;
            }
            if let Some(log) = state.link.log() {
                let full = self.backlog.is_full(log.records().len());
                state.link.leave_out_of_log(full);
            }
            state.link.offer(now, packet);
        }
        let next = state.link.next_event();
        if next.is_some_and(|next| next < state.sleeps_until) {
            // Once is enough.
            state.sleeps_until = Nanos::ZERO;
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Waits until something is due or to be logged, or for [`MAX_WAIT`]. Returns false once the path is stopped.
    pub(super) fn wait(&self, turn: &mut Turn) -> bool {
        let mut state = self.lock();
        let begun = self.clock.now();
        loop {
            let now = self.clock.now();
            state.link.advance(now);
            turn.now = now;
            let mut bytes = 0;
            while let Some((time, packet)) = state.link.deliver(now) {
                bytes += packet.payload.len();
                turn.due.push((time, packet));
                // The others stay in the link, where they count as its memory.
                if turn.due.len() >= MAX_TURN || bytes >= MAX_TURN_BYTES {
                    turn.now = time - Nanos(1);
                    break;
                }
            }
            state
                .link
                .take_settled(&mut |flow, record| turn.settled.push((flow, record)));
            let log = state.link.log();
            let open = log.and_then(|log| log.records().first());
            turn.horizon = open.map_or(now, |record| record.arrival);
            if state.stopped {
                return false;
            }
            let waited = now - begun >= MAX_WAIT;
            if waited || !turn.due.is_empty() || !turn.settled.is_empty() {
                return true;
            }
            let next = state.link.next_event().unwrap_or(Nanos::MAX);
            let next = next.min(begun + MAX_WAIT);
            state = self.sleep(state, now, next);
        }
    }

    fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        now: Nanos,
        next: Nanos,
    ) -> MutexGuard<'a, State> {
        let left = next - now;
        let usual = state.oversleep.usual();
        let early = if self.busy { SPIN } else { usual };
        if left <= early {
            if self.busy {
                return self.spin(state, next.min(now + SPIN_TURN));
            }
            // Sooner than a timer can wake for. What follows something late may be spun for, so that the next ones are in time.
            // Where all are so close, they go out together, and the processor is somebody else's meanwhile.
            state.spun = !state.spun && left >= MIN_SPIN;
            return if state.spun {
                self.spin(state, next)
            } else {
                self.doze(state, now, next).0
            };
        }
        state.spun = false;
        let (state, time_has_come) = self.doze(state, now, next - early);
        if self.busy || !time_has_come {
            return state;
        }
        self.spin(state, next)
    }

    /// Waits until then, or for a packet that is due before; returns whether the time has come.
    fn doze<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        now: Nanos,
        until: Nanos,
    ) -> (MutexGuard<'a, State>, bool) {
        state.sleeps_until = until;
        let timeout: Duration = (until - now).into();
        let result = self.wake.wait_timeout(state, timeout);
        let (mut state, wait) = result.unwrap_or_else(PoisonError::into_inner);
        if wait.timed_out() {
            state.oversleep.add(self.clock.now() - until);
        }
        state.sleeps_until = Nanos::ZERO;
        (state, wait.timed_out())
    }

    /// Keeps the processor until then, but not the lock: packets may come meanwhile. Those that are due before are late by what
    /// is left of a tenth of a millisecond.
    fn spin<'a>(&'a self, state: MutexGuard<'a, State>, until: Nanos) -> MutexGuard<'a, State> {
        drop(state);
        while self.clock.now() < until {
            std::hint::spin_loop();
        }
        self.lock()
    }

    /// Ends the waiting.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.notify_all();
    }

    /// How many packets were left out of the log for want of memory.
    pub(super) fn left_out_of_log(&self) -> u64 {
        self.lock().link.left_out_of_log()
    }

    /// The link's statistics, its queue, and the number of packets dropped because memory was short.
    pub(super) fn statistics(&self) -> (Statistics, Count, u64) {
        let state = self.lock();
        let link = &state.link;
        (*link.statistics(), link.queued(), state.overflow)
    }

    /// Takes the rest of the log: what is on its way.
    pub(super) fn take_open(&self, take: &mut dyn FnMut(Flow, Record)) {
        let state = self.lock();
        if let Some(log) = state.link.log() {
            for record in log.records() {
                if let Some(flow) = log.flow(record.flow) {
                    take(flow, *record);
                }
            }
        }
    }

    /// A panic while the lock was held has left the state consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory of the packets in the link.
fn memory(statistics: &Statistics) -> u64 {
    let gone = statistics.all_dropped();
    let on_the_way = |count: fn(&Count) -> u64| {
        let entered = count(&statistics.offered) + count(&statistics.duplicated);
        entered.saturating_sub(count(&statistics.delivered) + count(&gone))
    };
    let packets = on_the_way(|count| count.packets);
    on_the_way(|count| count.bytes).saturating_add(packets.saturating_mul(PACKET_MEMORY))
}

/// The memory of a packet beside its size on the wire, in bytes, rounded up: its description, its place in the log, and
/// the allocator's overhead.
pub const PACKET_MEMORY: u64 = 256;

/// The most packets that a sender has at a time.
const MAX_TURN: usize = 1024;

/// The most bytes of them, but for the last packet.
const MAX_TURN_BYTES: usize = 1 << 20;

/// How long a sender sleeps at most: the log wants to hear of drops, too.
const MAX_WAIT: Nanos = Nanos::from_millis(100);

/// How long before something is due a busy sender begins to spin: more than a timer is late by.
const SPIN: Nanos = Nanos::from_micros(100);

/// A packet that is due sooner than this is nearly on time if it leaves with the next one.
const MIN_SPIN: Nanos = Nanos::from_micros(15);

/// How long it spins before it looks for new packets.
const SPIN_TURN: Nanos = Nanos::from_micros(5);

#[cfg(test)]
#[cfg(not(kneepoint_loom))]
mod tests {
    use super::*;
    use crate::link::{Limit, LinkConfig, Queue};
    use crate::relay::backlog::RECORD_MEMORY;

    fn path(link: LinkConfig, memory: u64, backlog: &Arc<Backlog>) -> Path {
        let link = Link::new(link, 1).unwrap();
        Path::new(link, Clock::start(), memory, false, Arc::clone(backlog))
    }

    fn offer(path: &Path, packets: u64, size: usize) {
        let packet = |_| Packet {
            source: ([127, 0, 0, 1], 1).into(),
            destination: ([127, 0, 0, 1], 2).into(),
            ecn: None,
            payload: vec![0; size],
        };
        path.offer(Nanos(1), (0..packets).map(packet));
    }

    /// On a slow link the oldest record stays open for long, and a flood's drops pile up behind it.
    #[test]
    fn the_log_stays_within_its_memory() {
        let config = LinkConfig {
            queue: Queue::DropTail(Limit::packets(10)),
            log: true,
            ..LinkConfig::constant(1)
        };
        let memory = 1 << 20;
        let backlog = Arc::new(Backlog::new(memory));
        let path = path(config, u64::MAX, &backlog);
        let flood = |packets: u64| {
            offer(&path, packets, 0);
            let logged = path.lock().link.log().unwrap().records().len() as u64;
            assert!(logged * RECORD_MEMORY <= memory / 2 + RECORD_MEMORY);
            logged
        };
        let logged = flood(100_000);
        assert!(logged > 1_000, "{logged}");
        assert_eq!(path.left_out_of_log(), 100_000 - logged);
        let (statistics, _, overflow) = path.statistics();
        assert_eq!((statistics.offered.packets, overflow), (100_000, 0));
        // Records count until they are written, also after they have left the link's own log.
        path.lock().link.take_settled(&mut |_, _| ());
        backlog.add(5_000);
        assert_eq!(flood(10), logged);
        assert_eq!(path.left_out_of_log(), 100_010 - logged);
    }

    /// What a sender holds is not in the link's memory any more, and the link would fill up again meanwhile.
    #[test]
    fn a_sender_holds_little_of_what_is_due() {
        let unlimited = LinkConfig::new(crate::link::Shaper::Unlimited);
        for (packets, size, turns) in [(5 * MAX_TURN, 0, 5), (40, MAX_TURN_BYTES / 4, 10)] {
            let path = path(unlimited.clone(), u64::MAX, &Arc::default());
            offer(&path, packets as u64, size);
            for _ in 0..turns {
                let mut turn = Turn::default();
                assert!(path.wait(&mut turn));
                assert_eq!(turn.due.len(), packets / turns);
                // Others that are due at the same time may be still to come.
                assert!(turn.now < turn.due[0].0);
            }
            assert_eq!(path.statistics().0.delivered.packets, packets as u64);
        }
    }
}
