//! What was known when a packet left, kept until it is acknowledged or forgotten.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use crate::units::{Bytes, Timestamp};

/// Packets that left between two acknowledgements, and so share one view of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketGroup {
    /// When the first and the last of them left.
    pub first_sent: Timestamp,
    pub last_sent: Timestamp,
    /// Sent and not yet acknowledged.
    pub outstanding: Bytes,
    /// The round they left in.
    pub round: u64,
    pub state: PacketState,
}

/// What was known when packets left.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketState {
    /// Delivered in all by then, and when that had last changed.
    pub delivered: Bytes,
    pub delivered_at: Timestamp,
    /// The start of the sending interval that the rate sample of these packets covers.
    pub interval_start: Timestamp,
    /// Whether the application limited the sender.
    pub app_limited: bool,
    /// In flight after the last of them.
    pub in_flight: Bytes,
    /// Declared lost in all by then.
    pub lost: Bytes,
}

/// The records of everything in flight, oldest first.
///
/// Packets that leave within a small share of a round trip share a record, the first one's: their samples then cover that
/// much more than a round trip, and the history stays small and quick to search and to copy however much is in flight.
///
/// No peer decides how long the history is. Each record holds at least one byte that was sent and neither acknowledged nor
/// lost, and there are never more than [`MAX_OVERTAKEN`] + [`MAX_GROUPS`] of them.
#[derive(Debug, Clone, Default)]
pub(super) struct SentPackets {
    /// What was passed over: something that left later has been acknowledged. It is lost, or comes out of order.
    overtaken: VecDeque<PacketGroup>,
    /// All that left after those. The next packet to be acknowledged is in the first of them, unless it is late.
    sent_packets: VecDeque<PacketGroup>,
}

impl SentPackets {
    /// Adds packets sent then: to the newest record if nothing was learned since it began; in a large flight, also if it
    /// began no more than `resolution` nanoseconds ago under the same circumstances; and whatever was learned, if there are
    /// [`MAX_GROUPS`] already.
    #[inline]
    pub(super) fn push(
        &mut self,
        sent: RangeInclusive<Timestamp>,
        bytes: Bytes,
        round: u64,
        state: &PacketState,
        resolution: u64,
    ) {
        let (mut first, mut last) = sent.into_inner();
        let count = self.sent_packets.len();
        if let Some(newest) = self.sent_packets.back_mut() {
            let alike = newest.state.app_limited == state.app_limited && newest.round == round;
            let same = newest.state.delivered == state.delivered
                && newest.state.interval_start == state.interval_start
                && newest.state.lost == state.lost;
            let close =
                count >= MIN_GROUPS_TO_MERGE && last.nanos_since(newest.first_sent) < resolution;
            if alike && (same || close) || count >= MAX_GROUPS {
                newest.outstanding += bytes;
                newest.state.in_flight = state.in_flight;
                newest.state.app_limited |= state.app_limited;
                newest.last_sent = newest.last_sent.max(last);
                return;
            }
        }
        // In the order of time even if a host's clock runs backwards. The search relies on it: what it finds in disorder
        // depends on where a deque begins in its buffer, and a clone's begins elsewhere.
        if let Some(newest) = self.sent_packets.back().or(self.overtaken.back()) {
            first = first.max(newest.last_sent);
            last = last.max(first);
        }
        self.sent_packets.push_back(PacketGroup {
            first_sent: first,
            last_sent: last,
            outstanding: bytes,
            round,
            state: *state,
        });
    }

    /// Takes `bytes` that left at `sent` off their record, and shows its view, if it is still there.
    ///
    /// Two records can hold one time, where an acknowledgement came between two batches of one instant: the older
    /// one gives first, and both are shown if both give.
    #[inline]
    pub(super) fn take(
        &mut self,
        sent: Timestamp,
        bytes: Bytes,
        mut show: impl FnMut(&PacketState),
    ) {
        if self.is_overtaken(sent) {
            return self.take_anywhere(sent, bytes, show);
        }
        while self
            .sent_packets
            .front()
            .is_some_and(|oldest| oldest.last_sent < sent)
        {
            self.overtake_oldest();
        }
        let Some(group) = self.sent_packets.front_mut() else {
            return;
        };
        if group.first_sent > sent {
            return;
        }
        if group.outstanding < bytes {
            return self.take_anywhere(sent, bytes, show);
        }
        show(&group.state);
        group.outstanding -= bytes;
        if group.is_empty() {
            self.sent_packets.pop_front();
        }
    }

    /// Takes as much of `bytes` as there is off the records of what left before `sent`, and returns the rest.
    pub(super) fn take_before(&mut self, sent: Timestamp, bytes: Bytes) -> Bytes {
        let mut rest = bytes;
        while let Some(oldest) = self.sent_packets.front_mut()
            && oldest.last_sent < sent
        {
            let taken = rest.min(oldest.outstanding);
            oldest.outstanding -= taken;
            rest -= taken;
            self.overtake_oldest();
        }
        rest
    }

    /// The same wherever the record is, and however many hold that time.
    #[cold]
    fn take_anywhere(&mut self, sent: Timestamp, bytes: Bytes, mut show: impl FnMut(&PacketState)) {
        let first = self
            .overtaken
            .partition_point(|group| group.last_sent < sent);
        let mut rest = bytes;
        let sent_packets = self
            .overtaken
            .range_mut(first..)
            .chain(&mut self.sent_packets);
        for group in sent_packets.take_while(|group| group.first_sent <= sent) {
            if !group.is_empty() {
                let taken = rest.min(group.outstanding);
                group.outstanding -= taken;
                rest -= taken;
                show(&group.state);
                if rest == Bytes::ZERO {
                    break;
                }
            }
        }
        while self.overtaken.get(first).is_some_and(PacketGroup::is_empty) {
            self.overtaken.remove(first);
        }
        while self.sent_packets.front().is_some_and(PacketGroup::is_empty) {
            self.sent_packets.pop_front();
        }
    }

    /// The view of a packet that left at `sent`, if its record is still there.
    pub(super) fn get(&self, sent: Timestamp) -> Option<PacketState> {
        let sent_packets = if self.is_overtaken(sent) {
            &self.overtaken
        } else {
            &self.sent_packets
        };
        let group =
            sent_packets.get(sent_packets.partition_point(|group| group.last_sent < sent))?;
        (group.first_sent <= sent).then_some(group.state)
    }

    /// Forgets what was lost: `bytes`, the newest of which left at `newest_sent`.
    ///
    /// Loss detection goes by packet number and by age (RFC 9002, section 6.1): when a packet is lost, so is all that left
    /// before it in the same packet number space and was not acknowledged. What remains of records of earlier times is in
    /// flight no more, and an acknowledgement of it would be ignored by the host too.
    #[cold]
    pub(super) fn remove_lost(&mut self, newest_sent: Timestamp, bytes: Bytes) {
        let mut rest = bytes;
        for sent_packets in [&mut self.overtaken, &mut self.sent_packets] {
            while let Some(oldest) = sent_packets.front()
                && oldest.last_sent < newest_sent
            {
                rest -= oldest.outstanding;
                sent_packets.pop_front();
            }
        }
        self.take_anywhere(newest_sent, rest, |_| {});
    }

    /// Forgets what left before `horizon` and was passed over.
    #[inline]
    pub(super) fn prune(&mut self, horizon: Timestamp) {
        while let Some(oldest) = self.overtaken.front()
            && oldest.last_sent < horizon
        {
            self.overtaken.pop_front();
        }
    }

    /// Forgets all but the newest.
    pub(super) fn forget_all_but(&mut self, count: usize) {
        self.overtaken.clear();
        let older = self.sent_packets.len().saturating_sub(count);
        self.sent_packets.drain(..older);
    }

    /// Forgets everything: nothing is in flight.
    pub(super) fn clear(&mut self) {
        self.overtaken.clear();
        self.sent_packets.clear();
    }

    #[inline]
    fn is_overtaken(&self, sent: Timestamp) -> bool {
        self.overtaken
            .back()
            .is_some_and(|newest| sent <= newest.last_sent)
    }

    #[cold]
    fn overtake_oldest(&mut self) {
        if let Some(group) = self.sent_packets.pop_front()
            && !group.is_empty()
        {
            if self.overtaken.len() >= MAX_OVERTAKEN {
                self.overtaken.pop_front();
            }
            self.overtaken.push_back(group);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.overtaken.len() + self.sent_packets.len()
    }
}

impl PacketGroup {
    fn is_empty(&self) -> bool {
        self.outstanding == Bytes::ZERO
    }
}

/// With so few records each keeps its own, however short the time between them.
const MIN_GROUPS_TO_MERGE: usize = 128;

/// Four times what a round trip takes, so that a path may become four times as long before records hold more than their
/// share of it: 80 kB.
pub(super) const MAX_GROUPS: usize = 1024;

/// Hosts declare lost what three packets have overtaken (RFC 9002, section 6.1.1): what was passed over is late for a few
/// acknowledgements only.
pub(super) const MAX_OVERTAKEN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_nanos(nanos)
    }

    /// What left at `sent`, when so much had been delivered.
    fn group(sent: u64, bytes: u64) -> PacketGroup {
        let sent = at(sent);
        PacketGroup {
            first_sent: sent,
            last_sent: sent,
            outstanding: Bytes(bytes),
            round: 0,
            state: PacketState {
                delivered: Bytes(sent.as_nanos()),
                delivered_at: sent,
                interval_start: sent,
                app_limited: false,
                in_flight: Bytes(bytes),
                lost: Bytes::ZERO,
            },
        }
    }

    fn push(sent_packets: &mut SentPackets, group: &PacketGroup) {
        sent_packets.push(
            group.first_sent..=group.last_sent,
            group.outstanding,
            group.round,
            &group.state,
            0,
        );
    }

    /// What had been delivered according to the last view shown.
    fn take(sent_packets: &mut SentPackets, sent: u64, bytes: u64) -> Option<u64> {
        let mut delivered = None;
        sent_packets.take(at(sent), Bytes(bytes), |state| {
            delivered = Some(state.delivered.0);
        });
        delivered
    }

    /// A packet that is never acknowledged must not keep what was sent after it: a connection would hold seconds of its past
    /// after each loss, and copy them with each snapshot.
    #[test]
    fn a_lost_packet_keeps_only_its_own_group() {
        let mut sent_packets = SentPackets::default();
        push(&mut sent_packets, &group(1, 1200));
        for sent in 2..10_000 {
            push(&mut sent_packets, &group(sent, 1200));
            // Ten are in flight.
            if let Some(acked) = sent.checked_sub(10).filter(|acked| *acked > 1) {
                assert_eq!(take(&mut sent_packets, acked, 1200), Some(acked));
                assert!(sent_packets.len() <= 11, "{}", sent_packets.len());
            }
        }
        assert!(sent_packets.get(at(1)).is_some());
        sent_packets.prune(at(2));
        assert!(sent_packets.get(at(1)).is_none());
    }

    /// Late packets are found, and leave nothing behind, in whatever order they come.
    #[test]
    fn every_order_of_acknowledgements_empties_the_history() {
        for stride in [1, 7, 13, 99] {
            let mut sent_packets = SentPackets::default();
            for sent in 0..100 {
                push(&mut sent_packets, &group(sent, 1200));
            }
            for step in 0..100 {
                let sent = step * stride % 100;
                assert!(sent_packets.get(at(sent)).is_some());
                assert_eq!(take(&mut sent_packets, sent, 1200), Some(sent));
                assert_eq!(take(&mut sent_packets, sent, 1200), None);
            }
            assert_eq!(sent_packets.len(), 0, "{stride}");
        }
    }

    /// Packets of many times that are acknowledged together settle what each of them left, and what is missing among them stays.
    #[test]
    fn packets_acknowledged_together_leave_the_history_together() {
        let mut sent_packets = SentPackets::default();
        for sent in 0..100 {
            push(&mut sent_packets, &group(sent, 1200));
        }
        let rest = sent_packets.take_before(at(9), Bytes(10 * 1200));
        assert_eq!(rest, Bytes(1200));
        assert_eq!(take(&mut sent_packets, 9, rest.0), Some(9));
        assert_eq!(sent_packets.len(), 90);
        // One of ten is missing: the last of them is then late.
        let rest = sent_packets.take_before(at(19), Bytes(9 * 1200));
        assert_eq!(rest, Bytes::ZERO);
        assert_eq!(take(&mut sent_packets, 19, rest.0), Some(19));
        assert_eq!(take(&mut sent_packets, 20, 1200), Some(20));
        assert_eq!(sent_packets.len(), 80, "79, and one that is late");
        assert!(sent_packets.get(at(19)).is_some());
    }

    #[test]
    fn two_groups_of_one_time_are_taken_in_turn() {
        for overtaken in [false, true] {
            let mut sent_packets = SentPackets::default();
            for delivered in [1, 2] {
                let mut group = group(5, 1200);
                group.state.delivered = Bytes(delivered);
                push(&mut sent_packets, &group);
            }
            push(&mut sent_packets, &group(6, 1200));
            if overtaken {
                take(&mut sent_packets, 6, 1200);
            }
            assert_eq!(take(&mut sent_packets, 5, 1000), Some(1));
            assert_eq!(take(&mut sent_packets, 5, 1000), Some(2));
            assert_eq!(take(&mut sent_packets, 5, 400), Some(2));
            assert_eq!(take(&mut sent_packets, 5, 400), None);
        }
    }
}
