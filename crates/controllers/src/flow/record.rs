//! What was known when a packet left, kept until it is acknowledged or forgotten.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use crate::units::{Bytes, Timestamp};

/// Packets that left between two acknowledgements, and so share one view of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// When the first and the last of them left.
    pub first_sent: Timestamp,
    pub last_sent: Timestamp,
    /// Sent and not yet acknowledged.
    pub outstanding: Bytes,
    /// The round they left in.
    pub round: u64,
    pub view: View,
}

/// What was known when packets left.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
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
/// lost, and there are never more than [`MOST_LATE`] + [`MOST_RECORDS`] of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Records {
    /// What was passed over: something that left later has been acknowledged. It is lost, or comes out of order.
    late: VecDeque<Record>,
    /// All that left after those. The next packet to be acknowledged is in the first of them, unless it is late.
    records: VecDeque<Record>,
}

impl Records {
    /// Adds packets sent then: to the newest record if nothing was learned since it began; in a large flight, also if it
    /// began no more than `resolution` nanoseconds ago under the same circumstances; and whatever was learned, if there are
    /// [`MOST_RECORDS`] already.
    #[inline]
    pub(super) fn push(
        &mut self,
        sent: RangeInclusive<Timestamp>,
        bytes: Bytes,
        round: u64,
        view: &View,
        resolution: u64,
    ) {
        let (mut first, mut last) = sent.into_inner();
        let count = self.records.len();
        if let Some(newest) = self.records.back_mut() {
            let alike = newest.view.app_limited == view.app_limited && newest.round == round;
            let same = newest.view.delivered == view.delivered
                && newest.view.interval_start == view.interval_start
                && newest.view.lost == view.lost;
            let close = count >= FEW && last.nanos_since(newest.first_sent) < resolution;
            if alike && (same || close) || count >= MOST_RECORDS {
                newest.outstanding += bytes;
                newest.view.in_flight = view.in_flight;
                newest.view.app_limited |= view.app_limited;
                newest.last_sent = newest.last_sent.max(last);
                return;
            }
        }
        // In the order of time even if a host's clock runs backwards. The search relies on it: what it finds in disorder
        // depends on where a deque begins in its buffer, and a clone's begins elsewhere.
        if let Some(newest) = self.records.back().or(self.late.back()) {
            first = first.max(newest.last_sent);
            last = last.max(first);
        }
        self.records.push_back(Record {
            first_sent: first,
            last_sent: last,
            outstanding: bytes,
            round,
            view: *view,
        });
    }

    /// Takes `bytes` that left at `sent` off their record, and shows its view, if it is still there.
    ///
    /// Two records can hold one time, where an acknowledgement came between two batches of one instant: the older
    /// one gives first, and both are shown if both give.
    #[inline]
    pub(super) fn take(&mut self, sent: Timestamp, bytes: Bytes, mut show: impl FnMut(&View)) {
        if self.is_late(sent) {
            return self.take_anywhere(sent, bytes, show);
        }
        while self
            .records
            .front()
            .is_some_and(|oldest| oldest.last_sent < sent)
        {
            self.pass_over();
        }
        let Some(record) = self.records.front_mut() else {
            return;
        };
        if record.first_sent > sent {
            return;
        }
        if record.outstanding < bytes {
            return self.take_anywhere(sent, bytes, show);
        }
        show(&record.view);
        record.outstanding -= bytes;
        if record.is_settled() {
            self.records.pop_front();
        }
    }

    /// Takes as much of `bytes` as there is off the records of what left before `sent`, and returns the rest.
    pub(super) fn take_before(&mut self, sent: Timestamp, bytes: Bytes) -> Bytes {
        let mut rest = bytes;
        while let Some(oldest) = self.records.front_mut()
            && oldest.last_sent < sent
        {
            let taken = rest.min(oldest.outstanding);
            oldest.outstanding -= taken;
            rest -= taken;
            self.pass_over();
        }
        rest
    }

    /// The same wherever the record is, and however many hold that time.
    #[cold]
    fn take_anywhere(&mut self, sent: Timestamp, bytes: Bytes, mut show: impl FnMut(&View)) {
        let first = self.late.partition_point(|record| record.last_sent < sent);
        let mut rest = bytes;
        let records = self.late.range_mut(first..).chain(&mut self.records);
        for record in records.take_while(|record| record.first_sent <= sent) {
            if !record.is_settled() {
                let taken = rest.min(record.outstanding);
                record.outstanding -= taken;
                rest -= taken;
                show(&record.view);
                if rest == Bytes::ZERO {
                    break;
                }
            }
        }
        while self.late.get(first).is_some_and(Record::is_settled) {
            self.late.remove(first);
        }
        while self.records.front().is_some_and(Record::is_settled) {
            self.records.pop_front();
        }
    }

    /// The view of a packet that left at `sent`, if its record is still there.
    pub(super) fn get(&self, sent: Timestamp) -> Option<View> {
        let records = if self.is_late(sent) {
            &self.late
        } else {
            &self.records
        };
        let record = records.get(records.partition_point(|record| record.last_sent < sent))?;
        (record.first_sent <= sent).then_some(record.view)
    }

    /// Forgets what was lost: `bytes`, the newest of which left at `newest_sent`.
    ///
    /// Loss detection goes by packet number and by age (RFC 9002, section 6.1): when a packet is lost, so is all that left
    /// before it in the same packet number space and was not acknowledged. What remains of records of earlier times is in
    /// flight no more, and an acknowledgement of it would be ignored by the host too.
    #[cold]
    pub(super) fn lose(&mut self, newest_sent: Timestamp, bytes: Bytes) {
        let mut rest = bytes;
        for records in [&mut self.late, &mut self.records] {
            while let Some(oldest) = records.front()
                && oldest.last_sent < newest_sent
            {
                rest -= oldest.outstanding;
                records.pop_front();
            }
        }
        self.take_anywhere(newest_sent, rest, |_| {});
    }

    /// Forgets what left before `horizon` and was passed over.
    #[inline]
    pub(super) fn prune(&mut self, horizon: Timestamp) {
        while let Some(oldest) = self.late.front()
            && oldest.last_sent < horizon
        {
            self.late.pop_front();
        }
    }

    /// Forgets all but the newest.
    pub(super) fn forget_all_but(&mut self, count: usize) {
        self.late.clear();
        let older = self.records.len().saturating_sub(count);
        self.records.drain(..older);
    }

    /// Forgets everything: nothing is in flight.
    pub(super) fn clear(&mut self) {
        self.late.clear();
        self.records.clear();
    }

    #[inline]
    fn is_late(&self, sent: Timestamp) -> bool {
        self.late
            .back()
            .is_some_and(|newest| sent <= newest.last_sent)
    }

    #[cold]
    fn pass_over(&mut self) {
        if let Some(record) = self.records.pop_front()
            && !record.is_settled()
        {
            if self.late.len() >= MOST_LATE {
                self.late.pop_front();
            }
            self.late.push_back(record);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.late.len() + self.records.len()
    }
}

impl Record {
    fn is_settled(&self) -> bool {
        self.outstanding == Bytes::ZERO
    }
}

/// With so few records each keeps its own, however short the time between them.
const FEW: usize = 128;

/// Four times what a round trip takes, so that a path may become four times as long before records hold more than their
/// share of it: 80 kB.
pub(super) const MOST_RECORDS: usize = 1024;

/// Hosts declare lost what three packets have overtaken (RFC 9002, section 6.1.1): what was passed over is late for a few
/// acknowledgements only.
pub(super) const MOST_LATE: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_nanos(nanos)
    }

    /// What left at `sent`, when so much had been delivered.
    fn record(sent: u64, bytes: u64) -> Record {
        let sent = at(sent);
        Record {
            first_sent: sent,
            last_sent: sent,
            outstanding: Bytes(bytes),
            round: 0,
            view: View {
                delivered: Bytes(sent.as_nanos()),
                delivered_at: sent,
                interval_start: sent,
                app_limited: false,
                in_flight: Bytes(bytes),
                lost: Bytes::ZERO,
            },
        }
    }

    fn push(records: &mut Records, record: &Record) {
        records.push(
            record.first_sent..=record.last_sent,
            record.outstanding,
            record.round,
            &record.view,
            0,
        );
    }

    /// What had been delivered according to the last view shown.
    fn take(records: &mut Records, sent: u64, bytes: u64) -> Option<u64> {
        let mut delivered = None;
        records.take(at(sent), Bytes(bytes), |view| {
            delivered = Some(view.delivered.0);
        });
        delivered
    }

    /// A packet that is never acknowledged must not keep what was sent after it: a connection would hold seconds of its past
    /// after each loss, and copy them with each snapshot.
    #[test]
    fn a_lost_packet_keeps_only_its_own_record() {
        let mut records = Records::default();
        push(&mut records, &record(1, 1200));
        for sent in 2..10_000 {
            push(&mut records, &record(sent, 1200));
            // Ten are in flight.
            if let Some(acked) = sent.checked_sub(10).filter(|acked| *acked > 1) {
                assert_eq!(take(&mut records, acked, 1200), Some(acked));
                assert!(records.len() <= 11, "{}", records.len());
            }
        }
        assert!(records.get(at(1)).is_some());
        records.prune(at(2));
        assert!(records.get(at(1)).is_none());
    }

    /// Late packets are found, and leave nothing behind, in whatever order they come.
    #[test]
    fn every_order_of_acknowledgements_settles_everything() {
        for stride in [1, 7, 13, 99] {
            let mut records = Records::default();
            for sent in 0..100 {
                push(&mut records, &record(sent, 1200));
            }
            for step in 0..100 {
                let sent = step * stride % 100;
                assert!(records.get(at(sent)).is_some());
                assert_eq!(take(&mut records, sent, 1200), Some(sent));
                assert_eq!(take(&mut records, sent, 1200), None);
            }
            assert_eq!(records.len(), 0, "{stride}");
        }
    }

    /// Packets of many times that are acknowledged together settle what each of them left, and what is missing among them stays.
    #[test]
    fn what_is_acknowledged_together_is_settled_together() {
        let mut records = Records::default();
        for sent in 0..100 {
            push(&mut records, &record(sent, 1200));
        }
        let rest = records.take_before(at(9), Bytes(10 * 1200));
        assert_eq!(rest, Bytes(1200));
        assert_eq!(take(&mut records, 9, rest.0), Some(9));
        assert_eq!(records.len(), 90);
        // One of ten is missing: the last of them is then late.
        let rest = records.take_before(at(19), Bytes(9 * 1200));
        assert_eq!(rest, Bytes::ZERO);
        assert_eq!(take(&mut records, 19, rest.0), Some(19));
        assert_eq!(take(&mut records, 20, 1200), Some(20));
        assert_eq!(records.len(), 80, "79, and one that is late");
        assert!(records.get(at(19)).is_some());
    }

    #[test]
    fn two_records_of_one_time_give_in_turn() {
        for late in [false, true] {
            let mut records = Records::default();
            for delivered in [1, 2] {
                let mut record = record(5, 1200);
                record.view.delivered = Bytes(delivered);
                push(&mut records, &record);
            }
            push(&mut records, &record(6, 1200));
            if late {
                take(&mut records, 6, 1200);
            }
            assert_eq!(take(&mut records, 5, 1000), Some(1));
            assert_eq!(take(&mut records, 5, 1000), Some(2));
            assert_eq!(take(&mut records, 5, 400), Some(2));
            assert_eq!(take(&mut records, 5, 400), None);
        }
    }
}
