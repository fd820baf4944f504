//! SKIP as a bandwidth filter: capacity samples cut from the acknowledgements, and the mode machine fed with them.

use kneepoint_estimators::capacity::{AckedPacket, CapacityInterval, IntervalConfig, Method};
use kneepoint_estimators::{
    AtkfConfig, CapacitySample, ConfigError as EstimatorError, Skip, SkipConfig,
};

use super::{BandwidthFilter, FilterConfig, FilterContext, MaxFilter};
use crate::config::ConfigError;
use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::units::{Bandwidth, Bytes, Gain, Timestamp, saturating_nanos as nanos};

/// How capacity samples are cut, and the filter they feed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SkipFilterConfig {
    /// The mode machine and the Kalman filter in it.
    pub skip: SkipConfig,
    /// How long a sample lasts, and what it is computed from.
    pub interval: IntervalConfig,
    /// Take silence while data is in flight for samples of nothing: one for each interval without an acknowledgement
    /// in which one was due.
    pub outage_samples: bool,
}

impl SkipFilterConfig {
    /// As the paper has it: samples from the gradient of the RTT (BBR-S, eq. (7)), one each minimum RTT; outage
    /// detection; none of the practical options.
    pub fn paper() -> Self {
        Self {
            skip: SkipConfig::paper(),
            interval: IntervalConfig {
                method: Method::RttGradient,
                ..IntervalConfig::default()
            },
            outage_samples: true,
        }
    }

    /// What we recommend, where it differs from the paper:
    ///
    /// - Samples are delivery rates, which need no constant sending rate (a window paces nothing exactly), and come
    ///   twice as often, from two acknowledgements at least: on a slow path more take longer than the path stays the same.
    /// - The process noise stays within a narrow share of the measurement noise. Cellular links vary within a few
    ///   round trips and return: an estimate that follows each swing arrives when it is over.
    /// - The initial noise is large, since Startup leaves with a maximum and not with a mean.
    /// - No inflation by censored samples: the head-room of the window finds more bandwidth by itself.
    pub fn tuned() -> Self {
        Self {
            skip: SkipConfig {
                filter: AtkfConfig {
                    min_process_noise: 0.03,
                    max_process_noise: 0.06,
                    min_measurement_noise: 0.1,
                    initial_measurement_noise: 0.5,
                    initial_process_noise: 1.0,
                    floor: TUNED_FLOOR,
                    ..AtkfConfig::default()
                },
                outage_rate: TUNED_FLOOR,
                inflate: None,
                ..SkipConfig::tuned()
            },
            interval: IntervalConfig {
                method: Method::DeliveryRate,
                min_rtts: 0.5,
                min_packets: 2,
                min_batches: 2,
            },
            outage_samples: true,
        }
    }
}

impl FilterConfig for SkipFilterConfig {
    type Filter = SkipFilter;

    fn build(&self) -> Result<SkipFilter, ConfigError> {
        let translate = |error: EstimatorError| ConfigError {
            field: error.parameter,
            value: error.value.to_string(),
            expected: format!("within {:?}", error.range),
        };
        self.skip.validate().map_err(translate)?;
        Ok(SkipFilter {
            outage_samples: self.outage_samples,
            config: self.skip,
            recent: MaxFilter::new(RECENT_ROUNDS),
            skip: None,
            interval: CapacityInterval::new(&self.interval).map_err(translate)?,
            silent_at: None,
            patience: 0,
            samples: 0,
            estimate: None,
        })
    }
}

/// SKIP on the adaptive Tobit Kalman filter (BBR-S, section III).
///
/// If a queue stood at the bottleneck during a sample, the sample is the path's capacity; if not, the path may be
/// capable of more, and the sample is only a lower bound. The test looks at round-trip times: comparing the sample
/// with the rate sent would take up to half of the idle intervals for real, and the estimate would follow the sender
/// down.
#[derive(Debug, Clone)]
pub struct SkipFilter {
    outage_samples: bool,
    config: SkipConfig,
    /// The largest recent delivery rate: until the pipe is filled it is the estimate, and SKIP begins where it ends.
    recent: MaxFilter,
    skip: Option<Skip>,
    interval: CapacityInterval,
    /// No acknowledgement by then is a sample of nothing.
    silent_at: Option<Timestamp>,
    /// In nanoseconds.
    patience: u64,
    samples: u64,
    /// It is read more often than it changes.
    estimate: Option<Bandwidth>,
}

impl SkipFilter {
    fn feed(&mut self, sample: CapacitySample) {
        if let Some(skip) = &mut self.skip
            && skip.sample(sample).is_ok()
        {
            self.samples = self.samples.saturating_add(1);
            self.update_estimate();
        }
    }

    fn overdue_from(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_nanos(now.as_nanos().saturating_add(self.patience))
    }

    fn update_estimate(&mut self) {
        let recent = self.recent.bandwidth();
        let Some(skip) = &self.skip else {
            self.estimate = recent;
            return;
        };
        // Lower bounds alone, from a sender that a third party limits, would let the mean wander upwards for ever.
        let believed = BELIEVED * recent.unwrap_or_default();
        self.estimate = Some(Bandwidth::from_f64(skip.mean()).min(believed));
    }
}

impl BandwidthFilter for SkipFilter {
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext) {
        let changed = self.recent.take(ack, context.epoch);
        if !context.filling_pipe && self.skip.is_none() {
            let initial = self.recent.bandwidth().unwrap_or_default();
            self.skip = Skip::new(&self.config, initial.as_f64()).ok();
            self.update_estimate();
        } else if changed {
            self.update_estimate();
        }
        // An acknowledgement out of order in time cannot happen within one flow; were it to, its packets would only
        // be missing from the sample.
        let pushed = self.interval.push(AckedPacket {
            sent_at: ack.newest_sent.as_nanos(),
            acked_at: ack.now.as_nanos(),
            bytes: ack.acked.0,
        });
        let min_rtt = nanos(context.min_rtt);
        if pushed.is_ok()
            && self.interval.is_long_enough(min_rtt)
            && let Ok(estimate) = self.interval.close(min_rtt)
        {
            self.feed(estimate.sample);
        }
        self.patience = nanos(ack.rtt).max(min_rtt).saturating_mul(OVERDUE);
        self.silent_at = Some(self.overdue_from(ack.now));
        if ack.in_flight == Bytes::ZERO {
            self.silent_at = None;
            // What follows is silence of the application's, and no sample. If it is only the pacer's, at a rate of less than
            // a packet per round trip, it belongs to one: there would never be another, and the rate would stay.
            if ack.app_limited {
                self.interval.restart();
            }
        }
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        self.estimate
    }

    fn delivered_rate(&self) -> Option<Bandwidth> {
        self.recent.bandwidth()
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.silent_at
            .filter(|_| self.outage_samples && self.skip.is_some())
    }

    fn on_timer(&mut self, now: Timestamp) {
        self.feed(CapacitySample::outage());
        self.interval.restart();
        self.silent_at = Some(self.overdue_from(now));
    }

    fn reseed(&mut self, epoch: u64, rate: Bandwidth) {
        self.recent.reseed(epoch, rate);
        if self.skip.is_some() {
            self.skip = Skip::new(&self.config, rate.as_f64()).ok();
        }
        self.interval.restart();
        self.update_estimate();
    }

    fn wants_probe(&self) -> bool {
        self.skip
            .as_ref()
            .is_some_and(|skip| skip.wants_probe() && skip.censored_count() >= PROBE_AFTER_CENSORED)
    }

    fn snapshot(&self) -> FilterSnapshot {
        let Some(skip) = &self.skip else {
            return FilterSnapshot::Max;
        };
        FilterSnapshot::Skip {
            mode: skip.mode(),
            mean: skip.mean(),
            variance: skip.variance(),
            process_noise: skip.process_noise(),
            measurement_noise: skip.measurement_noise(),
            samples: self.samples,
        }
    }
}

/// Rounds of the maximum that stands in for SKIP while the pipe is being filled, and bounds it afterwards.
const RECENT_ROUNDS: u64 = 4;

/// So many times the largest recent delivery rate the mean may be: as much as any gain lets a sender find out in a round.
const BELIEVED: Gain = Gain::new(2, 1);

/// Lower bounds in a row after which the sender should probe: one can be an accident of timing.
const PROBE_AFTER_CENSORED: u32 = 2;

/// Round trips after which an acknowledgement is overdue: the probe timeout of a variance not yet known
/// (RFC 9002, section 5.3). The paper has one sample of nothing for each minimum RTT of silence; with three, the pauses
/// of a cellular link count as outages.
const OVERDUE: u64 = 3;

/// Bytes/s: about one packet each 300 ms, for links that the paper's 50 kB/s would overfill.
const TUNED_FLOOR: f64 = 5000.0;

#[cfg(test)]
mod tests;
