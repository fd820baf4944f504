//! The accumulator of a capacity interval.

use thiserror::Error;

use super::delivery_rate::{DeliveryRate, DeliveryRateError};
use super::estimate::{CapacityEstimate, Measurements};
use super::interval_config::IntervalConfig;
use super::linear_fit::LinearFit;
use super::{LATEST, seconds_between};
use crate::atkf::ConfigError;
use crate::float::as_f64;

/// A packet that was acknowledged, or the newest of several that were acknowledged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AckedPacket {
    /// When it was sent, ns on any clock.
    pub sent_at: u64,
    /// When its acknowledgement arrived, ns on the same clock.
    pub acked_at: u64,
    /// Its size, bytes; of all of them, if it stands for several.
    pub bytes: u64,
    /// How many packets it stands for. 0 counts as 1.
    pub packets: u32,
}

impl AckedPacket {
    /// One packet of so many bytes; the times in ns on one clock.
    #[must_use]
    pub const fn new(sent_at: u64, acked_at: u64, bytes: u64) -> Self {
        Self {
            sent_at,
            acked_at,
            bytes,
            packets: 1,
        }
    }
}

/// Collects acknowledged packets and closes an interval on demand, about once per round trip.
///
/// A packet costs tens of nanoseconds and no memory: all that is kept are running sums, of times since the interval's start.
/// Packets with the same acknowledging time are one acknowledgement ("batch"). Intervals are contiguous: one starts with the
/// last batch of the one before, whose packets only set the clock, so that bytes and times are of the same packets.
///
/// After idling the sending rate is that of the idle time, and the sample is censored at it; [`restart`](Self::restart) avoids
/// the sample altogether.
///
/// ```
/// use kneepoint_estimators::capacity::{AckedPacket, CapacityInterval, IntervalConfig};
///
/// // 1250 bytes every 1 ms through a path that takes 1.25 ms for each: 1 MB/s.
/// let mut interval = CapacityInterval::new(&IntervalConfig::default())?;
/// for packet in 0..50 {
///     let (sent_at, acked_at) = (packet * 1_000_000, 20_000_000 + packet * 1_250_000);
///     interval.push(AckedPacket::new(sent_at, acked_at, 1250))?;
/// }
/// let estimate = interval.close(20_000_000)?;
/// assert!(estimate.queueing);
/// assert!((estimate.sample.rate - 1e6).abs() < 1.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CapacityInterval {
    config: IntervalConfig,
    /// The batch before the interval; `None` before the first packet.
    start: Option<Mark>,
    end: Mark,
    /// Round-trip time on sending time, both relative to the start, s.
    round_trips: LinearFit,
    min_rtt: u64,
    bytes: u64,
    /// Wider than what they are compared with, so that they cannot overflow.
    packets: u64,
    batches: u64,
}

impl CapacityInterval {
    /// An accumulator without any packets.
    ///
    /// # Errors
    ///
    /// Names the parameter that is out of range.
    pub fn new(config: &IntervalConfig) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config: *config,
            start: None,
            end: Mark {
                sent_at: 0,
                acked_at: 0,
            },
            round_trips: LinearFit::new(),
            min_rtt: u64::MAX,
            bytes: 0,
            packets: 0,
            batches: 0,
        })
    }

    /// Adds a packet. All packets of one acknowledgement come with the same acknowledging time, in the order of sending; a
    /// reordered packet is fine. Times of more than 2^63 ns, 292 years, count as that.
    ///
    /// # Errors
    ///
    /// If time runs backwards; the packet is then left out.
    // Inlined with what it calls, and `is_long_enough`: controllers call both for each acknowledgement.
    #[inline]
    pub fn push(&mut self, packet: AckedPacket) -> Result<(), PacketError> {
        let AckedPacket { bytes, packets, .. } = packet;
        // Times saturate, so that the difference of any two is a signed integer.
        let (sent_at, acked_at) = (packet.sent_at.min(LATEST), packet.acked_at.min(LATEST));
        let Some(rtt) = acked_at.checked_sub(sent_at) else {
            return Err(PacketError::AckedBeforeSent { sent_at, acked_at });
        };
        let Some(start) = self.start else {
            self.start_from(Mark { sent_at, acked_at });
            return Ok(());
        };
        // A later acknowledgement first: it is what nearly every packet comes with, and then no more need be asked.
        if acked_at > self.end.acked_at {
            self.batches += 1;
        } else if acked_at < self.end.acked_at {
            return Err(PacketError::AckedBeforePrevious {
                acked_at,
                previous: self.end.acked_at,
            });
        } else if acked_at == start.acked_at {
            self.start_from(Mark {
                sent_at: sent_at.max(start.sent_at),
                acked_at,
            });
            return Ok(());
        }
        self.end = Mark {
            sent_at: self.end.sent_at.max(sent_at),
            acked_at,
        };
        self.round_trips.push_finite(
            seconds_between(start.sent_at, sent_at),
            seconds_between(start.rtt(), rtt),
        );
        self.min_rtt = self.min_rtt.min(rtt);
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets += u64::from(packets.max(1));
        Ok(())
    }

    /// Whether [`close`](Self::close) would close the interval: a cheap question, to be asked after every acknowledgement.
    #[must_use]
    #[inline]
    pub fn is_long_enough(&self, min_rtt: u64) -> bool {
        self.packets >= u64::from(self.config.min_packets)
            && self.batches >= u64::from(self.config.min_batches)
            && as_f64(self.elapsed()) >= as_f64(min_rtt) * self.config.min_rtts
    }

    /// From the start's acknowledgement to the end's, which is never earlier: [`push`](Self::push) refuses such a packet.
    #[inline]
    fn elapsed(&self) -> u64 {
        self.start
            .map_or(0, |start| self.end.acked_at - start.acked_at)
    }

    /// Closes the interval if it is long enough, and starts the next one. `min_rtt` is the path's, ns.
    ///
    /// To be called after all packets of an acknowledgement; calling it after every one is meant.
    ///
    /// # Errors
    ///
    /// Says why there is no estimate. If the interval is only [too short](CloseError::is_too_short), it goes on; otherwise it
    /// is discarded, and the next one starts.
    pub fn close(&mut self, min_rtt: u64) -> Result<CapacityEstimate, CloseError> {
        let Some(start) = self.start.filter(|_| self.is_long_enough(min_rtt)) else {
            return Err(self.too_short(min_rtt));
        };
        let elapsed = self.elapsed();
        // The end's is the latest time of sending, the start's among them.
        let send_elapsed = self.end.sent_at - start.sent_at;
        let estimate = match DeliveryRate::new(self.bytes, send_elapsed, elapsed) {
            _ if self.bytes == 0 => Err(CloseError::NoBytes),
            Err(error) => Err(CloseError::DeliveryRate(error)),
            Ok(delivery) => Ok(Measurements {
                delivery,
                round_trips: self.round_trips,
                min_rtt,
                queue_delay: self.min_rtt.saturating_sub(min_rtt),
                bytes: self.bytes,
                packets: self.packets(),
                batches: saturating_u32(self.batches),
                elapsed,
            }
            .estimate(self.config.method)),
        };
        self.start_from(self.end);
        estimate
    }

    /// Why an interval is not long enough.
    fn too_short(&self, min_rtt: u64) -> CloseError {
        let (packets, batches) = (self.packets(), saturating_u32(self.batches));
        let (min_packets, min_batches) = (self.config.min_packets, self.config.min_batches);
        if packets < min_packets {
            CloseError::Packets {
                packets,
                min: min_packets,
            }
        } else if batches < min_batches {
            CloseError::Batches {
                batches,
                min: min_batches,
            }
        } else {
            CloseError::Elapsed {
                elapsed: self.elapsed(),
                min: (as_f64(min_rtt) * self.config.min_rtts) as u64,
            }
        }
    }

    /// Forgets the interval, and starts with the next packet: after idling, or on a new path.
    pub fn restart(&mut self) {
        self.start_from(Mark {
            sent_at: 0,
            acked_at: 0,
        });
        self.start = None;
    }

    /// How many packets the interval has so far.
    #[must_use]
    pub const fn packets(&self) -> u32 {
        saturating_u32(self.packets)
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &IntervalConfig {
        &self.config
    }

    fn start_from(&mut self, mark: Mark) {
        self.start = Some(mark);
        self.end = mark;
        self.round_trips = LinearFit::new();
        self.min_rtt = u64::MAX;
        self.bytes = 0;
        self.packets = 0;
        self.batches = 0;
    }
}

/// A batch's latest packet.
#[derive(Debug, Clone, Copy)]
struct Mark {
    sent_at: u64,
    acked_at: u64,
}

impl Mark {
    /// No packet is acknowledged before it is sent: [`push`](CapacityInterval::push) refuses it.
    const fn rtt(self) -> u64 {
        self.acked_at - self.sent_at
    }
}

const fn saturating_u32(count: u64) -> u32 {
    if count > u32::MAX as u64 {
        u32::MAX
    } else {
        count as u32
    }
}

/// Why a packet was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PacketError {
    /// It was acknowledged before it was sent.
    #[error("a packet sent at {sent_at} ns was acknowledged at {acked_at} ns, before")]
    AckedBeforeSent {
        /// When it was sent, ns.
        sent_at: u64,
        /// When it was acknowledged, ns.
        acked_at: u64,
    },
    /// It was acknowledged before a packet that came earlier.
    #[error("a packet was acknowledged at {acked_at} ns, before the previous one at {previous} ns")]
    AckedBeforePrevious {
        /// When it was acknowledged, ns.
        acked_at: u64,
        /// When the previous one was, ns.
        previous: u64,
    },
}

/// Why an interval gives no estimate.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum CloseError {
    /// Too few packets; the interval goes on.
    #[error("{packets} packets of {min}")]
    Packets {
        /// So many packets.
        packets: u32,
        /// So many are needed.
        min: u32,
    },
    /// Too few acknowledgements; the interval goes on.
    #[error("{batches} acknowledgements of {min}")]
    Batches {
        /// So many acknowledgements.
        batches: u32,
        /// So many are needed.
        min: u32,
    },
    /// Too little time; the interval goes on.
    #[error("{elapsed} ns of {min} ns")]
    Elapsed {
        /// So much time, ns.
        elapsed: u64,
        /// So much is needed, ns.
        min: u64,
    },
    /// The packets were empty.
    #[error("the interval's packets have no bytes")]
    NoBytes,
    /// The bytes and times make no rate.
    #[error(transparent)]
    DeliveryRate(#[from] DeliveryRateError),
}

impl CloseError {
    /// Whether the interval just has to go on, rather than having been discarded.
    #[must_use]
    pub const fn is_too_short(&self) -> bool {
        matches!(
            self,
            Self::Packets { .. } | Self::Batches { .. } | Self::Elapsed { .. }
        )
    }
}

#[cfg(test)]
mod tests;
