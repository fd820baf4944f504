//! The per-packet state of sent packets, kept until they are acknowledged or removed.

use core::mem;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::GROUP_LIFETIME;
use crate::units::{Bytes, Timestamp};

/// The packets in flight. Clones share them until they change them, so that a snapshot of a connection does not copy them.
///
/// Cloning hands the groups over to an [`Arc`], the next change takes them back. While nobody clones, a change costs no atomic
/// operation: with exclusive access the mutex is not locked.
#[derive(Debug, Default)]
pub(super) struct SentPackets(Mutex<Holder>);

#[derive(Debug, Default)]
struct Holder {
    /// Empty while they are shared.
    own: Groups,
    shared: Option<Arc<Groups>>,
}

impl SentPackets {
    pub(super) fn len(&self) -> usize {
        let holder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = holder.shared.as_deref();
        shared.unwrap_or(&holder.own).len()
    }

    /// What they are, to be changed.
    pub(super) fn groups(&mut self) -> &mut Groups {
        let holder = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if holder.shared.is_some() {
            holder.take_back();
        }
        &mut holder.own
    }
}

impl Holder {
    #[cold]
    fn take_back(&mut self) {
        if let Some(shared) = self.shared.take() {
            self.own = Arc::unwrap_or_clone(shared);
        }
    }
}

impl Clone for SentPackets {
    fn clone(&self) -> Self {
        let mut holder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Holder { own, shared } = &mut *holder;
        let shared = shared.get_or_insert_with(|| Arc::new(mem::take(own)));
        Self(Mutex::new(Holder {
            own: Groups::default(),
            shared: Some(Arc::clone(shared)),
        }))
    }
}

/// Packets sent between two acknowledgements. They share one state.
#[derive(Debug, Clone, Copy)]
struct PacketGroup {
    /// The send times of the first and the last packet.
    first_sent: Timestamp,
    last_sent: Timestamp,
    /// Bytes not yet acknowledged.
    outstanding: Bytes,
    state: PacketState,
}

/// The connection's state when the packets were sent (draft-ietf-ccwg-bbr, section 4.1: per-packet state).
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketState {
    /// The bytes delivered by then, and the time of the last delivery.
    pub delivered: Bytes,
    pub delivered_at: Timestamp,
    /// The start of the send interval of these packets' rate sample.
    pub interval_start: Timestamp,
    /// Whether the application limited the sender.
    pub app_limited: bool,
    /// The flight after the last of them.
    pub in_flight: Bytes,
    /// The bytes declared lost by then.
    pub lost: Bytes,
}

/// The groups of all packets in flight, oldest first.
///
/// Packets sent within a small share of a round trip share the group and state of the first. Their samples cover
/// slightly more than a round trip, and the history stays small in a large flight.
///
/// A peer cannot make the history grow: each group holds at least one byte that is neither acknowledged nor lost, and
/// there are at most [`MAX_OVERTAKEN`] + [`MAX_GROUPS`] groups.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    /// Groups that a later packet's acknowledgement has overtaken: lost or reordered packets.
    overtaken: VecDeque<PacketGroup>,
    /// The groups sent after those. The next acknowledged packet is in the first of them, unless it is reordered.
    in_order: VecDeque<PacketGroup>,
}

impl Groups {
    /// Adds packets. They join the newest group if the state has not changed; in a large flight also if the group began
    /// within `resolution` nanoseconds; and always if there are [`MAX_GROUPS`] groups.
    ///
    /// A packet belongs to the present round if `delivered_at_round_start` was delivered when it left.
    pub(super) fn push(
        &mut self,
        sent: Timestamp,
        bytes: Bytes,
        state: &PacketState,
        delivered_at_round_start: Bytes,
        resolution: u64,
    ) {
        let count = self.in_order.len();
        // Keeps the groups in order of time even if a host's clock runs backwards. The binary search needs this order:
        // its result in an unordered deque depends on the buffer's layout, which differs in a clone.
        let mut sent = sent;
        if let Some(newest) = self.in_order.back_mut() {
            sent = sent.max(newest.last_sent);
            let alike = newest.state.app_limited == state.app_limited
                && newest.state.delivered >= delivered_at_round_start;
            let same = newest.state.delivered == state.delivered
                && newest.state.interval_start == state.interval_start
                && newest.state.lost == state.lost;
            let close =
                count >= MIN_GROUPS_TO_MERGE && sent.nanos_since(newest.first_sent) < resolution;
            if alike && (same || close) || count >= MAX_GROUPS {
                newest.outstanding += bytes;
                newest.state.in_flight = state.in_flight;
                newest.state.app_limited |= state.app_limited;
                newest.last_sent = sent;
                return;
            }
        } else if let Some(newest) = self.overtaken.back() {
            sent = sent.max(newest.last_sent);
        }
        self.in_order.push_back(PacketGroup {
            first_sent: sent,
            last_sent: sent,
            outstanding: bytes,
            state: *state,
        });
    }

    /// Removes `bytes` sent at `sent` from their group, and shows its state to `see`, if the group still exists.
    ///
    /// Two groups can have the same send time, if an acknowledgement came between two batches of one instant. The older
    /// one is used first; if both are, the state is the newer one's.
    #[inline]
    pub(super) fn take(&mut self, sent: Timestamp, bytes: Bytes, see: impl FnOnce(&PacketState)) {
        if !self.is_overtaken(sent) {
            while self
                .in_order
                .front()
                .is_some_and(|oldest| oldest.last_sent < sent)
            {
                self.overtake_oldest();
            }
            let Some(group) = self.in_order.front_mut() else {
                return;
            };
            if group.first_sent > sent {
                return;
            }
            if group.outstanding >= bytes {
                group.outstanding -= bytes;
                see(&group.state);
                if group.is_empty() {
                    self.in_order.pop_front();
                }
                return;
            }
        }
        if let Some(state) = self.take_anywhere(sent, bytes) {
            see(&state);
        }
    }

    /// As `take`, for groups in any position and for several with the same send time.
    #[cold]
    fn take_anywhere(&mut self, sent: Timestamp, bytes: Bytes) -> Option<PacketState> {
        let first = self
            .overtaken
            .partition_point(|group| group.last_sent < sent);
        let (mut rest, mut state) = (bytes, None);
        let groups = self.overtaken.range_mut(first..).chain(&mut self.in_order);
        for group in groups.take_while(|group| group.first_sent <= sent) {
            if !group.is_empty() {
                let taken = rest.min(group.outstanding);
                group.outstanding -= taken;
                rest -= taken;
                state = Some(group.state);
                if rest == Bytes::ZERO {
                    break;
                }
            }
        }
        while self.overtaken.get(first).is_some_and(PacketGroup::is_empty) {
            self.overtaken.remove(first);
        }
        while self.in_order.front().is_some_and(PacketGroup::is_empty) {
            self.in_order.pop_front();
        }
        state
    }

    /// The state of a packet sent at `sent`, if its group still exists.
    pub(super) fn get(&self, sent: Timestamp) -> Option<PacketState> {
        let groups = if self.is_overtaken(sent) {
            &self.overtaken
        } else {
            &self.in_order
        };
        let group = groups.get(groups.partition_point(|group| group.last_sent < sent))?;
        (group.first_sent <= sent).then_some(group.state)
    }

    /// Removes lost packets of `bytes`, the newest of which was sent at `newest_sent`.
    ///
    /// Loss detection goes by packet number and by age (RFC 9002, section 6.1): if a packet is lost, so are all
    /// unacknowledged packets sent before it in the same packet number space. The rest of earlier groups is no longer
    /// in flight, and the transport would ignore an acknowledgement of it.
    #[cold]
    pub(super) fn remove_lost(&mut self, newest_sent: Timestamp, bytes: Bytes) {
        let mut rest = bytes;
        for groups in [&mut self.overtaken, &mut self.in_order] {
            while let Some(oldest) = groups.front()
                && oldest.last_sent < newest_sent
            {
                rest -= oldest.outstanding;
                groups.pop_front();
            }
        }
        self.take_anywhere(newest_sent, rest);
    }

    /// Removes overtaken groups that are older than this by [`GROUP_LIFETIME`].
    pub(super) fn prune(&mut self, oldest_acked: Timestamp) {
        while let Some(oldest) = self.overtaken.front()
            && oldest.last_sent < oldest_acked - GROUP_LIFETIME
        {
            self.overtaken.pop_front();
        }
    }

    /// Removes all groups but the newest.
    pub(super) fn forget_all_but(&mut self, count: usize) {
        self.overtaken.clear();
        let older = self.in_order.len().saturating_sub(count);
        self.in_order.drain(..older);
    }

    /// Removes all groups: nothing is in flight.
    pub(super) fn clear(&mut self) {
        self.overtaken.clear();
        self.in_order.clear();
    }

    fn is_overtaken(&self, sent: Timestamp) -> bool {
        self.overtaken
            .back()
            .is_some_and(|newest| sent <= newest.last_sent)
    }

    #[cold]
    fn overtake_oldest(&mut self) {
        if let Some(group) = self.in_order.pop_front()
            && !group.is_empty()
        {
            if self.overtaken.len() >= MAX_OVERTAKEN {
                self.overtaken.pop_front();
            }
            self.overtaken.push_back(group);
        }
    }

    fn len(&self) -> usize {
        self.overtaken.len() + self.in_order.len()
    }
}

impl PacketGroup {
    fn is_empty(&self) -> bool {
        self.outstanding == Bytes::ZERO
    }
}

/// With fewer groups than this, packets do not join a group by time.
const MIN_GROUPS_TO_MERGE: usize = 128;

/// Four times the groups of a round trip, so that the RTT may grow by a factor of four before groups cover more of it:
/// 72 kB.
pub(super) const MAX_GROUPS: usize = 1024;

/// Transports declare a packet lost after three later ones were acknowledged (RFC 9002, section 6.1.1), so a group
/// stays overtaken for a few acknowledgements only.
pub(super) const MAX_OVERTAKEN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_nanos(nanos)
    }

    /// A group sent at `sent`.
    fn group(sent: u64, bytes: u64) -> PacketGroup {
        let sent = at(sent);
        PacketGroup {
            first_sent: sent,
            last_sent: sent,
            outstanding: Bytes(bytes),
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

    fn push(sent_packets: &mut Groups, group: &PacketGroup) {
        sent_packets.push(
            group.last_sent,
            group.outstanding,
            &group.state,
            Bytes::ZERO,
            0,
        );
    }

    /// The delivered bytes in the state.
    fn take(sent_packets: &mut Groups, sent: u64, bytes: u64) -> Option<u64> {
        let mut delivered = None;
        sent_packets.take(at(sent), Bytes(bytes), |state| {
            delivered = Some(state.delivered.0);
        });
        delivered
    }

    /// Trap: a packet that is never acknowledged must not keep the groups after it. A connection would hold seconds of
    /// history after each loss.
    #[test]
    fn a_lost_packet_keeps_only_its_own_group() {
        let mut sent_packets = Groups::default();
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
        sent_packets.prune(at(2) + GROUP_LIFETIME);
        assert!(sent_packets.get(at(1)).is_none());
    }

    /// Reordered packets are found and removed, in any order.
    #[test]
    fn every_order_of_acknowledgements_empties_the_history() {
        for stride in [1, 7, 13, 99] {
            let mut sent_packets = Groups::default();
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

    #[test]
    fn two_groups_of_one_time_are_taken_in_turn() {
        for overtaken in [false, true] {
            let mut sent_packets = Groups::default();
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
