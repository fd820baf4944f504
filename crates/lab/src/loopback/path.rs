//! The way from the sender to the receiver.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use kneepoint_emulator::link::{LinkConfig, Shaper, UDP_IPV4_OVERHEAD};
use kneepoint_emulator::relay::{Relay, RelayConfig, Sinks};

use super::LoopbackError;
use crate::units::{QueueSize, Rate, format_time};

/// A path on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// The RTT that the relay adds, half of it each way.
    pub rtt: Duration,
    /// The relay's rate from the sender to the receiver; `None` for no limit.
    pub rate: Option<Rate>,
    /// The drop-tail queue before the rate. Without a rate it stays empty.
    pub queue: QueueSize,
    /// Whether the relay spins before a packet is due: more precise, for a processor in each direction.
    pub busy: bool,
}

impl Path {
    /// Whether the path is 127.0.0.1 itself, without a relay.
    pub fn is_direct(&self) -> bool {
        self.rtt.is_zero() && self.rate.is_none()
    }

    /// A relay to this receiver; `None` if the path needs none.
    pub(super) fn relay(
        &self,
        receiver: SocketAddr,
        seed: u64,
    ) -> Result<Option<Relay>, LoopbackError> {
        if self.is_direct() {
            return Ok(None);
        }
        let (up, down) = self.links();
        let config = RelayConfig {
            seed,
            busy: self.busy,
            ..RelayConfig::new(LOOPBACK, receiver, up, down)
        };
        Ok(Some(Relay::start(config, Sinks::default())?))
    }

    /// The link from the sender to the receiver, and the one back.
    pub(crate) fn links(&self) -> (LinkConfig, LinkConfig) {
        let link = |rate: Option<Rate>| LinkConfig {
            delay: (self.rtt / 2).into(),
            overhead: UDP_IPV4_OVERHEAD,
            ..LinkConfig::new(rate.map_or(Shaper::Unlimited, |rate| Shaper::ConstantRate {
                bytes_per_second: (rate.bits_per_second() / 8).max(1),
            }))
        };
        let up = LinkConfig {
            queue: self.queue.into(),
            ..link(self.rate)
        };
        (up, link(None))
    }

    /// The path's description.
    pub(super) fn caption(&self) -> String {
        if self.is_direct() {
            return "127.0.0.1 without a relay".to_owned();
        }
        let rtt = match self.rtt {
            Duration::ZERO => "no added delay".to_owned(),
            rtt => format!("{} RTT added", format_time(rtt)),
        };
        match self.rate {
            None => format!("127.0.0.1 through a relay: {rtt}, no limit of the rate"),
            Some(rate) => format!(
                "127.0.0.1 through a relay: {rtt}, {rate}, queue {}",
                self.queue
            ),
        }
    }
}

/// Any port of this machine.
pub(super) const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[cfg(test)]
mod tests {
    use super::*;

    fn path(micros: u64, rate: Option<&str>) -> Path {
        Path {
            rtt: Duration::from_micros(micros),
            rate: rate.map(|rate| rate.parse().unwrap()),
            queue: QueueSize::Packets(9),
            busy: false,
        }
    }

    #[test]
    fn only_a_path_that_adds_something_has_a_relay() {
        let receiver = "127.0.0.1:9".parse().unwrap();
        let has_relay = |path: Path| path.relay(receiver, 1).unwrap().is_some();
        assert!(!has_relay(path(0, None)));
        assert!(has_relay(path(200, None)));
        assert!(has_relay(path(0, Some("10Mbps"))));
    }

    #[test]
    fn the_rate_is_that_of_the_data_and_the_delay_that_of_both() {
        let (unlimited, _) = path(200, None).links();
        assert_eq!(unlimited.shaper, Shaper::Unlimited);
        let (up, down) = path(200, Some("8Mbps")).links();
        assert_eq!(up.delay, Duration::from_micros(100).into());
        assert_eq!(down.delay, up.delay);
        let rate = Shaper::ConstantRate {
            bytes_per_second: 1_000_000,
        };
        assert_eq!((up.shaper, down.shaper), (rate, Shaper::Unlimited));
        assert_eq!(up.queue, QueueSize::Packets(9).into());
    }

    #[test]
    fn captions_name_the_added_rtt() {
        assert_eq!(path(0, None).caption(), "127.0.0.1 without a relay");
        assert_eq!(
            path(200, None).caption(),
            "127.0.0.1 through a relay: 200us RTT added, no limit of the rate"
        );
        assert_eq!(
            path(0, Some("10Mbps")).caption(),
            "127.0.0.1 through a relay: no added delay, 10Mbps, queue 9p"
        );
    }
}
