//! Coalesces acknowledgements.
//!
//! In a large flight a round has hundreds of acknowledgements of two packets each. They are coalesced until they cover
//! a sixty-fourth of the flight, as receive offload does in an operating system, and cost one comparison each. The
//! controller sees exact values, at most a thirty-second of a round trip later.

use std::time::{Duration, Instant};

use super::clock::Clock;
use crate::rate_sample::DeliveryRateSampler;
use crate::units::{Bytes, saturating_nanos};

/// Packets sent at one instant, or a small share of the flight. Transports report them one by one. Each costs only a
/// comparison of instants; the conversion and the look-up happen once for all.
#[derive(Debug, Clone, Copy)]
pub struct AckedRun {
    /// When the last of them was acknowledged.
    now: Instant,
    /// When the newest of them was sent.
    sent: Instant,
    bytes: Bytes,
    /// Zero if there is no current run; the other fields are then undefined.
    packets: u64,
    /// Whether they were sent at several times.
    spans: bool,
    /// Whether the sampler already has other packets of this acknowledgement, so that it cannot wait.
    split: bool,
    /// The number of acknowledgements that reported them.
    acks: u64,
    /// A run of fewer bytes waits for more acknowledgements, but not beyond `until`.
    min_bytes: Bytes,
    until: Instant,
    /// If the last acknowledgement waits for more: the flight after it and after packets sent since.
    waiting: Option<Bytes>,
}

impl AckedRun {
    /// An empty run on a connection that begins at `origin`.
    pub const fn none(origin: Instant) -> Self {
        Self {
            now: origin,
            sent: origin,
            bytes: Bytes::ZERO,
            packets: 0,
            spans: false,
            split: false,
            acks: 0,
            min_bytes: Bytes::ZERO,
            until: origin,
            waiting: None,
        }
    }

    /// Handles an acknowledged packet that was sent at `sent`. Reports the previous run to `sampler` if the packet is
    /// not part of it.
    #[inline]
    pub fn push(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: Bytes,
        clock: &mut Clock,
        sampler: &mut DeliveryRateSampler,
    ) {
        if self.packets == 0 {
            self.begin(now, sent, bytes, clock);
        } else if self.sent == sent && self.now == now {
            self.bytes += bytes;
            self.packets = self.packets.saturating_add(1);
        } else if self.bytes < self.min_bytes && self.sent <= sent {
            (self.now, self.sent, self.spans) = (now, sent, true);
            self.bytes += bytes;
            self.packets = self.packets.saturating_add(1);
        } else {
            self.begin_another(now, sent, bytes, clock, sampler);
        }
    }

    /// Whether the acknowledgement that ends here, with this flight left, can wait for the next one.
    #[inline]
    pub fn wait(&mut self, now: Instant, in_flight: Bytes) -> bool {
        let waits = self.packets > 0
            && !self.split
            && self.bytes < self.min_bytes
            && in_flight > Bytes::ZERO
            && now < self.until;
        self.waiting = waits.then_some(in_flight);
        self.acks = self.acks.saturating_add(u64::from(self.packets > 0));
        waits
    }

    /// Handles packets sent at `now`. Returns the flight if an acknowledgement waits and can wait longer: nothing has
    /// to be reported yet.
    #[inline]
    pub fn waits_while_sending(&mut self, now: Instant, bytes: Bytes) -> Option<Bytes> {
        let in_flight = self.waiting.as_mut().filter(|_| now < self.until)?;
        *in_flight += bytes;
        Some(*in_flight)
    }

    /// The time of the last acknowledgement and the flight, if it waits. It must end before any event other than
    /// sending.
    #[inline]
    pub fn waiting(&self) -> Option<(Instant, Bytes)> {
        self.waiting.map(|in_flight| (self.now, in_flight))
    }

    /// Sets how long acknowledgements are coalesced, after the controller has seen one at `now`: a small share of the
    /// flight and of the RTT.
    #[inline]
    pub fn coalesce(&mut self, now: Instant, in_flight: Bytes, rtt: Duration, mtu: Bytes) {
        self.min_bytes = if in_flight < mtu * LARGE_FLIGHT {
            Bytes::ZERO
        } else {
            let max = Duration::from_nanos(saturating_nanos(rtt) / (ACKS_PER_ROUND / 2));
            self.until = now.checked_add(max).unwrap_or(now);
            Bytes(in_flight.0 / ACKS_PER_ROUND)
        };
    }

    /// Whether the run has packets that the sampler does not have, and does not wait for more.
    #[inline]
    pub const fn is_under_way(&self) -> bool {
        self.packets > 0 && self.waiting.is_none()
    }

    /// Reports the current run to `sampler`, if there is one. Call it before any other event of the sampler.
    // Always inline: it runs once for each acknowledgement, and the registers that a call saves and restores are a tenth of it.
    #[inline(always)]
    pub fn end(&mut self, clock: &mut Clock, sampler: &mut DeliveryRateSampler) {
        if self.packets > 0 {
            let (now, sent) = (clock.now(self.now), clock.sent(self.sent));
            if self.spans {
                sampler.on_packets_acked_until(now, sent, self.bytes, self.packets, self.acks);
            } else {
                sampler.on_packets_acked(now, sent, self.bytes, self.packets);
            }
            self.packets = 0;
            self.waiting = None;
            self.split = false;
            self.acks = 0;
        }
    }

    /// Ignores a packet that was sent before the connection used this path.
    #[inline]
    fn begin(&mut self, now: Instant, sent: Instant, bytes: Bytes, clock: &Clock) {
        if clock.precedes(sent) {
            return;
        }
        (self.now, self.sent) = (now, sent);
        (self.bytes, self.packets, self.spans) = (bytes, 1, false);
    }

    /// A separate function, so that the common case does not save its registers.
    #[inline(never)]
    fn begin_another(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: Bytes,
        clock: &mut Clock,
        sampler: &mut DeliveryRateSampler,
    ) {
        // The waiting run is part of this acknowledgement.
        if self.waiting.is_some() {
            self.now = now;
        }
        self.end(clock, sampler);
        self.begin(now, sent, bytes, clock);
        self.split = true;
    }
}

/// The minimum number of acknowledgements that a controller sees in a round of a large flight.
const ACKS_PER_ROUND: u64 = 64;

/// In packets. In a smaller flight one or two acknowledgements are a sixty-fourth already.
const LARGE_FLIGHT: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Timestamp;

    /// The sampler gets each run once, in any order of the instants.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant has no constructor; the test only adds to it"
    )]
    fn every_packet_is_counted_once() {
        let origin = Instant::now();
        let (mut clock, mut sampler) = (
            Clock::starting(origin),
            DeliveryRateSampler::new(Timestamp::ZERO),
        );
        let mut run = AckedRun::none(origin);
        let at = |millis: u64| origin + Duration::from_millis(millis);
        for sent in [1, 2] {
            sampler.on_sent(clock.now(at(sent)), Bytes(6000));
        }
        run.end(&mut clock, &mut sampler);
        assert_eq!(sampler.delivered(), Bytes::ZERO);
        for sent in [1, 1, 2, 1] {
            run.push(at(40), at(sent), Bytes(1200), &mut clock, &mut sampler);
        }
        assert_eq!(sampler.delivered(), Bytes(3600), "the last run is not over");
        for _ in 0..2 {
            run.end(&mut clock, &mut sampler);
            assert_eq!(sampler.delivered(), Bytes(4800));
        }
        // Packets of the same instants later form another run.
        run.push(at(40), at(1), Bytes(1200), &mut clock, &mut sampler);
        run.end(&mut clock, &mut sampler);
        let ack = sampler.on_ack_end(clock.now(at(40)), Bytes(6000), false);
        let ack = ack.expect("packets were acknowledged");
        assert_eq!((ack.acked, ack.acked_packets), (Bytes(6000), 5));
        assert_eq!(ack.rtt, Duration::from_millis(38));
    }
}
