//! What the link carries while it is busy, and the head-room that keeps it busy.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::config::QueueTarget;
use crate::model::horizon;
use crate::units::{Bandwidth, Bytes, Timestamp, saturating_nanos as nanos};

/// The rate of the bottleneck and the queue it needs, from the times of acknowledgements.
///
/// Between two acknowledgements the link was busy for as long as the packets waited at it, and idle for the rest. A rate
/// over the busy time alone is the link's and not the sender's: a link that runs empty shows at once how fast it is.
#[derive(Debug, Clone)]
pub(super) struct BusyRateEstimator {
    /// The configured head-room as floats: dividing their terms for each acknowledgement costs as much as the rest.
    idle: f64,
    min: f64,
    max: f64,
    fast: DecayingRate,
    medium: DecayingRate,
    slow: DecayingRate,
    last: Option<Timestamp>,
    /// Until then the link is idle because of what was not sent before.
    refill_until: Timestamp,
    /// The minimum RTT and what hosts add to it, in seconds.
    horizon: f64,
    /// The head-room, as a share of the usual rate.
    queue_ratio: f64,
    /// For how long the link has not been idle, in seconds.
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
    /// The window held the sender back, and neither the application nor ProbeRTT.
    pub window_limited: bool,
}

/// What to have in flight: each of these rates for one minimum RTT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RateEstimate {
    /// What the link will carry.
    pub rate: Bandwidth,
    /// What to keep queued, so that it stays busy when it carries more.
    pub queue_target: Bandwidth,
}

impl BusyRateEstimator {
    /// Nothing is known yet.
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
        // A sender that has less to send, or may not, shows nothing of the link.
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
            // Those who share the link look behind its queue together, and are silent together: who comes back first has all
            // of it. What the rate was among them is what it will be.
            return;
        }
        self.fast.add(bytes, busy, round_trips / FAST);
        self.medium.add(bytes, busy, round_trips / MEDIUM);
        self.slow.add(bytes, busy, round_trips / SLOW);
        if ack.now > self.refill_until {
            self.adapt(gap, gap - busy, waited, bytes);
        }
    }

    /// A link that carries nothing for a while is neither busy nor idle, but closed: what goes beyond a pause as links and
    /// receivers make them is not time at all. A link that closes a hundred times a minute is as fast when it opens as before.
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

    /// Grows the head-room while the link is idle for a larger share of the time than it may be; shrinks it otherwise.
    fn adapt(&mut self, gap: f64, idle: f64, waited: f64, bytes: f64) {
        // A packet that found more of a queue than its neighbours make came to a busy link, whoever keeps it so.
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

    /// Whether the link has not been idle for so long that others keep it busy, too.
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

    /// What to have in flight, as of the last acknowledgement; `None` while too little is known.
    pub(super) fn rate_estimate(&self, mtu: Bytes) -> Option<RateEstimate> {
        let slow = self.slow.rate()?;
        // So few packets and so little time make a rate of chance: the usual one is a part of it.
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

/// Signed integers take one instruction to convert; no span here comes near the 292 years that they hold.
#[inline]
fn seconds(nanos: u64) -> f64 {
    nanos as i64 as f64 / 1e9
}

/// One instruction each, where `f64::max` and `f64::min` take five to leave out a NaN: there is none here.
#[inline]
fn larger(first: f64, second: f64) -> f64 {
    if first > second { first } else { second }
}

#[inline]
fn smaller(first: f64, second: f64) -> f64 {
    if first < second { first } else { second }
}

/// Bytes, and the time for which the link was busy with them, both forgotten exponentially.
#[derive(Debug, Clone, Copy, Default)]
struct DecayingRate {
    bytes: f64,
    busy: f64,
}

impl DecayingRate {
    /// `age` is the time since the last call, in time constants.
    #[inline]
    fn add(&mut self, bytes: f64, busy: f64, age: f64) {
        // e^-age to the second order: after a long silence, what is left of the past is little by either formula.
        let keep = 1.0 / (1.0 + age * (1.0 + 0.5 * age));
        self.bytes = self.bytes * keep + bytes;
        self.busy = self.busy * keep + busy;
    }

    fn rate(&self) -> Option<f64> {
        (self.busy > 0.0).then(|| self.bytes / self.busy)
    }

    /// The rate if the link had carried `rate` for so much time before.
    fn rate_with(&self, time: f64, rate: f64) -> f64 {
        (self.bytes + rate * time) / larger(self.busy + time, f64::MIN_POSITIVE)
    }
}

/// Time constants in minimum RTTs. What is recent says first of a fall or a rise, and is full of chance: links carry in
/// bursts. What is current is steadier. What is usual is what a link comes back to.
const FAST: f64 = 0.25;
const MEDIUM: f64 = 2.8;
const SLOW: f64 = 25.0;

/// The share of the recent rate in what is expected; the rest is the current one's.
const FAST_WEIGHT: f64 = 0.7;

/// The same where the link is shared: within a quarter of a round trip, a flow's part of it is a matter of whose packets happen
/// to leave. Flows that follow that overshoot in turn.
const SHARED_FAST_WEIGHT: f64 = 0.3;

/// What of the recent rate is taken for usual: so many minimum RTTs, and so many packets' time.
const PRIOR_TIME: f64 = 0.1;
const PRIOR_PACKETS: f64 = 1.0;

/// The head-room is less than what the link carries now: in a deep fall, the usual rate would be a long queue.
const MAX_SHARE_OF_FAST: f64 = 0.9;

/// Of a minimum RTT: what a packet's round-trip time varies by though it has not waited.
const JITTER: f64 = 0.004;

/// The link carries at most five times what was acknowledged: more needs more evidence than one short wait.
const MIN_BUSY: f64 = 0.2;

/// What a packet waits at a link that was idle: so many minimum RTTs, and the time of so many acknowledgements' packets.
const QUEUED_WAIT: f64 = 0.125;
const QUEUED_PACKETS: f64 = 2.0;

/// By how much of the usual rate the head-room grows in a second of idleness.
const ADAPTATION: f64 = 0.5;

/// After ProbeRTT or a silence of the application: what is sent in the first round trip is acknowledged in the second one.
const REFILL: u32 = 2;

/// A link that has not been idle for so many minimum RTTs varies little, or is shared: the head-room shrinks that much faster.
const LONG_BUSY: f64 = 25.0;
const DECAY_FACTOR: f64 = 5.0;

/// From here on the haste grows with the square of the time, up to so many times as much: it is most likely shared, and whoever
/// came last, with the head-room of one who knows nothing yet, would keep the largest part of it for as long as that lasts.
const SHARED_BUSY: f64 = 35.0;
const MAX_DECAY_FACTOR: f64 = 16.0;

/// The packets of head-room that every flow has, whatever its rate: flows that leave a share of their rates stay as unequal as
/// they are, and this lets small ones gain on large ones. And the most of its rate that it may be: on a slow link, two packets
/// are a long queue.
const EQUAL_PACKETS: f64 = 2.0;
const MAX_EQUAL: f64 = 0.1;

/// Where the link is shared, more of the head-room is equal and less of it a share: so many packets, and so much of the least
/// share.
const SHARED_PACKETS: f64 = 3.0;
const SHARED_MIN: f64 = 0.25;

/// A pause that the link may make: so many horizons, and so many times what these bytes usually take.
const PAUSE: f64 = 1.0;
const PAUSE_PACKETS: f64 = 4.0;
