//! Events at known times, in order of time.

use std::collections::BTreeMap;

use crate::time::Nanos;

/// Items by time; at equal times in the order in which they came.
#[derive(Debug)]
pub(super) struct Timeline<T> {
    items: BTreeMap<(Nanos, u64), T>,
    pushed: u64,
}

impl<T> Timeline<T> {
    pub(super) fn new() -> Self {
        Self {
            items: BTreeMap::new(),
            pushed: 0,
        }
    }

    pub(super) fn push(&mut self, time: Nanos, item: T) {
        self.items.insert((time, self.pushed), item);
        self.pushed += 1;
    }

    pub(super) fn next(&self) -> Option<Nanos> {
        self.items.first_key_value().map(|((time, _), _)| *time)
    }

    /// Takes the next item if it is due by `now`.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next()? > now {
            return None;
        }
        self.items.pop_first().map(|((time, _), item)| (time, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_the_order_of_time_and_then_of_arrival() {
        let mut timeline = Timeline::new();
        for (time, item) in [(3, 'd'), (1, 'b'), (3, 'e'), (0, 'a'), (1, 'c')] {
            timeline.push(Nanos(time), item);
        }
        assert_eq!(timeline.next(), Some(Nanos(0)));
        let due = |timeline: &mut Timeline<char>, now| -> String {
            std::iter::from_fn(|| timeline.pop(Nanos(now)).map(|(_, item)| item)).collect()
        };
        assert_eq!(due(&mut timeline, 2), "abc");
        assert_eq!(due(&mut timeline, 2), "");
        assert_eq!(due(&mut timeline, 3), "de");
        assert_eq!(timeline.next(), None);
    }
}
