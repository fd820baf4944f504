//! The events that transports report to controllers.

use core::time::Duration;

use crate::units::{Bandwidth, Bytes, Timestamp};

/// Packets were sent.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SentEvent {
    /// The time at which they left.
    pub now: Timestamp,
    /// Their bytes.
    pub bytes: Bytes,
    /// The flight before these packets.
    pub prior_in_flight: Bytes,
    /// Whether the application, not the controller, last limited the sender.
    pub app_limited: bool,
}

/// A delivery rate measured over about one round trip (draft-ietf-ccwg-bbr, section 4.1.2, "delivery rate
/// samples").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateSample {
    /// The delivered bytes over the longer of the send and the ack interval.
    pub delivery_rate: Bandwidth,
    /// The bytes delivered during the sample.
    pub delivered: Bytes,
    /// Whether the application limited the sender when the sampled packet was sent.
    pub app_limited: bool,
    /// The delivered bytes when the sampled packet was sent. They identify its round.
    pub prior_delivered: Bytes,
    /// The flight right after the sampled packet was sent.
    pub in_flight_at_send: Bytes,
    /// The bytes declared lost since then.
    pub lost: Bytes,
}

impl SentEvent {
    /// The event of packets that left while the controller, not the application, limited the sender.
    pub const fn new(now: Timestamp, bytes: Bytes, prior_in_flight: Bytes) -> Self {
        Self {
            now,
            bytes,
            prior_in_flight,
            app_limited: false,
        }
    }
}

impl RateSample {
    /// A sample of so many bytes in so much time; `None` if no time passed. The other fields are zero.
    pub fn new(delivered: Bytes, interval: Duration) -> Option<Self> {
        Some(Self {
            delivery_rate: Bandwidth::from_delivery(delivered, interval)?,
            delivered,
            app_limited: false,
            prior_delivered: Bytes::ZERO,
            in_flight_at_send: Bytes::ZERO,
            lost: Bytes::ZERO,
        })
    }
}

/// One acknowledgement, after all its packets have been counted.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AckEvent {
    /// The time at which it arrived.
    pub now: Timestamp,
    /// Newly acknowledged bytes.
    pub acked: Bytes,
    /// Newly acknowledged packets.
    pub acked_packets: u64,
    /// Bytes declared lost since the previous acknowledgement.
    pub lost: Bytes,
    /// The time at which the newest of the acknowledged packets was sent.
    pub newest_sent: Timestamp,
    /// The time at which the oldest of them was sent.
    pub oldest_sent: Timestamp,
    /// The delivery rate; `None` if it could not be measured.
    pub rate: Option<RateSample>,
    /// The flight before this acknowledgement.
    pub prior_in_flight: Bytes,
    /// The flight after it.
    pub in_flight: Bytes,
    /// Everything delivered so far.
    pub delivered: Bytes,
    /// Packet-timed round trips so far.
    pub round: u64,
    /// Whether this acknowledgement begins a new round.
    pub round_start: bool,
    /// Whether the application, not the controller, limits the sender now.
    pub app_limited: bool,
}

impl AckEvent {
    /// An acknowledgement of one packet of `acked` bytes after a round trip of `rtt`. The counts of earlier events are zero.
    pub fn new(now: Timestamp, rtt: Duration, acked: Bytes, in_flight: Bytes) -> Self {
        Self {
            acked,
            acked_packets: 1,
            newest_sent: now - rtt,
            oldest_sent: now - rtt,
            prior_in_flight: in_flight + acked,
            in_flight,
            delivered: acked,
            ..Self::nothing_yet(now)
        }
    }

    /// The RTT of the newest acknowledged packet, which the receiver has delayed least.
    pub fn rtt(&self) -> Duration {
        Duration::from_nanos(self.rtt_nanos())
    }

    /// The same in nanoseconds.
    pub(crate) const fn rtt_nanos(&self) -> u64 {
        self.now.nanos_since(self.newest_sent)
    }

    /// The same with another RTT, at the same time.
    #[cfg(test)]
    pub(crate) fn with_rtt(self, rtt: Duration) -> Self {
        assert!(
            self.now >= Timestamp::from_origin(rtt),
            "sent before time began"
        );
        Self {
            newest_sent: self.now - rtt,
            oldest_sent: self.now - rtt,
            ..self
        }
    }

    /// The event of a new connection, before the first acknowledgement.
    pub(crate) const fn nothing_yet(now: Timestamp) -> Self {
        Self {
            now,
            acked: Bytes::ZERO,
            acked_packets: 0,
            lost: Bytes::ZERO,
            newest_sent: now,
            oldest_sent: now,
            rate: None,
            prior_in_flight: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            round: 0,
            round_start: false,
            app_limited: false,
        }
    }
}

/// Packets that were declared lost together.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Loss {
    /// When the newest of them was sent.
    pub newest_sent: Timestamp,
    /// Their bytes.
    pub bytes: Bytes,
    /// Whether everything sent for longer than the persistent-congestion period was lost (RFC 9002, section 7.6).
    pub persistent_congestion: bool,
}

impl Loss {
    /// A loss of packets without persistent congestion.
    pub const fn new(newest_sent: Timestamp, bytes: Bytes) -> Self {
        Self {
            newest_sent,
            bytes,
            persistent_congestion: false,
        }
    }
}

/// Why the transport reports congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CongestionSignal {
    /// Packets were declared lost.
    Loss,
    /// Everything sent for longer than the persistent-congestion period was lost (RFC 9002, section 7.6).
    PersistentCongestion,
    /// The path marked a packet with ECN CE (RFC 9000, section 13.4).
    EcnMark,
}

/// The path lost or marked packets.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CongestionEvent {
    /// When it was detected.
    pub now: Timestamp,
    /// The signal.
    pub signal: CongestionSignal,
    /// When the newest of the lost or marked packets was sent.
    pub newest_sent: Timestamp,
    /// The bytes lost; zero for a mark.
    pub lost: Bytes,
    /// The per-packet state of the newest of these packets, if it still exists.
    pub flight: Option<FlightSample>,
    /// Everything delivered so far.
    pub delivered: Bytes,
    /// The flight after the loss.
    pub in_flight: Bytes,
    /// Packet-timed round trips so far.
    pub round: u64,
}

impl CongestionEvent {
    /// The loss of one packet of `lost` bytes, or one mark, of a packet that left at `newest_sent`. The other fields are zero or unknown.
    pub fn new(
        now: Timestamp,
        signal: CongestionSignal,
        newest_sent: Timestamp,
        lost: Bytes,
    ) -> Self {
        Self {
            now,
            signal,
            newest_sent,
            lost,
            flight: None,
            delivered: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            round: 0,
        }
    }
}

/// The state of the flight that a lost or marked packet was part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlightSample {
    /// The flight right after the packet was sent.
    pub in_flight: Bytes,
    /// The bytes declared lost since then, this loss included.
    pub lost: Bytes,
    /// Whether the application limited the sender when the packet was sent.
    pub app_limited: bool,
}

impl FlightSample {
    /// The state of a flight while the controller, not the application, limited the sender.
    pub const fn new(in_flight: Bytes, lost: Bytes) -> Self {
        Self {
            in_flight,
            lost,
            app_limited: false,
        }
    }
}
