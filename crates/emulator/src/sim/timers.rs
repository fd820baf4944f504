//! The armed timers: a binary heap in which every timer knows its place.
//!
//! A timer that is armed again or cancelled moves or leaves at once, so the heap never holds more
//! entries than there are timers, however often a connection changes its mind.

use std::task::Waker;

use crate::time::Nanos;

/// Identifies a timer from its first arming until it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimerId(usize);

#[derive(Debug, Default)]
pub(super) struct Timers {
    /// A binary min-heap.
    heap: Vec<Entry>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    sequence: u64,
}

/// Ordered by deadline, then by the order of arming.
#[derive(Debug, Clone, Copy)]
struct Entry {
    deadline: Nanos,
    sequence: u64,
    slot: usize,
}

#[derive(Debug, Default)]
struct Slot {
    /// Where the timer stands in the heap, while it is armed.
    position: Option<usize>,
    waker: Option<Waker>,
}

impl Entry {
    fn key(&self) -> (Nanos, u64) {
        (self.deadline, self.sequence)
    }
}

impl Timers {
    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.heap.first().map(|entry| entry.deadline)
    }

    /// The deadlines of the timers that would wake `waker`, in order.
    pub(super) fn waiting(&self, waker: &Waker) -> Vec<Nanos> {
        let of_waker = |entry: &&Entry| {
            let slot = self.slots.get(entry.slot);
            let present = slot.and_then(|slot| slot.waker.as_ref());
            present.is_some_and(|present| present.will_wake(waker))
        };
        let mut deadlines: Vec<Nanos> = self
            .heap
            .iter()
            .filter(of_waker)
            .map(|entry| entry.deadline)
            .collect();
        deadlines.sort_unstable();
        deadlines
    }

    /// Arms a timer to wake `waker` at `deadline`, as the last of all timers of that deadline.
    pub(super) fn arm(&mut self, id: Option<TimerId>, deadline: Nanos, waker: &Waker) -> TimerId {
        let slot = id.map_or_else(|| self.allocate(), |TimerId(slot)| slot);
        match &mut self.slots[slot].waker {
            Some(present) => present.clone_from(waker),
            absent => *absent = Some(waker.clone()),
        }
        let position = match self.slots[slot].position {
            // Only the waker was out of date.
            Some(position) if self.heap[position].deadline == deadline => return TimerId(slot),
            Some(position) => position,
            None => self.heap.len(),
        };
        let entry = Entry {
            deadline,
            sequence: self.sequence,
            slot,
        };
        self.sequence += 1;
        if position == self.heap.len() {
            self.heap.push(entry);
        } else {
            self.heap[position] = entry;
        }
        self.restore(position);
        TimerId(slot)
    }

    /// Moves an armed timer to another deadline; a timer that is not armed stays so.
    pub(super) fn postpone(&mut self, TimerId(slot): TimerId, deadline: Nanos) {
        if let Some(position) = self.slots[slot].position {
            let sequence = self.sequence;
            self.sequence += 1;
            self.heap[position] = Entry {
                deadline,
                sequence,
                slot,
            };
            self.restore(position);
        }
    }

    /// Takes a timer out of the heap; its id stays valid.
    pub(super) fn disarm(&mut self, TimerId(slot): TimerId) -> Option<Waker> {
        if let Some(position) = self.slots[slot].position.take() {
            self.heap.swap_remove(position);
            if position < self.heap.len() {
                self.restore(position);
            }
        }
        self.slots[slot].waker.take()
    }

    /// Takes a timer out of the heap and gives up its id.
    pub(super) fn remove(&mut self, id: TimerId) -> Option<Waker> {
        let waker = self.disarm(id);
        self.free.push(id.0);
        waker
    }

    /// Disarms the timers due at `now` and appends their wakers in the order of their deadlines.
    pub(super) fn fire(&mut self, now: Nanos, wakers: &mut Vec<Waker>) {
        while let Some(entry) = self.heap.first()
            && entry.deadline <= now
        {
            let id = TimerId(entry.slot);
            wakers.extend(self.disarm(id));
        }
    }

    fn allocate(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        })
    }

    /// Moves the entry at `position` to where its key belongs.
    fn restore(&mut self, mut position: usize) {
        while position > 0 && self.heap[position].key() < self.heap[parent(position)].key() {
            self.heap.swap(position, parent(position));
            self.place(position);
            position = parent(position);
        }
        while let Some(child) = self.earlier_child(position)
            && self.heap[child].key() < self.heap[position].key()
        {
            self.heap.swap(position, child);
            self.place(position);
            position = child;
        }
        self.place(position);
    }

    fn earlier_child(&self, position: usize) -> Option<usize> {
        let left = 2 * position + 1;
        (left..self.heap.len().min(left + 2)).min_by_key(|&child| self.heap[child].key())
    }

    /// Tells the timer at `position` where it stands.
    fn place(&mut self, position: usize) {
        let slot = self.heap[position].slot;
        self.slots[slot].position = Some(position);
    }
}

fn parent(position: usize) -> usize {
    (position - 1) / 2
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};
    use std::task::Wake;

    use proptest::prelude::*;

    use super::*;

    /// Writes its name down when it is woken.
    struct Named(usize, Arc<Mutex<Vec<usize>>>);

    impl Wake for Named {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Arm(usize, u64),
        Postpone(usize, u64),
        Disarm(usize),
        Remove(usize),
        Fire(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let timer = 0..8usize;
        prop_oneof![
            4 => (timer.clone(), 0..20u64).prop_map(|(timer, time)| Step::Arm(timer, time)),
            2 => (timer.clone(), 0..20u64).prop_map(|(timer, time)| Step::Postpone(timer, time)),
            1 => timer.clone().prop_map(Step::Disarm),
            1 => timer.prop_map(Step::Remove),
            2 => (0..20u64).prop_map(Step::Fire),
        ]
    }

    proptest! {
        #[test]
        fn behaves_like_a_sorted_map(steps in prop::collection::vec(step(), 0..200)) {
            let woken = Arc::new(Mutex::new(Vec::new()));
            let mut timers = Timers::default();
            let mut ids = [None; 8];
            // From deadline and order of arming to the timer.
            let mut model = BTreeMap::new();
            for (sequence, step) in steps.into_iter().enumerate() {
                let armed = |model: &BTreeMap<(u64, usize), usize>, timer: usize| {
                    model.iter().find(|entry| *entry.1 == timer).map(|(key, _)| *key)
                };
                match step {
                    Step::Arm(timer, deadline) => {
                        let waker = Waker::from(Arc::new(Named(timer, Arc::clone(&woken))));
                        ids[timer] = Some(timers.arm(ids[timer], Nanos(deadline), &waker));
                        let old = armed(&model, timer);
                        // The place among equals changes only with the deadline.
                        if old.is_none_or(|(time, _)| time != deadline) {
                            old.map(|key| model.remove(&key));
                            model.insert((deadline, sequence), timer);
                        }
                    }
                    Step::Postpone(timer, deadline) => {
                        if let Some(id) = ids[timer] {
                            timers.postpone(id, Nanos(deadline));
                        }
                        if let Some(key) = armed(&model, timer) {
                            model.remove(&key);
                            model.insert((deadline, sequence), timer);
                        }
                    }
                    Step::Disarm(timer) => {
                        ids[timer].map(|id| timers.disarm(id));
                        armed(&model, timer).map(|key| model.remove(&key));
                    }
                    Step::Remove(timer) => {
                        ids[timer].take().map(|id| timers.remove(id));
                        armed(&model, timer).map(|key| model.remove(&key));
                    }
                    Step::Fire(now) => {
                        let mut wakers = Vec::new();
                        timers.fire(Nanos(now), &mut wakers);
                        wakers.into_iter().for_each(Waker::wake);
                        let later = model.split_off(&(now + 1, 0));
                        let due: Vec<_> = std::mem::replace(&mut model, later).into_values().collect();
                        prop_assert_eq!(std::mem::take(&mut *woken.lock().unwrap()), due);
                    }
                }
                prop_assert_eq!(timers.next(), model.keys().next().map(|key| Nanos(key.0)));
                prop_assert_eq!(timers.heap.len(), model.len());
                prop_assert!(timers.slots.len() <= ids.len());
            }
        }
    }
}
