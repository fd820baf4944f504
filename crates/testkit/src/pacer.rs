//! When the pacer lets the next packet go.

use std::time::Duration;

/// How a transport spreads its packets. The rate is the controller's if it has one, and otherwise 5/4 windows per smoothed round
/// trip (RFC 9002, section 7.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Each packet takes its time at the rate of the moment at which it leaves.
    Even,
    /// The same, but without a rate of the controller's the window alone limits.
    Own,
    /// A bucket of ten packets that waits, once it is empty, until it is full: quinn 0.11.
    FullBucket,
    /// A bucket of ten packets that waits for one packet: noq.
    Bucket,
}

#[derive(Debug)]
pub(crate) struct Pacer {
    pub(crate) pacing: Pacing,
    /// When the next packet may leave.
    pub(crate) next: Duration,
    /// In billionths of a byte.
    tokens: u128,
    refilled: Duration,
}

impl Pacer {
    pub(crate) fn new(pacing: Pacing) -> Self {
        Self {
            pacing,
            next: Duration::ZERO,
            tokens: u128::MAX,
            refilled: Duration::ZERO,
        }
    }

    /// Something happened that may have changed the rate.
    pub(crate) fn update(&mut self, now: Duration, rate: Option<u64>, packet: u64) {
        if matches!(self.pacing, Pacing::Even | Pacing::Own) {
            return;
        }
        self.refill(now, rate, packet);
        let wanted = match self.pacing {
            Pacing::FullBucket if self.tokens < nano(packet) => BURST * nano(packet),
            _ => nano(packet),
        };
        let missing = wanted.saturating_sub(self.tokens);
        self.next = now + span(missing, u128::from(rate.unwrap_or(1).max(1)));
    }

    /// A packet left at `now`.
    pub(crate) fn on_sent(&mut self, now: Duration, rate: Option<u64>, packet: u64) {
        if let (Pacing::Even | Pacing::Own, Some(rate)) = (self.pacing, rate) {
            self.next = self.next.max(now) + time_at(rate, packet);
        }
        self.refill(now, rate, packet);
        self.tokens = self.tokens.saturating_sub(nano(packet));
    }

    /// Without a rate the bucket is full.
    fn refill(&mut self, now: Duration, rate: Option<u64>, packet: u64) {
        let elapsed = now.saturating_sub(self.refilled).as_nanos();
        let gained = rate.map_or(u128::MAX, |rate| u128::from(rate) * elapsed);
        self.tokens = self.tokens.saturating_add(gained).min(BURST * nano(packet));
        self.refilled = now;
    }
}

/// How long so many bytes take at a rate.
pub(crate) fn time_at(rate: u64, bytes: u64) -> Duration {
    Duration::from_nanos(u64::try_from(nano(bytes) / u128::from(rate.max(1))).unwrap_or(u64::MAX))
}

fn span(tokens: u128, rate: u128) -> Duration {
    Duration::from_nanos(u64::try_from(tokens.div_ceil(rate)).unwrap_or(u64::MAX))
}

fn nano(bytes: u64) -> u128 {
    u128::from(bytes) * 1_000_000_000
}

/// quinn's and noq's smallest bucket, in packets.
const BURST: u128 = 10;
