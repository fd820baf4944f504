//! Packets that are acknowledged one after the other, counted together.
//!
//! In a large flight an acknowledgement of two packets says next to nothing: hundreds of them come in a round trip. They are
//! gathered until they make up a sixty-fourth of it, as receive offload gathers them for the controllers of an operating
//! system, and cost a comparison each. What a controller then sees is exact, only later by a thirty-second of a round trip at most.

use std::time::{Duration, Instant};

use super::clock::Clock;
use crate::rate_sample::DeliveryRateSampler;
use crate::units::{Bytes, saturating_nanos};

/// Packets that left at one instant, or of a small share of the flight: hosts report them one by one. Only instants are
/// compared for each of them; they are converted, and the packets looked up, once for all.
#[derive(Debug, Clone, Copy)]
pub struct AckedRun {
    /// When the last of them was acknowledged.
    now: Instant,
    /// When the newest of them left.
    sent: Instant,
    bytes: Bytes,
    /// None: there is no run under way, and the rest has no meaning.
    packets: u64,
    /// They left at several times.
    spans: bool,
    /// The flow knows of other packets of this acknowledgement: it cannot wait.
    split: bool,
    /// Acknowledgements in which they came.
    acks: u64,
    /// Less than this waits for more, but not beyond this time.
    min_bytes: Bytes,
    until: Instant,
    /// If the last acknowledgement waits for more: in flight after it and after what was sent since.
    waiting: Option<Bytes>,
}

impl AckedRun {
    /// Nothing was acknowledged so far on a connection that begins at `origin`.
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

    /// A packet that had left at `sent` was acknowledged. `sampler` is told of those before it, if they are not of its run.
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

    /// Whether the acknowledgement that ends here, with so much left in flight, can wait for the next one.
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

    /// So much leaves at `now`. If an acknowledgement waits and goes on waiting, nothing has to be told of it yet: then this is what
    /// is in flight.
    #[inline]
    pub fn waits_while_sending(&mut self, now: Instant, bytes: Bytes) -> Option<Bytes> {
        let in_flight = self.waiting.as_mut().filter(|_| now < self.until)?;
        *in_flight += bytes;
        Some(*in_flight)
    }

    /// When the last acknowledgement came and what is in flight, if it waits: before anything but sending happens, it
    /// has to come to its end.
    #[inline]
    pub fn waiting(&self) -> Option<(Instant, Bytes)> {
        self.waiting.map(|in_flight| (self.now, in_flight))
    }

    /// At `now` the controller has seen an acknowledgement after so long a round trip, and so much is in flight.
    /// Acknowledgements of a small share of that are gathered from now on, over as small a share of the round trip.
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

    /// Whether there are packets that the flow does not know of, though their acknowledgement does not wait for more.
    #[inline]
    pub const fn is_under_way(&self) -> bool {
        self.packets > 0 && self.waiting.is_none()
    }

    /// Tells `sampler` of the run under way, if there is one: to be called before anything else happens to it.
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

    /// Not with a packet that left before the connection used this path: it says nothing about it.
    #[inline]
    fn begin(&mut self, now: Instant, sent: Instant, bytes: Bytes, clock: &Clock) {
        if clock.precedes(sent) {
            return;
        }
        (self.now, self.sent) = (now, sent);
        (self.bytes, self.packets, self.spans) = (bytes, 1, false);
    }

    /// Apart, so that other packets do not pay for its registers.
    #[inline(never)]
    fn begin_another(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: Bytes,
        clock: &mut Clock,
        sampler: &mut DeliveryRateSampler,
    ) {
        // What waited for this acknowledgement is a part of it.
        if self.waiting.is_some() {
            self.now = now;
        }
        self.end(clock, sampler);
        self.begin(now, sent, bytes, clock);
        self.split = true;
    }
}

/// Acknowledgements that a controller sees in a round trip of a large flight, at least.
const ACKS_PER_ROUND: u64 = 64;

/// Packets. Of fewer, one or two acknowledgements are a sixty-fourth already.
const LARGE_FLIGHT: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Timestamp;

    /// The flow is told of each run once, whatever the order of the instants.
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
        // The same instants again are another run.
        run.push(at(40), at(1), Bytes(1200), &mut clock, &mut sampler);
        run.end(&mut clock, &mut sampler);
        let ack = sampler.on_ack_end(clock.now(at(40)), Bytes(6000), false);
        let ack = ack.expect("packets were acknowledged");
        assert_eq!((ack.acked, ack.acked_packets), (Bytes(6000), 5));
        assert_eq!(ack.rtt, Duration::from_millis(38));
    }
}
