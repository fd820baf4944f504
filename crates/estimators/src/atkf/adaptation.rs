//! The adaptation of the filter's noises.

use super::AtkfConfig;
use crate::float::{larger, smaller};
use crate::normal::Limit;
use crate::sliding_mean::SlidingMean;

/// How the process noise `Q` and the measurement noise `R` are estimated from the innovations.
///
/// With the innovation `e_t`, its mean square `xi = E[e^2]`, the prior variance `P`, the gain `K` and the posterior
/// variance `Psi`, averaged over a sliding window and then faded:
///
/// | Rule | `Q` | `R` |
/// |---|---|---|
/// | [`LagOne`](Self::LagOne) | `K^2 xi + dPsi + 2 K c1`, `c1 = E[e_t e_(t-1)]` | `(1-K) ((1-K) xi + P) - c1` |
/// | [`AsPublished`](Self::AsPublished) | `K^2 xi + dPsi` | `(1-K) ((1-K) xi + p P) / (1-eth(eta))` |
/// | [`Fixed`](Self::Fixed) | `q_over_r R` | `(1-K) xi` |
///
/// # Errata
///
/// BBR-S, eqs. (36) to (44), cannot tell `Q` from `R`. In the steady state `dPsi = 0`, and for *whatever* gain `K` the
/// filter runs with, `Q = K^2 xi` and `R = (1-K) xi` are a pair that gives just this gain: every gain is a fixed point,
/// and the noises stay wherever chance puts them. What tells the two apart is the innovations' correlation: a gain that
/// is too small leaves positively correlated innovations, one that is too large negatively correlated ones. For a
/// random walk in noise `E[e_t e_(t-1)] = (1-K) xi - R`, whatever the gain, from which
/// [`LagOne`](Self::LagOne) follows.
///
/// Further, eq. (43) has a stray factor `K` before `xi`, which eq. (37) does not have; and eq. (38) inverts the variance
/// of the truncated, not of the censored, variable, which makes the estimate diverge under heavy censoring unless it is
/// limited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Adaptation {
    /// Identifies both noises by the correlation of successive innovations. A censored sample counts with the second
    /// moment of its innovation given the censoring, `s^2 (1 - eta lambda(-eta))`.
    #[default]
    LagOne,
    /// BBR-S, eqs. (42) to (44), with the stray factor of eq. (43) removed and the limits of the configuration. For
    /// comparison: it does not identify the noises.
    AsPublished,
    /// A fixed ratio of the noises, and only their scale estimated. The gain is constant; a robust fallback.
    Fixed {
        /// `Q/R`, dimensionless. 1e-12..=1e6; at 0.02 the gain settles at 0.13.
        q_over_r: f64,
    },
}

/// The evidence of one step about the noises.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// The innovation, or what stands for it. In the samples' unit.
    pub(super) innovation: f64,
    /// The mean square of the innovation, given whether it was censored.
    pub(super) second_moment: f64,
    /// The gain of the step.
    pub(super) gain: f64,
    /// The variance before the process noise was added.
    pub(super) before: f64,
    /// The variance before the measurement.
    pub(super) prior: f64,
    /// The variance after the measurement.
    pub(super) posterior: f64,
}

/// The noise estimates and their moments.
#[derive(Debug, Clone)]
pub(super) struct Noises {
    /// `Q`.
    pub(super) process: f64,
    /// `R`.
    pub(super) measurement: f64,
    adaptation: Adaptation,
    squares: SlidingMean,
    products: SlidingMean,
    previous: f64,
    fading: f64,
    /// `gamma^(n + t0)` after `n` samples.
    faded: f64,
}

impl Noises {
    /// The noises before any evidence.
    pub(super) fn new(config: &AtkfConfig, process: f64, measurement: f64) -> Self {
        Self {
            process,
            measurement,
            adaptation: config.adaptation,
            squares: SlidingMean::new(config.window),
            products: SlidingMean::new(config.window),
            previous: 0.0,
            fading: config.fading,
            faded: libm::pow(config.fading, f64::from(config.fading_offset)),
        }
    }

    /// Moves the estimates towards the evidence. The caller limits them.
    ///
    /// `limit` is at `eta` of BBR-S, eq. (39), the limit in deviations of the measurement noise.
    pub(super) fn learn(&mut self, evidence: &Evidence, limit: impl FnOnce() -> Limit) {
        let square = self.squares.push(evidence.second_moment);
        let product = self.products.push(evidence.innovation * self.previous);
        self.previous = evidence.innovation;

        self.faded *= self.fading;
        if self.faded < NEGLIGIBLE {
            self.faded = 0.0;
        }
        let weight = (1.0 - self.fading) / (1.0 - self.faded);

        let Evidence {
            gain,
            before,
            prior,
            posterior,
            ..
        } = *evidence;
        let change = posterior - before;
        let (process, measurement) = match self.adaptation {
            Adaptation::LagOne => (
                gain * gain * square + change + 2.0 * gain * product,
                (1.0 - gain) * ((1.0 - gain) * square + prior) - product,
            ),
            Adaptation::AsPublished => {
                let limit = limit();
                (
                    gain * gain * square + change,
                    (1.0 - gain) * ((1.0 - gain) * square + limit.cumulative * prior)
                        / limit.truncated_variance,
                )
            }
            Adaptation::Fixed { q_over_r } => {
                let measurement = (1.0 - gain) * square;
                (q_over_r * measurement, measurement)
            }
        };
        self.process += weight * (process - self.process);
        self.measurement += weight * (measurement - self.measurement);
    }

    /// Starts a new chain of innovations: the next one has no predecessor.
    pub(super) const fn break_chain(&mut self) {
        self.previous = 0.0;
    }

    /// Whether a censored innovation's second moment is imputed, rather than taken as its square.
    pub(super) const fn imputes(&self) -> bool {
        !matches!(self.adaptation, Adaptation::AsPublished)
    }

    /// Limits the noises: `R` to a range, then `Q` to multiples of it.
    pub(super) fn limit(&mut self, measurement: (f64, f64), process_ratio: (f64, f64)) {
        self.measurement = smaller(larger(self.measurement, measurement.0), measurement.1);
        self.process = match self.adaptation {
            Adaptation::Fixed { q_over_r } => q_over_r * self.measurement,
            _ => smaller(
                larger(self.process, process_ratio.0 * self.measurement),
                process_ratio.1 * self.measurement,
            ),
        };
    }

    /// The windowed mean square of the innovations, `xi`.
    pub(super) fn innovation_square(&self) -> f64 {
        self.squares.mean()
    }

    /// The windowed mean product of successive innovations, `c1`.
    pub(super) fn innovation_product(&self) -> f64 {
        self.products.mean()
    }
}

/// Below this `gamma^t` no longer shows beside 1. Dimensionless.
const NEGLIGIBLE: f64 = 1e-18;
