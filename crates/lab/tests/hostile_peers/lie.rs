//! Receivers that acknowledge something else than what has arrived.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint_emulator::sim::Handle;

use crate::frame::{Ack, rewrite};
use crate::run::RTT;
use crate::seal::Forger;

/// What a receiver's ACK frames say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// They acknowledge a packet that was not sent.
    Unsent,
    /// They acknowledge every packet from the lie's beginning to the last that has arrived.
    NoLoss,
    /// And those after it that must be on their way: as many as were sent in half a round trip, as far as the numbers tell.
    Ahead,
    /// There are none.
    Silence,
    /// There is one every so many packets, or after half a second.
    Every(u64),
    /// They count every packet as marked.
    AllMarked,
    /// They count no packet as marked.
    NoneMarked,
    /// They have no ECN counts.
    NoCounts,
}

/// What a lying receiver remembers.
#[derive(Debug, Default)]
struct Memory {
    /// The last ACK frame's largest number, and its time.
    last: (u64, Duration),
    /// The largest number of the last honest frame, and its counts.
    honest: u64,
    counts: [u64; 3],
    /// The largest numbers that had arrived, and when, for half a round trip.
    arrivals: VecDeque<(Duration, u64)>,
    /// How many packets are counted as CE instead of ECT(0).
    moved: i64,
}

impl Lie {
    /// A forger that lies in a span of time.
    pub(crate) fn forger(self, handle: Handle, during: Range<Duration>) -> Forger {
        let memory = Mutex::new(Memory::default());
        Arc::new(move |payload| {
            let now = handle.now().into();
            let mut memory = memory.lock().unwrap();
            rewrite(payload, |ack| {
                memory.change(self, during.contains(&now), now, ack)
            })
        })
    }
}

impl Memory {
    fn change(&mut self, lie: Lie, lies: bool, now: Duration, mut ack: Ack) -> Option<Ack> {
        let [ect0, _, ce] = ack.ecn.unwrap_or_default();
        self.arrivals.push_back((now, ack.largest()));
        while self
            .arrivals
            .front()
            .is_some_and(|(at, _)| *at + RTT / 2 < now)
        {
            self.arrivals.pop_front();
        }
        if lies {
            self.lie(lie, now, &mut ack)?;
        } else {
            (self.honest, self.counts) = (ack.largest(), ack.ecn.unwrap_or_default());
        }
        self.last = (ack.largest(), now);
        // Counts never fall: what was once said stays.
        match (lie, lies) {
            (Lie::AllMarked, true) => self.moved = (ect0 - self.counts[0]) as i64,
            (Lie::NoneMarked, true) => self.moved = -((ce - self.counts[2]) as i64),
            _ => {}
        }
        if let Some([ect0, _, ce]) = &mut ack.ecn {
            *ect0 = ect0.saturating_add_signed(-self.moved);
            *ce = ce.saturating_add_signed(self.moved);
        }
        Some(ack)
    }

    /// `None` if nothing is said.
    fn lie(&self, lie: Lie, now: Duration, ack: &mut Ack) -> Option<()> {
        let largest = ack.largest();
        match lie {
            Lie::Unsent => self.claim(ack, largest + FAR),
            Lie::NoLoss => self.claim(ack, largest),
            Lie::Ahead => self.claim(ack, 2 * largest - self.arrivals.front()?.1),
            Lie::Silence => return None,
            Lie::Every(packets) => {
                let (last, at) = self.last;
                let due = largest >= last + packets || now >= at + MAX_WAIT;
                return due.then_some(());
            }
            Lie::NoCounts => ack.ecn = None,
            Lie::AllMarked | Lie::NoneMarked => {}
        }
        Some(())
    }

    /// Acknowledges everything from the last honest number to another one.
    fn claim(&self, ack: &mut Ack, to: u64) {
        ack.ranges.retain(|range| *range.start() < self.honest);
        if let Some(newest) = ack
            .ranges
            .first_mut()
            .filter(|newest| *newest.end() + 1 >= self.honest)
        {
            *newest = *newest.start()..=to;
        } else {
            ack.ranges.insert(0, self.honest..=to);
        }
    }
}

/// More packets than any sender has in flight here.
const FAR: u64 = 1_000_000;
/// A receiver that seldom acknowledges still does so this often.
const MAX_WAIT: Duration = Duration::from_millis(500);
