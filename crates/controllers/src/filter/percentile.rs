//! A percentile of the last delivery rates, instead of their maximum.

use core::time::Duration;

use kneepoint_estimators::PercentileHistory;

use super::pauses::Pauses;
use super::{BandwidthFilter, FilterConfig, FilterContext};
use crate::config::ConfigError;
use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::text::fields;
use crate::units::{Bandwidth, Gain, Timestamp, saturating_nanos};

/// The percentile and its factor.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PercentileFilterConfig {
    /// Above 0 and up to 1. The paper's 0.85 (BBR-Sampled, section 7.1).
    pub percentile: f64,
    /// The estimate is this share of the percentile, 0.5 to 1: the whole of it on BBRv1, 85 % on BBRv2 (BBR-Sampled,
    /// section 7.2), which leaves room for other flows.
    pub share: Gain,
}

fields!(PercentileFilterConfig { percentile, share });

impl PercentileFilterConfig {
    /// On BBRv1's core: the 85th percentile.
    pub const fn bbr() -> Self {
        Self {
            percentile: PERCENTILE,
            share: Gain::UNIT,
        }
    }

    /// On BBRv2's core: 85 % of the 85th percentile.
    pub const fn bbr2() -> Self {
        Self {
            percentile: PERCENTILE,
            share: BBR2_SHARE,
        }
    }
}

impl FilterConfig for PercentileFilterConfig {
    type Filter = PercentileFilter;

    fn biased_low(&self) -> bool {
        self.share.as_f64() < 1.0
    }

    fn build(&self) -> Result<PercentileFilter, ConfigError> {
        let share = self.share.as_f64();
        ConfigError::require((0.5..=1.0).contains(&share), "share", share, "0.5 to 1")?;
        let history = PercentileHistory::new(self.percentile)
            .map_err(|error| ConfigError::new("percentile", self.percentile, error.to_string()))?;
        Ok(PercentileFilter {
            history,
            share: self.share,
            estimate: None,
            counted_until: None,
            newest: None,
            pauses: Pauses::default(),
            reopened: None,
        })
    }
}

/// A percentile of the last 100 delivery rates that are not application-limited (BBR-Sampled, section 7.1).
///
/// There is one sample per acknowledgement, not per packet, and on average at most one per millisecond: a receiver that
/// acknowledges every second packet of 1452 bytes fills the history in 100 ms at 25 Mb/s, and at any higher rate.
///
/// Where acknowledgements are rare, each counts so often that the history is no longer than ten round trips, which is how far
/// BBR's maximum looks back, but once for every two of its packets at most. With one acknowledgement in a round trip a hundred
/// samples would be a hundred round trips, and Startup, whose rate doubles in each, would end at what it was rounds ago.
///
/// Packets that were in flight while the link was closed do not count: their rate includes the outage.
///
/// A burst of fewer than 15 of the last 100 samples does not change the 85th percentile, while it alone is the maximum.
/// Without the spacing a burst of 1 MB would be 350 samples, however short it is, and fill the history.
///
/// The paper does not define the estimate before the first sample that counts. Here it is the maximum of the other
/// samples, as in BBR: a connection whose application never fills the window has no better one.
#[derive(Debug, Clone)]
pub(crate) struct PercentileFilter {
    history: PercentileHistory<u64>,
    share: Gain,
    estimate: Option<Bandwidth>,
    /// The time up to which the history has one sample per [`SPACING`].
    counted_until: Option<Timestamp>,
    /// The time and the rate of the newest sample.
    newest: Option<(Timestamp, Bandwidth)>,
    pauses: Pauses,
    /// When the link last reopened. Rates of packets sent before include the outage.
    reopened: Option<Timestamp>,
}

impl PercentileFilter {
    /// The number of samples for an acknowledgement.
    fn due(&mut self, ack: &AckEvent) -> u64 {
        let spacing = saturating_nanos(SPACING);
        let elapsed = self
            .counted_until
            .map_or(spacing, |until| ack.now.nanos_since(until));
        let due = elapsed / spacing;
        let pairs = ack.acked_packets.div_ceil(PACKETS_PER_SAMPLE);
        let rare = elapsed.saturating_mul(MIN_PER_ROUND) / ack.rtt_nanos().max(1);
        let count = due.min(rare.min(pairs).max(1)).min(MAX_AT_ONCE);
        if count > 0 {
            // The remainder belongs to the next sample: without it, acknowledgements 0.9 ms apart would be samples 1.8
            // ms apart. After a gap there is no remainder.
            let left = if count == due { elapsed % spacing } else { 0 };
            self.counted_until = Some(ack.now - Duration::from_nanos(left));
        }
        count
    }
}

impl BandwidthFilter for PercentileFilter {
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext) {
        if self.pauses.link_was_closed(ack.now, context.min_rtt) {
            self.reopened = Some(ack.now);
        }
        let Some(sample) = &ack.rate else { return };
        let rate = sample.delivery_rate;
        let silent = self.reopened.is_some_and(|at| ack.newest_sent < at);
        if !sample.app_limited && !silent {
            let due = self.due(ack);
            for _ in 0..due {
                self.history.push(rate.bytes_per_second());
            }
            // Acknowledgements of one instant are one delivery. The first of them covers the smallest part of it: if a
            // radio delivers them in batches, its rate alone would be a fraction of the path's.
            let better = |(at, newest)| at == ack.now && rate > newest;
            if due == 0 && self.newest.is_some_and(better) {
                self.history.replace_newest(rate.bytes_per_second());
            }
            if due > 0 || self.newest.is_some_and(better) {
                self.newest = Some((ack.now, rate));
            }
        }
        let percentile = self.history.get().map(Bandwidth::from_bytes_per_second);
        self.estimate = match percentile {
            Some(percentile) => Some(self.share * percentile),
            None => self.estimate.max(Some(rate)),
        };
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        self.estimate
    }

    fn delivered_rate(&self) -> Option<Bandwidth> {
        let percentile = self.history.get().map(Bandwidth::from_bytes_per_second);
        percentile.or(self.estimate)
    }

    fn reseed(&mut self, _epoch: u64, rate: Bandwidth) {
        self.history.clear();
        self.newest = None;
        self.history.push(rate.bytes_per_second());
        self.estimate = Some(self.share * rate);
    }

    fn snapshot(&self) -> FilterSnapshot {
        FilterSnapshot::Percentile {
            samples: self.history.len(),
        }
    }
}

/// The least time between two samples, on average: what the paper's testbed made of it. Linux sends a millisecond's worth
/// of data at a time (tcp_bbr.c, bbr_tso_segs_goal), and its receivers put what arrives together into one and acknowledge that; QUIC's
/// acknowledge every second packet, however fast they come (RFC 9000, section 13.2.2).
const SPACING: Duration = Duration::from_millis(1);

/// Packets per acknowledgement (RFC 9000, section 13.2.2).
const PACKETS_PER_SAMPLE: u64 = 2;

/// A tenth of the history: BBR's maximum covers ten rounds (BBR paper, section "Characterizing the bottleneck").
const MIN_PER_ROUND: u64 = 10;

/// The maximum number of samples of one acknowledgement, after a gap of any length: an eighth of the history.
const MAX_AT_ONCE: u64 = 12;

/// BBR-Sampled, section 7.1.
const PERCENTILE: f64 = 0.85;

/// BBR-Sampled, section 7.2.
const BBR2_SHARE: Gain = Gain::percent(85);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::AckEvent;
    use crate::filter::tests::{context, measured};

    fn mbps(rate: u64) -> Bandwidth {
        Bandwidth::from_bytes_per_second(rate * 125_000)
    }

    fn filter(config: PercentileFilterConfig) -> PercentileFilter {
        config.build().expect("the preset is valid")
    }

    /// After so many nanoseconds an acknowledgement measured this rate.
    fn measured_after(nanos: u64, rate: Bandwidth) -> AckEvent {
        let ack = measured(rate, false);
        let now = ack.now + Duration::from_nanos(nanos);
        AckEvent { now, ..ack }.with_rtt(ack.rtt())
    }

    /// Acknowledgements a millisecond apart that measured these rates.
    fn paced(rates: impl IntoIterator<Item = Bandwidth>) -> impl Iterator<Item = AckEvent> {
        (0..)
            .zip(rates)
            .map(|(millis, rate)| measured_after(millis * 1_000_000, rate))
    }

    /// The maximum of the same samples would be the burst's rate.
    #[test]
    fn a_burst_shorter_than_the_percentile_does_not_show() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        let burst = [mbps(1000); 16];
        let mut acks = paced([mbps(25); 85].into_iter().chain(burst));
        for ack in acks.by_ref().take(100) {
            filter.on_ack(&ack, &context(0));
        }
        assert_eq!(filter.bandwidth(), Some(mbps(25)));
        for ack in acks {
            filter.on_ack(&ack, &context(0));
        }
        assert_eq!(filter.bandwidth(), Some(mbps(1000)));
    }

    /// 350 acknowledgements of a burst of 8 ms, as of 1 MB at 1 Gb/s, are eight samples.
    #[test]
    fn a_burst_counts_by_the_time_it_takes() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for ack in paced([mbps(25); 92]) {
            filter.on_ack(&ack, &context(0));
        }
        for nanos in (0..8_000_000).step_by(23_000) {
            let burst = measured_after(92_000_000 + nanos, mbps(1000));
            filter.on_ack(&burst, &context(0));
        }
        assert_eq!(filter.history.len(), 100);
        assert_eq!(filter.bandwidth(), Some(mbps(25)));
    }

    /// Trap: where acknowledgements come in batches, the first of each tells of two packets, and they alone would be the history.
    #[test]
    fn a_batch_counts_by_the_last_of_its_acknowledgements() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for batch in 0..20 {
            for rate in 1..=25 {
                let ack = measured_after(batch * 100_000_000, mbps(rate));
                filter.on_ack(&ack, &context(0));
            }
        }
        assert_eq!(filter.history.len(), 20);
        assert_eq!(filter.bandwidth(), Some(mbps(25)));
    }

    /// Trap: the fewer acknowledgements there are, because the receiver delays them, the further
    /// back the history reaches. RTTs are 40 ms.
    #[test]
    fn the_history_is_as_long_however_packets_are_acknowledged() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        let (mut now, mut samples) = (0, 0);
        // Milliseconds since the one before, packets, and what they count for.
        for (millis, acked_packets, counted) in [
            (0, 8, 1),
            (0, 8, 0),
            (1, 1, 1),
            (4, 8, 1),
            (20, 40, 5),
            (20, 4, 2),
            (100, 83, 12),
        ] {
            now += millis;
            let ack = AckEvent {
                acked_packets,
                ..measured_after(now * 1_000_000, mbps(25))
            };
            filter.on_ack(&ack, &context(0));
            samples += counted;
            assert_eq!(
                filter.history.len(),
                samples,
                "{acked_packets} in {millis} ms"
            );
        }
    }

    /// Trap: a rate that doubles with each of few acknowledgements is followed late.
    #[test]
    fn startup_is_followed_with_one_acknowledgement_per_round_trip() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for round in 0..16 {
            let rate = mbps(1 << round);
            let ack = AckEvent {
                acked_packets: 10 << round,
                ..measured_after(round * 100_000_000, rate).with_rtt(Duration::from_millis(100))
            };
            filter.on_ack(&ack, &context(round));
            let estimate = filter.bandwidth().unwrap_or_default();
            assert!(Gain::new(2, 1) * estimate >= rate, "{estimate} of {rate}");
        }
    }

    /// Every second packet of 1452 bytes at 25 Mb/s, as the documentation above has it.
    #[test]
    fn acknowledgements_less_than_the_spacing_apart_still_fill_the_history_in_a_hundred_spacings() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for ack in 0..=107 {
            filter.on_ack(&measured_after(ack * 929_280, mbps(25)), &context(0));
        }
        assert_eq!(filter.history.len(), 100);
    }

    #[test]
    fn app_limited_samples_count_only_without_others() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for rate in [3, 7, 5] {
            filter.on_ack(&measured(mbps(rate), true), &context(0));
        }
        assert_eq!(filter.bandwidth(), Some(mbps(7)));
        filter.on_ack(&measured(mbps(4), false), &context(0));
        filter.on_ack(&measured(mbps(9), true), &context(0));
        assert_eq!(filter.bandwidth(), Some(mbps(4)));
    }

    /// Trap: packets that were in flight while the link was closed measure the silence, and a few of them fill the history.
    #[test]
    fn packets_that_waited_for_a_closed_link_count_for_nothing() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for ack in paced([mbps(100); 100]) {
            filter.on_ack(&ack, &context(0));
        }
        // 500 ms later it opened.
        let ack = |millis: u64, rate| measured_after((600 + millis) * 1_000_000, mbps(rate));
        for millis in 0..40 {
            filter.on_ack(&ack(millis, 3), &context(1));
        }
        assert_eq!(filter.bandwidth(), Some(mbps(100)));
        for millis in 40..140 {
            filter.on_ack(&ack(millis, 80), &context(2));
        }
        assert_eq!(filter.bandwidth(), Some(mbps(80)));
    }

    /// Acknowledgements that are always far apart are a slow link's.
    #[test]
    fn a_slow_link_is_not_a_closed_one() {
        let mut filter = filter(PercentileFilterConfig::bbr());
        for ack in 0..100 {
            let ack = measured_after(ack * 200_000_000, mbps(1));
            filter.on_ack(&ack.with_rtt(Duration::from_millis(300)), &context(0));
        }
        assert!(filter.history.len() >= 97, "{}", filter.history.len());
    }

    #[test]
    fn bbr2_leaves_room() {
        let mut filter = filter(PercentileFilterConfig::bbr2());
        filter.on_ack(&measured(mbps(100), false), &context(0));
        assert_eq!(filter.bandwidth(), Some(mbps(85)));
        assert_eq!(filter.delivered_rate(), Some(mbps(100)));
        filter.reseed(0, mbps(20));
        assert_eq!(filter.bandwidth(), Some(mbps(17)));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (percentile, share) in [
            (0.0, Gain::UNIT),
            (1.01, Gain::UNIT),
            (f64::NAN, Gain::UNIT),
            (0.85, Gain::percent(120)),
        ] {
            let config = PercentileFilterConfig { percentile, share };
            assert!(config.build().is_err(), "{config:?}");
        }
    }
}
