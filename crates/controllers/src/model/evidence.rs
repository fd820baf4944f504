//! What a bandwidth estimate rests on.

use crate::event::AckEvent;
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Timestamp};

/// When the path was last measured, and what an application has shown since.
///
/// An acknowledgement of packets that the path limited measures the path: the rate is no more and no less. One of packets that the
/// application limited shows that the path carries as much, a lower bound.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    measured_at: Option<Timestamp>,
    /// The estimate at that time. Set by the first acknowledgement that only shows.
    measured: Option<Bandwidth>,
    /// Whether the last acknowledgement only showed.
    shows: bool,
    /// When the application last delivered at the estimate.
    shown_at: Option<Timestamp>,
}

impl Evidence {
    /// Handles an acknowledgement, before the estimate does. Returns whether it only [shows](Self::show) something.
    ///
    /// It measures if the path limited its packets: neither the application, nor the controller, which says so by `may_measure`: false
    /// in slow start.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckEvent, may_measure: bool) -> bool {
        match &ack.rate {
            Some(sample) if may_measure && !sample.app_limited => {
                self.measure(ack.now);
                false
            }
            sample => sample.is_some(),
        }
    }

    /// The acknowledgement shows what an application delivered. `before` is the estimate before it.
    #[inline(never)]
    pub(crate) fn show(&mut self, ack: &AckEvent, before: Option<Bandwidth>) {
        if !self.shows {
            self.shows = true;
            self.measured = before.filter(|_| self.measured_at.is_some());
        }
        let delivered = ack.rate.map(|sample| sample.delivery_rate);
        if before.is_none_or(|rate| delivered >= Some(rate.saturating_sub(noise(rate)))) {
            self.shown_at = Some(ack.now);
        }
    }

    /// The path was the limit.
    pub(crate) fn measure(&mut self, now: Timestamp) {
        self.measured_at = Some(now);
        self.shows = false;
    }

    /// Forgets everything: the estimate begins anew.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Says in the snapshot what its bandwidth rests on.
    pub(crate) fn describe(&self, snapshot: &mut Snapshot) {
        let exceeds = |rate: Bandwidth| {
            self.measured
                .is_none_or(|measured| rate > measured.saturating_add(noise(measured)))
        };
        let unmeasured = self.measured_at.is_none();
        snapshot.lower_bound =
            unmeasured || (self.shows && snapshot.bandwidth.is_some_and(exceeds));
        snapshot.bandwidth_at = if snapshot.lower_bound {
            self.shown_at
        } else {
            self.measured_at
        };
    }
}

/// A measurement is not more exact than this: an estimate that differs by less is the same.
fn noise(rate: Bandwidth) -> Bandwidth {
    Bandwidth::from_bytes_per_second(rate.bytes_per_second() / 16)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::driver::{MTU, ack, at};
    use crate::snapshot::Mode;

    fn rate(kilobytes_per_second: u64) -> Bandwidth {
        Bandwidth::from_bytes_per_second(1000 * kilobytes_per_second)
    }

    /// Acknowledgements at these milliseconds, each with the estimate before it, in kB/s, what it delivered in 40 ms, in kB, and
    /// whether it measures. Returns what is said of the last estimate.
    fn said(acks: &[(u64, u64, u64, bool)], estimate: u64) -> (bool, Option<Timestamp>) {
        let mut evidence = Evidence::default();
        for &(now, before, delivered, measures) in acks {
            let delivered = crate::units::Bytes(1000 * delivered);
            let ack = ack(at(now), Duration::from_millis(40), delivered, 1);
            let before = (before > 0).then(|| rate(before));
            if evidence.on_ack(&ack, measures) {
                evidence.show(&ack, before);
            }
        }
        let mut snapshot = Snapshot::new("test", Mode::Startup, MTU);
        snapshot.bandwidth = Some(rate(estimate));
        evidence.describe(&mut snapshot);
        (snapshot.lower_bound, snapshot.bandwidth_at)
    }

    #[test]
    fn what_an_application_shows_is_a_lower_bound() {
        // 40 kB in 40 ms are 1 MB/s.
        let shown = [(40, 0, 40, false), (80, 1000, 40, false)];
        assert_eq!(said(&shown, 1000), (true, Some(at(80))));
        // Less than the estimate says nothing of it.
        let less = [(40, 0, 40, false), (80, 1000, 20, false)];
        assert_eq!(said(&less, 1000), (true, Some(at(40))));
        assert_eq!(said(&[], 1000), (true, None));
    }

    #[test]
    fn a_measurement_is_as_old_as_its_last_acknowledgement() {
        let acks = [(40, 0, 40, true), (80, 1000, 40, true)];
        assert_eq!(said(&acks, 1000), (false, Some(at(80))));
        // An application that has less to say leaves it as it was.
        let acks = [acks[0], acks[1], (120, 1000, 20, false)];
        assert_eq!(said(&acks, 1000), (false, Some(at(80))));
    }

    /// Trap: the link became faster, and the application shows a part of what it carries now.
    #[test]
    fn an_application_that_exceeds_a_measurement_makes_a_lower_bound_of_it() {
        let acks = [
            (40, 0, 40, true),
            (80, 1000, 80, false),
            (120, 2000, 80, false),
        ];
        assert_eq!(said(&acks, 2000), (true, Some(at(120))));
        // By less than a measurement is exact.
        assert_eq!(said(&acks, 1050), (false, Some(at(40))));
        let again = [acks[0], acks[1], acks[2], (160, 2000, 80, true)];
        assert_eq!(said(&again, 2000), (false, Some(at(160))));
    }
}
