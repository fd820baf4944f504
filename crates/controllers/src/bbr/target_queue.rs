//! A window that keeps a given number of the sender's packets in the bottleneck's queue (FAST's alpha).

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bytes, saturating_nanos as nanos};

/// The window that leaves a target queue at the bottleneck, updated each round: window x min RTT / RTT + queue (FAST
/// TCP, D. X. Wei, C. Jin, S. H. Low, S. Hegde, IEEE/ACM Transactions on Networking 14(6), 2006, equation 4).
///
/// Flows with equal parts of one queue have equal parts of its output, whatever their RTTs. With a gain on the
/// bandwidth-delay product the queue is proportional to the flow's BDP, and the flow with the longest RTT takes most of
/// the link.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TargetQueue {
    window: Option<Bytes>,
    /// The flight when the packets that are now acknowledged were sent.
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

    /// Restarts from this window.
    pub(super) fn begin(&mut self, window: Bytes) {
        *self = Self {
            window: Some(window),
            ..Self::default()
        };
    }

    /// Discards the current measurements, which do not reflect the window. The window stays.
    pub(super) fn pause(&mut self) {
        *self = Self {
            window: self.window,
            ..Self::default()
        };
    }

    /// Handles an acknowledgement. `queue` is the target queue at the bottleneck. Returns the queue of the round that
    /// has ended, if one has.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent,
        min_rtt: Duration,
        queue: Bytes,
    ) -> Option<Bytes> {
        let waited = ack.round_start.then(|| self.end_round(min_rtt, queue));
        self.flight = self.flight.max(ack.prior_in_flight);
        self.nanos = self.nanos.saturating_add(ack.rtt_nanos());
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
