//! The keys of a link's shaper and of its policer.

use serde::Deserialize;

use super::NetworkFileError;
use super::link::{LinkTable, span_of};
use super::source::{Number, Source, Span};
use crate::link::{MAHIMAHI_OVERHEAD, Policer, RateStep, Shaper, UDP_IPV4_OVERHEAD};
use crate::trace::Trace;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateStepTable {
    at_ms: Number,
    rate_mbps: Number,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BucketTable {
    rate_mbps: Number,
    burst_bytes: u64,
    peak_mbps: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicerTable {
    rate_mbps: Number,
    burst_bytes: u64,
}

impl LinkTable {
    /// The shaper, and the overhead of a packet that goes with it.
    pub(super) fn shaper(
        &self,
        source: Source<'_>,
        span: &Span,
    ) -> Result<(Shaper, u32), NetworkFileError> {
        self.only_one(
            source,
            [
                ("rate_mbps", span_of(&self.rate_mbps)),
                ("trace", span_of(&self.trace)),
                ("rate_steps", span_of(&self.rate_steps)),
                ("token_bucket", span_of(&self.token_bucket)),
                ("unlimited", span_of(&self.unlimited)),
            ],
        )?;
        let shaper = if let Some(mbps) = &self.rate_mbps {
            let bytes_per_second = source.rate("rate_mbps", mbps)?;
            Shaper::ConstantRate { bytes_per_second }
        } else if let Some(trace) = &self.trace {
            let loaded = Trace::load(source.folder.join(trace.get_ref()));
            let trace = loaded.map_err(|error| NetworkFileError::Trace {
                name: source.name.to_owned(),
                line: source.line(&trace.span()),
                source: error,
            })?;
            return Ok((Shaper::Trace(trace), MAHIMAHI_OVERHEAD));
        } else if let Some(steps) = &self.rate_steps {
            let step = |step: &RateStepTable| {
                Ok(RateStep {
                    from: source.millis("at_ms", &step.at_ms)?,
                    bytes_per_second: source.rate_or_zero("rate_mbps", &step.rate_mbps)?,
                })
            };
            let steps = steps.get_ref().iter().map(step);
            Shaper::Schedule(steps.collect::<Result<_, NetworkFileError>>()?)
        } else if let Some(bucket) = &self.token_bucket {
            let bucket = bucket.get_ref();
            let peak = bucket.peak_mbps.as_ref();
            let peak = peak.map(|peak| source.rate("peak_mbps", peak));
            Shaper::TokenBucket {
                bytes_per_second: source.rate("rate_mbps", &bucket.rate_mbps)?,
                burst: bucket.burst_bytes,
                peak: peak.transpose()?,
            }
        } else if self
            .unlimited
            .as_ref()
            .is_some_and(|given| *given.get_ref())
        {
            Shaper::Unlimited
        } else {
            let reason =
                "it needs one of rate_mbps, trace, rate_steps, token_bucket and unlimited = true";
            return Err(source.link(&self.name, span, reason));
        };
        Ok((shaper, UDP_IPV4_OVERHEAD))
    }

    pub(super) fn shaper_span(&self) -> Option<Span> {
        span_of(&self.rate_steps).or(span_of(&self.token_bucket))
    }
}

impl PolicerTable {
    pub(super) fn policer(&self, source: Source<'_>) -> Result<Policer, NetworkFileError> {
        Ok(Policer {
            bytes_per_second: source.rate("rate_mbps", &self.rate_mbps)?,
            burst: self.burst_bytes,
        })
    }
}
