//! A queue with CoDel for each flow (RFC 8290).

use std::collections::VecDeque;

use super::codel::Control;
use super::{Fifo, Queued};
use crate::link::statistics::LinkStats;
use crate::link::{Count, DropCause, FqCoDel, Limit};
use crate::packet::Packet;
use crate::time::Nanos;

/// The queues by flow, and their order.
#[derive(Debug)]
pub(in crate::link) struct FqCoDelQueue {
    config: FqCoDel,
    seed: u64,
    flows: Vec<Flow>,
    /// The queues that have just become active, and the others, by their places (RFC 8290, section 3).
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    total: Count,
}

#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    control: Control,
    /// The bytes left to send in this round.
    credit: i64,
    /// Whether it is in one of the lists.
    active: bool,
}

impl FqCoDelQueue {
    pub(super) fn new(config: FqCoDel, seed: u64) -> Self {
        // The limit in bytes and packets is for all flows together; a wait is each packet's own.
        let wait = Limit {
            bytes: None,
            packets: None,
            time: config.codel.limit.and_then(|limit| limit.time),
        };
        let flow = || Flow {
            fifo: Fifo::new(Some(wait)),
            ..Flow::default()
        };
        Self {
            seed,
            flows: (0..config.flows.max(1)).map(|_| flow()).collect(),
            config,
            new: VecDeque::new(),
            old: VecDeque::new(),
            total: Count::default(),
        }
    }

    /// Adds a packet to its flow's queue (RFC 8290, section 4.1). If that is too much for all of them together, packets
    /// are dropped from the head of the longest; the RFC's batches, which save time, are not.
    pub(super) fn enqueue(
        &mut self,
        queued: Queued,
        stats: &mut LinkStats,
    ) -> Result<(), DropCause> {
        let now = queued.arrival;
        let place = self.place(&queued.packet);
        let Some(flow) = self.flows.get_mut(place) else {
            return Err(DropCause::QueueFull);
        };
        self.total.add(queued.size);
        flow.fifo.push(queued);
        if !flow.active {
            flow.active = true;
            flow.credit = self.config.quantum.into();
            self.new.push_back(place);
        }
        let limit = self.config.codel.limit.unwrap_or_default();
        while self.total.exceeds(limit) {
            let max = self
                .flows
                .iter_mut()
                .enumerate()
                .max_by_key(|(_, flow)| flow.fifo.count().bytes);
            let Some((max, oldest)) = max.and_then(|(max, flow)| Some((max, flow.fifo.pop()?)))
            else {
                break;
            };
            self.total.remove(oldest.size);
            // The arrival is the last of its queue.
            let emptied = self
                .flows
                .get(place)
                .is_some_and(|flow| flow.fifo.is_empty());
            if max == place && emptied {
                return Err(DropCause::QueueFull);
            }
            oldest.drop(now, DropCause::QueueFull, stats);
        }
        Ok(())
    }

    /// Takes the next packet by deficit round robin (RFC 8290, section 4.2).
    pub(super) fn dequeue(&mut self, now: Nanos, stats: &mut LinkStats) -> Option<Queued> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = self.flows.get_mut(place)?;
            if flow.credit <= 0 {
                flow.credit += i64::from(self.config.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let before = flow.fifo.count();
            let queued = flow
                .control
                .dequeue(&self.config.codel, &mut flow.fifo, now, stats);
            let after = flow.fifo.count();
            self.total.packets -= before.packets - after.packets;
            self.total.bytes = self.total.bytes.saturating_sub(before.bytes - after.bytes);
            if let Some(queued) = queued {
                let size = i64::try_from(queued.size).unwrap_or(i64::MAX);
                flow.credit = flow.credit.saturating_sub(size);
                return Some(queued);
            }
            // An empty new queue waits for the others' turns before it may be new again, lest it starve them.
            list.pop_front();
            if is_new {
                self.old.push_back(place);
            } else {
                flow.active = false;
            }
        }
    }

    pub(super) fn count(&self) -> Count {
        self.total
    }

    /// The flow's queue, by a hash of the addresses that is not predictable without the seed.
    fn place(&self, packet: &Packet) -> usize {
        let mut hash = self.seed;
        for address in [packet.source, packet.destination] {
            let (high, low) = match address.ip() {
                std::net::IpAddr::V4(ip) => (0, u64::from(ip.to_bits())),
                std::net::IpAddr::V6(ip) => ((ip.to_bits() >> 64) as u64, ip.to_bits() as u64),
            };
            for word in [high, low, address.port().into()] {
                hash = mix(hash ^ word);
            }
        }
        (hash % self.flows.len().max(1) as u64) as usize
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::CoDel;
    use crate::link::tests::arriving;

    fn queue(limit: Option<Limit>) -> FqCoDelQueue {
        let codel = CoDel {
            limit,
            ..CoDel::default()
        };
        let config = FqCoDel {
            codel,
            ..FqCoDel::default()
        };
        FqCoDelQueue::new(config, 7)
    }

    /// A packet of the flow with the given port.
    fn of(flow: u16, size: usize) -> Queued {
        let mut queued = arriving(size, Nanos::ZERO);
        queued.packet.source.set_port(flow);
        queued
    }

    fn fill(queue: &mut FqCoDelQueue, stats: &mut LinkStats, packets: &[(u16, usize)]) {
        for (flow, size) in packets {
            queue.enqueue(of(*flow, *size), stats).unwrap();
        }
    }

    fn flows(queue: &mut FqCoDelQueue, packets: usize) -> Vec<u16> {
        let mut stats = LinkStats::new(false);
        std::iter::from_fn(|| queue.dequeue(Nanos::ZERO, &mut stats))
            .take(packets)
            .map(|queued| queued.packet.source.port())
            .collect()
    }

    #[test]
    fn flows_take_turns_of_a_quantum_and_new_ones_come_first() {
        let (mut queue, mut stats) = (queue(None), LinkStats::new(false));
        fill(&mut queue, &mut stats, &[(1, 1000); 6]);
        fill(&mut queue, &mut stats, &[(2, 500); 6]);
        // Both are new. Credit 1514 sends two of 1000 and runs 486 into debt, or four of 500 and 486 of debt.
        assert_eq!(flows(&mut queue, 2), [1, 1]);
        assert_eq!(flows(&mut queue, 3), [2, 2, 2]);
        // A flow that becomes active now goes before the old one.
        fill(&mut queue, &mut stats, &[(3, 100)]);
        assert_eq!(flows(&mut queue, 1), [2]);
        assert_eq!(flows(&mut queue, 1), [3]);
        // 1 has 1028 of credit: two. 2 the same: the last two.
        assert_eq!(flows(&mut queue, 2), [1, 1]);
        assert_eq!(flows(&mut queue, 9), [2, 2, 1, 1]);
        assert_eq!(queue.count(), Count::default());
        assert_eq!(flows(&mut queue, 1), [0; 0]);
        assert!(queue.flows.iter().all(|flow| !flow.active));
    }

    #[test]
    fn one_flow_stays_in_order() {
        let (mut queue, mut stats) = (queue(None), LinkStats::new(false));
        fill(
            &mut queue,
            &mut stats,
            &[(1, 3000), (1, 1), (1, 9000), (1, 2)],
        );
        let sizes: Vec<u64> = std::iter::from_fn(|| queue.dequeue(Nanos::ZERO, &mut stats))
            .map(|queued| queued.size)
            .collect();
        assert_eq!(sizes, [3000, 1, 9000, 2]);
    }

    #[test]
    fn the_longest_queue_makes_room() {
        let (mut queue, mut stats) = (queue(Some(Limit::packets(5))), LinkStats::new(false));
        fill(
            &mut queue,
            &mut stats,
            &[(1, 100), (2, 30), (2, 20), (2, 20), (2, 20)],
        );
        fill(&mut queue, &mut stats, &[(2, 1)]);
        assert_eq!(stats.statistics.queue_full.bytes, 100);
        fill(&mut queue, &mut stats, &[(3, 1)]);
        assert_eq!(stats.statistics.queue_full.bytes, 130);
        let refused = queue.enqueue(of(4, 200), &mut stats);
        assert_eq!(refused, Err(DropCause::QueueFull));
        assert_eq!(
            stats.statistics.queue_full.packets, 2,
            "that one is the caller's to count"
        );
        assert_eq!(
            queue.count(),
            Count {
                packets: 5,
                bytes: 62
            }
        );
    }

    #[test]
    fn a_seed_scatters_flows_over_queues() {
        let place =
            |seed, flow| FqCoDelQueue::new(FqCoDel::default(), seed).place(&of(flow, 0).packet);
        assert_eq!(place(1, 1), place(1, 1));
        assert_ne!(place(1, 1), place(2, 1));
        let mut places: Vec<usize> = (0..200).map(|flow| place(1, flow)).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 170, "{}", places.len());
        assert!(places.iter().all(|place| *place < 1024));
    }
}
