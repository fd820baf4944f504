//! What was known when a packet left, kept until it is acknowledged or forgotten.

use std::collections::VecDeque;

use crate::units::{Bytes, Timestamp};

/// Packets that left between two acknowledgements, and so share one view of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// When the first and the last of them left.
    pub first_sent: Timestamp,
    pub last_sent: Timestamp,
    /// Sent and not yet acknowledged.
    pub outstanding: Bytes,
    /// Delivered in all when they left, and when that had last changed.
    pub delivered: Bytes,
    pub delivered_at: Timestamp,
    /// The start of the sending interval that the record's rate sample covers.
    pub interval_start: Timestamp,
    /// Whether the application limited the sender then.
    pub app_limited: bool,
    /// In flight after the last of them.
    pub in_flight: Bytes,
    /// Declared lost in all when they left.
    pub lost: Bytes,
    /// The round they left in.
    pub round: u64,
}

/// The records of everything in flight, oldest first.
///
/// Packets that leave within a small share of a round trip share a record, the first one's: their samples then cover that
/// much more than a round trip, and the history stays small and quick to search and to copy however much is in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct Records {
    records: VecDeque<Record>,
    /// Where the last packet was found: the next one is there or right behind.
    recent: usize,
    /// How many of them have nothing outstanding: they wait behind one that has.
    settled: usize,
}

impl Records {
    /// Adds packets sent at `record.last_sent`: to the newest record if nothing was learned since it began; in a large
    /// flight, also if it began no more than `resolution` nanoseconds ago under the same circumstances.
    pub(super) fn push(&mut self, record: Record, resolution: u64) {
        let many = self.records.len() >= FEW;
        if let Some(newest) = self.records.back_mut()
            && newest.app_limited == record.app_limited
            && newest.round == record.round
        {
            let same = newest.delivered == record.delivered
                && newest.interval_start == record.interval_start
                && newest.lost == record.lost;
            let age = record
                .last_sent
                .as_nanos()
                .saturating_sub(newest.first_sent.as_nanos());
            if same || many && age < resolution {
                let settled = newest.outstanding == Bytes::ZERO;
                newest.outstanding += record.outstanding;
                self.settled -= usize::from(settled && newest.outstanding > Bytes::ZERO);
                newest.in_flight = record.in_flight;
                newest.last_sent = newest.last_sent.max(record.last_sent);
                return;
            }
        }
        self.settled += usize::from(record.outstanding == Bytes::ZERO);
        self.records.push_back(record);
    }

    /// Takes `bytes` that left at `sent` off their record and returns the record, if it is still there.
    ///
    /// Two records can hold one time, where an acknowledgement came between two batches of one instant: the older
    /// one gives first. If both give, the newer one is returned.
    pub(super) fn take(&mut self, sent: Timestamp, bytes: Bytes) -> Option<&Record> {
        let mut index = self.locate(sent);
        let mut rest = bytes;
        let mut found = None;
        while let Some(record) = self.records.get_mut(index)
            && record.first_sent <= sent
        {
            if record.outstanding > Bytes::ZERO {
                let taken = rest.min(record.outstanding);
                record.outstanding -= taken;
                rest -= taken;
                self.settled += usize::from(record.outstanding == Bytes::ZERO);
                found = Some(index);
                if rest == Bytes::ZERO {
                    break;
                }
            }
            index += 1;
        }
        self.recent = found?;
        self.records.get(self.recent)
    }

    /// The record of a packet that left at `sent`, if it is still there.
    pub(super) fn get(&self, sent: Timestamp) -> Option<&Record> {
        let record = self.records.get(self.locate(sent))?;
        (record.first_sent <= sent).then_some(record)
    }

    /// Forgets records at the old end that are settled, or whose last packet left before `horizon`; and those further on
    /// that are settled, once they are many: what was lost is never settled, and would keep all that follows it.
    pub(super) fn prune(&mut self, horizon: Timestamp) {
        while let Some(oldest) = self.records.front()
            && (oldest.outstanding == Bytes::ZERO || oldest.last_sent < horizon)
        {
            self.settled -= usize::from(oldest.outstanding == Bytes::ZERO);
            self.records.pop_front();
            self.recent = self.recent.saturating_sub(1);
        }
        // As many as stay, so that each record is looked at a few times at most.
        if self.settled > SETTLED.max(self.records.len() / 2) {
            self.records
                .retain(|record| record.outstanding > Bytes::ZERO);
            self.settled = 0;
            self.recent = 0;
        }
    }

    /// Forgets everything: nothing is in flight.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.recent = 0;
        self.settled = 0;
    }

    /// The first record whose last packet left at `sent` or later, which is often the one at `recent` or the next.
    #[inline]
    fn locate(&self, sent: Timestamp) -> usize {
        let records = &self.records;
        if records
            .front()
            .is_none_or(|oldest| oldest.last_sent >= sent)
        {
            return 0;
        }
        let hint = self.recent;
        let before_hint = hint == 0
            || records
                .get(hint - 1)
                .is_some_and(|record| record.last_sent < sent);
        if before_hint && let Some(record) = records.get(hint) {
            if record.last_sent >= sent {
                return hint;
            }
            if records
                .get(hint + 1)
                .is_some_and(|record| record.last_sent >= sent)
            {
                return hint + 1;
            }
        }
        records.partition_point(|record| record.last_sent < sent)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }
}

/// With so few records each keeps its own, however short the time between them.
const FEW: usize = 128;

/// So many records may be settled and yet kept: a few packets' loss leaves fewer behind it in a small flight.
const SETTLED: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sent: u64, bytes: u64) -> Record {
        let sent = Timestamp::from_nanos(sent);
        Record {
            first_sent: sent,
            last_sent: sent,
            outstanding: Bytes(bytes),
            delivered: Bytes(sent.as_nanos()),
            delivered_at: sent,
            interval_start: sent,
            app_limited: false,
            in_flight: Bytes(bytes),
            lost: Bytes::ZERO,
            round: 0,
        }
    }

    /// A packet that is never acknowledged must not keep what was sent after it: a connection would hold seconds of its past
    /// after each loss, and copy them with each snapshot.
    #[test]
    fn a_lost_packet_keeps_only_its_own_record() {
        let mut records = Records::default();
        records.push(record(1, 1200), 0);
        for sent in 2..10_000 {
            records.push(record(sent, 1200), 0);
            // Ten are in flight.
            if let Some(acked) = sent.checked_sub(10).filter(|acked| *acked > 1) {
                let acked = Timestamp::from_nanos(acked);
                let found = records.take(acked, Bytes(1200)).expect("it is in flight");
                assert_eq!(found.last_sent, acked);
                records.prune(Timestamp::ZERO);
                assert!(records.len() <= 2 * SETTLED + 2, "{}", records.len());
            }
        }
        assert!(records.get(Timestamp::from_nanos(1)).is_some());
    }

    /// What the count of settled records goes through: empty ones, filled ones, taken ones, forgotten ones.
    #[test]
    fn settled_records_are_counted_right() {
        let mut records = Records::default();
        for sent in 1..2000u64 {
            records.push(record(sent - sent % 3, 1200 * (sent % 2)), 0);
            if sent % 5 < 3 {
                records.take(Timestamp::from_nanos(sent / 2), Bytes(1200));
            }
            records.prune(Timestamp::from_nanos(sent.saturating_sub(700)));
            let settled = records.records.iter();
            let settled = settled.filter(|record| record.outstanding == Bytes::ZERO);
            assert_eq!(records.settled, settled.count());
        }
        records.clear();
        assert_eq!(records.settled, 0);
    }
}
