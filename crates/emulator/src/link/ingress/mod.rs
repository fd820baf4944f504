//! The stages before the policer and the queue.

mod chance;
mod corruption;
mod gilbert_elliott;
mod impaired;
mod intervals;
mod loss;
mod reordering;

use rand_pcg::Pcg64;

use self::impaired::Impaired;
use self::loss::Loss;
use super::queueing::Queued;
use super::statistics::LinkStats;
use super::{ConfigError, DropCause, Impairments, config};
use crate::time::Nanos;

/// The stages in front of the policer.
#[derive(Debug)]
pub(super) struct Ingress {
    loss: Loss,
    /// Most links have none: they must not pay for them.
    impaired: Option<Box<Impaired>>,
}

impl Ingress {
    /// Without impairments. The seed is that of loss.
    pub(super) fn new(loss: config::Loss, seed: u64) -> Result<Self, ConfigError> {
        Ok(Self {
            loss: Loss::new(loss, seed)?,
            impaired: None,
        })
    }

    pub(super) fn impair(
        &mut self,
        config: Impairments,
        seeds: &mut Pcg64,
    ) -> Result<(), ConfigError> {
        if config != Impairments::default() {
            self.impaired = Some(Box::new(Impaired::new(config, seeds)?));
        }
        Ok(())
    }

    /// Drops the packet, or lets it pass.
    #[inline]
    pub(super) fn admit(&mut self, now: Nanos, size: u64) -> Result<(), DropCause> {
        if let Some(impaired) = &mut self.impaired {
            impaired.admit(now, size)?;
        }
        if self.loss.strikes(now) {
            return Err(DropCause::Loss);
        }
        Ok(())
    }

    /// Whether packets that pass may be copied, changed or held back.
    pub(super) fn is_impaired(&self) -> bool {
        self.impaired.is_some()
    }

    /// Makes a copy of some packets.
    pub(super) fn duplicate(&mut self, queued: &Queued, stats: &mut LinkStats) -> Option<Queued> {
        let packet = self.impaired.as_mut()?.duplicate(&queued.packet)?;
        let record = stats.duplicated(queued.arrival, &packet, queued.size);
        Some(Queued {
            packet,
            record,
            ..*queued
        })
    }

    /// Corrupts some packets, and keeps some for later: `None` if this one.
    pub(super) fn pass(&mut self, mut queued: Queued, stats: &mut LinkStats) -> Option<Queued> {
        let Some(impaired) = &mut self.impaired else {
            return Some(queued);
        };
        let size = queued.size;
        if impaired.corrupt(&mut queued.packet) {
            stats.statistics.corrupted.add(size);
        }
        let queued = impaired.hold(queued.arrival, queued);
        if queued.is_none() {
            stats.statistics.reordered.add(size);
        }
        queued
    }

    /// When the next packet comes that was kept.
    pub(super) fn next_release(&self) -> Option<Nanos> {
        self.impaired.as_ref()?.next_release()
    }

    /// The next packet that was kept, if it comes by `now`.
    pub(super) fn release(&mut self, now: Nanos) -> Option<Queued> {
        let (time, queued) = self.impaired.as_mut()?.release(now)?;
        Some(Queued {
            arrival: time,
            ..queued
        })
    }
}
