//! SKIP as a bandwidth filter: capacity samples cut from the acknowledgements, and the mode machine fed with them.

use kneepoint_estimators::capacity::{AckedPacket, CapacityInterval, IntervalConfig, Method};
use kneepoint_estimators::{
    AtkfConfig, CapacitySample, ConfigError as EstimatorError, LowerBounds, Skip, SkipConfig,
};

use super::pauses::{Pauses, overdue_after};
use super::{BandwidthFilter, FilterConfig, FilterContext, MaxFilter};
use crate::config::ConfigError;
use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::text::fields;
use crate::units::{Bandwidth, Bytes, Gain, Timestamp};

/// How capacity samples are cut, and the filter they feed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkipFilterConfig {
    /// The mode machine and the Kalman filter in it.
    pub skip: SkipConfig,
    /// How long a sample lasts, and what it is computed from.
    pub interval: IntervalConfig,
    /// Take silence for samples of nothing, three of which reset the estimate to [`SkipConfig::outage_rate`]: one sample whenever
    /// no acknowledgement has arrived for three round trips and the 25 ms that a receiver may delay it, while data is in flight
    /// and the window limits the sender. Cost: a link that opens and closes has to be measured anew each time.
    pub outage_samples: bool,
}

fields!(SkipFilterConfig {
    skip,
    interval,
    outage_samples
});

impl SkipFilterConfig {
    /// The paper's, with the filter's errata corrected: samples from the gradient of the RTT (BBR-S, eq. (7)), one each
    /// minimum RTT; none of the practical options.
    ///
    /// Where the printed filter fails, it is not the printed one ([`published`](Self::published) is):
    ///
    /// - a sample updates the belief by the exact posterior ([`TobitVariant::ExactBayes`]), not by Allik's Tobit update
    ///   (eqs. (11) to (25)), which is biased low;
    /// - the noises are told apart by the correlation of the innovations ([`Adaptation::LagOne`]), not by eqs. (36) to (44),
    ///   which cannot tell them apart;
    /// - a lower bound that the belief already implies changes nothing ([`LowerBounds::Bounded`]). In Algorithm 1 every bound
    ///   updates the belief, and the estimate rises without end while the application limits the sender;
    /// - silence is a state of the link and no sample of its rate ([`outage_samples`](Self::outage_samples) is off). A link that
    ///   opens and closes would have to be found anew from [`SkipConfig::outage_rate`] each time.
    ///
    /// [`TobitVariant::ExactBayes`]: kneepoint_estimators::TobitVariant::ExactBayes
    /// [`Adaptation::LagOne`]: kneepoint_estimators::Adaptation::LagOne
    pub fn paper() -> Self {
        let mut interval = IntervalConfig::default();
        interval.method = Method::RttGradient;
        Self {
            skip: SkipConfig::paper(),
            interval,
            outage_samples: false,
        }
    }

    /// The paper's filter as printed ([`SkipConfig::published`]), fed with the samples of [`paper`](Self::paper): to show what
    /// the errata do. The estimate is at most twice the largest recent delivery rate, or lower bounds would raise it without
    /// end.
    pub fn published() -> Self {
        Self {
            skip: SkipConfig::published(),
            outage_samples: true,
            ..Self::paper()
        }
    }

    /// What we recommend for [`bbr3-s`](crate::Bbr3SConfig), where it differs from the paper:
    ///
    /// - Samples are delivery rates, which need no constant sending rate (a window paces nothing exactly), and come
    ///   twice as often, from two acknowledgements at least: on a slow path more take longer than the path stays the same.
    /// - The process noise stays within a narrow share of the measurement noise. Cellular links vary within a few
    ///   round trips and return: an estimate that follows each swing arrives when it is over.
    /// - The initial noise is large, since Startup leaves with a maximum and not with a mean.
    /// - No inflation by censored samples: the window leaves more in flight than the estimate asks for, and the samples show it.
    /// - A gap is no sample. A link that is closed for a while has the same rate when it opens again.
    pub fn tuned() -> Self {
        let mut filter = AtkfConfig::default();
        filter.min_process_noise = 0.03;
        filter.max_process_noise = 0.06;
        filter.min_measurement_noise = 0.1;
        filter.initial_measurement_noise = 0.5;
        filter.initial_process_noise = 1.0;
        filter.floor = TUNED_FLOOR;
        let mut skip = SkipConfig::tuned();
        skip.filter = filter;
        skip.outage_rate = TUNED_FLOOR;
        skip.inflate = None;
        let mut interval = IntervalConfig::default();
        interval.method = Method::DeliveryRate;
        interval.min_rtts = 0.5;
        interval.min_packets = 2;
        interval.min_batches = 2;
        Self {
            skip,
            interval,
            outage_samples: false,
        }
    }
}

impl FilterConfig for SkipFilterConfig {
    type Filter = SkipFilter;

    fn build(&self) -> Result<SkipFilter, ConfigError> {
        let translate = |error: EstimatorError| {
            let range = format!("within {:?}", error.range);
            ConfigError::new(error.parameter, error.value, range)
        };
        self.skip.validate().map_err(translate)?;
        Ok(SkipFilter {
            outage_samples: self.outage_samples,
            config: self.skip,
            recent: MaxFilter::new(RECENT_ROUNDS),
            skip: None,
            interval: CapacityInterval::new(&self.interval).map_err(translate)?,
            app_limited: false,
            pauses: Pauses::default(),
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
pub(crate) struct SkipFilter {
    outage_samples: bool,
    config: SkipConfig,
    /// The largest recent delivery rate: until the pipe is filled it is the estimate, and SKIP begins where it ends.
    recent: MaxFilter,
    skip: Option<Skip>,
    interval: CapacityInterval,
    /// The application limited the sender during the interval. A burst of its makes a queue, but the rate is the application's:
    /// a lower bound (draft-ietf-ccwg-bbr, section 4.1.2.4).
    app_limited: bool,
    pauses: Pauses,
    /// No acknowledgement by then is a sample of nothing; `None` without such samples.
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

    /// Cuts capacity samples from the acknowledgements.
    ///
    /// The ends of a sample are uncertain by what packets wait for at random, and the longer one of two uncertain times makes
    /// the rate too low on average.
    fn measure(&mut self, ack: &AckEvent, context: &FilterContext) {
        let min_rtt = context.min_rtt;
        if self.outage_samples {
            self.await_next(ack, min_rtt);
        }
        let length = min_rtt.saturating_add(context.spread.saturating_mul(SPREADS));
        if self.pauses.link_was_closed(ack.now, min_rtt) {
            self.interval.restart();
        }
        if ack.in_flight == Bytes::ZERO && ack.app_limited {
            // The receiver may have waited for more before it acknowledged the last packet, and what follows is the
            // application's silence. If it is only the pacer's, at a rate of less than a packet per round trip, it belongs
            // to a sample: there would never be another, and the rate would stay.
            self.interval.restart();
            self.pauses = Pauses::default();
            return;
        }
        // An acknowledgement out of order in time cannot happen within one flow; were it to, its packets would only
        // be missing from the sample.
        let mut packet =
            AckedPacket::new(ack.newest_sent.as_nanos(), ack.now.as_nanos(), ack.acked.0);
        packet.packets = u32::try_from(ack.acked_packets).unwrap_or(u32::MAX);
        match ack.rate {
            Some(sample) if !sample.app_limited => {}
            _ => self.app_limited = true,
        }
        if self.interval.push(packet).is_ok() && self.interval.is_long_enough(length) {
            self.end_interval(min_rtt);
        }
    }

    /// Apart from `measure`: most acknowledgements end no interval.
    #[inline(never)]
    fn end_interval(&mut self, min_rtt: u64) {
        let app_limited = core::mem::take(&mut self.app_limited);
        if let Ok(estimate) = self.interval.close(min_rtt) {
            self.feed(if app_limited {
                let carried = estimate.measured_rate.min(estimate.sent_rate);
                CapacitySample::new(carried, carried)
            } else {
                estimate.sample
            });
        }
    }

    /// Raises the maximum, and begins SKIP where the maximum ends.
    #[cold]
    fn take_news(&mut self, ack: &AckEvent, context: &FilterContext) {
        if self.recent.take(ack, context.epoch) {
            self.update_estimate();
        }
        if self.skip.is_none() && !context.filling_pipe {
            let initial = self.recent.bandwidth().unwrap_or_default();
            self.skip = Skip::new(&self.config, initial.as_f64()).ok();
            self.update_estimate();
        }
        self.measure(ack, context);
    }

    /// From when on silence is a sample.
    fn await_next(&mut self, ack: &AckEvent, min_rtt: u64) {
        self.patience = overdue_after(ack.rtt_nanos().max(min_rtt));
        let window_limited = ack.in_flight > Bytes::ZERO && !ack.app_limited;
        self.silent_at = window_limited.then(|| self.overdue_from(ack.now));
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
        // A mean is a rate of at most `MAX_RATE`, which a signed integer holds: a conversion to one takes half as long.
        let mean = Bandwidth::from_bytes_per_second(skip.mean() as i64 as u64);
        self.estimate = Some(
            if self.config.filter.lower_bounds == LowerBounds::AsPublished {
                // Lower bounds alone would let the mean wander upwards for ever.
                mean.min(BELIEVED * recent.unwrap_or_default())
            } else {
                mean
            },
        );
    }
}

impl BandwidthFilter for SkipFilter {
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext) {
        // Most acknowledgements are only measured: those that do not raise the maximum, once there is SKIP.
        if self.skip.is_none() || self.recent.news(ack, context.epoch).is_some() {
            self.take_news(ack, context);
        } else {
            self.measure(ack, context);
        }
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        self.estimate
    }

    fn delivered_rate(&self) -> Option<Bandwidth> {
        self.recent.bandwidth()
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.silent_at.filter(|_| self.skip.is_some())
    }

    fn on_timer(&mut self, now: Timestamp) {
        if self.next_timer().is_none_or(|due| now < due) {
            return;
        }
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

/// So many times the spread of delays is beside min RTT what the length of a sample counts in.
const SPREADS: u64 = 4;

/// Rounds of the maximum that stands in for SKIP while the pipe is being filled, and bounds it afterwards if nothing else does.
const RECENT_ROUNDS: u64 = 4;

/// So many times the largest recent delivery rate the mean may be: as much as any gain lets a sender find out in a round.
const BELIEVED: Gain = Gain::new(2, 1);

/// Lower bounds in a row after which the sender should probe: one can be an accident of timing.
const PROBE_AFTER_CENSORED: u32 = 2;

/// Bytes/s: about one packet each 300 ms, for links that the paper's 50 kB/s would overfill.
const TUNED_FLOOR: f64 = 5000.0;

#[cfg(test)]
mod tests;
