//! The SKIP mode machine.

mod config;

pub use config::SkipConfig;

use crate::atkf::{Atkf, ConfigError};
use crate::sample::{CapacitySample, SampleError};

/// An adaptive Tobit Kalman filter with modes for changes that are too fast for a filter: SKIP, of BBR-S, section
/// III.C.
///
/// Each sample is sorted by where it lies in the belief, with the mean `x` and the deviation
/// `sigma = sqrt(Psi + Q + R)` before it:
///
/// | Sample | Taken for | The filter | After `t_thr` in a row |
/// |---|---|---|---|
/// | `C >= S` | censored | updated | - |
/// | `C = 0` | an outage | as below | the mean becomes `C_min` |
/// | `C < x - 3 sigma` | a drop | predicts only | the mean becomes that of the samples |
/// | `C > x + 3 sigma` | a step | updated | the mean becomes that of the samples |
/// | otherwise | noise | updated | - |
///
/// A passing drop therefore does not lower the estimate, and a lasting one lowers it after three samples. A reset keeps
/// the noise estimates.
///
/// No acknowledgement arrives in an outage: a controller makes [`CapacitySample::outage`] samples from a timer while data
/// is in flight. A controller that saw a queue standing throughout a sample passes an infinite sending rate: the sample
/// is then real, however it compares to what was sent.
///
/// # Errata
///
/// BBR-S, Algorithm 1:
///
/// - line 28 prints `C < x + 3 sigma`, which would send every ordinary sample to step mode and no step; eq. (49) and the
///   text have `>`.
/// - lines 30 to 37 reset the mean and then update the reset filter with the same sample, which counts it twice; here the
///   filter is updated first, then reset.
/// - eq. (50) lacks its summand, which is `C`.
#[derive(Debug, Clone)]
pub struct Skip {
    filter: Atkf,
    config: SkipConfig,
    drop: Run,
    step: Run,
    outages: u32,
    censored: u32,
    mode: Option<SkipMode>,
    sigma: f64,
}

/// The classification of the last sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum SkipMode {
    /// A noisy measurement of the capacity.
    Normal,
    /// All that was sent was delivered: only a lower bound of the capacity.
    Censored,
    /// Nothing was delivered, not yet often enough to be an outage.
    OutageWait,
    /// Nothing was delivered for long enough: the mean was reset to the minimum.
    OutageReset,
    /// Far less than expected was delivered: ignored for now.
    Drop,
    /// Far less was delivered for long enough: the mean was reset to what was.
    DropReset,
    /// Far more than expected was delivered.
    Step,
    /// Far more was delivered for long enough: the mean was reset to what was.
    StepReset,
}

impl SkipMode {
    /// The mode's name in `snake_case`, as in tables and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Censored => "censored",
            Self::OutageWait => "outage_wait",
            Self::OutageReset => "outage_reset",
            Self::Drop => "drop",
            Self::DropReset => "drop_reset",
            Self::Step => "step",
            Self::StepReset => "step_reset",
        }
    }

    /// Whether the mean was reset.
    #[must_use]
    pub const fn is_reset(self) -> bool {
        matches!(self, Self::OutageReset | Self::DropReset | Self::StepReset)
    }
}

impl core::fmt::Display for SkipMode {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.pad(self.name())
    }
}

impl Skip {
    /// A filter that starts from `initial_rate`, bytes/s, raised to the configuration's floor.
    ///
    /// # Errors
    ///
    /// Names the parameter that is out of range.
    pub fn new(config: &SkipConfig, initial_rate: f64) -> Result<Self, ConfigError> {
        config.validate()?;
        let filter = Atkf::new(&config.filter, initial_rate)?;
        let sigma = filter.sigma();
        Ok(Self {
            filter,
            config: *config,
            drop: Run::default(),
            step: Run::default(),
            outages: 0,
            censored: 0,
            mode: None,
            sigma,
        })
    }

    /// Classifies a sample and updates the filter. Returns the classification.
    ///
    /// # Errors
    ///
    /// If the sample is not one; everything is then as it was before.
    pub fn sample(&mut self, sample: CapacitySample) -> Result<SkipMode, SampleError> {
        sample.validate()?;
        self.sigma = self.filter.sigma();
        let mode = if sample.is_censored() {
            self.censored(sample)
        } else {
            self.measured(sample)
        };
        self.censored = if mode == SkipMode::Censored {
            self.censored.saturating_add(1)
        } else {
            0
        };
        self.mode = Some(mode);
        Ok(mode)
    }

    fn censored(&mut self, sample: CapacitySample) -> SkipMode {
        self.drop.clear();
        self.step.clear();
        self.outages = 0;
        let mean = self.filter.mean();
        self.filter.update_valid(sample);
        let excess = sample.sent_rate - mean;
        if self
            .config
            .inflate
            .is_some_and(|deviations| excess > deviations * self.sigma)
        {
            let deviation = excess / 2.0;
            self.filter.add_variance(deviation * deviation);
        }
        SkipMode::Censored
    }

    fn measured(&mut self, sample: CapacitySample) -> SkipMode {
        let nothing = sample.rate <= 0.0;
        if nothing {
            self.outages = self.outages.saturating_add(1);
            self.step.clear();
            if self.outages >= self.config.threshold {
                self.outages = 0;
                self.drop.clear();
                self.filter.predict();
                self.reset(self.config.outage_rate);
                return SkipMode::OutageReset;
            }
        } else {
            self.outages = 0;
        }
        let mode = self.compared(sample);
        if nothing && !mode.is_reset() {
            SkipMode::OutageWait
        } else {
            mode
        }
    }

    /// Compares a measurement to the belief.
    fn compared(&mut self, sample: CapacitySample) -> SkipMode {
        let bound = self.config.outlier_deviations * self.sigma;
        let mean = self.filter.mean();
        if sample.rate < mean - bound {
            self.step.clear();
            self.drop.extend(sample.rate);
            if self.config.feed_drop {
                self.filter.predict_past_outlier(bound * bound);
            } else {
                self.filter.predict();
            }
            return self
                .drop
                .finish(self.config.threshold)
                .map_or(SkipMode::Drop, |lasting| {
                    self.reset(lasting);
                    SkipMode::DropReset
                });
        }
        self.drop.clear();
        self.filter.update_valid(sample);
        if sample.rate > mean + bound {
            self.step.extend(sample.rate);
            return self
                .step
                .finish(self.config.threshold)
                .map_or(SkipMode::Step, |lasting| {
                    self.reset(lasting);
                    SkipMode::StepReset
                });
        }
        self.step.clear();
        SkipMode::Normal
    }

    fn reset(&mut self, mean: f64) {
        self.filter.reset_mean(mean);
        if self.config.psi_reset {
            self.filter
                .raise_variance(self.filter.measurement_noise() / f64::from(self.config.threshold));
        }
    }

    /// The estimate of the capacity, bytes/s.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.filter.mean()
    }

    /// The variance of the mean, `Psi`, (bytes/s)^2.
    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.filter.variance()
    }

    /// The deviation that the last sample was compared with, `sqrt(Psi + Q + R)` before it, bytes/s.
    #[must_use]
    pub const fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The estimate of the process noise, `Q`, (bytes/s)^2 per sample.
    #[must_use]
    pub const fn process_noise(&self) -> f64 {
        self.filter.process_noise()
    }

    /// The estimate of the measurement noise, `R`, (bytes/s)^2.
    #[must_use]
    pub const fn measurement_noise(&self) -> f64 {
        self.filter.measurement_noise()
    }

    /// The classification of the last sample; `None` before the first.
    #[must_use]
    pub const fn mode(&self) -> Option<SkipMode> {
        self.mode
    }

    /// The number of drop samples in a row that do not count as lasting yet, `t_drop`.
    #[must_use]
    pub const fn drop_count(&self) -> u32 {
        self.drop.count
    }

    /// The number of step samples in a row that do not count as lasting yet, `t_step`.
    #[must_use]
    pub const fn step_count(&self) -> u32 {
        self.step.count
    }

    /// The number of zero samples in a row that do not count as an outage yet, `t_out`.
    #[must_use]
    pub const fn outage_count(&self) -> u32 {
        self.outages
    }

    /// The number of censored samples in a row.
    #[must_use]
    pub const fn censored_count(&self) -> u32 {
        self.censored
    }

    /// Whether the controller should send above the mean once more: the last sample was sent above the mean, all of it was
    /// delivered, and the configuration has [`repeat_probe`](SkipConfig::repeat_probe) set.
    ///
    /// Meant for the end of a probing phase; a censored sample of any other phase says nothing about more capacity.
    #[must_use]
    pub fn wants_probe(&self) -> bool {
        self.config.repeat_probe && self.mode == Some(SkipMode::Censored)
    }

    /// The filter itself.
    #[must_use]
    pub const fn filter(&self) -> &Atkf {
        &self.filter
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &SkipConfig {
        &self.config
    }
}

/// Samples in a row that lie on one side of the belief.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    count: u32,
    sum: f64,
}

impl Run {
    const fn extend(&mut self, rate: f64) {
        self.count = self.count.saturating_add(1);
        self.sum += rate;
    }

    const fn clear(&mut self) {
        self.count = 0;
        self.sum = 0.0;
    }

    /// The mean of the run if it is long enough, which ends it.
    fn finish(&mut self, threshold: u32) -> Option<f64> {
        (self.count >= threshold).then(|| {
            let mean = self.sum / f64::from(self.count);
            self.clear();
            mean
        })
    }
}

#[cfg(test)]
mod tests;
