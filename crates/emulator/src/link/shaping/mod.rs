//! The shapers, which limit the rate.

mod bucket;
mod constant_rate;
mod opportunities;
mod policer;
mod schedule;
mod token_bucket;

use self::constant_rate::ConstantRate;
use self::opportunities::Opportunities;
use self::schedule::Schedule;
use self::token_bucket::TokenBucket;
use super::{ConfigError, Shaper};
use crate::time::Nanos;

pub(super) use self::policer::Policer;

/// Serves one packet after the other. The link [wakes](Self::wake) the server whenever the queue ceases to be empty.
/// It then asks when the server is [`ready`](Self::ready) for a packet, takes one from the queue at exactly that time
/// and has it [served](Self::serve), until the queue is empty.
#[derive(Debug)]
pub(super) enum Server {
    Unlimited(Unlimited),
    ConstantRate(ConstantRate),
    Opportunities(Opportunities),
    TokenBucket(TokenBucket),
    Schedule(Schedule),
}

impl Server {
    pub(super) fn new(shaper: Shaper) -> Result<Self, ConfigError> {
        Ok(match shaper {
            Shaper::Unlimited => Self::Unlimited(Unlimited::new()),
            Shaper::ConstantRate { bytes_per_second } => {
                Self::ConstantRate(ConstantRate::new(bytes_per_second)?)
            }
            Shaper::Trace(trace) => Self::Opportunities(Opportunities::new(trace)),
            Shaper::TokenBucket {
                bytes_per_second,
                burst,
                peak,
            } => Self::TokenBucket(TokenBucket::new(bytes_per_second, burst, peak)?),
            Shaper::Schedule(steps) => Self::Schedule(Schedule::new(&steps)),
        })
    }

    /// The queue is no longer empty. The server does not catch up on the time before.
    pub(super) fn wake(&mut self, now: Nanos) {
        match self {
            Self::Unlimited(server) => server.wake(now),
            Self::ConstantRate(server) => server.wake(now),
            Self::Opportunities(server) => server.wake(now),
            Self::TokenBucket(server) => server.wake(now),
            Self::Schedule(server) => server.wake(now),
        }
    }

    /// The earliest time to start on a waiting packet.
    pub(super) fn ready(&self) -> Nanos {
        match self {
            Self::Unlimited(server) => server.ready(),
            Self::ConstantRate(server) => server.ready(),
            Self::Opportunities(server) => server.ready(),
            Self::TokenBucket(server) => server.ready(),
            Self::Schedule(server) => server.ready(),
        }
    }

    /// Sends a packet of `bytes`, beginning when [`ready`](Self::ready). Returns when its last byte is sent.
    pub(super) fn serve(&mut self, bytes: u64) -> Nanos {
        match self {
            Self::Unlimited(server) => server.ready(),
            Self::ConstantRate(server) => server.serve(bytes),
            Self::Opportunities(server) => server.serve(bytes),
            Self::TokenBucket(server) => server.serve(bytes),
            Self::Schedule(server) => server.serve(bytes),
        }
    }

    /// The bytes it could serve after `from` and up to `to`, inclusive.
    pub(super) fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        match self {
            Self::Unlimited(_) => Unlimited::capacity(from, to),
            Self::ConstantRate(server) => server.capacity(from, to),
            Self::Opportunities(server) => server.capacity(from, to),
            Self::TokenBucket(server) => server.capacity(from, to),
            Self::Schedule(server) => server.capacity(from, to),
        }
    }

    /// The bytes it could serve at time 0 itself, which is in no span after a time.
    pub(super) fn capacity_at_start(&self) -> u64 {
        match self {
            Self::Opportunities(server) => server.capacity_at_start(),
            _ => 0,
        }
    }
}

/// Sends each packet immediately.
#[derive(Debug)]
pub(in crate::link) struct Unlimited {
    now: Nanos,
}

impl Unlimited {
    const fn new() -> Self {
        Self { now: Nanos::ZERO }
    }

    fn wake(&mut self, now: Nanos) {
        self.now = self.now.max(now);
    }

    const fn ready(&self) -> Nanos {
        self.now
    }

    /// Any number of bytes in a positive time, and zero in an empty interval.
    const fn capacity(from: Nanos, to: Nanos) -> u64 {
        if to.0 > from.0 { u64::MAX } else { 0 }
    }
}
