//! Traffic that comes from nowhere: it needs no endpoint, and answers nothing.

use std::net::SocketAddr;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::NetworkError;
use crate::generate::random;
use crate::packet::{Ecn, Packet};
use crate::time::Nanos;

/// A source of packets inside the network. What arrives at its destination is counted and goes no further.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CrossTraffic {
    /// Where the packets come from: an attached address.
    pub from: SocketAddr,
    /// Where they go: another attached address, which is this traffic's alone.
    pub to: SocketAddr,
    /// When they are sent.
    pub pattern: Pattern,
    /// How fast, while the pattern sends, in payload bytes per second; positive.
    pub bytes_per_second: u64,
    /// The payload of each, in bytes; positive, and at most [`MAX_PAYLOAD`].
    pub payload: usize,
    /// Their ECN codepoint.
    pub ecn: Option<Ecn>,
    /// When the source starts.
    pub start: Nanos,
    /// When it stops; `None` for never: the network is then never without an event.
    pub stop: Option<Nanos>,
}

/// When a source sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Pattern {
    /// At a constant rate, from the start on.
    Constant,
    /// At a constant rate for a time, then not at all for another, and so on.
    OnOff {
        /// How long it sends; positive.
        on: Nanos,
        /// How long it pauses.
        off: Nanos,
    },
    /// As a Poisson process: at random, with the given rate on average.
    Poisson,
}

impl CrossTraffic {
    /// Checks every field but the addresses.
    pub(super) fn validate(&self) -> Result<(), NetworkError> {
        let refuse = |what, value, range| {
            Err(NetworkError::Traffic {
                from: self.from,
                what,
                value,
                range,
            })
        };
        let payload = self.payload as u64;
        if !(1..=MAX_PAYLOAD).contains(&self.payload) {
            return refuse("payload", payload, "from 1 to 65507");
        }
        // More than one packet a nanosecond would stop time.
        if !(1..=payload * 1_000_000_000).contains(&self.bytes_per_second) {
            return refuse(
                "rate",
                self.bytes_per_second,
                "positive and at most a packet a nanosecond",
            );
        }
        match self.pattern {
            Pattern::OnOff {
                on: Nanos::ZERO, ..
            } => refuse("sending time", 0, "positive"),
            _ => Ok(()),
        }
    }
}

/// A source at work.
#[derive(Debug)]
pub(super) struct Source {
    traffic: CrossTraffic,
    generator: Pcg64,
    sent: u64,
    next: Nanos,
}

impl Source {
    pub(super) fn new(traffic: CrossTraffic, seed: u64) -> Self {
        let mut source = Self {
            generator: Pcg64::seed_from_u64(seed),
            sent: 0,
            next: traffic.start,
            traffic,
        };
        if source.traffic.pattern == Pattern::Poisson {
            source.next = source.traffic.start + source.interval();
        }
        source
    }

    /// When the next packet comes.
    pub(super) fn next(&self) -> Option<Nanos> {
        let stop = self.traffic.stop.unwrap_or(Nanos::MAX);
        Some(self.next).filter(|next| *next < stop)
    }

    /// How many packets have come.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// The packet of that time.
    pub(super) fn emit(&mut self) -> Packet {
        self.sent = self.sent.saturating_add(1);
        let even = self.even(self.sent);
        let start = self.traffic.start;
        self.next = match self.traffic.pattern {
            Pattern::Constant => start + even,
            Pattern::OnOff { on, off } => {
                // The time spent sending, with the pauses put between.
                let on = on.0.max(1);
                start + even + Nanos(off.0.saturating_mul(even.0 / on))
            }
            Pattern::Poisson => self.next + self.interval(),
        };
        Packet {
            source: self.traffic.from,
            destination: self.traffic.to,
            ecn: self.traffic.ecn,
            payload: vec![0; self.traffic.payload],
        }
    }

    /// The time of `packets` at the constant rate; exact, so that no rounding accumulates.
    fn even(&self, packets: u64) -> Nanos {
        let bytes = u128::from(packets) * self.traffic.payload as u128;
        let nanos = bytes * 1_000_000_000 / u128::from(self.traffic.bytes_per_second.max(1));
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// A random time between two packets, at least a nanosecond.
    fn interval(&mut self) -> Nanos {
        let mean = self.traffic.payload as f64 * 1e9 / self.traffic.bytes_per_second.max(1) as f64;
        // A conversion from floating point saturates.
        Nanos((random::exponential(&mut self.generator, mean) as u64).max(1))
    }
}

/// The largest UDP payload over IPv4, in bytes (RFC 791; RFC 768).
pub const MAX_PAYLOAD: usize = 65_507;

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pattern: Pattern, seed: u64) -> Vec<u64> {
        let address = |last| SocketAddr::from(([10, 0, 0, last], 1));
        let traffic = CrossTraffic {
            from: address(1),
            to: address(2),
            pattern,
            bytes_per_second: 1_000_000,
            payload: 1000,
            ecn: None,
            start: Nanos::from_millis(5),
            stop: Some(Nanos::from_millis(2005)),
        };
        let mut source = Source::new(traffic, seed);
        let mut times = Vec::new();
        while let Some(time) = source.next() {
            times.push(time.0 / 1000);
            source.emit();
        }
        times
    }

    #[test]
    fn a_constant_rate_is_even() {
        let expected: Vec<u64> = (5..2005).map(|millis| millis * 1000).collect();
        assert_eq!(times(Pattern::Constant, 1), expected);
    }

    #[test]
    fn pauses_come_between() {
        let (on, off) = (Nanos::from_millis(2), Nanos::from_millis(10));
        let found = times(Pattern::OnOff { on, off }, 1);
        assert_eq!(found[..5], [5_000, 6_000, 17_000, 18_000, 29_000]);
    }

    #[test]
    fn a_poisson_process_has_its_rate_and_its_seed() {
        let found = times(Pattern::Poisson, 1);
        // The standard deviation is 45.
        assert!(found.len().abs_diff(2000) < 200, "{}", found.len());
        assert_eq!(found, times(Pattern::Poisson, 1));
        assert_ne!(found, times(Pattern::Poisson, 2));
    }
}
