//! The path, the receiver and the application of a sender.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};

/// A steady path, its receiver and its application.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The link's rate, in bytes per second.
    pub rate: u64,
    /// The RTT without queues. All of it is on the return path.
    pub rtt: Duration,
    /// The queue's limit, in bytes.
    pub buffer: u64,
    /// The receiver's policy.
    pub acks: AckPolicy,
    /// What there is to send.
    pub application: Application,
    /// The packets that are lost before the link.
    pub lose: Packets,
}

impl Scenario {
    /// 10 Mb/s, 40 ms, ten bandwidth-delay products of buffer, a greedy application.
    pub const PLAIN: Self = Self {
        rate: 1_250_000,
        rtt: Duration::from_millis(40),
        buffer: 500_000,
        acks: AckPolicy::every(2),
        application: Application::Greedy,
        lose: Packets::None,
    };

    /// `PLAIN` with one bandwidth-delay product of buffer.
    pub const SHALLOW: Self = Self {
        buffer: 50_000,
        ..Self::PLAIN
    };

    /// The link: it does not count headers, so that its rate is the one that the controller measures.
    pub fn link(&self) -> LinkConfig {
        LinkConfig {
            queue: Queue::DropTail(Limit::bytes(self.buffer)),
            overhead: 0,
            ..LinkConfig::new(Shaper::ConstantRate {
                bytes_per_second: self.rate,
            })
        }
    }
}

/// The receiver's ACK policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckPolicy {
    /// Acknowledges after this many packets.
    pub every: usize,
    /// Or after this delay from the first of them.
    pub max_delay: Duration,
}

impl AckPolicy {
    /// After this many packets, and fewer after RFC 9000's default max_ack_delay (section 18.2).
    pub const fn every(packets: usize) -> Self {
        Self {
            every: packets,
            max_delay: Duration::from_millis(25),
        }
    }
}

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Application {
    /// As much data as the window allows.
    Greedy,
    /// A rate in bytes per second.
    Rate(u64),
    /// Nothing.
    Silent,
}

/// Some of the packets, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packets {
    /// Not one.
    None,
    /// All.
    All,
    /// The last of every n packets.
    Every(u64),
    /// These.
    Listed(&'static [u64]),
}

impl Packets {
    pub(crate) fn contains(self, place: u64) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Every(count) => (place + 1).is_multiple_of(count),
            Self::Listed(places) => places.contains(&place),
        }
    }
}
