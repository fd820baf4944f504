//! The effect of censored samples on the belief.

use crate::float::{larger, smaller};

/// The effect of a censored sample on the belief.
///
/// A censored sample is a lower bound: the capacity is at least `S`. With `s^2 = Psi + Q + R`:
///
/// | Rule | `S < x - s/2` | otherwise |
/// |---|---|---|
/// | [`Bounded`](Self::Bounded) | nothing changes: no `Q` is added, no noise is learned | updated, `Psi` at most `max(Psi, R)` |
/// | [`AsPublished`](Self::AsPublished) | updated | updated |
///
/// # Errata
///
/// BBR-S updates the filter with every censored sample (Algorithm 1). The model then diverges while the application limits
/// the sender. A bound far below the mean changes the mean by almost nothing, but each one adds `Q` to the variance, and
/// the noise estimate takes the variance of its own prediction for that of the measurement. The belief widens until the
/// bound is no longer far below the mean, the mean rises, and the limits of the noises, which are proportional to the mean,
/// rise with it. At 2 Mb/s on a link of 10 Mb/s the mean passes 30 Mb/s within minutes and does not stop.
///
/// A bound that the belief already implies brings no information, however often it is repeated. Hence the rule: repeated
/// bounds raise the mean at most to `S + s/2`. The rule is at half a deviation and not at zero because a sender that
/// follows the estimate sends at or a few percent below it. Whether such samples are censored or not does tell: without the
/// censored ones the estimate would follow the measured ones down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LowerBounds {
    /// A bound more than half a deviation below the mean changes nothing, and no bound widens the belief beyond the
    /// measurement noise.
    #[default]
    Bounded,
    /// Every bound updates the belief, as BBR-S has it. For comparison: the estimate diverges upwards while the application
    /// limits the sender.
    AsPublished,
}

impl LowerBounds {
    /// Whether a belief with this mean already implies the bound. `total` is the variance of the next sample.
    pub(super) fn is_known(self, bound: f64, mean: f64, total: f64) -> bool {
        match self {
            Self::Bounded => bound < mean - KNOWN_DEVIATIONS * libm::sqrt(total),
            Self::AsPublished => false,
        }
    }

    /// The variance after a censored sample: `updated`, from `before`, in measurement noise of variance `noise`.
    pub(super) fn limit_variance(self, updated: f64, before: f64, noise: f64) -> f64 {
        match self {
            Self::Bounded => smaller(updated, larger(before, noise)),
            Self::AsPublished => updated,
        }
    }
}

/// Deviations. With 0.5, an hour of bounds just below a known link raises the estimate by 7 %; with 1 by 13 %; with 3
/// threefold. With 0, a sender that paces at 99 % of the estimate follows it down by 4 %.
const KNOWN_DEVIATIONS: f64 = 0.5;
