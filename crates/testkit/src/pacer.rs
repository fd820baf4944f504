//! The pacers.

use std::time::Duration;

/// How a transport paces. At the controller's rate if there is one, otherwise at 5/4 windows per smoothed RTT (RFC
/// 9002, section 7.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Each packet takes its time at the current rate.
    Even,
    /// As `Even`, but without a controller's rate only the window limits.
    Own,
    /// A bucket of ten packets that waits until it is full once it is empty: quinn 0.11.
    FullBucket,
    /// A bucket of ten packets that waits for one packet: noq.
    Bucket,
}

#[derive(Debug)]
pub(crate) struct Pacer {
    pub(crate) pacing: Pacing,
    /// The earliest time of the next packet.
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

    /// An event may have changed the rate.
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

    /// A packet was sent at `now`.
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

/// The time of `bytes` at `rate`.
pub(crate) fn time_at(rate: u64, bytes: u64) -> Duration {
    Duration::from_nanos(u64::try_from(nano(bytes) / u128::from(rate.max(1))).unwrap_or(u64::MAX))
}

fn span(tokens: u128, rate: u128) -> Duration {
    Duration::from_nanos(u64::try_from(tokens.div_ceil(rate)).unwrap_or(u64::MAX))
}

fn nano(bytes: u64) -> u128 {
    u128::from(bytes) * 1_000_000_000
}

/// The minimum bucket of quinn and noq, in packets.
const BURST: u128 = 10;
