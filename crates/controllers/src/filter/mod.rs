//! Bandwidth filters. They turn noisy rate samples into the bandwidth estimate of a model-based controller.
//!
//! The filter is a type parameter of a controller core and does not depend on the core's states.

mod corrected;
mod max;
mod pauses;
mod percentile;
mod skip;

pub use corrected::CorrectedMaxFilterConfig;
pub(crate) use max::MaxFilter;
pub use max::MaxFilterConfig;
pub use percentile::PercentileFilterConfig;
pub use skip::SkipFilterConfig;

use core::fmt::Debug;

use crate::config::ConfigError;
use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::units::{Bandwidth, Timestamp};

/// The context of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterContext {
    /// The min RTT estimate, in nanoseconds.
    pub min_rtt: u64,
    /// What packets wait for on average above the smallest RTT, without a queue, in nanoseconds.
    pub spread: u64,
    /// The clock of sample windows: rounds in BBRv1, probing cycles in BBRv2 and BBRv3.
    pub epoch: u64,
    /// Whether the controller is in Startup, at a rate well above the estimate.
    pub filling_pipe: bool,
}

/// The configuration of a bandwidth filter.
pub(crate) trait FilterConfig: Clone + Debug + Send + Sync + 'static {
    /// The filter.
    type Filter: BandwidthFilter;

    /// A filter without samples.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    fn build(&self) -> Result<Self::Filter, ConfigError>;

    /// Whether the estimate is below its samples by design. A sender paced at it slows down geometrically once the
    /// samples show only the sender.
    fn biased_low(&self) -> bool {
        false
    }
}

/// A bandwidth estimator fed by acknowledgements.
pub(crate) trait BandwidthFilter: Clone + Debug + Send + Sync + 'static {
    /// Handles an acknowledgement: one update per acknowledgement.
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext);

    /// The estimate, once there is one.
    fn bandwidth(&self) -> Option<Bandwidth>;

    /// The rate with which aggregation is compared: the path's delivery rate, if the estimate is biased low. Compared
    /// with a lower rate, aggregation would never end.
    fn delivered_rate(&self) -> Option<Bandwidth> {
        self.bandwidth()
    }

    /// Replaces all samples by this estimate, which the controller has from another source.
    fn reseed(&mut self, epoch: u64, rate: Bandwidth);

    /// When missing acknowledgements will count as a sample, if data is in flight.
    fn next_timer(&self) -> Option<Timestamp> {
        None
    }

    /// The timer has expired without an acknowledgement.
    fn on_timer(&mut self, _now: Timestamp) {}

    /// Whether the filter has only lower bounds, so that the sender should keep probing.
    fn wants_probe(&self) -> bool {
        false
    }

    /// The internal state, for logs and tools.
    fn snapshot(&self) -> FilterSnapshot;
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::event::RateSample;
    use crate::units::Bytes;

    /// An acknowledgement that measured this rate.
    pub(super) fn measured(rate: Bandwidth, app_limited: bool) -> AckEvent {
        let rtt = Duration::from_millis(40);
        let now = Timestamp::ZERO + Duration::from_secs(1);
        let (acked, in_flight) = (Bytes(2400), Bytes(12_000));
        AckEvent {
            now,
            acked,
            acked_packets: 2,
            lost: Bytes::ZERO,
            newest_sent: now - rtt,
            oldest_sent: now - rtt,
            rate: Some(RateSample {
                delivery_rate: rate,
                delivered: rate.bytes_in(rtt),
                app_limited,
                prior_delivered: Bytes::ZERO,
                in_flight_at_send: in_flight,
                lost: Bytes::ZERO,
            }),
            prior_in_flight: in_flight,
            in_flight: in_flight - acked,
            delivered: acked,
            round: 1,
            round_start: false,
            app_limited: false,
        }
    }

    pub(super) fn context(epoch: u64) -> FilterContext {
        FilterContext {
            min_rtt: 40_000_000,
            spread: 0,
            epoch,
            filling_pipe: false,
        }
    }

    /// Whatever they hold, filters take over an estimate from outside.
    #[test]
    fn every_filter_can_be_seeded_anew() {
        fn check(mut filter: impl BandwidthFilter) {
            let [high, low] = [1_000_000, 200_000].map(Bandwidth::from_bytes_per_second);
            for epoch in 0..200 {
                filter.on_ack(&measured(high, false), &context(epoch));
            }
            let before = filter.bandwidth().expect("there were samples");
            filter.reseed(200, low);
            let after = filter.bandwidth().expect("it was seeded");
            assert!(after <= low && after < before, "{filter:?}");
        }
        check(MaxFilter::new(10));
        let max = MaxFilterConfig { epochs: 11 };
        let corrected = CorrectedMaxFilterConfig { max, gain: 0.5 };
        check(corrected.build().expect("a valid gain"));
        check(
            PercentileFilterConfig::bbr()
                .build()
                .expect("a valid preset"),
        );
        check(SkipFilterConfig::tuned().build().expect("a valid preset"));
    }
}
