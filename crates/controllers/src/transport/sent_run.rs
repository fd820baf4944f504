//! Packets that are sent one after the other, counted together.

use std::time::Instant;

use super::clock::Clock;
use crate::event::SentEvent;
use crate::rate_sample::DeliveryRateSampler;
use crate::units::Bytes;

/// Packets that leave while an acknowledgement waits for more of its kind ([`AckedRun`](super::AckedRun)): nothing has been
/// learned since the first of them.
#[derive(Debug, Clone, Copy)]
pub struct SentRun {
    first: Instant,
    last: Instant,
    /// None: the instants have no meaning.
    bytes: Bytes,
}

impl SentRun {
    /// Nothing was sent so far on a connection that begins at `origin`.
    pub const fn none(origin: Instant) -> Self {
        Self {
            first: origin,
            last: origin,
            bytes: Bytes::ZERO,
        }
    }

    /// So much left at `now`.
    #[inline]
    pub fn push(&mut self, now: Instant, bytes: Bytes) {
        if self.bytes == Bytes::ZERO {
            self.first = now;
        }
        self.last = now;
        self.bytes += bytes;
    }

    /// Tells `sampler` of what was sent, if there is anything: to be called before anything else happens to it.
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
