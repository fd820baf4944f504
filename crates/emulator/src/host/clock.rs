//! When a processor is done with its work.

use rand_pcg::Pcg64;

use super::OtherWork;
use crate::time::Nanos;

/// A processor's time, as far as others do not take it.
#[derive(Debug)]
pub(super) struct ProcessorClock {
    others: Option<Others>,
}

/// The present slice of other work, or the next one.
#[derive(Debug)]
struct Others {
    work: OtherWork,
    generator: Pcg64,
    start: Nanos,
    end: Nanos,
}

impl ProcessorClock {
    pub(super) fn new(work: Option<OtherWork>, generator: Pcg64) -> Self {
        let others = work.map(|work| {
            let mut others = Others {
                work,
                generator,
                start: Nanos::ZERO,
                end: Nanos::ZERO,
            };
            others.next(Nanos::ZERO);
            others
        });
        Self { others }
    }

    /// When work that begins now is done: other work interrupts it.
    pub(super) fn done(&mut self, now: Nanos, work: Nanos) -> Nanos {
        let Some(others) = &mut self.others else {
            return now + work;
        };
        if now > others.end + FORGOTTEN {
            others.next(now);
        }
        let (mut time, mut left) = (now, work);
        loop {
            if others.start > time {
                let free = others.start - time;
                if left <= free {
                    return time + left;
                }
                left = left - free;
            }
            time = time.max(others.end);
            others.next(others.end);
        }
    }
}

impl Others {
    fn next(&mut self, from: Nanos) {
        let gap = self.work.gap.sample(&mut self.generator).max(MIN_GAP);
        self.start = from + gap;
        self.end = self.start + self.work.slice.sample(&mut self.generator);
    }
}

/// After so long without work for the host, slices in between are not drawn.
const FORGOTTEN: Nanos = Nanos::from_millis(1000);
/// Without it, other work could take all time for ever.
const MIN_GAP: Nanos = Nanos::from_micros(1);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;
    use crate::host::Distribution;

    #[test]
    fn work_takes_longer_by_what_others_take() {
        let work = OtherWork {
            gap: Distribution::Fixed(Nanos(700_000)),
            slice: Distribution::Fixed(Nanos(300_000)),
        };
        let mut clock = ProcessorClock::new(Some(work), Pcg64::seed_from_u64(1));
        // Slices are at 0.7 to 1.0 ms, 1.7 to 2.0 ms and so on.
        for (now, work, done) in [
            (0, 700_000, 700_000),
            (700_000, 1, 1_000_001),
            (1_100_000, 600_001, 2_000_001),
            (2_000_001, 1_400_000, 4_000_001),
            (9_800_000, 0, 10_000_000),
        ] {
            assert_eq!(clock.done(Nanos(now), Nanos(work)), Nanos(done), "{now}");
        }
    }

    proptest! {
        #[test]
        fn work_is_never_done_early(steps in prop::collection::vec((0..5_000_000_u64, 0..2_000_000_u64), 0..50)) {
            let span = |mean| Distribution::Exponential { mean: Nanos(mean), max: Nanos(20 * mean) };
            let work = OtherWork { gap: span(200_000), slice: span(100_000) };
            let mut clock = ProcessorClock::new(Some(work), Pcg64::seed_from_u64(1));
            let mut now = Nanos::ZERO;
            for (idle, work) in steps {
                now = now + Nanos(idle);
                let done = clock.done(now, Nanos(work));
                prop_assert!(done >= now + Nanos(work));
                now = done;
            }
        }
    }
}
