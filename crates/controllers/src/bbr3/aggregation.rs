//! The degree of aggregation of data and acknowledgements.

use kneepoint_estimators::{ApproximateWindow, Max, WindowedFilter};

use crate::event::AckEvent;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// The recent degree of aggregation (draft-ietf-ccwg-bbr, section "BBR.extra_acked").
#[derive(Debug, Clone)]
pub(super) struct Aggregation {
    began: Timestamp,
    delivered: Bytes,
    window: ApproximateWindow<u64, Max>,
}

impl Aggregation {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            began: now,
            delivered: Bytes::ZERO,
            window: ApproximateWindow::new(STARTUP_ROUNDS),
        }
    }

    /// What `bandwidth` would have delivered by now. Apart from `on_ack`: a product of more than 64 bits takes a call, and a
    /// function that calls nothing has no registers to save.
    pub(super) fn expected(&self, now: Timestamp, bandwidth: Bandwidth) -> Bytes {
        bandwidth.bytes_in_nanos(now.nanos_since(self.began))
    }

    /// Handles an acknowledgement. `expected` is what was [expected](Self::expected) by then, `max` the upper bound of the excess.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, mut expected: Bytes, max: Bytes, round: u64) {
        if self.delivered <= expected {
            self.delivered = Bytes::ZERO;
            self.began = ack.now;
            expected = Bytes::ZERO;
        }
        self.delivered += ack.acked;
        let extra = (self.delivered - expected).min(max);
        self.window.update(round, extra.0);
    }

    /// The bytes acknowledged beyond the bandwidth.
    pub(super) fn extra(&self) -> Bytes {
        Bytes(self.window.get().unwrap_or(0))
    }

    /// Restarts after an idle period. The draft keeps the delivered bytes. A sender that is idle after each packet
    /// would then add up all of them, and its window would grow without limit.
    pub(super) fn restart(&mut self, now: Timestamp) {
        self.began = now;
        self.delivered = Bytes::ZERO;
    }

    /// Covers more rounds after Startup, and fewer if Startup begins again.
    pub(super) fn remember(&mut self, full_bw_reached: bool, round: u64) {
        let extra = self.extra();
        let rounds = if full_bw_reached {
            ROUNDS
        } else {
            STARTUP_ROUNDS
        };
        self.window = ApproximateWindow::new(rounds);
        self.window.update(round, extra.0);
    }
}

/// Rounds that the maximum covers (section "Estimating BBR.extra_acked").
const ROUNDS: u64 = 10;

/// The same in Startup (section "BBR.extra_acked").
const STARTUP_ROUNDS: u64 = 1;

#[cfg(test)]
mod tests {
    use super::super::fixture::{ack, sample};
    use super::*;
    use crate::driver::MTU;

    /// 1200 B/ms: one packet each millisecond.
    const RATE: Bandwidth = Bandwidth::from_bytes_per_second(1_200_000);

    fn acked(at_millis: u64, packets: u64) -> AckEvent {
        AckEvent {
            acked: MTU * packets,
            ..ack(at_millis, sample(0))
        }
    }

    fn on_ack(aggregation: &mut Aggregation, ack: &AckEvent, max: Bytes, round: u64) {
        let expected = aggregation.expected(ack.now, RATE);
        aggregation.on_ack(ack, expected, max, round);
    }

    #[test]
    fn a_batch_counts_above_the_bandwidth_times_its_time() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        on_ack(&mut aggregation, &acked(10, 10), MTU * 100, 1);
        // The interval began with that acknowledgement: all of it is extra.
        assert_eq!(aggregation.extra(), MTU * 10);
        on_ack(&mut aggregation, &acked(14, 6), MTU * 100, 1);
        assert_eq!(aggregation.extra(), MTU * 12);
        on_ack(&mut aggregation, &acked(15, 90), MTU * 20, 1);
        assert_eq!(aggregation.extra(), MTU * 20, "capped");
    }

    #[test]
    fn lumps_are_forgotten_after_one_round_in_startup_and_ten_later() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        on_ack(&mut aggregation, &acked(10, 10), MTU * 100, 1);
        on_ack(&mut aggregation, &acked(60, 1), MTU * 100, 3);
        assert_eq!(aggregation.extra(), MTU);
        aggregation.remember(true, 3);
        on_ack(&mut aggregation, &acked(110, 10), MTU * 100, 4);
        on_ack(&mut aggregation, &acked(160, 1), MTU * 100, 14);
        assert_eq!(aggregation.extra(), MTU * 10);
        on_ack(&mut aggregation, &acked(210, 1), MTU * 100, 15);
        assert!(aggregation.extra() < MTU * 10);
    }
}
