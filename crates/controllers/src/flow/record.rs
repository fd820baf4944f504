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
                newest.outstanding += record.outstanding;
                newest.in_flight = record.in_flight;
                newest.last_sent = newest.last_sent.max(record.last_sent);
                return;
            }
        }
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

    /// Forgets records at the old end that are settled, or whose last packet left before `horizon`.
    pub(super) fn prune(&mut self, horizon: Timestamp) {
        while let Some(oldest) = self.records.front()
            && (oldest.outstanding == Bytes::ZERO || oldest.last_sent < horizon)
        {
            self.records.pop_front();
            self.recent = self.recent.saturating_sub(1);
        }
    }

    /// Forgets everything: nothing is in flight.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.recent = 0;
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
