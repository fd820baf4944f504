//! Packets that come late.

use super::chance::Chance;
use crate::link::queueing::Queued;
use crate::link::timeline::Timeline;
use crate::time::Nanos;

/// Holds some packets back.
#[derive(Debug)]
pub(super) struct Reordering {
    chance: Chance,
    delay: Nanos,
    held: Timeline<Queued>,
}

impl Reordering {
    pub(super) fn new(chance: Chance, delay: Nanos) -> Self {
        Self {
            chance,
            delay,
            held: Timeline::new(),
        }
    }

    /// Keeps the packet, or gives it back.
    pub(super) fn hold(&mut self, now: Nanos, queued: Queued) -> Option<Queued> {
        if !self.chance.strikes() {
            return Some(queued);
        }
        self.held.push(now + self.delay, queued);
        None
    }

    pub(super) fn next_release(&self) -> Option<Nanos> {
        self.held.next()
    }

    /// Gives back the next packet that is due by `now`.
    pub(super) fn release(&mut self, now: Nanos) -> Option<(Nanos, Queued)> {
        self.held.pop(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::tests::queued;

    #[test]
    fn delayed_packets_return_after_the_delay() {
        let mut all = Reordering::new(Chance::new(1.0, 1).unwrap(), Nanos(10));
        assert!(all.hold(Nanos(5), queued(1)).is_none());
        assert!(all.hold(Nanos(6), queued(2)).is_none());
        assert_eq!(all.next_release(), Some(Nanos(15)));
        assert!(all.release(Nanos(14)).is_none());
        let back = all
            .release(Nanos(20))
            .map(|(time, queued)| (time, queued.size));
        assert_eq!(back, Some((Nanos(15), 1)));
        assert_eq!(all.next_release(), Some(Nanos(16)));
        let mut none = Reordering::new(Chance::new(0.0, 1).unwrap(), Nanos(10));
        assert!(none.hold(Nanos(5), queued(1)).is_some());
        assert_eq!(none.next_release(), None);
    }
}
