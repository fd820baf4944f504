//! The keys of a link's losses and of its other impairments.

use serde::Deserialize;

use super::NetworkFileError;
use super::link::{LinkTable, span_of};
use super::source::{Number, Source, Span};
use crate::link::{Impairments, Interval, LinkConfig, Loss, Reordering};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GilbertElliottTable {
    p: f64,
    r: f64,
    #[serde(default)]
    good: f64,
    /// All packets are lost in the bad state, unless it is given: Gilbert's model.
    bad: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BurstTable {
    every: u64,
    length: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReorderingTable {
    probability: f64,
    delay_ms: Number,
}

impl LinkTable {
    pub(super) fn losses(&self, source: Source<'_>) -> Result<Loss, NetworkFileError> {
        self.only_one(
            source,
            [
                ("loss", span_of(&self.loss)),
                ("gilbert_elliott", span_of(&self.gilbert_elliott)),
                ("loss_bursts", span_of(&self.loss_bursts)),
                ("lost_packets", span_of(&self.lost_packets)),
                ("loss_intervals_ms", span_of(&self.loss_intervals_ms)),
            ],
        )?;
        Ok(if let Some(loss) = &self.loss {
            Loss::Random(*loss.get_ref())
        } else if let Some(chain) = &self.gilbert_elliott {
            let chain = chain.get_ref();
            Loss::GilbertElliott {
                p: chain.p,
                r: chain.r,
                good: chain.good,
                bad: chain.bad.unwrap_or(1.0),
            }
        } else if let Some(bursts) = &self.loss_bursts {
            let BurstTable { every, length } = *bursts.get_ref();
            Loss::Burst { every, length }
        } else if let Some(places) = &self.lost_packets {
            Loss::Packets(places.get_ref().clone())
        } else if let Some(intervals) = &self.loss_intervals_ms {
            Loss::Intervals(read_intervals(
                source,
                "loss_intervals_ms",
                intervals.get_ref(),
            )?)
        } else {
            Loss::default()
        })
    }

    pub(super) fn loss_span(&self) -> Option<Span> {
        span_of(&self.loss)
            .or(span_of(&self.gilbert_elliott))
            .or(span_of(&self.loss_bursts))
            .or(span_of(&self.lost_packets))
            .or(span_of(&self.loss_intervals_ms))
    }

    pub(super) fn impairments(&self, source: Source<'_>) -> Result<Impairments, NetworkFileError> {
        let probability =
            |given: &Option<Number>| given.as_ref().map_or(0.0, |given| *given.get_ref());
        Ok(Impairments {
            mtu: self.mtu_bytes.as_ref().map(|bytes| *bytes.get_ref()),
            blackouts: match &self.blackouts_ms {
                Some(blackouts) => read_intervals(source, "blackouts_ms", blackouts.get_ref())?,
                None => Vec::new(),
            },
            duplication: probability(&self.duplication),
            corruption: probability(&self.corruption),
            reordering: match &self.reordering {
                Some(reordering) => Some(reordering.get_ref().reordering(source)?),
                None => None,
            },
        })
    }

    /// Checks one impairment after the other.
    pub(super) fn check_impairments(
        &self,
        source: Source<'_>,
        span: &Span,
        impairments: &Impairments,
    ) -> Result<(), NetworkFileError> {
        let none = Impairments::default();
        let parts = [
            (
                span_of(&self.mtu_bytes),
                Impairments {
                    mtu: impairments.mtu,
                    ..none.clone()
                },
            ),
            (
                span_of(&self.blackouts_ms),
                Impairments {
                    blackouts: impairments.blackouts.clone(),
                    ..none.clone()
                },
            ),
            (
                span_of(&self.duplication),
                Impairments {
                    duplication: impairments.duplication,
                    ..none.clone()
                },
            ),
            (
                span_of(&self.corruption),
                Impairments {
                    corruption: impairments.corruption,
                    ..none.clone()
                },
            ),
            (
                span_of(&self.reordering),
                Impairments {
                    reordering: impairments.reordering,
                    ..none
                },
            ),
        ];
        for (place, impairments) in parts {
            let link = LinkConfig {
                impairments,
                ..LinkConfig::constant(1)
            };
            let place = place.unwrap_or_else(|| span.clone());
            source.check(&self.name, &place, link.validate())?;
        }
        Ok(())
    }
}

impl ReorderingTable {
    fn reordering(&self, source: Source<'_>) -> Result<Reordering, NetworkFileError> {
        Ok(Reordering {
            probability: self.probability,
            delay: source.millis("reordering.delay_ms", &self.delay_ms)?,
        })
    }
}

fn read_intervals(
    source: Source<'_>,
    key: &'static str,
    intervals: &[[Number; 2]],
) -> Result<Vec<Interval>, NetworkFileError> {
    let interval = |[from, to]: &[Number; 2]| {
        Ok(Interval {
            from: source.millis(key, from)?,
            to: source.millis(key, to)?,
        })
    };
    intervals.iter().map(interval).collect()
}
