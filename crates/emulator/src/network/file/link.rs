//! A link's table.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{NetworkFileError, millis, rate};
use crate::link::{
    CoDel, FqCoDel, Limit, LinkConfig, MAHIMAHI_OVERHEAD, Pie, Queue, Shaper, UDP_IPV4_OVERHEAD,
};
use crate::trace::Trace;

/// A link in one direction, by either a rate or a trace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkTable {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    rate_mbps: Option<f64>,
    trace: Option<PathBuf>,
    /// Infinite unless there is a limit; then drop-tail.
    queue: Option<QueueName>,
    queue_bytes: Option<u64>,
    queue_packets: Option<u64>,
    #[serde(default)]
    ecn: bool,
    #[serde(default)]
    delay_ms: f64,
    #[serde(default)]
    loss: f64,
    mtu_bytes: Option<u64>,
    /// As mahimahi's for a trace, as UDP's over IPv4 for a rate, unless it is given.
    overhead_bytes: Option<u32>,
    #[serde(default)]
    log: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum QueueName {
    Infinite,
    DropTail,
    DropHead,
    #[serde(rename = "codel")]
    CoDel,
    #[serde(rename = "fq-codel")]
    FqCoDel,
    Pie,
}

impl LinkTable {
    pub(super) fn config(&self, file: &str, folder: &Path) -> Result<LinkConfig, NetworkFileError> {
        let (shaper, overhead) = match (self.rate_mbps, &self.trace) {
            (Some(mbps), None) => {
                let bytes_per_second = rate(file, mbps)?;
                (Shaper::ConstantRate { bytes_per_second }, UDP_IPV4_OVERHEAD)
            }
            (None, Some(trace)) => {
                let trace = Trace::load(folder.join(trace));
                let trace = trace.map_err(|source| NetworkFileError::Trace {
                    name: file.to_owned(),
                    source,
                })?;
                (Shaper::Trace(trace), MAHIMAHI_OVERHEAD)
            }
            _ => return Err(self.refuse(file, "it needs either rate_mbps or trace")),
        };
        let mut config = LinkConfig {
            queue: self.queue(file)?,
            delay: millis(file, "delay_ms", self.delay_ms)?.into(),
            loss: self.loss.into(),
            overhead: self.overhead_bytes.unwrap_or(overhead),
            log: self.log,
            ..LinkConfig::new(shaper)
        };
        config.impairments.mtu = self.mtu_bytes;
        Ok(config)
    }

    fn queue(&self, file: &str) -> Result<Queue, NetworkFileError> {
        let limit = Limit {
            bytes: self.queue_bytes,
            packets: self.queue_packets,
            time: None,
        };
        let given = (limit != Limit::default()).then_some(limit);
        let name = match (self.queue, given) {
            (Some(name), _) => name,
            (None, Some(_)) => QueueName::DropTail,
            (None, None) => QueueName::Infinite,
        };
        let marks = matches!(name, QueueName::CoDel | QueueName::FqCoDel | QueueName::Pie);
        if self.ecn && !marks {
            return Err(self.refuse(file, "ecn = true needs a queue that marks"));
        }
        let ecn = self.ecn;
        Ok(match name {
            QueueName::Infinite if given.is_some() => {
                return Err(self.refuse(file, "an infinite queue has no limit"));
            }
            QueueName::Infinite => Queue::Infinite,
            QueueName::DropTail => Queue::DropTail(limit),
            QueueName::DropHead => Queue::DropHead(limit),
            QueueName::CoDel => Queue::CoDel(CoDel {
                limit: given,
                ecn,
                ..CoDel::default()
            }),
            QueueName::Pie => Queue::Pie(Pie {
                limit: given,
                ecn,
                ..Pie::default()
            }),
            QueueName::FqCoDel => {
                let mut queue = FqCoDel::default();
                queue.codel.limit = given.or(queue.codel.limit);
                queue.codel.ecn = ecn;
                Queue::FqCoDel(queue)
            }
        })
    }

    fn refuse(&self, file: &str, reason: &str) -> NetworkFileError {
        NetworkFileError::Link {
            name: file.to_owned(),
            link: self.name.clone(),
            reason: reason.to_owned(),
        }
    }
}
