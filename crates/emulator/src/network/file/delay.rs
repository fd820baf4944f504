//! The keys of a link's propagation delay.

use serde::Deserialize;

use super::NetworkFileError;
use super::link::{LinkTable, span_of};
use super::source::{Number, Source, Span};
use crate::link::{Delay, DelayStep, Jitter};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DelayStepTable {
    at_ms: Number,
    delay_ms: Number,
}

/// All in milliseconds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum DistributionTable {
    Uniform { from: Number, to: Number },
    Normal { mean: Number, deviation: Number },
    Wifi { from: Number, mean: Number },
}

impl LinkTable {
    pub(super) fn delay(&self, source: Source<'_>) -> Result<Delay, NetworkFileError> {
        self.only_one(
            source,
            [
                ("delay_ms", span_of(&self.delay_ms)),
                ("delay_steps", span_of(&self.delay_steps)),
                (
                    "delay_distribution_ms",
                    span_of(&self.delay_distribution_ms),
                ),
            ],
        )?;
        let overtaking = self.overtaking.as_ref();
        let reordering = overtaking.is_some_and(|given| *given.get_ref());
        if let Some(steps) = &self.delay_steps {
            let step = |step: &DelayStepTable| {
                Ok(DelayStep {
                    from: source.millis("at_ms", &step.at_ms)?,
                    delay: source.millis("delay_ms", &step.delay_ms)?,
                })
            };
            let steps = steps.get_ref().iter().map(step);
            return Ok(Delay::Steps {
                steps: steps.collect::<Result<_, NetworkFileError>>()?,
                reordering,
            });
        }
        if let Some(distribution) = &self.delay_distribution_ms {
            let jitter = distribution.get_ref().jitter(source)?;
            return Ok(Delay::Jittered { jitter, reordering });
        }
        if let Some(overtaking) = overtaking {
            let reason = "overtaking needs delay_steps or delay_distribution_ms";
            return Err(source.link(&self.name, &overtaking.span(), reason));
        }
        match &self.delay_ms {
            Some(delay) => Ok(source.millis("delay_ms", delay)?.into()),
            None => Ok(Delay::default()),
        }
    }

    pub(super) fn delay_span(&self) -> Option<Span> {
        span_of(&self.delay_steps).or(span_of(&self.delay_distribution_ms))
    }
}

impl DistributionTable {
    fn jitter(&self, source: Source<'_>) -> Result<Jitter, NetworkFileError> {
        Ok(match self {
            Self::Uniform { from, to } => Jitter::Uniform {
                from: source.millis("delay_distribution_ms.uniform.from", from)?,
                to: source.millis("delay_distribution_ms.uniform.to", to)?,
            },
            Self::Normal { mean, deviation } => Jitter::Normal {
                mean: source.millis("delay_distribution_ms.normal.mean", mean)?,
                deviation: source.millis("delay_distribution_ms.normal.deviation", deviation)?,
            },
            Self::Wifi { from, mean } => Jitter::Wifi {
                from: source.millis("delay_distribution_ms.wifi.from", from)?,
                mean: source.millis("delay_distribution_ms.wifi.mean", mean)?,
            },
        })
    }
}
