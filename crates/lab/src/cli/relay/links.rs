//! The links that the options describe.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use kneepoint_emulator::link::{
    LinkConfig, MAHIMAHI_OVERHEAD, Shaper, UDP_IPV4_OVERHEAD, UDP_IPV6_OVERHEAD,
};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;

use crate::units::{QueueSize, Rate, UnitError};

/// What limits a direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Capacity {
    Rate(Rate),
    Trace(Trace),
}

impl FromStr for Capacity {
    type Err = String;

    /// A rate, or else the name of a file.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(rate) => return Ok(Self::Rate(rate)),
            // It is one, but not one of a link.
            Err(error @ UnitError::OutOfRange { .. }) => return Err(error.to_string()),
            Err(_) => {}
        }
        let trace = Trace::load(text).map_err(|error| error.to_string())?;
        Ok(Self::Trace(trace))
    }
}

/// One direction's link.
pub(super) fn link(
    capacity: Option<&Capacity>,
    queue: QueueSize,
    delay: Option<Duration>,
    loss: f64,
    listen: SocketAddr,
) -> LinkConfig {
    let headers = match listen.ip().to_canonical() {
        std::net::IpAddr::V4(_) => UDP_IPV4_OVERHEAD,
        std::net::IpAddr::V6(_) => UDP_IPV6_OVERHEAD,
    };
    let (shaper, overhead) = match capacity {
        Some(Capacity::Trace(trace)) => {
            let framing = MAHIMAHI_OVERHEAD - UDP_IPV4_OVERHEAD;
            (Shaper::Trace(trace.clone()), headers + framing)
        }
        Some(Capacity::Rate(rate)) => (constant(*rate), headers),
        None => (constant(UNLIMITED), headers),
    };
    LinkConfig {
        queue: queue.into(),
        delay: delay.map_or(Nanos::ZERO, Nanos::from).into(),
        loss: loss.into(),
        overhead,
        ..LinkConfig::new(shaper)
    }
}

fn constant(rate: Rate) -> Shaper {
    Shaper::ConstantRate {
        bytes_per_second: (rate.bits_per_second() / 8).max(1),
    }
}

/// Reads a positive number of bytes.
pub(super) fn parse_memory(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(QueueSize::Bytes(bytes)) => Ok(bytes),
        Ok(_) => Err("expected a number of bytes, such as 256MiB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// What no socket of this machine sends.
const UNLIMITED: Rate = Rate::from_bits_per_second(1_000_000_000_000);

#[cfg(test)]
mod tests {
    use kneepoint_emulator::link::{Limit, Queue};

    use super::*;

    #[test]
    fn a_capacity_is_a_rate_or_a_file() {
        let rate = "10Mbps".parse::<Capacity>();
        assert_eq!(rate, Ok(Capacity::Rate("10Mbps".parse().unwrap())));
        let error = "0Mbps".parse::<Capacity>().unwrap_err();
        assert!(error.contains("out of range"), "{error}");
        let error = "no-such-file".parse::<Capacity>().unwrap_err();
        assert!(error.contains("no-such-file"), "{error}");
    }

    #[test]
    fn packets_are_as_large_as_they_are_on_their_wire() {
        let trace = Capacity::Trace(Trace::from_millis(vec![1], "t").unwrap());
        let overhead = |capacity, listen: &str| {
            let listen = listen.parse().unwrap();
            link(capacity, QueueSize::Infinite, None, 0.0, listen).overhead
        };
        assert_eq!(overhead(None, "127.0.0.1:1"), 28);
        assert_eq!(overhead(None, "[::1]:1"), 48);
        assert_eq!(overhead(Some(&trace), "127.0.0.1:1"), 32);
        assert_eq!(overhead(Some(&trace), "[::1]:1"), 52);
    }

    #[test]
    fn the_options_reach_the_link() {
        let listen = "127.0.0.1:1".parse().unwrap();
        let queue = QueueSize::Packets(7);
        let link = link(None, queue, Some(Duration::from_millis(5)), 0.25, listen);
        assert_eq!(link.queue, Queue::DropTail(Limit::packets(7)));
        assert_eq!(link.delay, Nanos::from_millis(5).into());
        assert_eq!(link.loss, 0.25.into());
        assert_eq!(link.validate(), Ok(()));
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(parse_memory("2MiB"), Ok(2 << 20));
        for bad in ["inf", "5p", "0B", "x"] {
            assert!(parse_memory(bad).is_err(), "{bad}");
        }
    }
}
