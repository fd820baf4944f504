//! A window that keeps a given number of the sender's own packets in the bottleneck's queue.

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bytes, saturating_nanos as nanos};

/// The window that leaves so much of it in the queue, found round by round: window x min RTT / RTT + queue (FAST TCP, D. X.
/// Wei, C. Jin, S. H. Low, S. Hegde, IEEE/ACM Transactions on Networking 14(6), 2006, equation 4).
///
/// Who has equal parts of one queue has equal parts of what leaves it, whatever the round-trip times. With a queue in
/// proportion to the own bandwidth-delay product, as a gain on that leaves it, the longest round-trip time takes all.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TargetQueue {
    window: Option<Bytes>,
    /// What was in flight when the packets now acknowledged were sent.
    measured: Option<Bytes>,
    flight: Bytes,
    nanos: u64,
    samples: u32,
}

impl TargetQueue {
    /// The window, once there is one.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.window
    }

    /// Begins anew with this window.
    pub(super) fn begin(&mut self, window: Bytes) {
        *self = Self {
            window: Some(window),
            ..Self::default()
        };
    }

    /// What is under way does not show the window, which stays.
    pub(super) fn pause(&mut self) {
        *self = Self {
            window: self.window,
            ..Self::default()
        };
    }

    /// Takes an acknowledgement: `queue` is what should wait at the bottleneck. Returns what did in the round that ended,
    /// if any.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent,
        min_rtt: Duration,
        queue: Bytes,
    ) -> Option<Bytes> {
        let waited = ack.round_start.then(|| self.end_round(min_rtt, queue));
        self.flight = self.flight.max(ack.prior_in_flight);
        self.nanos = self.nanos.saturating_add(nanos(ack.rtt));
        self.samples = self.samples.saturating_add(1);
        waited.flatten()
    }

    fn end_round(&mut self, min_rtt: Duration, queue: Bytes) -> Option<Bytes> {
        let mean = self.nanos.checked_div(u64::from(self.samples));
        let flight = core::mem::take(&mut self.flight);
        let sent = core::mem::replace(&mut self.measured, (flight > Bytes::ZERO).then_some(flight));
        (self.nanos, self.samples) = (0, 0);
        let (sent, mean) = (sent?, mean?);
        let pipe = sent.share(Bytes(nanos(min_rtt)), Bytes(mean));
        self.window = Some(pipe + queue);
        Some(sent - pipe)
    }
}

#[cfg(test)]
mod tests;
