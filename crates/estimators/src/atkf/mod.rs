//! The adaptive Tobit Kalman filter.

mod adaptation;
mod config;
mod lower_bounds;

pub use adaptation::Adaptation;
pub use config::{AtkfConfig, ConfigError};
pub(crate) use config::{MAX_RATIO, in_range};
pub use lower_bounds::LowerBounds;

use adaptation::{Evidence, Noises};

use crate::float::{larger, smaller};
use crate::normal::{self, Limit};
use crate::sample::{CapacitySample, MAX_RATE, SampleError};
use crate::tobit::{Evaluated, TobitUpdate};

/// A Tobit Kalman filter that learns its noises: the "ATKF" of BBR-S, section III.B.
///
/// The capacity is taken for a random walk, `x' = x + w` with `Var w = Q`, that is measured with a noise of variance `R`
/// by a sender that cannot measure more than it sends (BBR-S, eqs. (9) and (10)). The filter keeps a mean and a variance
/// of the capacity, which [`TobitVariant`](crate::TobitVariant) updates, and estimates of both noises, which [`Adaptation`] updates.
///
/// The noises are kept in proportion to the mean, `R` in `[(r_min x)^2, (r_max x)^2]` and `Q` in `[q_min, q_max] R`, and
/// the mean above a floor. A mean that grew without a measurement would therefore raise the noises that make it grow.
/// [`LowerBounds::Bounded`] prevents that: censored samples raise the mean only as far as they reach themselves.
///
/// Unlike an average or a plain Kalman filter it has no bias when the sender follows it, and unlike a maximum it has no
/// bias upwards; it follows a change of capacity gradually. [`Skip`](crate::Skip) adds what follows a sudden one.
///
/// An unbiased estimate does not drain a queue that has once come about: a sender that paces at just the mean should
/// leave a margin of one or two percent, or drain now and then.
#[derive(Debug, Clone)]
pub struct Atkf {
    mean: f64,
    variance: f64,
    noises: Noises,
    config: AtkfConfig,
}

impl Atkf {
    /// A filter that starts from `initial_rate`, raised to the configuration's floor.
    ///
    /// # Errors
    ///
    /// Names the parameter that is out of range.
    pub fn new(config: &AtkfConfig, initial_rate: f64) -> Result<Self, ConfigError> {
        config.validate()?;
        in_range("initial_rate", initial_rate, 0.0..=MAX_RATE)?;
        let mean = initial_rate.max(config.floor);
        let deviation = config.initial_measurement_noise * mean;
        let measurement = deviation * deviation;
        let mut filter = Self {
            mean,
            variance: config.initial_variance * measurement,
            noises: Noises::new(
                config,
                config.initial_process_noise * measurement,
                measurement,
            ),
            config: *config,
        };
        filter.limit_noises();
        Ok(filter)
    }

    /// Predicts one step ahead and updates the belief and the noises with a measurement. Returns the step.
    ///
    /// # Errors
    ///
    /// If the sample is not one; the filter is then as it was before.
    pub fn update(&mut self, sample: CapacitySample) -> Result<TobitUpdate, SampleError> {
        sample.validate()?;
        Ok(self.update_valid(sample))
    }

    /// As `update`, for a valid sample.
    pub(crate) fn update_valid(&mut self, sample: CapacitySample) -> TobitUpdate {
        let before = self.variance;
        let prior = before + self.noises.process;
        let noise = self.noises.measurement;
        let total = prior + noise;
        if sample.is_censored()
            && self
                .config
                .lower_bounds
                .is_known(sample.sent_rate, self.mean, total)
        {
            return self.keep();
        }
        let (mut update, evaluated) = self
            .config
            .variant
            .step_in_range(self.mean, prior, noise, sample);
        if sample.is_censored() {
            let bounds = self.config.lower_bounds;
            update.variance = bounds.limit_variance(update.variance, before, noise);
        }

        let second_moment = if sample.is_censored() && self.noises.imputes() {
            let eta = (sample.sent_rate - self.mean) / libm::sqrt(total);
            let truncated_mean = match evaluated {
                Evaluated::TruncatedMean(mean) => mean,
                _ => normal::truncated_mean(-eta),
            };
            total * (1.0 - eta * truncated_mean)
        } else {
            update.innovation * update.innovation
        };
        let widest = self.config.clip * libm::sqrt(total);
        let evidence = Evidence {
            innovation: smaller(larger(update.innovation, -widest), widest),
            second_moment: smaller(second_moment, widest * widest),
            gain: update.gain,
            before,
            prior,
            posterior: update.variance,
        };
        self.noises.learn(&evidence, || match evaluated {
            Evaluated::Limit(limit) => limit,
            _ => Limit::at((sample.sent_rate - self.mean) / libm::sqrt(noise)),
        });

        self.mean = self.limit_mean(update.mean);
        self.variance = update.variance;
        self.limit_noises();
        update
    }

    /// Predicts one step ahead without a measurement: the variance grows by `Q`.
    pub fn predict(&mut self) {
        self.variance += self.noises.process;
    }

    /// Keeps the belief unchanged.
    const fn keep(&self) -> TobitUpdate {
        TobitUpdate {
            mean: self.mean,
            variance: self.variance,
            innovation: 0.0,
            gain: 0.0,
        }
    }

    /// Predicts, and lets an outlier that the belief ignores count in the noise estimates with the given second moment.
    pub(crate) fn predict_past_outlier(&mut self, second_moment: f64) {
        let before = self.variance;
        let prior = before + self.noises.process;
        let gain = prior / (prior + self.noises.measurement);
        self.predict();
        let evidence = Evidence {
            innovation: 0.0,
            second_moment,
            gain,
            before,
            prior,
            posterior: (1.0 - gain) * prior,
        };
        self.noises.learn(&evidence, || Limit::at(f64::INFINITY));
        self.limit_noises();
    }

    /// Starts over from another mean, in the samples' unit; the variance, the noises and their windows stay.
    ///
    /// A mean that is not a rate, or below the floor, becomes the floor.
    pub fn reset_mean(&mut self, mean: f64) {
        self.mean = self.limit_mean(mean);
        self.noises.break_chain();
        self.limit_noises();
    }

    /// Adds to the variance of the mean, in the unit's square.
    pub(crate) fn add_variance(&mut self, variance: f64) {
        self.variance += variance;
    }

    /// Raises the variance of the mean to at least this, in the unit's square.
    pub(crate) fn raise_variance(&mut self, variance: f64) {
        self.variance = self.variance.max(variance);
    }

    /// The mean of the capacity, in the samples' unit: the estimate.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of the mean, `Psi`, in the unit's square.
    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    /// The estimate of the process noise, `Q`, in the unit's square per sample.
    #[must_use]
    pub const fn process_noise(&self) -> f64 {
        self.noises.process
    }

    /// The estimate of the measurement noise, `R`, in the unit's square.
    #[must_use]
    pub const fn measurement_noise(&self) -> f64 {
        self.noises.measurement
    }

    /// The deviation that the next sample is expected to have from the mean, `sqrt(Psi + Q + R)`, in the samples' unit.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        libm::sqrt(self.variance + self.noises.process + self.noises.measurement)
    }

    /// The windowed mean square of the innovations, `xi`, in the unit's square (BBR-S, eq. (41)).
    #[must_use]
    pub fn innovation_square(&self) -> f64 {
        self.noises.innovation_square()
    }

    /// The windowed mean product of successive innovations, `c1`, in the unit's square: zero at the right gain.
    #[must_use]
    pub fn innovation_product(&self) -> f64 {
        self.noises.innovation_product()
    }

    fn limit_mean(&self, mean: f64) -> f64 {
        // The floor for NaN.
        smaller(larger(mean, self.config.floor), MAX_RATE)
    }

    fn limit_noises(&mut self) {
        let greatest = self.config.max_measurement_noise * self.mean;
        let min = smaller(self.config.min_measurement_noise * self.mean, greatest);
        self.noises.limit(
            (min * min, greatest * greatest),
            (self.config.min_process_noise, self.config.max_process_noise),
        );
    }
}

#[cfg(test)]
pub(crate) mod tests;
