//! A link's rate, from the time for which it was busy.

use libm::exp;

use crate::decaying::{DecayingRatio, is_valid};

/// What a link carries while it is busy.
///
/// Between two acknowledgements a link is busy for a part of the time. Bytes over busy time are the link's rate; bytes over all of the
/// time are the sender's. Both bytes and busy time are forgotten exponentially. Two averages are kept: a fast one, and a slow one that
/// is the prior of the fast one.
///
/// The fast average is a local-level Kalman filter in its steady state, whose gain is 1 / time constant. The gain adapts as in an
/// adaptive Kalman filter: innovations that follow each other with the same sign mean that the filter is too slow, and
/// alternating ones that it is too fast.
///
/// Times are in seconds, sizes in bytes, rates in bytes per second. Input that is not finite or is negative is ignored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusyRate {
    config: BusyRateConfig,
    fast: DecayingRatio,
    slow: DecayingRatio,
    /// The fast average's time constant, in horizons.
    memory: f64,
    block: Block,
    last_innovation: f64,
}

/// The time constants of a [`BusyRate`], in horizons: the path's round-trip time, as a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BusyRateConfig {
    /// The fast average's shortest time constant, and the weight of its prior. Above 0.
    pub min_memory: f64,
    /// The fast average's longest time constant. At least `min_memory`.
    pub max_memory: f64,
    /// The slow average's time constant. Above 0.
    pub slow_memory: f64,
}

impl Default for BusyRateConfig {
    /// A quarter of a horizon, four, and fifty.
    fn default() -> Self {
        Self {
            min_memory: 0.25,
            max_memory: 4.0,
            slow_memory: 50.0,
        }
    }
}

/// Half a horizon: innovations of single acknowledgements are noise.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Block {
    bytes: f64,
    busy: f64,
    elapsed: f64,
    predicted: f64,
}

impl BusyRate {
    /// A link that is known to carry `rate`, on a path with this horizon.
    pub fn new(config: BusyRateConfig, rate: f64, horizon: f64) -> Self {
        let average = |memory: f64| DecayingRatio::new(rate * horizon * memory, horizon * memory);
        let memory = 1_f64.max(config.min_memory).min(config.max_memory);
        Self {
            config,
            fast: average(memory),
            slow: average(PRIOR_SHARE * config.slow_memory),
            memory,
            block: Block {
                predicted: rate,
                ..Block::default()
            },
            last_innovation: 0.0,
        }
    }

    /// The link carried `bytes` in `elapsed`, and was busy for `busy` of it.
    pub fn add(&mut self, bytes: f64, busy: f64, elapsed: f64, horizon: f64) {
        if !is_valid(bytes, busy, elapsed) || horizon.is_nan() || horizon <= 0.0 {
            return;
        }
        let time = elapsed / horizon;
        self.fast.add_valid(bytes, busy, time / self.memory);
        self.slow
            .add_valid(bytes, busy, time / self.config.slow_memory);
        self.block.bytes += bytes;
        self.block.busy += busy;
        self.block.elapsed += elapsed;
        if self.block.elapsed >= BLOCK * horizon {
            self.end_block(horizon);
        }
    }

    /// What the link carries now.
    pub fn rate(&self, horizon: f64) -> f64 {
        let prior = self.config.min_memory * horizon;
        self.fast.ratio_with(self.slow.ratio(), prior)
    }

    /// What the link carries on average.
    pub fn usual(&self) -> f64 {
        self.slow.ratio()
    }

    fn end_block(&mut self, horizon: f64) {
        let innovation = self.block.bytes - self.block.predicted * self.block.busy;
        let last = self.last_innovation;
        let power = 0.5 * (innovation * innovation + last * last);
        let rounding = ROUNDING * self.block.bytes;
        if power > rounding * rounding && power.is_finite() {
            let correlation = innovation * last / power;
            self.memory = (self.memory * exp(-correlation / ADAPTATION_BLOCKS))
                .max(self.config.min_memory)
                .min(self.config.max_memory);
        }
        self.last_innovation = innovation;
        self.block = Block {
            predicted: self.rate(horizon),
            ..Block::default()
        };
    }
}

/// In horizons. Shorter blocks correlate because a burst is acknowledged in several of them.
const BLOCK: f64 = 0.5;

/// So many correlated blocks change the memory by a factor of e.
const ADAPTATION_BLOCKS: f64 = 10.0;

/// Innovations of a smaller share are rounding errors.
const ROUNDING: f64 = 1e-6;

/// What is known at first counts for this share of the slow average's memory.
const PRIOR_SHARE: f64 = 0.125;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HORIZON: f64 = 0.04;

    fn fed(rates: impl Iterator<Item = f64>) -> BusyRate {
        let mut filter = BusyRate::new(BusyRateConfig::default(), 1e6, HORIZON);
        for rate in rates {
            filter.add(rate * 0.001, 0.001, 0.001, HORIZON);
        }
        filter
    }

    #[test]
    fn idle_time_is_not_the_links() {
        let mut filter = BusyRate::new(BusyRateConfig::default(), 1e6, HORIZON);
        for _ in 0..10_000 {
            // 1000 bytes a millisecond, of which the link needs half.
            filter.add(1000.0, 0.0005, 0.001, HORIZON);
        }
        assert!((filter.rate(HORIZON) - 2e6).abs() < 2e3);
        assert!((filter.usual() - 2e6).abs() < 2e3);
    }

    #[test]
    fn a_step_is_followed_within_a_few_horizons_and_remembered() {
        let steady = fed(core::iter::repeat_n(1e6, 4000));
        assert!((steady.rate(HORIZON) - 1e6).abs() < 1.0);
        let fallen = fed(core::iter::repeat_n(1e6, 4000).chain(core::iter::repeat_n(2e5, 160)));
        // A fifth of it is the prior.
        assert!(fallen.rate(HORIZON) < 4.5e5, "{}", fallen.rate(HORIZON));
        assert!(fallen.usual() > 9e5);
    }

    /// Innovations of one sign shorten the memory, alternating ones lengthen it.
    #[test]
    fn the_memory_follows_the_innovations() {
        let drifting = fed((0..4000).map(|index| 1e6 + 2e3 * f64::from(index)));
        let noisy = fed((0..4000).map(|index| if index / 20 % 2 == 0 { 5e5 } else { 1.5e6 }));
        assert!(drifting.memory < 0.5, "{}", drifting.memory);
        assert!(noisy.memory > 2.0, "{}", noisy.memory);
    }

    proptest! {
        /// The rate stays between the least and the most that was ever seen, and finite whatever comes.
        #[test]
        fn rates_stay_in_the_range_of_the_samples(
            samples in prop::collection::vec((1e3..1e9f64, 1e-6..0.1f64), 1..200),
        ) {
            let mut filter = BusyRate::new(BusyRateConfig::default(), 1e6, HORIZON);
            let (mut min, mut max) = (1e6f64, 1e6f64);
            for (rate, elapsed) in samples {
                filter.add(rate * elapsed, elapsed, elapsed, HORIZON);
                (min, max) = (min.min(rate), max.max(rate));
                for value in [filter.rate(HORIZON), filter.usual()] {
                    prop_assert!(value >= 0.999 * min && value <= 1.001 * max, "{value}");
                }
            }
        }

        #[test]
        fn nonsense_changes_nothing(value in prop::sample::select(std::vec![f64::NAN, f64::INFINITY, -1.0])) {
            let filter = BusyRate::new(BusyRateConfig::default(), 1e6, HORIZON);
            for (bytes, busy, elapsed) in [(value, 0.1, 0.1), (1.0, value, 0.1), (1.0, 0.1, value)] {
                let mut changed = filter;
                changed.add(bytes, busy, elapsed, HORIZON);
                prop_assert_eq!(changed, filter);
            }
        }
    }

    /// Fault: a shortest memory above the longest one was a panic.
    #[test]
    fn memories_in_the_wrong_order_are_valid() {
        let config = BusyRateConfig {
            min_memory: 5.0,
            ..BusyRateConfig::default()
        };
        let mut filter = BusyRate::new(config, 1e6, HORIZON);
        for step in 0..100 {
            filter.add(1000.0 + f64::from(step), 0.001, 0.001, HORIZON);
        }
        assert!(filter.rate(HORIZON) > 0.0);
    }
}
