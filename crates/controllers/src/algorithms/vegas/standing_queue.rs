//! What waits because of the sender, told apart from what the link delays.

use core::time::Duration;

use kneepoint_estimators::{ApproximateWindow, Min, WindowedFilter};

use crate::loss_based::round_trips::{Round, RoundTrips};
use crate::units::{Bytes, Timestamp, saturating_nanos};

/// What of the window waits in the bottleneck's queue, and has done so for a while.
///
/// A link that hands packets over in lumps, or that is blocked now and then, delays whole rounds without a packet of
/// ours too many. That passes; a queue of the sender's own stays until the sender takes it away.
#[derive(Debug, Clone, Copy)]
pub(super) struct StandingQueue {
    /// The least round-trip time, by time: both in nanoseconds.
    least: ApproximateWindow<u64, Min>,
}

impl StandingQueue {
    /// Nothing is known yet; a queue stands once it has lasted for `standing`.
    pub(super) fn new(standing: Duration) -> Self {
        Self {
            least: ApproximateWindow::new(saturating_nanos(standing)),
        }
    }

    /// Takes a round that ended now, and returns the part of `window` that stands in the queue.
    pub(super) fn after(
        &mut self,
        round: Round,
        now: Timestamp,
        window: Bytes,
        trips: &RoundTrips,
    ) -> Bytes {
        let nanos = saturating_nanos(round.least);
        let least = self.least.update(now.as_nanos(), nanos);
        trips.backlog(window, Duration::from_nanos(least))
    }

    /// The path may be another one.
    pub(super) fn forget(&mut self) {
        self.least.clear();
    }
}
