//! The keys of a link's queue.

use serde::Deserialize;
use toml::Spanned;

use super::NetworkFileError;
use super::link::{LinkTable, span_of};
use super::source::{Number, Source, Span};
use crate::link::{
    CoDel, FqCoDel, Limit, Pie, Queue, RED_MAX_PROBABILITY, RED_PACKET_TIME, RED_WEIGHT, Red,
    StepMark,
};
use crate::time::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QueueName {
    Infinite,
    DropTail,
    DropHead,
    #[serde(rename = "codel")]
    CoDel,
    #[serde(rename = "fq-codel")]
    FqCoDel,
    Pie,
    Red,
    StepMark,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoDelTable {
    target_ms: Option<Number>,
    interval_ms: Option<Number>,
    mtu_bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FqCoDelTable {
    quantum_bytes: Option<u32>,
    flows: Option<u16>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PieTable {
    target_ms: Option<Number>,
    update_ms: Option<Number>,
    alpha: Option<f64>,
    beta: Option<f64>,
    burst_ms: Option<Number>,
    derandomized: Option<bool>,
    ecn_threshold: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RedTable {
    min_bytes: u64,
    max_bytes: u64,
    max_probability: Option<f64>,
    weight: Option<f64>,
    packet_ms: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepMarkTable {
    bytes: Option<u64>,
    packets: Option<u64>,
    ms: Option<Number>,
    #[serde(default)]
    drop_not_ect: bool,
}

impl LinkTable {
    pub(super) fn queue(&self, source: Source<'_>, span: &Span) -> Result<Queue, NetworkFileError> {
        let limit = self.limit(source)?;
        let given = (limit != Limit::default()).then_some(limit);
        let name = match (&self.queue, given) {
            (Some(name), _) => *name.get_ref(),
            (None, Some(_)) => QueueName::DropTail,
            (None, None) => QueueName::Infinite,
        };
        let place = span_of(&self.queue).unwrap_or_else(|| span.clone());
        self.refuse_other_parameters(source, name)?;
        let ecn = self.ecn.as_ref().is_some_and(|ecn| *ecn.get_ref());
        Ok(match name {
            QueueName::Infinite if given.is_some() => {
                return Err(source.link(&self.name, &place, "an infinite queue has no limit"));
            }
            QueueName::Infinite => Queue::Infinite,
            QueueName::DropTail => Queue::DropTail(limit),
            QueueName::DropHead => Queue::DropHead(limit),
            QueueName::CoDel => Queue::CoDel(self.codel(source, CoDel::default(), given, ecn)?),
            QueueName::FqCoDel => {
                let base = FqCoDel::default();
                let table = self.fq_codel.as_ref().map(Spanned::get_ref);
                Queue::FqCoDel(FqCoDel {
                    codel: self.codel(source, base.codel, given.or(base.codel.limit), ecn)?,
                    quantum: table.and_then(|t| t.quantum_bytes).unwrap_or(base.quantum),
                    flows: table.and_then(|t| t.flows).unwrap_or(base.flows),
                })
            }
            QueueName::Pie => Queue::Pie(self.pie(source, given, ecn)?),
            QueueName::Red => {
                let red = match (&self.red, self.queue_bytes.as_ref()) {
                    (Some(red), _) => red.get_ref().red(source)?,
                    (None, Some(bytes)) => Red::within(*bytes.get_ref()),
                    (None, None) => {
                        let reason = "queue = \"red\" needs queue_bytes or a table red";
                        return Err(source.link(&self.name, &place, reason));
                    }
                };
                Queue::Red(Red {
                    limit: given,
                    ecn,
                    ..red
                })
            }
            QueueName::StepMark => match &self.step_mark {
                Some(step) => Queue::StepMark(step.get_ref().step(source, given)?),
                None => {
                    let reason = "queue = \"step-mark\" needs a table step_mark";
                    return Err(source.link(&self.name, &place, reason));
                }
            },
        })
    }

    /// The place of the queue's keys: the most specific ones that are there.
    pub(super) fn queue_span(&self) -> Option<Span> {
        span_of(&self.codel)
            .or(span_of(&self.fq_codel))
            .or(span_of(&self.pie))
            .or(span_of(&self.red))
            .or(span_of(&self.step_mark))
            .or(span_of(&self.queue_bytes))
            .or(span_of(&self.queue_packets))
            .or(span_of(&self.queue_ms))
            .or(span_of(&self.queue))
    }

    fn limit(&self, source: Source<'_>) -> Result<Limit, NetworkFileError> {
        let count = |given: &Option<Spanned<u64>>| given.as_ref().map(|given| *given.get_ref());
        Ok(Limit {
            bytes: count(&self.queue_bytes),
            packets: count(&self.queue_packets),
            time: millis(source, "queue_ms", &self.queue_ms)?,
        })
    }

    /// Keys of another queue would do nothing.
    fn refuse_other_parameters(
        &self,
        source: Source<'_>,
        name: QueueName,
    ) -> Result<(), NetworkFileError> {
        use QueueName::{CoDel, FqCoDel, Pie, Red, StepMark};
        let ecn = self.ecn.as_ref().filter(|ecn| *ecn.get_ref());
        let parameters: [(_, _, &[QueueName]); 6] = [
            ("codel", span_of(&self.codel), &[CoDel, FqCoDel]),
            ("fq_codel", span_of(&self.fq_codel), &[FqCoDel]),
            ("pie", span_of(&self.pie), &[Pie]),
            ("red", span_of(&self.red), &[Red]),
            ("step_mark", span_of(&self.step_mark), &[StepMark]),
            (
                "ecn",
                ecn.map(Spanned::span),
                &[CoDel, FqCoDel, Pie, Red, StepMark],
            ),
        ];
        for (key, span, queues) in parameters {
            if let Some(span) = span
                && !queues.contains(&name)
            {
                let reason = match key {
                    "ecn" => "ecn = true needs a queue that marks".to_owned(),
                    key => format!("{key} needs queue = \"{}\"", key.replace('_', "-")),
                };
                return Err(source.link(&self.name, &span, reason));
            }
        }
        Ok(())
    }

    fn codel(
        &self,
        source: Source<'_>,
        base: CoDel,
        limit: Option<Limit>,
        ecn: bool,
    ) -> Result<CoDel, NetworkFileError> {
        let base = CoDel { limit, ecn, ..base };
        let Some(table) = self.codel.as_ref().map(Spanned::get_ref) else {
            return Ok(base);
        };
        let target = millis(source, "codel.target_ms", &table.target_ms)?;
        let interval = millis(source, "codel.interval_ms", &table.interval_ms)?;
        Ok(CoDel {
            target: target.unwrap_or(base.target),
            interval: interval.unwrap_or(base.interval),
            mtu: table.mtu_bytes.unwrap_or(base.mtu),
            ..base
        })
    }

    fn pie(
        &self,
        source: Source<'_>,
        limit: Option<Limit>,
        ecn: bool,
    ) -> Result<Pie, NetworkFileError> {
        let base = Pie {
            limit,
            ecn,
            ..Pie::default()
        };
        let Some(table) = self.pie.as_ref().map(Spanned::get_ref) else {
            return Ok(base);
        };
        let target = millis(source, "pie.target_ms", &table.target_ms)?;
        let update = millis(source, "pie.update_ms", &table.update_ms)?;
        let burst = millis(source, "pie.burst_ms", &table.burst_ms)?;
        Ok(Pie {
            target: target.unwrap_or(base.target),
            update: update.unwrap_or(base.update),
            alpha: table.alpha.unwrap_or(base.alpha),
            beta: table.beta.unwrap_or(base.beta),
            burst: burst.unwrap_or(base.burst),
            derandomized: table.derandomized.unwrap_or(base.derandomized),
            ecn_threshold: table.ecn_threshold.unwrap_or(base.ecn_threshold),
            ..base
        })
    }
}

impl RedTable {
    fn red(&self, source: Source<'_>) -> Result<Red, NetworkFileError> {
        let packet_time = millis(source, "red.packet_ms", &self.packet_ms)?;
        Ok(Red {
            min: self.min_bytes,
            max: self.max_bytes,
            max_probability: self.max_probability.unwrap_or(RED_MAX_PROBABILITY),
            weight: self.weight.unwrap_or(RED_WEIGHT),
            packet_time: packet_time.unwrap_or(RED_PACKET_TIME),
            limit: None,
            ecn: false,
        })
    }
}

impl StepMarkTable {
    fn step(&self, source: Source<'_>, limit: Option<Limit>) -> Result<StepMark, NetworkFileError> {
        Ok(StepMark {
            threshold: Limit {
                bytes: self.bytes,
                packets: self.packets,
                time: millis(source, "step_mark.ms", &self.ms)?,
            },
            drop_not_ect: self.drop_not_ect,
            limit,
        })
    }
}

fn millis(
    source: Source<'_>,
    key: &'static str,
    given: &Option<Number>,
) -> Result<Option<Nanos>, NetworkFileError> {
    let given = given.as_ref();
    given.map(|given| source.millis(key, given)).transpose()
}
