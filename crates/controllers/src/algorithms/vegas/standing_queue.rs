//! What waits because of the sender, told apart from what the link delays.

use core::time::Duration;

use kneepoint_estimators::{ApproximateWindow, Min, WindowedFilter};

use crate::loss_based::round_trips::{Round, RoundTrips};
use crate::units::{Bytes, Timestamp, saturating_nanos};

/// What of the window waits in the bottleneck's queue, and has done so for a while.
///
/// A link that hands packets over in lumps, or that is blocked now and then, delays whole rounds without a packet of
/// ours too many. That passes; a queue of the sender's own stays until the sender takes it away.
///
/// The path's delay is a distribution: on a path whose delay varies, the least of a few rounds is longer than the least ever. Of the
/// delay that stands, what the rounds vary by is therefore no queue. A queue that grows shows no shorter round after a longer one,
/// so it is the decreases that count. If the rounds are drawn from a uniform distribution, their mean is three mean decreases
/// above its least.
#[derive(Debug, Clone, Copy)]
pub(super) struct StandingQueue {
    /// The least round-trip time, by time: both in nanoseconds.
    min_rtt: ApproximateWindow<u64, Min>,
    /// What the hosts may add to a round-trip time.
    host_delay: Duration,
    /// How the rounds' least round-trip times vary; not asked for if each round is judged by itself.
    variation: Option<Variation>,
}

/// By how much a round's least round-trip time falls below the last round's on average, in nanoseconds. A rise counts as zero.
#[derive(Debug, Clone, Copy, Default)]
struct Variation {
    last: u64,
    decrease: u64,
}

impl StandingQueue {
    /// Nothing is known yet; a queue stands once it has lasted for `standing`.
    pub(super) fn new(standing: Duration, host_delay: Duration) -> Self {
        Self {
            min_rtt: ApproximateWindow::new(saturating_nanos(standing)),
            host_delay,
            variation: (!standing.is_zero()).then(Variation::default),
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
        let nanos = saturating_nanos(round.min_rtt);
        let min_rtt = self.min_rtt.update(now.as_nanos(), nanos);
        if let Some(variation) = &mut self.variation {
            variation.update(nanos);
        }
        trips.backlog(window, Duration::from_nanos(min_rtt), self.tolerated())
    }

    /// A delay that is no queue.
    pub(super) fn tolerated(&self) -> Duration {
        let decrease = self.variation.map_or(0, |variation| variation.decrease);
        let varies = Duration::from_nanos(decrease.saturating_mul(MEAN_DECREASES));
        self.host_delay.saturating_add(varies)
    }

    /// The path may be another one.
    pub(super) fn forget(&mut self) {
        self.min_rtt.clear();
        self.variation = self.variation.map(|_| Variation::default());
    }
}

impl Variation {
    fn update(&mut self, min_rtt: u64) {
        let decrease = self.last.saturating_sub(min_rtt);
        self.decrease = self.decrease - self.decrease / SMOOTHING + decrease / SMOOTHING;
        self.last = min_rtt;
    }
}

/// From a uniform distribution's least to its mean: two draws differ by a third of its width on average, half of them downwards.
const MEAN_DECREASES: u64 = 3;

/// A round's weight is one in so many, as a sample's in the smoothed round-trip time (RFC 9002, section 5.3).
const SMOOTHING: u64 = 8;
