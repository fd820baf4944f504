//! RFC 9002, section 5.3: the sender's RTT estimate, with the ACK delay included.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rtt {
    pub(crate) smoothed: Option<Duration>,
    variation: Duration,
    latest: Duration,
}

impl Rtt {
    pub(crate) const UNKNOWN: Self = Self {
        smoothed: None,
        variation: Duration::from_nanos(INITIAL_RTT.as_nanos() as u64 / 2),
        latest: INITIAL_RTT,
    };

    pub(crate) fn update(&mut self, sample: Duration) {
        self.latest = sample;
        self.variation = self.smoothed.map_or(sample / 2, |smoothed| {
            self.variation * 3 / 4 + smoothed.abs_diff(sample) / 4
        });
        self.smoothed = Some(
            self.smoothed
                .map_or(sample, |smoothed| smoothed * 7 / 8 + sample / 8),
        );
    }

    /// Section 6.1.2: the time after which a packet older than an acknowledged one is lost.
    pub(crate) fn loss_delay(&self) -> Duration {
        let longer = self.smoothed.unwrap_or(INITIAL_RTT).max(self.latest);
        (longer * 9 / 8).max(GRANULARITY)
    }

    /// Section 6.2.1.
    pub(crate) fn probe_timeout(&self, max_ack_delay: Duration) -> Duration {
        let smoothed = self.smoothed.unwrap_or(INITIAL_RTT);
        smoothed + (4 * self.variation).max(GRANULARITY) + max_ack_delay
    }
}

/// Section 6.2.2: kInitialRtt.
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// Section 6.1.2: kGranularity.
const GRANULARITY: Duration = Duration::from_millis(1);
