//! The maximum, corrected for the queue: BBRx.

use kneepoint_estimators::QueueCorrection;

use super::{BandwidthFilter, FilterConfig, FilterContext, MaxFilter, MaxFilterConfig};
use crate::config::ConfigError;
use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::text::fields;
use crate::units::Bandwidth;

/// The maximum, and the gain of the correction.
///
/// BBR-S, section II, names BBRx as such a correction and gives no formula. This one is [`QueueCorrection`]'s:
/// max x (1 - gain x (RTT - min RTT) / RTT), with the RTT of the last acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CorrectedMaxFilterConfig {
    /// The maximum.
    pub max: MaxFilterConfig,
    /// The share of the queue to drain per round trip, 0 to 1.
    pub gain: f64,
}

fields!(CorrectedMaxFilterConfig { max, gain });

impl FilterConfig for CorrectedMaxFilterConfig {
    type Filter = CorrectedMaxFilter;

    fn build(&self) -> Result<CorrectedMaxFilter, ConfigError> {
        let correction = QueueCorrection::new(self.gain)
            .map_err(|error| ConfigError::new("gain", error.0, "0 to 1"))?;
        Ok(CorrectedMaxFilter {
            max: self.max.build()?,
            correction,
            estimate: None,
        })
    }
}

/// A maximum filter whose estimate falls as the RTT rises above min RTT.
#[derive(Debug, Clone)]
pub(crate) struct CorrectedMaxFilter {
    max: MaxFilter,
    correction: QueueCorrection,
    estimate: Option<Bandwidth>,
}

impl BandwidthFilter for CorrectedMaxFilter {
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext) {
        self.max.on_ack(ack, context);
        let (rtt, min_rtt) = (ack.rtt_nanos(), context.min_rtt);
        self.estimate = self.max.bandwidth().map(|largest| {
            Bandwidth::from_f64(self.correction.apply(largest.as_f64(), rtt, min_rtt))
        });
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        self.estimate
    }

    fn delivered_rate(&self) -> Option<Bandwidth> {
        self.max.bandwidth()
    }

    fn reseed(&mut self, epoch: u64, rate: Bandwidth) {
        self.max.reseed(epoch, rate);
        self.estimate = Some(rate);
    }

    fn snapshot(&self) -> FilterSnapshot {
        FilterSnapshot::Corrected {
            largest: self.max.bandwidth(),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::filter::tests::{context, measured};

    fn config(gain: f64) -> CorrectedMaxFilterConfig {
        let max = MaxFilterConfig { epochs: 11 };
        CorrectedMaxFilterConfig { max, gain }
    }

    #[test]
    fn the_longer_the_queue_the_lower_the_estimate() {
        let mut filter = config(0.5).build().expect("a valid gain");
        let rate = Bandwidth::from_bytes_per_second(1_000_000);
        let ack = measured(rate, false);
        // 40 ms is the minimum of the context.
        for (millis, expected) in [
            (40, 1_000_000),
            (80, 750_000),
            (400, 550_000),
            (40, 1_000_000),
        ] {
            let ack = ack.with_rtt(Duration::from_millis(millis));
            filter.on_ack(&ack, &context(0));
            assert_eq!(
                filter.bandwidth(),
                Some(Bandwidth::from_bytes_per_second(expected))
            );
        }
        assert!(config(1.5).build().is_err());
    }
}
