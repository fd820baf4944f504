//! By how much the timers of this machine are late.

use crate::time::Nanos;

/// By how much waits are usually too long: on Linux 50 us and more, because the system lets the timers of unprivileged threads
/// expire together. Whoever waits for that much less, and spins for what is left, is late by the unusual part only.
///
/// It is the median, which a step in the direction of each wait leads to.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Oversleep(Nanos);

impl Oversleep {
    /// A wait was this much longer than it should have been.
    pub(super) fn add(&mut self, late: Nanos) {
        self.0 = if late > self.0 {
            (self.0 + STEP).min(MAX)
        } else {
            self.0 - STEP
        };
    }

    /// The median lateness of waits; zero before the first.
    pub(super) fn usual(&self) -> Nanos {
        self.0
    }
}

const STEP: Nanos = Nanos::from_micros(1);

/// The maximum correction: a wait that is shortened by it and ends in time spins for as long.
const MAX: Nanos = Nanos::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn after(waits: impl IntoIterator<Item = u64>) -> u64 {
        let mut oversleep = Oversleep::default();
        for micros in waits {
            oversleep.add(Nanos::from_micros(micros));
        }
        oversleep.usual().0 / 1000
    }

    #[test]
    fn half_of_the_waits_are_late_by_more() {
        assert_eq!(after([]), 0);
        let waits = [52, 55, 58, 61, 64, 70, 90, 200, 900];
        let usual = after(waits.into_iter().cycle().take(3000));
        assert!((61..=64).contains(&usual), "{usual}");
        // It changes when the machine does.
        assert!((4..=6).contains(&after([60; 200].into_iter().chain([5; 200]))));
    }

    /// Trap: who is late because others keep the processor must not spin for as long once they do not.
    #[test]
    fn it_is_bounded() {
        assert_eq!(after([5_000; 2000]), 100);
    }
}
