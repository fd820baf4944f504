//! Coalesces sent packets.

use std::time::Instant;

use super::clock::Clock;
use crate::event::SentEvent;
use crate::rate_sample::DeliveryRateSampler;
use crate::units::Bytes;

/// Packets sent while an acknowledgement waits for more ([`AckedRun`](super::AckedRun)). Their per-packet state is the
/// same.
#[derive(Debug, Clone, Copy)]
pub struct SentRun {
    first: Instant,
    last: Instant,
    /// Zero if the run is empty; the instants are then undefined.
    bytes: Bytes,
}

impl SentRun {
    /// An empty run on a connection that begins at `origin`.
    pub const fn none(origin: Instant) -> Self {
        Self {
            first: origin,
            last: origin,
            bytes: Bytes::ZERO,
        }
    }

    /// Adds packets sent at `now`.
    #[inline]
    pub fn push(&mut self, now: Instant, bytes: Bytes) {
        if self.bytes == Bytes::ZERO {
            self.first = now;
        }
        self.last = now;
        self.bytes += bytes;
    }

    /// Reports the run to `sampler`, if there is one. Call it before any other event of the sampler.
    #[inline]
    pub fn end(
        &mut self,
        clock: &mut Clock,
        sampler: &mut DeliveryRateSampler,
    ) -> Option<SentEvent> {
        let bytes = core::mem::take(&mut self.bytes);
        (bytes > Bytes::ZERO).then(|| {
            let (first, last) = (clock.sent(self.first), clock.sent(self.last));
            sampler.on_sent_while_coalescing(first, last, bytes)
        })
    }
}
