//! A serial line whose rate changes.

use super::bucket::NANOS_PER_SECOND;
use crate::link::config::RateStep;
use crate::time::Nanos;

/// Sends at rates that hold from given times on. Exact, also across steps: what has been sent is counted in
/// byte-nanoseconds per second, so that only departures are rounded, up to whole nanoseconds.
#[derive(Debug)]
pub(in crate::link) struct Schedule {
    steps: Vec<Step>,
    /// The work done by a line that has never been idle, up to the end of the packet sent last.
    position: u128,
    /// When the line falls idle, or the blackout ends in which it would.
    ready: Nanos,
}

#[derive(Debug)]
struct Step {
    from: Nanos,
    bytes_per_second: u64,
    /// The work done before this step by a line that is never idle.
    before: u128,
    /// The first time from this step's on at which the rate is positive.
    active: Nanos,
}

impl Schedule {
    /// The steps begin at time 0, their times increase, and the last one's rate is positive.
    pub(super) fn new(steps: &[RateStep]) -> Self {
        let mut before = 0;
        let mut previous: Option<&RateStep> = None;
        let mut steps: Vec<Step> = steps
            .iter()
            .map(|step| {
                before += previous.map_or(0, |previous| {
                    work(previous.bytes_per_second, step.from - previous.from)
                });
                previous = Some(step);
                Step {
                    from: step.from,
                    bytes_per_second: step.bytes_per_second,
                    before,
                    active: step.from,
                }
            })
            .collect();
        let mut active = Nanos::MAX;
        for step in steps.iter_mut().rev() {
            if step.bytes_per_second > 0 {
                active = step.from;
            }
            step.active = active;
        }
        let ready = steps.first().map_or(Nanos::MAX, |step| step.active);
        Self {
            steps,
            position: 0,
            ready,
        }
    }

    pub(super) fn wake(&mut self, now: Nanos) {
        if now > self.ready {
            self.position = self.work_until(now);
            self.ready = self.active_from(now);
        }
    }

    pub(super) fn ready(&self) -> Nanos {
        self.ready
    }

    pub(super) fn serve(&mut self, bytes: u64) -> Nanos {
        let work = u128::from(bytes) * NANOS_PER_SECOND;
        self.position = self.position.saturating_add(work);
        let departure = self.time_of(self.position).max(self.ready);
        self.ready = self.active_from(departure);
        departure
    }

    pub(super) fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        let until = |time| self.work_until(time) / NANOS_PER_SECOND;
        u64::try_from(until(to).saturating_sub(until(from))).unwrap_or(u64::MAX)
    }

    fn step_at(&self, time: Nanos) -> Option<&Step> {
        let after = self.steps.partition_point(|step| step.from <= time);
        self.steps.get(after.checked_sub(1)?)
    }

    fn work_until(&self, time: Nanos) -> u128 {
        self.step_at(time).map_or(0, |step| {
            step.before + work(step.bytes_per_second, time - step.from)
        })
    }

    /// The first time at which this work is done.
    fn time_of(&self, position: u128) -> Nanos {
        let after = self.steps.partition_point(|step| step.before < position);
        let step = after.checked_sub(1).and_then(|last| self.steps.get(last));
        // A step that leaves work to be done has a positive rate: in a blackout, the next step has the same work
        // before it.
        step.map_or(Nanos::ZERO, |step| {
            let wait = (position - step.before).div_ceil(u128::from(step.bytes_per_second.max(1)));
            step.from + Nanos(u64::try_from(wait).unwrap_or(u64::MAX))
        })
    }

    fn active_from(&self, time: Nanos) -> Nanos {
        self.step_at(time)
            .map_or(time, |step| step.active.max(time))
    }
}

fn work(bytes_per_second: u64, span: Nanos) -> u128 {
    u128::from(bytes_per_second) * u128::from(span.0)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const fn step(millis: u64, bytes_per_second: u64) -> RateStep {
        RateStep {
            from: Nanos::from_millis(millis),
            bytes_per_second,
        }
    }

    #[test]
    fn a_packet_is_sent_across_steps() {
        // 1000, then 4000 bytes a second, then a second without any, then 500.
        let steps = [
            step(0, 1_000),
            step(100, 4_000),
            step(200, 0),
            step(600, 0),
            step(1_200, 500),
        ];
        for (what, wake, sizes, departures) in [
            ("within a step", 0, &[50, 50][..], &[50, 100][..]),
            ("half in each", 50, &[50, 100, 100], &[100, 125, 150]),
            ("over a border", 50, &[90, 40], &[110, 120]),
            ("up to the blackout", 150, &[200, 1], &[200, 1_202]),
            ("through the blackout", 150, &[300, 50], &[1_400, 1_500]),
            ("from the blackout", 700, &[50, 50], &[1_300, 1_400]),
            ("after all steps", 5_000, &[500], &[6_000]),
        ] {
            let mut server = Schedule::new(&steps);
            server.wake(Nanos::from_millis(wake));
            let sent: Vec<u64> = sizes
                .iter()
                .map(|size| server.serve(*size).0 / 1_000_000)
                .collect();
            assert_eq!(sent, departures, "{what}");
        }
    }

    #[test]
    fn nothing_is_taken_from_the_queue_in_a_blackout() {
        let mut server = Schedule::new(&[step(0, 0), step(10, 1_000), step(20, 0), step(40, 1)]);
        assert_eq!(server.ready(), Nanos::from_millis(10));
        assert_eq!(server.serve(10), Nanos::from_millis(20));
        assert_eq!(server.ready(), Nanos::from_millis(40));
        server.wake(Nanos::from_millis(30));
        assert_eq!(server.ready(), Nanos::from_millis(40));
    }

    proptest! {
        /// The n-th byte's time on a busy line comes from one division, whatever the packets and the steps.
        #[test]
        fn rounding_does_not_accumulate(
            mut rates in vec((1..50_u64, 0..9_000_u64), 0..8),
            last in 1..9_000_u64,
            sizes in vec(0..300_u64, 1..50),
        ) {
            rates.push((1, last));
            let mut from = 0;
            let steps: Vec<RateStep> = rates.into_iter().map(|(length, rate)| {
                let step = step(from, rate);
                from += length;
                step
            }).collect();
            let total: u64 = sizes.iter().sum();
            let mut many = Schedule::new(&steps);
            let mut end = Nanos::ZERO;
            for size in sizes {
                let departure = many.serve(size);
                prop_assert!(departure >= end);
                end = departure;
            }
            // An empty packet waits for the end of a blackout.
            let mut one = Schedule::new(&steps);
            prop_assert_eq!(end, one.serve(total).max(end.min(many.ready())));
            prop_assert!(many.capacity(Nanos::ZERO, end) >= total);
            prop_assert!(total == 0 || many.capacity(Nanos::ZERO, Nanos(one.time_of(one.position).0 - 1)) < total);
        }
    }
}
