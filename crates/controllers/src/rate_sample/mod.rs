//! Delivery rate samples (draft-ietf-ccwg-bbr, section 4.1) and the state that every controller needs: delivered bytes,
//! rounds, the app-limited boundary, the flight and the losses.
//!
//! Transports report single packets. The sampler combines the packets of one acknowledgement into one [`AckEvent`].

#[cfg(test)]
mod properties;
mod sent_packets;
#[cfg(test)]
mod tests;

use core::time::Duration;

use self::sent_packets::{PacketState, SentPackets};
use crate::event::{
    AckEvent, CongestionEvent, CongestionSignal, FlightSample, Loss, RateSample, SentEvent,
};
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// The delivery-rate sampler of one connection.
///
/// Packets are keyed by their send time: transports with several packet-number spaces reuse numbers, and some report
/// none.
#[derive(Debug, Clone)]
pub struct DeliveryRateSampler {
    /// `None` without rate samples: then there is no per-packet state.
    sent_packets: Option<SentPackets>,
    /// The last acknowledgement. Its connection-wide fields (delivered, in flight, round, app-limited) are kept here
    /// only: an event is large, and a copy costs more than filling it.
    ack: AckEvent,
    delivered_at: Timestamp,
    /// When the newest acknowledged packet was sent: the next sample's send interval begins there.
    interval_start: Timestamp,
    /// The app-limited bubble has left the network once this is delivered.
    app_limited_until: Option<AppLimitedBoundary>,
    round_end: Bytes,
    /// The start of the round: packets sent from then on belong to this round or a later one.
    round_began: Timestamp,
    lost: Bytes,
    lost_since_ack: Bytes,
    /// Packets sent within this many nanoseconds share a group.
    resolution: u64,
    /// Whether packets of an acknowledgement have been reported that has not ended.
    ack_under_way: bool,
    /// Its packet with the newest delivery state: the sample is measured from it. With its own send time, at which the
    /// send interval ends.
    sampled: Option<(Timestamp, PacketState)>,
}

#[derive(Debug, Clone, Copy)]
struct AppLimitedBoundary {
    delivered: Bytes,
    marked: Timestamp,
}

impl DeliveryRateSampler {
    /// The maximum number of entries in a connection's packet history, of 72 bytes each, whatever the peer does.
    pub const MAX_HISTORY: usize = sent_packets::MAX_OVERTAKEN + sent_packets::MAX_GROUPS;

    /// The sampler of a new connection.
    pub fn new(now: Timestamp) -> Self {
        Self {
            sent_packets: Some(SentPackets::default()),
            ack: AckEvent::nothing_yet(now),
            delivered_at: now,
            interval_start: now,
            app_limited_until: None,
            round_end: Bytes::ZERO,
            round_began: now,
            lost: Bytes::ZERO,
            lost_since_ack: Bytes::ZERO,
            resolution: 0,
            ack_under_way: false,
            sampled: None,
        }
    }

    /// A sampler without rate samples and without per-packet state, for controllers that do not need them.
    pub fn without_rate_samples(now: Timestamp) -> Self {
        Self {
            sent_packets: None,
            ..Self::new(now)
        }
    }

    /// Packets were sent at `now`.
    pub fn on_sent(&mut self, now: Timestamp, bytes: Bytes) -> SentEvent {
        let prior_in_flight = self.ack.in_flight;
        self.group(now, bytes);
        self.ack.in_flight = prior_in_flight + bytes;
        SentEvent {
            now,
            bytes,
            prior_in_flight,
            app_limited: self.ack.app_limited,
        }
    }

    /// A packet was sent at `now` that may contain only ACK frames; the transport does not say.
    ///
    /// Such a packet is not ack-eliciting and not in flight (RFC 9002, section 2). It does not end an idle period. If
    /// it did carry data, its acknowledgement counts like any other, and the next report of the flight includes it.
    pub fn on_sent_unless_ack_only(&mut self, now: Timestamp, bytes: Bytes) {
        if self.ack.in_flight == Bytes::ZERO
            && let Some(sent_packets) = &mut self.sent_packets
        {
            sent_packets.groups().forget_all_but(MAX_UNHEARD);
        }
        self.group(now, bytes);
    }

    fn group(&mut self, now: Timestamp, bytes: Bytes) {
        let Some(sent_packets) = &mut self.sent_packets else {
            return;
        };
        let groups = sent_packets.groups();
        let after_silence = self.ack.in_flight == Bytes::ZERO;
        if after_silence {
            // Both intervals of the next sample begin now. Otherwise the idle time would lower the rate.
            self.interval_start = now;
            self.delivered_at = now;
        }
        let state = PacketState {
            delivered: self.ack.delivered,
            delivered_at: self.delivered_at,
            interval_start: self.interval_start,
            app_limited: self.app_limited_until.is_some(),
            in_flight: self.ack.in_flight + bytes,
            lost: self.lost,
        };
        // The packet must not share a group with packets sent before it.
        let resolution = if after_silence { 0 } else { self.resolution };
        groups.push(now, bytes, &state, self.round_end, resolution);
    }

    /// Packets that left together at `sent` were acknowledged by the acknowledgement that arrived at `now`.
    // With what it calls and `on_ack_end`, in the adapter's place: 3 % of an acknowledgement's instructions.
    #[inline]
    pub fn on_run_acked(&mut self, now: Timestamp, sent: Timestamp, bytes: Bytes, packets: u64) {
        // An acknowledgement that the transport never ended (one inferred from a Retry, for example) counts as
        // delivered, but is too old for a sample.
        if !self.ack_under_way || self.ack.now != now {
            self.begin_ack(now);
        }
        let ack = &mut self.ack;
        ack.acked_packets = ack.acked_packets.saturating_add(packets);
        ack.acked += bytes;
        ack.delivered += bytes;
        ack.in_flight -= bytes;
        ack.newest_sent = ack.newest_sent.max(sent);
        ack.oldest_sent = ack.oldest_sent.min(sent);
        let Some(sent_packets) = &mut self.sent_packets else {
            ack.round_start |= sent >= self.round_began;
            return;
        };
        let (round_end, sampled) = (self.round_end, &mut self.sampled);
        let groups = sent_packets.groups();
        groups.take(sent, bytes, |state| {
            // A packet sent after the round began has been acknowledged.
            ack.round_start |= state.delivered >= round_end;
            if sampled.is_none_or(|(_, newest)| state.delivered >= newest.delivered) {
                *sampled = Some((sent, *state));
            }
        });
        groups.prune(self.ack.oldest_sent);
    }

    fn begin_ack(&mut self, now: Timestamp) {
        self.ack_under_way = true;
        self.delivered_at = now;
        self.sampled = None;
        let ack = &mut self.ack;
        ack.now = now;
        ack.acked = Bytes::ZERO;
        ack.acked_packets = 0;
        ack.newest_sent = Timestamp::ZERO;
        ack.oldest_sent = Timestamp::MAX;
        ack.prior_in_flight = ack.in_flight;
        ack.round_start = false;
    }

    /// The acknowledgement is complete. `in_flight` and `app_limited` are the transport's values.
    ///
    /// Returns nothing if no packet was newly acknowledged.
    #[inline]
    pub fn on_ack_end(
        &mut self,
        now: Timestamp,
        in_flight: Bytes,
        app_limited: bool,
    ) -> Option<&AckEvent> {
        // The transport's flight is authoritative: bytes leave it without an event when keys are discarded or early
        // data is rejected, and packets with only ACK frames are never acknowledged.
        self.ack.in_flight = in_flight;
        self.ack.app_limited = app_limited;
        let newly_acked = core::mem::take(&mut self.ack_under_way);
        if newly_acked {
            self.fold(now);
        }
        if self
            .app_limited_until
            .is_some_and(|boundary| self.ack.delivered > boundary.delivered)
        {
            self.app_limited_until = None;
        }
        if app_limited {
            self.mark_app_limited(now);
        }
        if in_flight == Bytes::ZERO
            && let Some(sent_packets) = &mut self.sent_packets
        {
            sent_packets.groups().clear();
        }
        newly_acked.then_some(&self.ack)
    }

    /// Marks the current flight as app-limited: rates measured over it are too low.
    pub fn mark_app_limited(&mut self, now: Timestamp) {
        self.app_limited_until = Some(AppLimitedBoundary {
            delivered: self.ack.delivered + self.ack.in_flight,
            marked: now,
        });
    }

    /// Packets were lost.
    pub fn on_lost(&mut self, now: Timestamp, loss: &Loss) -> CongestionEvent {
        let (lost, newest_sent) = (loss.bytes, loss.newest_sent);
        self.ack.in_flight -= lost;
        self.lost += lost;
        self.lost_since_ack += lost;
        if let Some(boundary) = &mut self.app_limited_until
            && newest_sent <= boundary.marked
        {
            // Lost packets are never delivered; without this the boundary would not be reached.
            boundary.delivered -= lost;
        }
        let signal = if loss.persistent_congestion {
            CongestionSignal::PersistentCongestion
        } else {
            CongestionSignal::Loss
        };
        let event = self.congestion(now, signal, loss);
        if let Some(sent_packets) = &mut self.sent_packets {
            sent_packets.groups().remove_lost(newest_sent, lost);
        }
        event
    }

    /// A packet that was sent at `newest_sent` was marked.
    pub fn on_ecn_mark(&mut self, now: Timestamp, newest_sent: Timestamp) -> CongestionEvent {
        let nothing_lost = Loss::new(newest_sent, Bytes::ZERO);
        self.congestion(now, CongestionSignal::EcnMark, &nothing_lost)
    }

    /// The sender's bytes in flight.
    pub const fn in_flight(&self) -> Bytes {
        self.ack.in_flight
    }

    /// Sets what a snapshot says of the connection: the flight, the rounds, and whether the application was last the limit.
    pub fn describe(&self, snapshot: &mut Snapshot) {
        snapshot.in_flight = self.ack.in_flight;
        snapshot.rounds = self.ack.round;
        snapshot.app_limited = self.ack.app_limited;
    }

    /// Everything delivered so far.
    pub const fn delivered(&self) -> Bytes {
        self.ack.delivered
    }

    /// The number of entries in the packet history: at most [`MAX_HISTORY`](Self::MAX_HISTORY).
    pub fn history_len(&self) -> usize {
        self.sent_packets.as_ref().map_or(0, SentPackets::len)
    }

    fn congestion(
        &mut self,
        now: Timestamp,
        signal: CongestionSignal,
        loss: &Loss,
    ) -> CongestionEvent {
        let sent_packets = self.sent_packets.as_mut();
        let flight =
            sent_packets.and_then(|sent_packets| sent_packets.groups().get(loss.newest_sent));
        // A mark is reported after its packet was acknowledged, and perhaps its whole group with it.
        let flight = flight.or_else(|| {
            let (sent, state) = self.sampled?;
            (sent == loss.newest_sent).then_some(state)
        });
        CongestionEvent {
            now,
            signal,
            newest_sent: loss.newest_sent,
            lost: loss.bytes,
            flight: flight.map(|state| FlightSample {
                in_flight: state.in_flight,
                lost: self.lost - state.lost,
                app_limited: state.app_limited,
            }),
            delivered: self.ack.delivered,
            in_flight: self.ack.in_flight,
            round: self.ack.round,
        }
    }

    fn fold(&mut self, now: Timestamp) {
        let ack = &mut self.ack;
        ack.now = now;
        self.resolution = ack.rtt_nanos() / GROUPS_PER_ROUND;
        ack.lost = core::mem::take(&mut self.lost_since_ack);
        if ack.round_start {
            ack.round = ack.round.saturating_add(1);
            self.round_end = ack.delivered;
            self.round_began = now;
        }
        self.ack.rate = self.rate_sample(now);
        if let Some((sent, _)) = &self.sampled {
            self.interval_start = self.interval_start.max(*sent);
        }
    }

    /// The delivery rate around the sampled packet, over the longer of the two intervals (draft-ietf-ccwg-bbr, section 4.1.2.3).
    ///
    /// The ack interval began before the packet was sent and is at least a round trip long, so the draft's check for
    /// shorter intervals is not needed.
    fn rate_sample(&self, now: Timestamp) -> Option<RateSample> {
        let (sent, state) = self.sampled.as_ref()?;
        let send_interval = sent.nanos_since(state.interval_start);
        let ack_interval = now.nanos_since(state.delivered_at);
        let interval = send_interval.max(ack_interval);
        let delivered = self.ack.delivered - state.delivered;
        Some(RateSample {
            delivery_rate: Bandwidth::from_delivery_in_nanos(delivered, interval)?,
            delivered,
            app_limited: state.app_limited,
            prior_delivered: state.delivered,
            in_flight_at_send: state.in_flight,
            lost: self.lost - state.lost,
        })
    }
}

/// The minimum number of groups in a round, if it has that many packets.
const GROUPS_PER_ROUND: u64 = 256;

/// The number of packets to keep while nothing is in flight: their acknowledgements may still come.
const MAX_UNHEARD: usize = 16;

/// A group is removed once it is older than the acknowledged packets by this much: its packets were lost, or will never
/// be acknowledged.
const GROUP_LIFETIME: Duration = Duration::from_secs(2);
