//! Random spans of time.

use rand_pcg::Pcg64;

use super::error::Invalid;
use crate::generate::random::{exponential, normal, uniform};
use crate::time::Nanos;

/// A distribution of spans of time. All are bounded: no host sleeps for ever.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Distribution {
    /// Always the same.
    Fixed(Nanos),
    /// Exponential, and never above the maximum.
    Exponential {
        /// The mean before the maximum applies.
        mean: Nanos,
        /// The maximum.
        max: Nanos,
    },
    /// Pareto: the probability of more than `x` is `(min / x)^shape`. Heavy-tailed: the smaller the shape, the heavier.
    Pareto {
        /// The minimum; positive.
        min: Nanos,
        /// The tail's exponent, from 0.1 to 100.
        shape: f64,
        /// The maximum.
        max: Nanos,
    },
    /// Log-normal.
    LogNormal {
        /// The median; positive.
        median: Nanos,
        /// The standard deviation of the logarithm, from 0 to 10.
        sigma: f64,
        /// The maximum.
        max: Nanos,
    },
    /// Measured: values at evenly spaced probabilities from 0 to 1, linear in between. From 2 to 10,001 of them, in order.
    Quantiles(Vec<Nanos>),
}

impl Distribution {
    /// Never any time.
    pub const ZERO: Self = Self::Fixed(Nanos::ZERO);

    /// Whether every span is zero.
    pub fn is_zero(&self) -> bool {
        self.max() == Nanos::ZERO
    }

    /// The longest span.
    pub fn max(&self) -> Nanos {
        match self {
            Self::Fixed(span) => *span,
            Self::Exponential { max, .. }
            | Self::Pareto { max, .. }
            | Self::LogNormal { max, .. } => *max,
            Self::Quantiles(values) => values.last().copied().unwrap_or_default(),
        }
    }

    /// Draws a span. Those that never vary draw nothing.
    pub(crate) fn sample(&self, generator: &mut Pcg64) -> Nanos {
        // Conversions from floating point saturate.
        let (span, max) = match self {
            Self::Fixed(span) => return *span,
            Self::Exponential { mean, max } => (exponential(generator, mean.0 as f64), max),
            Self::Pareto { min, shape, max } => {
                let tail = libm::pow(uniform(generator), -1.0 / shape);
                (min.0 as f64 * tail, max)
            }
            Self::LogNormal { median, sigma, max } => {
                (median.0 as f64 * libm::exp(sigma * normal(generator)), max)
            }
            Self::Quantiles(values) => return quantile(values, uniform(generator)),
        };
        Nanos(span as u64).min(*max)
    }

    pub(super) fn validate(&self, key: &str) -> Result<(), Invalid> {
        match self {
            Self::Fixed(span) => time(key, *span),
            Self::Exponential { mean, max } => {
                time(&format!("{key}.exponential.mean"), *mean)?;
                at_least(&format!("{key}.exponential.max"), *max, *mean, "mean")
            }
            Self::Pareto { min, shape, max } => {
                positive(&format!("{key}.pareto.min"), *min)?;
                number(
                    &format!("{key}.pareto.shape"),
                    *shape,
                    0.1,
                    100.0,
                    "between 0.1 and 100",
                )?;
                at_least(&format!("{key}.pareto.max"), *max, *min, "minimum")
            }
            Self::LogNormal { median, sigma, max } => {
                positive(&format!("{key}.log-normal.median"), *median)?;
                number(
                    &format!("{key}.log-normal.sigma"),
                    *sigma,
                    0.0,
                    10.0,
                    "between 0 and 10",
                )?;
                at_least(&format!("{key}.log-normal.max"), *max, *median, "median")
            }
            Self::Quantiles(values) => {
                let key = format!("{key}.quantiles");
                number(
                    &format!("number of {key}"),
                    values.len() as f64,
                    2.0,
                    10_001.0,
                    "between 2 and 10001",
                )?;
                let mut last = Nanos::ZERO;
                for value in values {
                    time(&key, *value)?;
                    if *value < last {
                        return Err(Invalid {
                            key,
                            value: micros(*value),
                            range: "at least the one before it",
                        });
                    }
                    last = *value;
                }
                Ok(())
            }
        }
    }
}

/// The value at a probability.
fn quantile(values: &[Nanos], probability: f64) -> Nanos {
    let place = probability * values.len().saturating_sub(1) as f64;
    let below = libm::floor(place);
    let index = below as usize;
    let low = values.get(index).copied().unwrap_or_default();
    let high = values.get(index + 1).copied().unwrap_or(low);
    Nanos(low.0 + ((high - low).0 as f64 * (place - below)) as u64)
}

pub(super) fn micros(span: Nanos) -> f64 {
    span.0 as f64 / 1e3
}

/// Checks that a span of time is one that a host could take.
pub(super) fn time(key: &str, span: Nanos) -> Result<(), Invalid> {
    number(key, micros(span), 0.0, MAX_MICROS, "between 0 and 10000000")
}

fn positive(key: &str, span: Nanos) -> Result<(), Invalid> {
    number(
        key,
        micros(span),
        0.001,
        MAX_MICROS,
        "between 0.001 and 10000000",
    )
}

fn at_least(key: &str, span: Nanos, min: Nanos, what: &str) -> Result<(), Invalid> {
    time(key, span)?;
    if span < min {
        return Err(Invalid {
            key: key.to_owned(),
            value: micros(span),
            range: match what {
                "mean" => "at least the mean",
                "median" => "at least the median",
                _ => "at least the minimum",
            },
        });
    }
    Ok(())
}

/// Checks that a number lies in a range, which is also given in words.
pub(super) fn number(
    key: &str,
    value: f64,
    min: f64,
    max: f64,
    range: &'static str,
) -> Result<(), Invalid> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Invalid {
        key: key.to_owned(),
        value,
        range,
    })
}

/// Ten seconds.
const MAX_MICROS: f64 = 1e7;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;

    fn draw(distribution: &Distribution, count: usize) -> Vec<f64> {
        let mut generator = Pcg64::seed_from_u64(3);
        let mut draws: Vec<f64> = (0..count)
            .map(|_| micros(distribution.sample(&mut generator)))
            .collect();
        draws.sort_unstable_by(f64::total_cmp);
        draws
    }

    const fn us(micros: u64) -> Nanos {
        Nanos::from_micros(micros)
    }

    #[test]
    fn draws_have_the_quantiles_of_their_distribution() {
        // The values at probabilities 0.5, 0.9 and 0.99, from each distribution's own formula.
        let pareto = |p: f64| 10.0 * (1.0 - p).powf(-1.0 / 1.5);
        let exponential = |p: f64| -100.0 * (1.0 - p).ln();
        let cases = [
            (Distribution::Fixed(us(7)), [7.0, 7.0, 7.0]),
            (
                Distribution::Exponential {
                    mean: us(100),
                    max: us(10_000),
                },
                [0.5, 0.9, 0.99].map(exponential),
            ),
            (
                Distribution::Pareto {
                    min: us(10),
                    shape: 1.5,
                    max: us(1_000_000),
                },
                [0.5, 0.9, 0.99].map(pareto),
            ),
            (
                Distribution::LogNormal {
                    median: us(20),
                    sigma: 1.0,
                    max: us(1_000_000),
                },
                // Normal quantiles: 0, 1.2816 and 2.3263 deviations.
                [0.0, 1.2816, 2.3263].map(|z: f64| 20.0 * z.exp()),
            ),
            (
                Distribution::Quantiles(vec![us(0), us(100), us(200)]),
                [100.0, 180.0, 198.0],
            ),
        ];
        for (distribution, expected) in cases {
            let draws = draw(&distribution, 20_000);
            for (p, expected) in [0.5, 0.9, 0.99].into_iter().zip(expected) {
                let got = draws[(20_000.0 * p) as usize];
                assert!(
                    (got / expected - 1.0).abs() < 0.08,
                    "{distribution:?} {p}: {got} {expected}"
                );
            }
        }
    }

    fn any_distribution() -> impl Strategy<Value = Distribution> {
        let span = (1..10_000_000_000_u64).prop_map(Nanos);
        prop_oneof![
            span.clone().prop_map(Distribution::Fixed),
            (span.clone(), span.clone()).prop_map(|(one, other)| Distribution::Exponential {
                mean: one.min(other),
                max: one.max(other),
            }),
            (span.clone(), 0.1..100.0, span.clone()).prop_map(|(one, shape, other)| {
                Distribution::Pareto {
                    min: one.min(other),
                    shape,
                    max: one.max(other),
                }
            }),
            (span.clone(), 0.0..10.0, span.clone()).prop_map(|(one, sigma, other)| {
                Distribution::LogNormal {
                    median: one.min(other),
                    sigma,
                    max: one.max(other),
                }
            }),
            prop::collection::vec(span, 2..20).prop_map(|mut values| {
                values.sort_unstable();
                Distribution::Quantiles(values)
            }),
        ]
    }

    proptest! {
        #[test]
        fn draws_are_within_their_bounds(distribution in any_distribution(), seed in any::<u64>()) {
            prop_assert_eq!(distribution.validate("x"), Ok(()));
            let mut generator = Pcg64::seed_from_u64(seed);
            for _ in 0..50 {
                let span = distribution.sample(&mut generator);
                prop_assert!(span <= distribution.max());
            }
        }
    }
}
