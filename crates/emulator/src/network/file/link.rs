//! A link's table.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::NetworkFileError;
use super::delay::{DelayStepTable, DistributionTable};
use super::loss::{BurstTable, GilbertElliottTable, ReorderingTable};
use super::queue::{CoDelTable, FqCoDelTable, PieTable, QueueName, RedTable, StepMarkTable};
use super::shaper::{BucketTable, PolicerTable, RateStepTable};
use super::source::{Number, Source, Span};
use crate::link::{Aggregation, LinkConfig};

/// A link in one direction. The files beside this one turn the keys of each stage into its configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkTable {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,

    // The shaper: one of these.
    pub(super) rate_mbps: Option<Number>,
    pub(super) trace: Option<Spanned<PathBuf>>,
    pub(super) rate_steps: Option<Spanned<Vec<RateStepTable>>>,
    pub(super) token_bucket: Option<Spanned<BucketTable>>,
    pub(super) unlimited: Option<Spanned<bool>>,

    // The queue: infinite unless there is a limit; then drop-tail.
    pub(super) queue: Option<Spanned<QueueName>>,
    pub(super) queue_bytes: Option<Spanned<u64>>,
    pub(super) queue_packets: Option<Spanned<u64>>,
    pub(super) queue_ms: Option<Number>,
    pub(super) ecn: Option<Spanned<bool>>,
    pub(super) codel: Option<Spanned<CoDelTable>>,
    pub(super) fq_codel: Option<Spanned<FqCoDelTable>>,
    pub(super) pie: Option<Spanned<PieTable>>,
    pub(super) red: Option<Spanned<RedTable>>,
    pub(super) step_mark: Option<Spanned<StepMarkTable>>,

    // Propagation: at most one of the first three.
    pub(super) delay_ms: Option<Number>,
    pub(super) delay_steps: Option<Spanned<Vec<DelayStepTable>>>,
    pub(super) delay_distribution_ms: Option<Spanned<DistributionTable>>,
    pub(super) overtaking: Option<Spanned<bool>>,

    // Losses: at most one of these.
    pub(super) loss: Option<Number>,
    pub(super) gilbert_elliott: Option<Spanned<GilbertElliottTable>>,
    pub(super) loss_bursts: Option<Spanned<BurstTable>>,
    pub(super) lost_packets: Option<Spanned<Vec<u64>>>,
    pub(super) loss_intervals_ms: Option<Spanned<Vec<[Number; 2]>>>,

    pub(super) mtu_bytes: Option<Spanned<u64>>,
    pub(super) blackouts_ms: Option<Spanned<Vec<[Number; 2]>>>,
    pub(super) duplication: Option<Number>,
    pub(super) corruption: Option<Number>,
    pub(super) reordering: Option<Spanned<ReorderingTable>>,

    policer: Option<Spanned<PolicerTable>>,
    aggregation: Option<Spanned<AggregationTable>>,

    /// As mahimahi's for a trace, as UDP's over IPv4 for another shaper, unless it is given.
    overhead_bytes: Option<u32>,
    #[serde(default)]
    log: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AggregationTable {
    interval_ms: Number,
    packets: Option<u64>,
}

impl LinkTable {
    /// The configuration of the table, which is at `span`.
    pub(super) fn config(
        &self,
        source: Source<'_>,
        span: &Span,
    ) -> Result<LinkConfig, NetworkFileError> {
        let (shaper, overhead) = self.shaper(source, span)?;
        let config = LinkConfig {
            queue: self.queue(source, span)?,
            delay: self.delay(source)?,
            loss: self.losses(source)?,
            impairments: self.impairments(source)?,
            policer: match &self.policer {
                Some(policer) => Some(policer.get_ref().policer(source)?),
                None => None,
            },
            aggregation: match &self.aggregation {
                Some(aggregation) => Some(aggregation.get_ref().aggregation(source)?),
                None => None,
            },
            overhead: self.overhead_bytes.unwrap_or(overhead),
            log: self.log,
            ..LinkConfig::new(shaper)
        };
        self.check(source, span, &config)?;
        Ok(config)
    }

    /// Checks stage by stage, so that the error names the line of the stage's keys.
    fn check(
        &self,
        source: Source<'_>,
        span: &Span,
        config: &LinkConfig,
    ) -> Result<(), NetworkFileError> {
        let good = LinkConfig::constant(1);
        let stages = [
            (self.shaper_span(), LinkConfig::new(config.shaper.clone())),
            (
                self.queue_span(),
                LinkConfig {
                    queue: config.queue,
                    ..good.clone()
                },
            ),
            (
                self.delay_span(),
                LinkConfig {
                    delay: config.delay.clone(),
                    ..good.clone()
                },
            ),
            (
                self.loss_span(),
                LinkConfig {
                    loss: config.loss.clone(),
                    ..good.clone()
                },
            ),
            (
                self.policer.as_ref().map(Spanned::span),
                LinkConfig {
                    policer: config.policer,
                    ..good.clone()
                },
            ),
            (
                self.aggregation.as_ref().map(Spanned::span),
                LinkConfig {
                    aggregation: config.aggregation,
                    ..good
                },
            ),
        ];
        for (place, stage) in stages {
            let place = place.unwrap_or_else(|| span.clone());
            source.check(&self.name, &place, stage.validate())?;
        }
        self.check_impairments(source, span, &config.impairments)
    }

    /// Refuses two keys where there may be one. Each candidate is a key, and its place if the table has it.
    pub(super) fn only_one<const N: usize>(
        &self,
        source: Source<'_>,
        candidates: [(&'static str, Option<Span>); N],
    ) -> Result<(), NetworkFileError> {
        let mut first = None;
        for (key, span) in candidates {
            let Some(span) = span else { continue };
            match first {
                None => first = Some(key),
                Some(first) => {
                    let reason = format!("{first} and {key} exclude each other");
                    return Err(source.link(&self.name, &span, reason));
                }
            }
        }
        Ok(())
    }
}

impl AggregationTable {
    fn aggregation(&self, source: Source<'_>) -> Result<Aggregation, NetworkFileError> {
        Ok(Aggregation {
            interval: source.millis("interval_ms", &self.interval_ms)?,
            packets: self.packets,
        })
    }
}

/// Where a value is, if it is there.
pub(super) fn span_of<T>(value: &Option<Spanned<T>>) -> Option<Span> {
    value.as_ref().map(Spanned::span)
}
