//! The busy-rate estimator: the link's rate while it is busy, and the queue target that keeps it busy.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::config::QueueTarget;
use crate::model::horizon;
use crate::units::{Bandwidth, Bytes, Timestamp, saturating_nanos as nanos};

/// Estimates the bottleneck's rate and the queue that it needs from the times of acknowledgements.
///
/// Between two acknowledgements the link was busy for as long as the packets waited in its queue, and idle for the
/// rest. The rate over the busy time is the link's, not the sender's.
#[derive(Debug, Clone)]
pub(super) struct BusyRateEstimator {
    /// The configured queue target as floats: divisions per acknowledgement would cost as much as the rest.
    idle: f64,
    min: f64,
    max: f64,
    fast: DecayingRate,
    medium: DecayingRate,
    slow: DecayingRate,
    last: Option<Timestamp>,
    /// Until this time the link may be idle because the sender did not send before.
    refill_until: Timestamp,
    /// Min RTT and the hosts' delay, in seconds.
    horizon: f64,
    /// The queue target as a ratio of the slow average.
    queue_ratio: f64,
    /// How long the link has not been idle, in seconds.
    busy_time: f64,
}

/// One acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acked {
    /// When it arrived.
    pub now: Timestamp,
    /// Newly acknowledged.
    pub bytes: Bytes,
    /// The round-trip time of its newest packet.
    pub rtt: Duration,
    /// The round-trip time without queues.
    pub min_rtt: Duration,
    /// Whether the window limited the sender, and not the application or ProbeRTT.
    pub window_limited: bool,
}

/// The target flight: each of these rates times min RTT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RateEstimate {
    /// The expected rate of the link.
    pub rate: Bandwidth,
    /// The rate times min RTT to keep in the queue, so that the link stays busy when it becomes faster.
    pub queue_target: Bandwidth,
}

impl BusyRateEstimator {
    /// An estimator without samples.
    pub(super) fn new(target: QueueTarget) -> Self {
        let (min, max) = (target.min.as_f64(), target.max.as_f64());
        Self {
            idle: target.idle.as_f64(),
            min,
            max,
            fast: DecayingRate::default(),
            medium: DecayingRate::default(),
            slow: DecayingRate::default(),
            last: None,
            refill_until: Timestamp::ZERO,
            horizon: 0.0,
            queue_ratio: min.max(0.5 * max),
            busy_time: 0.0,
        }
    }

    /// An acknowledgement arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Acked) {
        let last = self.last.replace(ack.now);
        // A sender that is limited by the application or by ProbeRTT shows nothing about the link.
        let Some(last) = last.filter(|_| ack.window_limited) else {
            self.refill_until = ack.now + REFILL * horizon(ack.min_rtt);
            return;
        };
        let waited = seconds(nanos(ack.rtt).saturating_sub(nanos(ack.min_rtt)));
        self.horizon = seconds(nanos(horizon(ack.min_rtt)));
        let bytes = ack.bytes.0 as i64 as f64;
        let gap = self.without_silence(seconds(ack.now.nanos_since(last)), bytes);
        let busy = larger(waited + JITTER * self.horizon, MIN_BUSY * gap);
        let busy = smaller(busy, gap);
        let round_trips = gap / self.horizon;
        if ack.now <= self.refill_until && self.is_shared() {
            // Competing flows run ProbeRTT at the same time and are all idle. The flow that returns first gets the
            // whole link, which is not its future rate.
            return;
        }
        self.fast.add(bytes, busy, round_trips / FAST);
        self.medium.add(bytes, busy, round_trips / MEDIUM);
        self.slow.add(bytes, busy, round_trips / SLOW);
        if ack.now > self.refill_until {
            self.adapt(gap, gap - busy, waited, bytes);
        }
    }

    /// A link without deliveries for long is closed, neither busy nor idle. Time beyond a usual gap of links and
    /// receivers does not count. A link that closes often is as fast when it opens as before.
    #[inline]
    fn without_silence(&self, gap: f64, bytes: f64) -> f64 {
        match self.slow.rate() {
            Some(slow) => smaller(
                gap,
                PAUSE * self.horizon + PAUSE_PACKETS * bytes / larger(slow, 1.0),
            ),
            None => gap,
        }
    }

    /// Raises the queue target while the link is idle for more than the configured share of the time, and lowers it
    /// otherwise.
    fn adapt(&mut self, gap: f64, idle: f64, waited: f64, bytes: f64) {
        // A packet that waited longer than for its neighbours met a busy link.
        let min_queue = QUEUED_PACKETS * bytes / self.slow.rate().unwrap_or(f64::INFINITY);
        let idle = if waited > QUEUED_WAIT * self.horizon + min_queue {
            0.0
        } else {
            idle
        };
        self.busy_time = if idle > 0.0 {
            0.0
        } else {
            self.busy_time + gap
        };
        let decay_factor = self.decay_factor();
        let surplus = idle - decay_factor * self.idle * gap;
        let min = if self.is_shared() {
            SHARED_MIN * self.min
        } else {
            self.min
        };
        self.queue_ratio = (self.queue_ratio + ADAPTATION * surplus).clamp(min, self.max);
    }

    /// Whether the link has been busy so long that other flows must keep it busy too.
    fn is_shared(&self) -> bool {
        self.busy_time > SHARED_BUSY * self.horizon
    }

    fn decay_factor(&self) -> f64 {
        if self.busy_time <= LONG_BUSY * self.horizon {
            return 1.0;
        }
        let long = self.busy_time / larger(SHARED_BUSY * self.horizon, f64::MIN_POSITIVE);
        DECAY_FACTOR * larger(smaller(long * long, MAX_DECAY_FACTOR), 1.0)
    }

    /// The estimate as of the last acknowledgement; `None` before there are enough samples.
    pub(super) fn rate_estimate(&self, mtu: Bytes) -> Option<RateEstimate> {
        let slow = self.slow.rate()?;
        // The fast average is noisy, so the slow one is blended in as a prior.
        let mtu = mtu.0 as i64 as f64;
        let prior = PRIOR_TIME * self.horizon + PRIOR_PACKETS * mtu / larger(slow, 1.0);
        let fast = self.fast.rate_with(prior, slow);
        let medium = self.medium.rate()?;
        let (weight, packets) = if self.is_shared() {
            (SHARED_FAST_WEIGHT, SHARED_PACKETS)
        } else {
            (FAST_WEIGHT, EQUAL_PACKETS)
        };
        let rate = medium + weight * (fast - medium);
        let equal = packets * mtu / larger(self.horizon, f64::MIN_POSITIVE);
        let queue_target = smaller(self.queue_ratio * slow, MAX_SHARE_OF_FAST * fast)
            + smaller(equal, MAX_EQUAL * slow);
        Some(RateEstimate {
            rate: Bandwidth::from_f64(rate),
            queue_target: Bandwidth::from_f64(queue_target),
        })
    }
}

/// Signed integers convert in one instruction, and no span here comes near their limit of 292 years.
#[inline]
fn seconds(nanos: u64) -> f64 {
    nanos as i64 as f64 / 1e9
}

/// One instruction each. `f64::max` and `f64::min` take five to handle NaN, which does not occur here.
#[inline]
fn larger(first: f64, second: f64) -> f64 {
    if first > second { first } else { second }
}

#[inline]
fn smaller(first: f64, second: f64) -> f64 {
    if first < second { first } else { second }
}

/// Bytes and busy time with exponential decay.
#[derive(Debug, Clone, Copy, Default)]
struct DecayingRate {
    bytes: f64,
    busy: f64,
}

impl DecayingRate {
    /// `age` is the time since the last call, in time constants.
    #[inline]
    fn add(&mut self, bytes: f64, busy: f64, age: f64) {
        // e^-age to the second order: for a large age both are close to zero.
        let keep = 1.0 / (1.0 + age * (1.0 + 0.5 * age));
        self.bytes = self.bytes * keep + bytes;
        self.busy = self.busy * keep + busy;
    }

    fn rate(&self) -> Option<f64> {
        (self.busy > 0.0).then(|| self.bytes / self.busy)
    }

    /// The rate with a prior of `rate` over `time`.
    fn rate_with(&self, time: f64, rate: f64) -> f64 {
        (self.bytes + rate * time) / larger(self.busy + time, f64::MIN_POSITIVE)
    }
}

/// Time constants in min RTTs. The fast average follows a change first, but is noisy, because links deliver in bursts.
/// The medium average is steadier. The slow average is the link's long-term rate.
const FAST: f64 = 0.25;
const MEDIUM: f64 = 2.8;
const SLOW: f64 = 25.0;

/// The weight of the fast average in the estimate; the rest is the medium one's.
const FAST_WEIGHT: f64 = 0.7;

/// The weight on a shared link. Within a quarter of an RTT a flow's share depends on the order of packets in the queue,
/// and flows that follow it overshoot in turn.
const SHARED_FAST_WEIGHT: f64 = 0.3;

/// The prior of the fast average: this many min RTTs, and the time of this many packets, at the slow rate.
const PRIOR_TIME: f64 = 0.1;
const PRIOR_PACKETS: f64 = 1.0;

/// The queue target is at most this share of the fast average: when the link becomes much slower, a share of the slow
/// average would be a long queue.
const MAX_SHARE_OF_FAST: f64 = 0.9;

/// The share of min RTT by which the RTT varies without a queue.
const JITTER: f64 = 0.004;

/// The busy time is at least this share of the gap. A rate above five times the acknowledged rate needs more evidence
/// than one short wait.
const MIN_BUSY: f64 = 0.2;

/// The wait at a link that was idle: this share of min RTT, and the time of this many acknowledgements' packets.
const QUEUED_WAIT: f64 = 0.125;
const QUEUED_PACKETS: f64 = 2.0;

/// The growth of the queue target per second of idle time, as a ratio of the slow average.
const ADAPTATION: f64 = 0.5;

/// After ProbeRTT or an idle application: packets sent in the first round are acknowledged in the second.
const REFILL: u32 = 2;

/// A link that has been busy for this many min RTTs varies little or is shared. The queue target then decays faster by
/// this factor.
const LONG_BUSY: f64 = 25.0;
const DECAY_FACTOR: f64 = 5.0;

/// From this time on the decay factor grows with the square of the busy time, up to this maximum. The link is most
/// likely shared, and the newest flow, with its initial queue target, would otherwise keep the largest share.
const SHARED_BUSY: f64 = 35.0;
const MAX_DECAY_FACTOR: f64 = 16.0;

/// A constant part of the queue target, in packets: with a part in proportion to the rate only, unequal flows stay
/// unequal. And its maximum as a share of the rate: on a slow link two packets are a long queue.
const EQUAL_PACKETS: f64 = 2.0;
const MAX_EQUAL: f64 = 0.1;

/// On a shared link the constant part is larger, in packets, and the minimum proportional part smaller, as a share of
/// the configured one.
const SHARED_PACKETS: f64 = 3.0;
const SHARED_MIN: f64 = 0.25;

/// The maximum gap that counts as time: this many min RTTs, and this multiple of the bytes' usual time.
const PAUSE: f64 = 1.0;
const PAUSE_PACKETS: f64 = 4.0;
