//! The armed timers, in the order of their deadlines.
//!
//! A timer that is armed again or cancelled leaves its old place at once, so there are never more places than timers,
//! however often a connection changes its mind.

use std::collections::BTreeMap;
use std::task::Waker;

use crate::time::Nanos;

/// Identifies a timer from its first arming until it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimerId(usize);

#[derive(Debug, Default)]
pub(super) struct Timers {
    /// The slots of those that are armed, by deadline, then by the order of arming.
    armed: BTreeMap<Place, usize>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    sequence: u64,
}

/// A deadline, and a number that tells timers of one deadline apart.
type Place = (Nanos, u64);

#[derive(Debug, Default)]
struct Slot {
    /// While the timer is armed.
    place: Option<Place>,
    waker: Option<Waker>,
}

impl Timers {
    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.armed
            .first_key_value()
            .map(|((deadline, _), _)| *deadline)
    }

    /// The deadlines of the timers that would wake `waker`, in order.
    pub(super) fn waiting(&self, waker: &Waker) -> Vec<Nanos> {
        let of_waker = |slot: usize| {
            let present = self.slots[slot].waker.as_ref();
            present.is_some_and(|present| present.will_wake(waker))
        };
        let waiting = self.armed.iter().filter(|(_, slot)| of_waker(**slot));
        waiting.map(|((deadline, _), _)| *deadline).collect()
    }

    /// Arms a timer to wake `waker` at `deadline`, as the last of all timers of that deadline.
    pub(super) fn arm(&mut self, id: Option<TimerId>, deadline: Nanos, waker: &Waker) -> TimerId {
        let slot = id.map_or_else(|| self.allocate(), |TimerId(slot)| slot);
        match &mut self.slots[slot].waker {
            Some(present) => present.clone_from(waker),
            absent => *absent = Some(waker.clone()),
        }
        // If the deadline is the same, only the waker was out of date.
        let present = self.slots[slot].place;
        if present.is_none_or(|(present, _)| present != deadline) {
            self.place(slot, deadline);
        }
        TimerId(slot)
    }

    /// Moves an armed timer to another deadline; a timer that is not armed stays so.
    pub(super) fn postpone(&mut self, TimerId(slot): TimerId, deadline: Nanos) {
        if self.slots[slot].place.is_some() {
            self.place(slot, deadline);
        }
    }

    /// Disarms a timer; its id stays valid.
    pub(super) fn disarm(&mut self, TimerId(slot): TimerId) -> Option<Waker> {
        if let Some(place) = self.slots[slot].place.take() {
            self.armed.remove(&place);
        }
        self.slots[slot].waker.take()
    }

    /// Disarms a timer and gives up its id.
    pub(super) fn remove(&mut self, id: TimerId) -> Option<Waker> {
        let waker = self.disarm(id);
        self.free.push(id.0);
        waker
    }

    /// Disarms the timers due at `now` and appends their wakers in the order of their deadlines.
    pub(super) fn fire(&mut self, now: Nanos, wakers: &mut Vec<Waker>) {
        while let Some(first) = self.armed.first_entry()
            && first.key().0 <= now
        {
            let slot = first.remove();
            self.slots[slot].place = None;
            wakers.extend(self.slots[slot].waker.take());
        }
    }

    fn allocate(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        })
    }

    /// Gives a timer its place, behind all others of the deadline.
    fn place(&mut self, slot: usize, deadline: Nanos) {
        let place = (deadline, self.sequence);
        self.sequence += 1;
        if let Some(old) = self.slots[slot].place.replace(place) {
            self.armed.remove(&old);
        }
        self.armed.insert(place, slot);
    }
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
                prop_assert_eq!(timers.armed.len(), model.len());
                prop_assert!(timers.slots.len() <= ids.len());
            }
        }
    }
}
