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

    /// Handles an acknowledgement. `bandwidth` is the expected rate, `max` the upper bound of the excess.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, bandwidth: Bandwidth, max: Bytes, round: u64) {
        let mut expected = bandwidth.bytes_in_nanos(ack.now.nanos_since(self.began));
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

    #[test]
    fn a_batch_counts_above_the_bandwidth_times_its_time() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        aggregation.on_ack(&acked(10, 10), RATE, MTU * 100, 1);
        // The interval began with that acknowledgement: all of it is extra.
        assert_eq!(aggregation.extra(), MTU * 10);
        aggregation.on_ack(&acked(14, 6), RATE, MTU * 100, 1);
        assert_eq!(aggregation.extra(), MTU * 12);
        aggregation.on_ack(&acked(15, 90), RATE, MTU * 20, 1);
        assert_eq!(aggregation.extra(), MTU * 20, "capped");
    }

    #[test]
    fn lumps_are_forgotten_after_one_round_in_startup_and_ten_later() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        aggregation.on_ack(&acked(10, 10), RATE, MTU * 100, 1);
        aggregation.on_ack(&acked(60, 1), RATE, MTU * 100, 3);
        assert_eq!(aggregation.extra(), MTU);
        aggregation.remember(true, 3);
        aggregation.on_ack(&acked(110, 10), RATE, MTU * 100, 4);
        aggregation.on_ack(&acked(160, 1), RATE, MTU * 100, 14);
        assert_eq!(aggregation.extra(), MTU * 10);
        aggregation.on_ack(&acked(210, 1), RATE, MTU * 100, 15);
        assert!(aggregation.extra() < MTU * 10);
    }
}
